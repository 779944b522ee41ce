"""`meeplezoo play`: one game in the terminal between any agents, people included."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..envs import Game, IllegalMove
from ..envs.engine.random_stream import check_seed
from ..envs.game import Move, as_batch
from ..envs.interfaces.agent import act_or_raise
from ..envs.records.notation import LastMove
from ..envs.records.record import make_record, write_records
from ..envs.system.messages import display_name, display_path, pluralize
from ..envs.validation.states import State
from .arguments import (
    HUMAN,
    CommandParser,
    against,
    agents_for,
    describe_game,
    game_for,
    output_file,
    wants_colour,
)
from .console import read_line
from .errors import CommandError
from .move_entry import number_moves, read_move, short_form

if TYPE_CHECKING:
    from ..agents import Agent
    from ..agents.search.mcts_agent import SearchView

_HELP = """\
Type the number of a move, its short form as in the list (the beginnings of its words will do), or the
move as JSON. ? shows the list again, q leaves the game."""


class _Quit(Exception):
    """The person has left the game."""


def run(argv: list[str]) -> int:
    """Play one game."""
    arguments = _parser().parse(argv)
    seed = check_seed(arguments.seed)
    game = game_for(arguments.game, arguments.option, arguments.agents)
    names = arguments.agents or [HUMAN, *["greedy"] * (game.num_players - 1)]
    agents = _make_agents(game, names, seed, arguments.start_seconds, arguments.trust)
    from ..agents.warm_up import warm_up

    # here, and not in the middle of a person's game
    warm_up(game, names)
    path = output_file(arguments.save) if arguments.save else None
    print(f"{describe_game(game)}, seed {seed}: {against(names)}\n")
    try:
        actions, final = _play(game, agents, seed, wants_colour(arguments.colour))
    except _Quit:
        print(f"You have left the game{', so nothing was saved' if path else ''}.")
        return 0
    if path is not None:
        _save(path, game, seed, names, actions, final)
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "play",
        "Play a game in the terminal between any agents; `human` is you. Without agents you play against greedy.\n"
        "A move is picked by its number, typed in its short form or as JSON; q leaves the game.",
        [
            "meeplezoo play {game}",
            "meeplezoo play {game} human greedy random --option {option}",
            "meeplezoo play {game} greedy random --seed 7 --save game.jsonl",
        ],
    )
    parser.add_game()
    parser.add_argument("agents", metavar="AGENT", nargs="*", default=[], help="one per seat; `human` is a person")
    parser.add_seed(None)
    parser.add_colour()
    parser.add_start_seconds()
    parser.add_trust()
    parser.add_argument("--save", metavar="FILE", help="write the record of the whole game to a file")
    return parser


def _make_agents(
    game: Game, names: list[str], seed: int, start_seconds: float | None, trust: bool
) -> list[Agent | None]:
    """Return the agents, None for a person."""
    # a stand-in keeps every other agent's stream what it is without people
    agents = ["random" if name == HUMAN else name for name in names]
    machines = agents_for(game, agents, seed, None, start_seconds, trust=trust)
    return [None if name == HUMAN else agent for name, agent in zip(names, machines, strict=True)]


def _play(game: Game, agents: list[Agent | None], seed: int, colour: bool) -> tuple[list[int], State]:
    """Play to the end; return the actions and the last state."""
    people = [seat for seat, agent in enumerate(agents) if agent is None]
    # what others hide is not shown: the board is that of the person to move, or of the one who moved last
    seat = people[0] if people else None
    state = game.new(seed)
    actions: list[int] = []
    last_move: LastMove | None = None
    while not game.is_over(state):
        player = int(state["to_move"])
        agent = agents[player]
        seat = player if agent is None else seat
        _show(game, state, last_move, seat, colour)
        action = _ask(game, state) if agent is None else _act(agent, game, state)
        if agent is not None:
            _show_view(agent, game)
        move = game.move(action, state)
        actions.append(action)
        game.play_action(state, action)
        last_move = LastMove(player, move)
    _show(game, state, last_move, seat, colour)
    return actions, state


def _show(game: Game, state: State, last_move: LastMove | None, seat: int | None, colour: bool) -> None:
    text = game.spec.view().text
    print(text(game.position(state), last_move, seat, colour) + "\n")


def _act(agent: Agent, game: Game, state: State) -> int:
    try:
        return int(act_or_raise(agent, game, as_batch(state).copy())[0])
    except IllegalMove as error:
        raise CommandError(error) from None


def _show_view(agent: Agent, game: Game) -> None:
    """Print what an agent that searches has thought, if it is one."""
    look: Callable[[Game], SearchView | None] | None = getattr(agent, "view", None)
    view = None if look is None else look(game)
    if view is None:
        return

    print(f"{display_name(agent.name)}: {pluralize(view.num_simulations, 'simulation')}")
    for seen in view.moves:
        fraction = 100 * seen.visits / view.num_simulations
        print(f"  {fraction:5.1f} %  value {seen.value:.3f}  {short_form(seen.move)}")
    line = ", ".join(f"player {player} {short_form(move)}" for player, move in view.line)
    print(f"  expected: {line}\n")


def _ask(game: Game, state: State) -> int:
    """Return the action that the person to move chooses."""
    legal = game.legal_moves(state)
    _print_moves(legal)
    while True:
        line = read_line(f"Player {int(state['to_move'])}, your move (? for help, q to quit): ")
        if line is None:
            raise _Quit
        text = line.strip()
        if text.lower() in ("q", "quit", "exit"):
            raise _Quit
        if text == "?":
            print(_HELP)
            _print_moves(legal)
        elif text:
            try:
                return game.action(read_move(text, legal), state)
            except ValueError as error:
                print(f"{error}.")


def _print_moves(legal: list[Move]) -> None:
    print(number_moves(legal, shutil.get_terminal_size().columns) + "\n")


def _save(path: Path, game: Game, seed: int, names: list[str], actions: list[int], final: State) -> None:
    from ..agents.arena.match_runner import replay_actions

    write_records(path, [make_record(game, seed, names, replay_actions(game, seed, actions), final)])
    print(f"{display_path(path)}: the record of {pluralize(len(actions), 'ply')}")

"""`meeplezoo games`: the games with their options, sizes and agents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..envs import make_game
from ..envs.options import Choice
from ..envs.registry import load_games
from ..envs.spec import GameSpec
from .arguments import HUMAN, CommandParser
from .tables import align


def run(argv: list[str]) -> int:
    """Print every game and the agents."""
    parser = CommandParser("games", "List the games with their options, sizes and agents.", ["meeplezoo games"])
    parser.parse(argv)
    from ..agents import agent_names

    specs, reasons = load_games()
    for text in [*("\n".join(_game_lines(spec)) for spec in specs), *reasons]:
        print(text + "\n")
    print("agents of every game")
    print("\n".join(_columns([(f"  {name}", meaning) for name, meaning in agent_names().items()])))
    print(f"\nin `meeplezoo play` only\n  {HUMAN}  you")
    return 0


def _game_lines(game: GameSpec) -> list[str]:
    options = [
        (f"  --option {option.name}=...", option.valid, f"default {option.default}", option.meaning)
        for option in game.options
    ]
    sizes = [
        (
            f"  {players} players",
            f"{_range(actions)} actions",
            f"observations of {_range(observations)} numbers",
        )
        for players, (actions, observations) in _sizes(game).items()
    ]
    return [f"{game.name}: {game.summary}", *_columns(options), *_columns(sizes)]


def _sizes(game: GameSpec) -> dict[int, tuple[set[int], set[int]]]:
    """Return per number of players all numbers of actions and observation sizes that the options bring about."""
    choices = [option for option in game.options if isinstance(option, Choice)]
    sizes: dict[int, tuple[set[int], set[int]]] = {}
    for number in game.player_counts:
        actions, observations = sizes.setdefault(number, (set(), set()))
        for values in product(*(option.choices for option in choices)):
            chosen = {option.name: value for option, value in zip(choices, values, strict=True)}
            made = make_game(game.name, num_players=number, **chosen)
            actions.add(made.num_actions)
            observations.add(made.observation_size)
    return sizes


def _range(values: set[int]) -> str:
    return " or ".join(map(str, sorted(values)))


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return align(rows, left=range(len(rows[0])))

"""An agent that is a program in any language, asked in JSON Lines: "program:COMMAND"."""

import shlex
from typing import Any

import numpy as np

from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch
from ..agent_settings import agent_error
from .replies import BotError, as_json, check_action, decide_each, parse_move
from .requests import bot_seed, determinization_stream, visible_states, warm_up
from .session import BotSession

PROTOCOL = "meeplezoo-bot/1"


class ProgramBot:
    """Sends a program one decision at a time: player, determinized position, legal moves."""

    def __init__(
        self, game: Game, name: str, command: list[str], seed: int, start_seconds: float | None = None
    ) -> None:
        self.name = name
        self._game = game
        self._stream = determinization_stream(seed)
        self._session = BotSession(command, self._hello(seed), name=name, start_seconds=start_seconds)

    @property
    def seconds_starting(self) -> float:
        """Return the seconds spent restarting the program for decisions."""
        return self._session.seconds_starting

    def start(self) -> None:
        """Start the program; BotError if it cannot be, or does not get ready."""
        self._session.start()

    def reset(self, seed: int) -> None:
        """Reset as if just made with that seed; the running program is sent a new hello."""
        self._stream = determinization_stream(seed)
        self._session.reset(self._hello(seed))

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]; AgentFailure if the program failed at some of them."""
        states = visible_states(decisions, self._stream)
        return decide_each(len(decisions), lambda index: self._decide(decisions, states[index], index))

    def _decide(self, decisions: DecisionBatch, state: np.void, index: int) -> int:
        game = decisions.game
        content = {
            "game_index": int(decisions.game_indices[index]),
            "ply": int(decisions.plies[index]),
            "player": int(decisions.seats[index]),
            "position": game.position(state),
            "legal": game.legal_moves(state),
        }
        reply = self._session.ask(content, decisions.seconds_per_move)
        if "move" not in reply:
            raise BotError("answered without the key 'move'")
        move = reply["move"]
        return check_action(decisions, index, parse_move(game, move, state), as_json(move))

    def _hello(self, seed: int) -> dict[str, Any]:
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "game": self._game.name,
            "options": dict(self._game.options),
            "seed": bot_seed(seed),
        }


def make(game: Game, text: str, argument: str, seed: int, start_seconds: float | None = None) -> ProgramBot:
    """Return the agent of a command, its program running and ready; see `registry.make_agent`.

    Raises ValueError if the command cannot be started or does not say that it is ready.
    """
    try:
        command = shlex.split(argument)
    except ValueError as error:
        raise agent_error(text, f"the command cannot be read ({error})") from None
    if not command:
        raise agent_error(text, "there is no command; write program:COMMAND")
    warm_up(game)
    bot = ProgramBot(game, text, command, seed, start_seconds)
    try:
        bot.start()
    except BotError as reason:
        raise agent_error(text, reason) from None
    return bot

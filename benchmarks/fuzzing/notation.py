"""Moves, positions and options of games, as Python data that came from somewhere."""

import contextlib
import random
from pathlib import Path
from typing import Any

from ...envs import Game, game_names, make_game
from ...envs.options import parse
from ...envs.registry import describe
from .cases import Case, FaultFound
from .games import draw_game, draw_state, use_state, warm_all
from .hostile import NUMBERS, PYTHON, TEXTS, python_value
from .mutations import change_text, change_tree, format_number, several

_PLIES = 3000
_INCOMPARABLE = ("result", "phase")


def _change(value: Any, draw: random.Random) -> tuple[Any, str]:
    notes = []
    for _ in range(several(draw)):
        value, note = change_tree(value, draw, PYTHON)
        notes.append(note)
    return value, "; ".join(notes)


def _describe_game(game: Game) -> dict[str, Any]:
    return {"name": game.name, "options": dict(game.options), "encoding": game.encoding}


def _game(told: dict[str, Any]) -> Game:
    return make_game(told["name"], encoding=told["encoding"], **told["options"])


class Moves:
    """`Game.action`, `Game.play` and `Game.move`: a refused move leaves the state as it is."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()

    def make(self, draw: random.Random) -> Case:
        """Return a legal move of a drawn state with changes, or another value in its place."""
        game = draw_game(draw)
        state = draw_state(game, draw)
        moves = game.legal_moves(state) or [game.move(draw.randrange(game.num_actions))]
        move, note = _change(draw.choice(moves), draw)
        # the state is made again from the position
        return Case(
            {"game": _describe_game(game), "position": game.position(state), "move": move}, note=f"{game.name}: {note}"
        )

    def run(self, case: Case) -> None:
        """Look the move up and play it."""
        game = _game(case.words["game"])
        state = game.from_position(case.words["position"], 1)
        before = state.tobytes()
        move = python_value(case.words["move"])
        with contextlib.suppress(ValueError):
            game.action(move)
        try:
            game.play(state, move)
        except ValueError:
            if state.tobytes() != before:
                raise FaultFound("a refused move changed the state") from None
            raise
        use_state(game, state)


class Positions:
    """`Game.from_position`: what it takes can be played, and is written as it was read."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()

    def make(self, draw: random.Random) -> Case:
        """Return the position of a drawn state with changes."""
        game = draw_game(draw)
        position, note = _change(game.position(draw_state(game, draw)), draw)
        return Case({"game": _describe_game(game), "position": position}, note=f"{game.name}: {note}")

    def run(self, case: Case) -> None:
        """Read the position, and play on from it to the end."""
        game = _game(case.words["game"])
        state = game.from_position(python_value(case.words["position"]), 5)
        position = game.position(state)
        again = game.from_position(position, 5)
        if again.tobytes() != state.tobytes():
            raise FaultFound("a position read again is another state")
        use_state(game, state)
        draw = random.Random(0)
        for _ in range(_PLIES):
            if game.is_over(state):
                return
            moves = game.legal_moves(state)
            if not moves:
                raise FaultFound("a game that goes on has no legal move")
            game.play(state, draw.choice(moves))
        raise FaultFound(f"a game does not end within {_PLIES:,} plies")


class Options:
    """`make_game`, and options as the command line gives them."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()

    def make(self, draw: random.Random) -> Case:
        """Return the options of a drawn game with changes, as values or as texts."""
        game = draw_game(draw)
        if draw.random() < 0.3:
            texts = [f"{name}={value}" for name, value in game.options.items()]
            place = draw.randrange(len(texts))
            name = texts[place].partition("=")[0]
            hostile = draw.choice((*TEXTS, *map(format_number, NUMBERS)))
            texts[place], note = draw.choice(((f"{name}={hostile}", "a value"), change_text(texts[place], draw)))
            return Case({"name": game.name, "texts": texts}, note=f"{game.name}: {note}: {texts[place][:40]!r}")
        told, note = _change(_describe_game(game), draw)
        return Case({"told": told}, note=f"{game.name}: {note}")

    def run(self, case: Case) -> None:
        """Make the game and begin it."""
        if "texts" in case.words:
            name = case.words["name"]
            game = make_game(name, **parse(name, describe(name).options, case.words["texts"]))
        else:
            told = python_value(case.words["told"])
            if not isinstance(told, dict) or not isinstance(told.get("options"), dict):
                raise ValueError("cannot be handed over as keywords")
            options = {name: value for name, value in told["options"].items() if isinstance(name, str)}
            game = make_game(told.get("name", game_names()[0]), encoding=told.get("encoding"), **options)
        state = game.new(3)
        use_state(game, state)

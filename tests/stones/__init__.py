"""A game that is not part of the suite, as a third party would write it: take stones from a pile.

One to four at a time, but at most one more than were taken before, and at most three at first. Everybody has some luck,
0 to 3 points that only its owner sees. The points are the stones taken, the luck, and 3 for whoever takes the last
stones; the most points win. Whoever plays alone wins by taking a single stone last. There are three of it: `stones` for
one to six players, `duel` for exactly two, and `pebble`, which is what `stones` may be in a later version, with one
more option.
"""

from dataclasses import replace

from meeplezoo.envs.engine.dispatch import GameKernels
from meeplezoo.envs.options import Choice, Number
from meeplezoo.envs.records.notation import Notation
from meeplezoo.envs.spec import GameSpec
from meeplezoo.envs.view.position_view import PositionView

from .observation import fields
from .state import FIELDS, MOST_PLAYERS, MOST_STONES, NUM_ACTIONS


def _kernels() -> GameKernels:
    from . import heuristic, observation, rules, validity

    return GameKernels(
        reset=rules.reset,
        legal_mask=rules.legal_mask,
        apply=rules.apply,
        observe=observation.observe,
        scores_and_ranks=rules.scores_and_ranks,
        count_legal=rules.count_legal,
        nth_legal=rules.nth_legal,
        is_legal=rules.is_legal,
        determinize=rules.determinize,
        action_values=heuristic.action_values,
        projected_scores=heuristic.projected_scores,
        find_fault=validity.find_fault,
        faults=validity.FAULTS,
    )


def _notation() -> Notation:
    from . import notation as own

    return Notation(("take",), own.move, own.action, own.position, own.fill, own.ending_error)


def _view() -> PositionView:
    from .view.svg import svg
    from .view.text import text

    return PositionView(svg, text)


def _describe(name: str, fewest: int, most: int, usual: int) -> GameSpec:
    return GameSpec(
        name=name,
        title=name.title(),
        version=0,
        options=(
            Number("num_players", fewest, most, usual, "players at the pile"),
            Number("pile", 5, MOST_STONES, 15, "stones at the beginning", original=True),
        ),
        state_fields=FIELDS,
        num_actions=lambda options: NUM_ACTIONS,
        observation_fields=fields,
        kernels=_kernels,
        notation=_notation,
        view=_view,
        margin_scale=10.0,
        summary="Take stones from a pile; the last ones count most.",
    )


GAME = _describe("stones", 1, MOST_PLAYERS, 3)
DUEL = _describe("duel", 2, 2, 2)
PEBBLE = replace(
    GAME,
    name="pebble",
    title="Pebble",
    options=(*GAME.options, Choice("ending", ("usual", "other"), "usual", "how it ends")),
)

"""Manhattan (1994): draft parts, build towers in six cities, own the most and the tallest."""

from typing import Any

from ..engine.dispatch import GameKernels
from ..options import Choice, Number
from ..records.notation import Notation
from ..spec import GameSpec
from ..symmetry import Symmetry
from ..view.position_view import PositionView
from .observation import fields
from .state import (
    FIELDS,
    NUM_CARDS,
    NUM_CITIES,
    NUM_SIZES,
    SEATS,
    TIEBREAKS,
    colours_per_player,
    num_selections,
)


def num_actions(options: dict[str, Any]) -> int:
    """Return the number of actions: selections, buildings with each colour, discards."""
    players = options["num_players"]
    return num_selections(players) + NUM_CARDS * NUM_CITIES * NUM_SIZES * colours_per_player(players) + NUM_CARDS


def _kernels() -> GameKernels:
    from . import heuristic, observation, rules, scoring, validity

    return GameKernels(
        reset=rules.reset,
        legal_mask=rules.legal_mask,
        apply=rules.apply,
        observe=observation.observe,
        scores_and_ranks=scoring.scores_and_ranks,
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
    from .notation import NOTATION

    return NOTATION


def _symmetry() -> Symmetry[Any]:
    from .symmetry import SYMMETRY

    return SYMMETRY


def _view() -> PositionView:
    from .view.svg import svg
    from .view.text import text

    return PositionView(svg, text)


GAME = GameSpec(
    name="manhattan",
    title="Manhattan",
    version=0,
    summary="Draft parts, build towers in six cities, own the most and the tallest.",
    options=(
        Number("num_players", 2, 4, 4, "number of players", original=True),
        Choice("seats", SEATS, "opposite", "two players: on opposite or adjacent sides", original=True),
        Choice(
            "tiebreak",
            TIEBREAKS,
            "towers",
            "a tie is broken by the tallest tower, then majorities, or is shared",
            original=True,
        ),
    ),
    state_fields=FIELDS,
    num_actions=num_actions,
    observation_fields=fields,
    kernels=_kernels,
    notation=_notation,
    symmetry=_symmetry,
    view=_view,
    margin_scale=30.0,
    search={"plies": 20, "c": 0.3},
)

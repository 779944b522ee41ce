"""Qwirkle: lay tiles of one colour or one shape in rows and columns."""

from typing import Any

from ..engine.dispatch import GameKernels
from ..options import Choice, Number
from ..records.notation import Notation
from ..spec import GameSpec
from ..symmetry import Symmetry
from ..view.position_view import PositionView
from .observation import LAYOUTS, fields
from .state import FIELDS, OPENINGS, PLACE


def num_actions(options: dict[str, Any]) -> int:
    """Return the number of actions: pick up, return, end, and the cells of the window."""
    size: int = options["board_size"]
    return PLACE + size * size


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
    name="qwirkle",
    title="Qwirkle",
    version=0,
    summary="Lay tiles of one colour or one shape in rows and columns.",
    options=(
        Number("num_players", 2, 4, 2, "number of players", original=True),
        Choice(
            "opening",
            OPENINGS,
            "strict",
            "whether the first turn must place the largest set of the hand",
            original=True,
        ),
        Number("board_size", 7, 92, 48, "width and height of the table are at most one less", original=True),
        Number("max_turns", 1, 10_000, 200, "the game is truncated after this turn", original=True),
    ),
    state_fields=FIELDS,
    num_actions=num_actions,
    observation_fields=fields,
    kernels=_kernels,
    notation=_notation,
    symmetry=_symmetry,
    view=_view,
    layouts=LAYOUTS,
    margin_scale=50.0,
    search={"plies": 1, "mix": 1.0, "c": 0.2},
    first_cell_action=PLACE,
)

"""Azul: draft tiles from the factories, fill pattern lines, tile the wall."""

from typing import Any

from ..engine.dispatch import GameKernels
from ..options import Choice, Number
from ..records.notation import Notation
from ..spec import GameSpec
from ..symmetry import Symmetry
from ..view.position_view import PositionView
from .observation import fields
from .state import FIELDS, NUM_TARGETS, SIZE, WALLS, num_factories


def num_actions(options: dict[str, Any]) -> int:
    """Return the number of actions: sources x colours x destinations, and five columns for the grey wall."""
    columns = SIZE if options["wall"] == "grey" else 0
    return (num_factories(options["num_players"]) + 1) * NUM_TARGETS + columns


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
    name="azul",
    title="Azul",
    version=0,
    summary="Draft tiles from the factories, fill pattern lines, tile the wall.",
    options=(
        Number("num_players", 2, 4, 2, "number of players", original=True),
        Choice(
            "wall",
            WALLS,
            "coloured",
            "wall with printed colours, or grey with free choice of the column",
            original=True,
        ),
        Number("max_rounds", 1, 1000, 30, "the game is truncated after this round", original=True),
    ),
    state_fields=FIELDS,
    num_actions=num_actions,
    observation_fields=fields,
    kernels=_kernels,
    notation=_notation,
    symmetry=_symmetry,
    view=_view,
    margin_scale=50.0,
)

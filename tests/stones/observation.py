"""What a seat sees: the pile, what all have taken from the own seat on, the last take, the own luck."""

import numpy as np

from meeplezoo.envs.engine.compilation import kernel
from meeplezoo.envs.observation_field import ObservationField

from .state import MOST_LUCK, MOST_STONES, NUM_ACTIONS


def fields(options, layout):
    return (
        ObservationField("pile", (1,), "stones in the pile", MOST_STONES),
        ObservationField("taken", (options["num_players"],), "stones taken, from the own seat on", MOST_STONES),
        ObservationField("last take", (1,), "stones taken last", NUM_ACTIONS),
        ObservationField("luck", (1,), "own luck", MOST_LUCK),
    )


@kernel
def observe(state, seat, layout, numbers):
    players = np.int64(state["option_num_players"])
    numbers[0] = state["stones"]
    for step in range(players):
        numbers[1 + step] = state["taken"][(seat + step) % players]
    numbers[1 + players] = state["last_take"]
    numbers[2 + players] = state["luck"][seat]

"""Kernels over a batch of games, bound to one game's rules: `load_bound` runs this file once per game.

`rules` and `greedy` are the game's modules. Arrays have the batch axis first:

| array | dtype, shape | meaning |
|---|---|---|
| `states` | record [n] | the games |
| `actions` | int64 [n] | one action per game |
| `outcomes` | `outcome_dtype` [n] | what the last step brought |
| `finals` | record [n] | the last finished game of each place |
| `template` | record [1] | zero but for the options: what every game begins with |
| `mask` | int8 [n, num_actions] or [0, ...] to leave it out | 1 legal, 0 not |
| `observation` | float32 [n, size] or [0, ...] to leave it out | seen from the seat to move |
"""

from types import ModuleType
from typing import Any

import numpy as np

from .compilation import kernel
from .random_stream import GAME_STREAM, draw, draw_seed, renew_stream, seed_stream
from .rewards import write_rewards
from .state import RUNNING, TRUNCATED

rules: ModuleType
greedy: ModuleType

PURPOSE, COMPILATION_SECONDS = "games", 15

SCRATCH_SIZE = 1024
ILLEGAL, OVER = -1, -2


@kernel
def reset(states: Any, template: Any, seeds: Any, start: int, stop: int) -> None:
    """Set up the games start .. stop - 1 anew from their seeds (uint64 [n])."""
    for index in range(start, stop):
        states[index] = template[0]
        reset_one(states[index], seeds[index])


@kernel
def reset_one(state: Any, seed: Any) -> None:
    """Set one game up anew from its seed."""
    state["seed"] = seed
    seed_stream(state["random"], seed, GAME_STREAM)
    rules.set_up(state)


@kernel
def seed_streams(streams: Any, seeds: Any, purpose: int) -> None:
    """Start one stream per seed: streams uint32 [n, 4], seeds uint64 [n]."""
    for index in range(len(seeds)):
        seed_stream(streams[index], seeds[index], purpose)


@kernel
def first_illegal(states: Any, actions: Any, start: int, stop: int) -> int:
    """Return the index of the first running game whose action is not legal, or -1."""
    for index in range(start, stop):
        if states[index]["status"] == RUNNING and not rules.is_legal(states[index], actions[index]):
            return index
    return -1


@kernel
def first_outside(states: Any, actions: Any, num_actions: int, start: int, stop: int) -> int:
    """Return the index of the first running game whose action is not from 0 to num_actions - 1, or -1."""
    outside = False
    for index in range(start, stop):
        outside |= (actions[index] < 0) | (actions[index] >= num_actions)
    if outside:
        for index in range(start, stop):
            if states[index]["status"] == RUNNING and (actions[index] < 0 or actions[index] >= num_actions):
                return index
    return -1


@kernel
def step(
    states: Any,
    actions: Any,
    outcomes: Any,
    finals: Any,
    template: Any,
    mask: Any,
    observation: Any,
    settings: Any,
    start: int,
    stop: int,
) -> int:
    """Play one action in each of the games start .. stop - 1.

    `settings` is a record of SETTINGS_DTYPE in an array of length 1. With `check` the first illegal action's
    index is returned, without it the first one's that is no action of the game, and nothing has changed; otherwise -1.
    Games that are over stay as they are.
    """
    encoding = np.int64(settings[0]["observation"])
    if settings[0]["check"]:
        refused = first_illegal(states, actions, start, stop)
    else:
        refused = first_outside(states, actions, mask.shape[1], start, stop)
    if refused >= 0:
        return refused
    for index in range(start, stop):
        _step_one(states, index, actions[index], outcomes, finals, template, settings)
        if len(mask) > 0:
            rules.legal_mask(states[index], mask[index])
        if len(observation) > 0:
            rules.observe(states[index], np.int64(states[index]["to_move"]), encoding, observation[index])
    return -1


@kernel
def step_some(
    states: Any,
    games: Any,
    actions: Any,
    outcomes: Any,
    finals: Any,
    template: Any,
    last_call: Any,
    call: int,
    num_actions: int,
    settings: Any,
) -> int:
    """Play actions[k] in the game games[k] (int64 [k]); the other games stay as they are.

    The first k is returned, and nothing has changed, whose game is none or has been met before, or whose action is,
    with `check`, not legal, without it not from 0 to num_actions - 1; otherwise -1. `last_call` int64 [n] holds
    numbers of other calls than this one, `call`.
    """
    for k in range(len(games)):
        game = games[k]
        if game < 0 or game >= len(states) or last_call[game] == call:
            return k
        last_call[game] = call
        if states[game]["status"] != RUNNING:
            continue
        if settings[0]["check"]:
            if not rules.is_legal(states[game], actions[k]):
                return k
        elif actions[k] < 0 or actions[k] >= num_actions:
            return k
    for k in range(len(games)):
        _step_one(states, games[k], actions[k], outcomes, finals, template, settings)
    return -1


@kernel
def _step_one(states: Any, index: int, action: int, outcomes: Any, finals: Any, template: Any, settings: Any) -> None:
    state = states[index]
    outcome = outcomes[index]
    if outcome["done"]:
        outcome["done"] = False
        outcome["truncated"] = False
        for player in range(len(outcome["rewards"])):
            outcome["rewards"][player] = 0.0
    if state["status"] != RUNNING:
        return
    rules.apply(state, action)
    state["ply"] += 1
    if state["status"] == RUNNING:
        return
    outcome["done"] = True
    outcome["truncated"] = state["status"] == TRUNCATED
    rules.result(state, outcome["scores"], outcome["ranks"])
    write_rewards(
        outcome["scores"],
        outcome["ranks"],
        int(state["option_num_players"]),
        settings[0]["rewards"],
        settings[0]["margin_scale"],
        outcome["rewards"],
    )
    finals[index] = state
    if settings[0]["auto_reset"]:
        seed = draw_seed(state["random"])
        states[index] = template[0]
        reset_one(states[index], seed)


@kernel
def apply_one(states: Any, action: int) -> None:
    """Play one legal action in the only game of a batch, and nothing else."""
    rules.apply(states[0], action)
    states[0]["ply"] += 1


@kernel
def play_one(states: Any, action: int, encoding: int, mask: Any, observation: Any) -> int:
    """Play an action in the only game of a batch, which is running; return who moves next, or OVER.

    `mask` int8 [num_actions] and `observation` float32 [size], in the form, are written for the player who moves next.
    An action that is not legal changes nothing, and ILLEGAL is returned.
    """
    state = states[0]
    if not rules.is_legal(state, action):
        return ILLEGAL
    rules.apply(state, action)
    state["ply"] += 1
    rules.legal_mask(state, mask)
    rules.observe(state, np.int64(state["to_move"]), encoding, observation)
    if state["status"] != RUNNING:
        return OVER
    return int(state["to_move"])


@kernel
def write_masks(states: Any, mask: Any, start: int, stop: int) -> None:
    """Write the legal actions of the games start .. stop - 1."""
    for index in range(start, stop):
        rules.legal_mask(states[index], mask[index])


@kernel
def write_observations(states: Any, seats: Any, encoding: int, observation: Any, start: int, stop: int) -> None:
    """Write what a seat of each game sees, in one of the game's forms: seats int64 [n]."""
    for index in range(start, stop):
        rules.observe(states[index], seats[index], encoding, observation[index])


@kernel
def choose_random(states: Any, streams: Any, actions: Any, start: int, stop: int) -> None:
    """Choose a legal action of each game, all equally likely, from its own stream; -1 in a finished game."""
    for index in range(start, stop):
        actions[index] = _random_action(states[index], streams[index])


@kernel
def _random_action(state: Any, stream: Any) -> int:
    count = rules.count_legal(state)
    if count == 0:
        return -1
    return rules.nth_legal(state, draw(stream, count))


@kernel
def play_out(states: Any, streams: Any, max_plies: int, start: int, stop: int) -> int:
    """Play games to their end by random legal actions, at most `max_plies` each; return the decisions made."""
    decisions = 0
    for index in range(start, stop):
        state = states[index]
        plies = 0
        while plies < max_plies and state["status"] == RUNNING:
            # plain Python needs numpy's integers in the rules' bit operations
            action = np.int64(_random_action(state, streams[index]))
            if action < 0:
                # nothing is legal in games that have not begun
                break
            rules.apply(state, action)
            state["ply"] += 1
            plies += 1
        decisions += plies
    return decisions


@kernel
def write_results(states: Any, scores: Any, ranks: Any) -> None:
    """Write scores and places, int32 [n, players], of games as they stand."""
    for index in range(len(states)):
        rules.result(states[index], scores[index], ranks[index])


@kernel
def write_projected_scores(states: Any, scores: Any) -> None:
    """Write what players would have if all that is owed was settled now, int32 [n, players]."""
    for index in range(len(states)):
        greedy.projected_scores(states[index], scores[index])


@kernel
def determinize(states: Any, seats: Any, stream: Any) -> None:
    """Deal anew, in place, whatever a seat of each game cannot see, its future included, from one stream.

    The seed, which tells all that, becomes 0.
    """
    for index in range(len(states)):
        states[index]["seed"] = 0
        renew_stream(states[index]["random"], stream)
        rules.determinize(states[index], seats[index])


@kernel
def write_action_values(states: Any, values: Any, scratch: Any) -> None:
    """Write the heuristic's values of the legal actions of running games, float32 [n, num_actions]; others are -inf.

    `scratch` is int64 [SCRATCH_SIZE], room to work in.
    """
    values[:] = -np.inf
    for index in range(len(states)):
        if states[index]["status"] == RUNNING:
            greedy.action_values(states[index], values[index], scratch)


@kernel
def choose_greedy(states: Any, stream: Any, values: Any, scratch: Any, actions: Any) -> None:
    """Choose the action of the highest value, ties at random.

    `values` float32 [num_actions] and `scratch` int64 [SCRATCH_SIZE] are room to work in.
    """
    for index in range(len(states)):
        if states[index]["status"] != RUNNING:
            actions[index] = -1
            continue
        values[:] = -np.inf
        greedy.action_values(states[index], values, scratch)
        best = -1
        equal = 0
        for action in range(len(values)):
            if not np.isfinite(values[action]):
                continue
            if best < 0 or values[action] > values[best]:
                best = action
                equal = 1
            elif values[action] == values[best]:
                equal += 1
                if draw(stream, equal) == 0:
                    best = action
        actions[index] = best

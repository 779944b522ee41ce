"""Kernels over a batch of games. Arrays have the batch axis first:

| array | dtype, shape | meaning |
|---|---|---|
| `states` | record [n] | the games |
| `actions` | int64 [n] | one action per game |
| `mask` | int8 [n, num_actions] or [0, num_actions] to leave it out | 1 legal, 0 not |
| `observation` | float32 or uint8 [n, observation_size], [0, observation_size] to leave it out | of the seat to move |
| `seats` | int64 [n] | a seat of each game |
"""

from typing import NamedTuple

import numpy as np

from .choice import NO_ACTION, choose_best, choose_uniform
from .compilation import Integer, kernel
from .interface import (
    action_values,
    apply,
    determinize,
    is_legal,
    legal_mask,
    projected_scores,
    reset,
    scores_and_ranks,
)
from .observation import Observer, write_observation
from .random_stream import GAME_STREAM, draw_seed, renew_stream, seed_stream
from .rewards import write_rewards
from .shared_counter import fetch_add, store
from .state import RUNNING, TRUNCATED
from .workspace import Workspace

PURPOSE, COMPILATION_SECONDS = "games", 15

ILLEGAL, OVER = -1, -2

CLOSED = -(2**62)
"""The value of a counter from which no games may be taken yet."""
_GAMES_AT_ONCE = 64


class Games(NamedTuple):
    """The arrays of n games that are stepped in one call."""

    states: np.ndarray
    """record [n]"""
    outcomes: np.ndarray
    """`outcome_dtype` [n], the results of the last step"""
    finals: np.ndarray
    """record [n], the last finished game at each index"""
    template: np.ndarray
    """record [1], zero except for the options; every game starts as a copy of it"""
    settings: np.ndarray
    """`rewards.REWARD_SETTINGS` [1]"""
    mask: np.ndarray
    """int8 [num_actions], a buffer"""
    observer: Observer


@kernel
def reset_games(states: np.ndarray, template: np.ndarray, seeds: np.ndarray, start: int, stop: int) -> None:
    """Set up the games start .. stop - 1 from their seeds, uint64 [n]."""
    for index in range(start, stop):
        states[index] = template[0]
        _reset_one(states[index], seeds[index])


@kernel
def _reset_one(state: np.void, seed: Integer) -> None:
    state["seed"] = seed
    seed_stream(state["random"], seed, GAME_STREAM)
    reset(state)


@kernel
def seed_streams(streams: np.ndarray, seeds: np.ndarray, purpose: int) -> None:
    """Start one stream per seed: streams uint32 [n, 4], seeds uint64 [n]."""
    for index in range(len(seeds)):
        seed_stream(streams[index], seeds[index], purpose)


@kernel
def find_illegal(states: np.ndarray, actions: np.ndarray, mask: np.ndarray, start: int, stop: int) -> int:
    """Return the first running game of start .. stop - 1 whose action is not legal, or -1.

    `mask`, int8 [num_actions], is a buffer.
    """
    for index in range(start, stop):
        if states[index]["status"] == RUNNING and not is_legal(states[index], actions[index], mask):
            return index
    return -1


@kernel
def find_outside(states: np.ndarray, actions: np.ndarray, num_actions: int, start: int, stop: int) -> int:
    """Return the first running game of start .. stop - 1 whose action is not 0 to num_actions - 1, or -1."""
    outside = False
    for index in range(start, stop):
        outside |= (actions[index] < 0) | (actions[index] >= num_actions)
    if outside:
        for index in range(start, stop):
            if states[index]["status"] == RUNNING and (actions[index] < 0 or actions[index] >= num_actions):
                return index
    return -1


@kernel
def step(games: Games, actions: np.ndarray, mask: np.ndarray, observation: np.ndarray, start: int, stop: int) -> int:
    """Play one action in each of the games start .. stop - 1.

    Return the index of the first illegal action, and change nothing; -1 if there is none. Without the setting `check`
    only an action outside 0 .. num_actions - 1 counts as illegal. Finished games stay as they are.
    """
    refused = _find_bad_action(games, actions, start, stop)
    if refused < 0:
        _step_range(games, actions, mask, observation, start, stop)
    return refused


@kernel
def step_with_others(
    games: Games, actions: np.ndarray, mask: np.ndarray, observation: np.ndarray, counter: np.ndarray, leader: bool
) -> int:
    """Play one action in each game together with other threads that call this; only one of them is the leader.

    Each takes the next games from the counter (`shared_counter`), which is CLOSED when they begin. The leader tests the
    actions and opens it; it returns what `step` returns, the others -1.
    """
    num_games = len(games.states)
    if leader:
        refused = _find_bad_action(games, actions, 0, num_games)
        store(counter, 0 if refused < 0 else num_games)
        if refused >= 0:
            return refused
    while fetch_add(counter, 0) < 0:
        pass
    start = fetch_add(counter, _GAMES_AT_ONCE)
    while start < num_games:
        _step_range(games, actions, mask, observation, start, min(start + _GAMES_AT_ONCE, num_games))
        start = fetch_add(counter, _GAMES_AT_ONCE)
    return -1


@kernel
def _find_bad_action(games: Games, actions: np.ndarray, start: int, stop: int) -> int:
    if games.settings[0]["check"]:
        return find_illegal(games.states, actions, games.mask, start, stop)
    return find_outside(games.states, actions, len(games.mask), start, stop)


@kernel
def _step_range(
    games: Games, actions: np.ndarray, mask: np.ndarray, observation: np.ndarray, start: int, stop: int
) -> None:
    states = games.states
    for index in range(start, stop):
        step_game(games, index, actions[index])
        if len(mask) > 0:
            legal_mask(states[index], mask[index])
        if len(observation) > 0:
            write_observation(states[index], states[index]["to_move"], games.observer, observation[index])


@kernel
def step_subset(games: Games, indices: np.ndarray, actions: np.ndarray, last_call: np.ndarray, call: int) -> int:
    """Play actions[k] in the game indices[k], both int64 [k]; the other games stay as they are.

    Return the first k whose index is invalid or repeated, or whose action is illegal (see `step`), and change nothing;
    -1 if there is none. `last_call`, int64 [n], is the number of the last call with each game, `call` that of this one.
    """
    states = games.states
    for k in range(len(indices)):
        index = indices[k]
        if index < 0 or index >= len(states) or last_call[index] == call:
            return k
        last_call[index] = call
        if states[index]["status"] != RUNNING:
            continue
        if games.settings[0]["check"]:
            if not is_legal(states[index], actions[k], games.mask):
                return k
        elif actions[k] < 0 or actions[k] >= len(games.mask):
            return k
    for k in range(len(indices)):
        step_game(games, indices[k], actions[k])
    return -1


@kernel
def step_game(games: Games, index: Integer, action: Integer) -> None:
    """Play a legal action in one game; at its end write the results, and reset it if the settings say so."""
    state = games.states[index]
    outcome = games.outcomes[index]
    if outcome["done"]:
        outcome["done"] = False
        outcome["truncated"] = False
        for player in range(len(outcome["rewards"])):
            outcome["rewards"][player] = 0.0
    if state["status"] != RUNNING:
        return
    apply(state, action)
    state["ply"] += 1
    if state["status"] == RUNNING:
        return
    outcome["done"] = True
    outcome["truncated"] = state["status"] == TRUNCATED
    settings = games.settings[0]
    scores_and_ranks(state, outcome["scores"], outcome["ranks"])
    num_players = int(state["option_num_players"])
    write_rewards(
        outcome["scores"],
        outcome["ranks"],
        num_players,
        settings["rewards"],
        settings["margin_scale"],
        outcome["rewards"],
    )
    games.finals[index] = state
    if settings["auto_reset"]:
        seed = draw_seed(state["random"])
        games.states[index] = games.template[0]
        _reset_one(games.states[index], seed)


@kernel
def apply_one(states: np.ndarray, action: int) -> None:
    """Play one legal action in a batch of one game, and nothing else."""
    apply(states[0], action)
    states[0]["ply"] += 1


@kernel
def step_one(states: np.ndarray, action: int, observer: Observer, mask: np.ndarray, observation: np.ndarray) -> int:
    """Play an action in a batch of one running game; return who moves next, or OVER.

    Write `mask`, int8 [num_actions], and `observation`, float32 or uint8 [observation_size], for whoever moves next.
    If the action is illegal, return ILLEGAL and do not change the game.
    """
    state = states[0]
    if not is_legal(state, action, mask):
        return ILLEGAL
    apply(state, action)
    state["ply"] += 1
    legal_mask(state, mask)
    write_observation(state, state["to_move"], observer, observation)
    if state["status"] != RUNNING:
        return OVER
    return int(state["to_move"])


@kernel
def write_masks(states: np.ndarray, mask: np.ndarray, start: int, stop: int) -> None:
    """Write the legal actions of the games start .. stop - 1."""
    for index in range(start, stop):
        legal_mask(states[index], mask[index])


@kernel
def write_observations(
    states: np.ndarray, seats: np.ndarray, observer: Observer, observation: np.ndarray, start: int, stop: int
) -> None:
    """Write what a seat of each of the games start .. stop - 1 sees."""
    for index in range(start, stop):
        write_observation(states[index], seats[index], observer, observation[index])


@kernel
def choose_random(
    states: np.ndarray, streams: np.ndarray, actions: np.ndarray, mask: np.ndarray, start: int, stop: int
) -> None:
    """Choose a uniformly random legal action of each game, from its own stream; -1 in a finished game.

    `mask`, int8 [num_actions], is a buffer.
    """
    for index in range(start, stop):
        actions[index] = choose_uniform(states[index], streams[index], mask)


@kernel
def play_out(states: np.ndarray, streams: np.ndarray, max_plies: int, mask: np.ndarray, start: int, stop: int) -> int:
    """Play games to their end by random legal actions, at most `max_plies` each; return the decisions made.

    `mask`, int8 [num_actions], is a buffer.
    """
    decisions = 0
    for index in range(start, stop):
        state = states[index]
        plies = 0
        while plies < max_plies and state["status"] == RUNNING:
            action = choose_uniform(state, streams[index], mask)
            if action == NO_ACTION:
                # a game before its first reset has no legal actions
                break
            apply(state, action)
            state["ply"] += 1
            plies += 1
        decisions += plies
    return decisions


@kernel
def write_results(states: np.ndarray, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Write scores and ranks, int32 [n, players], of games as they stand."""
    for index in range(len(states)):
        scores_and_ranks(states[index], scores[index], ranks[index])


@kernel
def write_projected_scores(states: np.ndarray, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Write the scores if each game were scored now, int32 [n, players]; `ranks`, int32 [players], is a buffer."""
    for index in range(len(states)):
        projected_scores(states[index], scores[index], ranks)


@kernel
def determinize_games(states: np.ndarray, seats: np.ndarray, stream: np.ndarray) -> None:
    """Resample, in place, everything that a seat of each game cannot see, future chance included, from one stream.

    The seed, which would reveal all of it, becomes 0.
    """
    for index in range(len(states)):
        states[index]["seed"] = 0
        renew_stream(states[index]["random"], stream)
        determinize(states[index], seats[index])


@kernel
def write_action_values(states: np.ndarray, values: np.ndarray, scratch: np.ndarray) -> None:
    """Write the heuristic's values of legal actions in running games, float32 [n, num_actions]; all others are -inf.

    `scratch` is int64 [SCRATCH_SIZE], a buffer.
    """
    values[:] = -np.inf
    for index in range(len(states)):
        if states[index]["status"] == RUNNING:
            action_values(states[index], values[index], scratch)


@kernel
def choose_greedy(states: np.ndarray, stream: np.ndarray, actions: np.ndarray, workspace: Workspace) -> None:
    """Choose the action with the highest heuristic value, ties broken at random; -1 in a finished game."""
    values = workspace.values
    for index in range(len(states)):
        if states[index]["status"] != RUNNING:
            actions[index] = NO_ACTION
            continue
        values[:] = -np.inf
        action_values(states[index], values, workspace.scratch)
        actions[index] = choose_best(values, stream)

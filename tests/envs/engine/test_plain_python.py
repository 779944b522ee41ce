"""Every public method of games, batches and decisions without compilation, with the results of compiled ones."""

import os
import subprocess
import sys

_PROGRAM = """
import hashlib, json, pickle, tempfile, warnings
import numpy as np
from pathlib import Path

warnings.simplefilter("error")
from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.envs import Game, GameBatch, game_names, make_game

tried = {"Game": set(), "GameBatch": set(), "DecisionBatch": set()}


def call(thing, name, *arguments, **named):
    tried[type(thing).__name__].add(name)
    member = getattr(thing, name)
    return member(*arguments, **named) if callable(member) else member


def note(seen, *values):
    for value in values:
        if isinstance(value, np.ndarray | np.void):
            seen.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, tuple):
            note(seen, *value)
        else:
            seen.update(json.dumps(value).encode())


def play_single(game, seen):
    state = call(game, "new", 5)
    for ply in range(6):
        seat = int(state["to_move"])
        note(seen, *(call(game, name, state) for name in ("mask", "is_over", "legal_moves", "result", "position")))
        note(seen, call(game, "observe", state, seat), state.dtype.itemsize)
        call(game, "check_states", np.array([state]))
        moves = call(game, "legal_moves", state)
        action = call(game, "action", moves[-1], state)
        assert call(game, "move", action, state) == moves[-1]
        if ply % 3 == 0:
            call(game, "play_action", state, action)
        elif ply % 3 == 1:
            # one that owns its memory
            state = pickle.loads(pickle.dumps(state))
            call(game, "play", state, moves[-1])
        else:
            call(game, "play_action", state, np.int32(action))
            state = call(game, "from_position", call(game, "position", state), 3)
    note(seen, call(game, "find_illegal", np.array([state]), np.array([-1])))
    call(game, "play_action", call(game, "new", 1), np.flatnonzero(game.mask(game.new(1)))[0])
    note(seen, state, call(game, "margins", np.array([state])), call(game, "projected_margins", np.array([state])))
    note(seen, call(game, "with_encoding", "compact").name, call(game, "num_actions"), call(game, "layout_index"))
    note(seen, call(call(game, "with_encoding", "compact"), "observe", state, 0))


def play_batch(game, seen, threads):
    batch = GameBatch(game, 3, rewards="margin", threads=threads)
    call(batch, "reset", 4)
    mask, observation = call(batch, "mask"), call(batch, "observe")
    for ply in range(8):
        actions = call(batch, "random_actions")
        call(batch, "step", actions, check=ply % 2 == 0, mask=mask, observation=observation)
        note(seen, mask, observation, actions, *(call(batch, name) for name in ("rewards", "done", "truncated")))
    call(batch, "step_subset", np.array([2, 0]), call(batch, "random_actions")[[2, 0]])
    call(batch, "step_subset", np.array([1]), call(batch, "random_actions")[1:2], check=False)
    # an untested one, illegal where there are such
    call(batch, "step", np.full(3, int(mask[0].argmin())), check=False)
    call(batch, "reset", np.array([4, 5, 6]))
    for _ in range(4):
        call(batch, "step", call(batch, "random_actions"))
    clone = call(batch, "clone")
    note(seen, call(clone, "play_out", 9), call(clone, "results"), clone.states)
    call(clone, "set_state", call(batch, "get_state"))
    with tempfile.TemporaryDirectory() as folder:
        call(clone, "save", Path(folder) / "games.npz")
        tried["GameBatch"].add("load")
        loaded = GameBatch.load(Path(folder) / "games.npz")
    assert loaded.states.tobytes() == batch.states.tobytes()
    for name in ("states", "finals", "outcomes", "to_move"):
        note(seen, call(loaded, name))
    call(loaded, "settings")
    return loaded


def decide(game, states, seen):
    decisions = DecisionBatch(game, states)
    for name in ("mask", "observation", "margins", "projected_margins", "action_values"):
        note(seen, call(decisions, name))
    note(seen, call(decisions, "observed_as", None), call(decisions, "determinize", np.array([1, 2, 3, 4], np.uint32)))
    for agent in ("random", "greedy", "mcts:sims=2"):
        note(seen, make_agent(agent, game, 1).act(decisions))


for name in game_names():
    game, seen = make_game(name), hashlib.sha256()
    play_single(game, seen)
    for threads in (1, 2):
        batch = play_batch(game, seen, threads)
    decide(game, batch.states, seen)
    over = GameBatch(make_game(name), 1, auto_reset=False)
    over.reset(1)
    note(seen, over.play_out(20), over.states)
    print(name, seen.hexdigest())
for kind in (Game, GameBatch, DecisionBatch):
    public = {name for name in vars(kind) if not name.startswith("_") and name not in {"spec", "options"}}
    print(kind.__name__, "left out:", *sorted(public - tried[kind.__name__]))
"""


def test_every_public_method_works_without_compilation() -> None:
    outputs = []
    for disabled in ("1", "0"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        run = subprocess.run(
            [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1]
    # what is left out runs no kernel
    assert outputs[0].splitlines()[-3:] == [
        "Game left out: door layout make_observer make_workspace name num_players observation_dtype observation_fields "
        "observation_ranges observation_scales observation_size template",
        "GameBatch left out: kernel_games raise_illegal",
        "DecisionBatch left out: game_indices plies",
    ]

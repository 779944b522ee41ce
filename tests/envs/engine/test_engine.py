"""The engine: seeds, streams, batches, threads, saving, rewards, refusals."""

import copy
import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from every_game import player_counts

from meeplezoo.envs import Game, GameBatch, IllegalMove, game_names, make_game
from meeplezoo.envs.engine.batch import determinize_games
from meeplezoo.envs.engine.random_stream import MAX_SEED, draw, game_seeds, next_word, seed_stream
from meeplezoo.envs.engine.rewards import MARGIN, OUTCOME, RANK, write_rewards
from meeplezoo.envs.game import as_batch
from meeplezoo.envs.registry import describe

GAMES = [make_game(name, num_players=players) for name in game_names() for players in player_counts(name)]


def game_id(game: Game) -> str:
    return f"{game.name}-{game.num_players}p"


def played(batch: GameBatch, steps: int, seed: int = 5) -> GameBatch:
    batch.reset(seed)
    for _ in range(steps):
        batch.step(batch.random_actions())
    return batch


def python_words(seed: int, count: int) -> list[int]:
    """sfc32 in plain integers, from its published definition."""
    a, b, c, counter = seed & 0xFFFFFFFF, seed >> 32, 0, 1
    words = []
    for _ in range(15 + count):
        word = (a + b + counter) & 0xFFFFFFFF
        counter = (counter + 1) & 0xFFFFFFFF
        a = b ^ (b >> 9)
        b = (c + (c << 3)) & 0xFFFFFFFF
        c = (((c << 21) | (c >> 11)) & 0xFFFFFFFF) + word & 0xFFFFFFFF
        words.append(word)
    return words[15:]


@pytest.mark.parametrize("seed", [0, 1, 2**32 + 17, MAX_SEED])
def test_stream_is_sfc32(seed: int) -> None:
    stream = np.zeros(4, np.uint32)
    seed_stream(stream, np.uint64(seed), 0)
    assert [int(next_word(stream)) for _ in range(50)] == python_words(seed, 50)


def test_stream_keeps_its_words_for_ever() -> None:
    stream = np.zeros(4, np.uint32)
    seed_stream(stream, np.uint64(7), 0)
    assert [int(next_word(stream)) for _ in range(3)] == [4196707356, 3891143111, 2994695642]


def test_draws_are_uniform() -> None:
    stream = np.zeros(4, np.uint32)
    seed_stream(stream, np.uint64(7), 0)
    counts = np.bincount([draw(stream, 7) for _ in range(70_000)], minlength=7)
    assert len(counts) == 7
    # chi-square with 6 degrees of freedom: 22.46 is exceeded once in a thousand
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 22.46


def test_seeds_of_a_batch_are_distinct_and_begin_with_its_own() -> None:
    seeds = game_seeds(12, 100_000)
    assert seeds[0] == 12
    assert len(np.unique(seeds)) == 100_000
    assert seeds.max() <= MAX_SEED
    assert not np.isin(game_seeds(13, 100_000), seeds).any()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_game_of_a_seed_is_the_same_at_any_batch_size_and_thread_count(game: Game) -> None:
    steps = 150
    large = played(GameBatch(game, 40), steps)
    small = played(GameBatch(game, 3), steps)
    threaded = played(GameBatch(game, 40, threads=3), steps)
    assert large.states[:3].tobytes() == small.states.tobytes()
    assert large.states.tobytes() == threaded.states.tobytes()
    assert large.outcomes.tobytes() == threaded.outcomes.tobytes()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_every_game_is_reproduced_alone_by_the_seed_in_its_state(game: Game) -> None:
    batch = GameBatch(game, 8, auto_reset=False)
    batch.reset(3)
    first = batch.states.copy()
    moves: list[list[int]] = [[] for _ in range(8)]
    while len(moves[0]) < 30 and not batch.states["status"].any():
        actions = batch.random_actions()
        for place, action in enumerate(actions):
            moves[place].append(int(action))
        batch.step(actions)
    for place in range(8):
        state = game.new(seed=int(first["seed"][place]))
        assert state.tobytes() == first[place].tobytes()
        for action in moves[place]:
            game.play_action(state, action)
        assert state.tobytes() == batch.states[place].tobytes()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_game_after_an_automatic_reset_is_that_of_its_new_seed(game: Game) -> None:
    batch = GameBatch(game, 16)
    batch.reset(9)
    ended = 0
    while ended < 16:
        batch.step(batch.random_actions())
        for place in np.flatnonzero(batch.done):
            state = batch.states[place]
            assert state.tobytes() == game.new(int(state["seed"])).tobytes()
            assert state["ply"] == 0
            assert batch.finals["status"][place] > 0
            assert state["seed"] != batch.finals["seed"][place]
            ended += 1


def test_reset_takes_one_seed_per_game() -> None:
    game = GAMES[0]
    batch = GameBatch(game, 3)
    batch.reset(np.array([4, 4, 9]))
    assert batch.states[0].tobytes() == batch.states[1].tobytes() == game.new(4).tobytes()
    assert batch.states[2].tobytes() == game.new(9).tobytes()
    with pytest.raises(ValueError, match=r"one integer, or 3 of them; they must have the shape \(3,\), not \(2,\)"):
        batch.reset(np.array([1, 2]))
    for seed in (-1, 2**53, 1.5, "7", True):
        with pytest.raises(ValueError, match=r"seed must be (one|an) integer"):
            batch.reset(seed)  # type: ignore[arg-type]


def test_reset_without_a_seed_differs_each_time() -> None:
    batch = GameBatch(GAMES[0], 2)
    batch.reset()
    first = batch.states["seed"].copy()
    batch.reset()
    assert (batch.states["seed"] != first).all()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
@pytest.mark.parametrize("threads", [1, 2])
def test_illegal_action_is_refused_before_anything_changes(game: Game, threads: int) -> None:
    batch = played(GameBatch(game, 6, threads=threads), 20)
    actions = batch.random_actions()
    mask = batch.mask()
    before = batch.states.tobytes()
    for wrong in (*np.flatnonzero(mask[4] == 0)[:1].tolist(), -1, game.num_actions, 2**40):
        refused = actions.copy()
        refused[4] = wrong
        with pytest.raises(IllegalMove, match=f"game 4 of the batch: {game.name}: action {wrong}") as caught:
            batch.step(refused)
        assert batch.states.tobytes() == before
        if 0 <= wrong < game.num_actions:
            assert str(game.move(wrong, batch.states[4])) in str(caught.value)
    batch.step(actions)
    assert batch.states.tobytes() != before


def test_actions_of_wrong_shape_or_type_are_refused() -> None:
    batch = GameBatch(GAMES[0], 3)
    batch.reset(1)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        batch.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="integers"):
        batch.step(np.zeros(3))
    actions = batch.random_actions().astype(np.int32)
    batch.step(actions)
    assert (batch.states["ply"] == 1).all()


def test_outputs_of_wrong_shape_or_type_are_refused() -> None:
    game = GAMES[0]
    batch = GameBatch(game, 3)
    batch.reset(1)
    actions = batch.random_actions()
    before = batch.states.tobytes()
    masks = [np.empty((2, game.num_actions), np.int8), np.empty((3, game.num_actions), bool)]
    for mask in [*masks, np.empty((3, 2 * game.num_actions), np.int8)[:, ::2]]:
        with pytest.raises(ValueError, match="mask must be a C-contiguous int8 array"):
            batch.step(actions, mask=mask)
        with pytest.raises(ValueError, match="out must be a C-contiguous int8 array"):
            batch.mask(out=mask)
    for size in (game.observation_size - 1, game.observation_size + 1):
        with pytest.raises(ValueError, match="observation must be a C-contiguous float32 array"):
            batch.step(actions, observation=np.empty((3, size), np.float32))
        with pytest.raises(ValueError, match="out must be a C-contiguous float32 array"):
            batch.observe(out=np.empty((3, size), np.float32))
    with pytest.raises(ValueError, match="out must be a C-contiguous int64 array"):
        batch.random_actions(out=np.empty(3, np.int32))
    with pytest.raises(ValueError, match="seats must be from 0 to 1, not 2"):
        batch.observe(seats=2)
    assert batch.states.tobytes() == before


def test_unchecked_steps_play_the_same_games() -> None:
    checked, unchecked = GameBatch(GAMES[0], 5), GameBatch(GAMES[0], 5)
    checked.reset(2)
    unchecked.reset(2)
    for _ in range(100):
        actions = checked.random_actions()
        checked.step(actions)
        unchecked.step(actions, check=False)
    assert checked.states.tobytes() == unchecked.states.tobytes()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_step_writes_the_masks_and_observations_that_the_batch_returns(game: Game) -> None:
    batch = GameBatch(game, 7)
    batch.reset(1)
    mask, observation = batch.mask(), batch.observe()
    for _ in range(150):
        batch.step(batch.random_actions(), mask=mask, observation=observation)
        assert (mask == batch.mask()).all()
        assert (observation == batch.observe()).all()
        assert mask.any(axis=1).all()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_random_choice_is_uniform_over_the_legal_actions(game: Game) -> None:
    state = game.new(seed=11)
    for _ in range(7):
        game.play(state, game.legal_moves(state)[0])
    batch = GameBatch(game, 40_000)
    batch.reset(4)
    batch.states[:] = state
    legal = np.flatnonzero(game.mask(state))
    counts = np.bincount(batch.random_actions(), minlength=game.num_actions)
    assert counts.sum() == counts[legal].sum()
    expected = 40_000 / len(legal)
    # the sum of squared deviations over its expectation has mean len - 1 and variance 2 (len - 1)
    chi_square = ((counts[legal] - expected) ** 2 / expected).sum()
    assert abs(chi_square - len(legal) + 1) < 4 * np.sqrt(2 * len(legal))


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_games_stay_finished_without_auto_reset(game: Game) -> None:
    batch = GameBatch(game, 5, auto_reset=False)
    batch.reset(1)
    decisions = batch.play_out()
    assert decisions == batch.states["ply"].sum()
    assert (batch.states["status"] > 0).all()
    assert not batch.mask().any()
    assert (batch.random_actions() == -1).all()
    before = batch.states.tobytes()
    batch.step(np.zeros(5, np.int64))
    assert batch.states.tobytes() == before
    assert not batch.done.any()


def test_play_out_stops_at_its_limit() -> None:
    batch = GameBatch(GAMES[0], 5, auto_reset=False)
    batch.reset(1)
    assert batch.play_out(max_plies=7) == 35
    assert (batch.states["ply"] == 7).all()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
@pytest.mark.parametrize("rewards", ["outcome", "margin", "rank"])
def test_rewards_come_with_the_end_and_follow_the_result(game: Game, rewards: str) -> None:
    batch = GameBatch(game, 64, rewards=rewards)
    batch.reset(1)
    games = 0
    while games < 200:
        batch.step(batch.random_actions())
        assert (batch.rewards[~batch.done] == 0).all()
        for place in np.flatnonzero(batch.done):
            games += 1
            result = game.result(batch.finals[place])
            assert bool(batch.truncated[place]) == result["truncated"]
            given = batch.rewards[place]
            scores = np.array(result["scores"])
            winners = result["winners"]
            if rewards == "margin":
                best_other = [max(np.delete(scores, player), default=0) for player in range(game.num_players)]
                assert given == pytest.approx((scores - best_other) / game.spec.margin_scale, abs=1e-6)
            elif game.num_players == 1:
                assert given == (1 if winners else -1)
            elif rewards == "outcome":
                expected = np.zeros(game.num_players)
                for winner in winners:
                    expected += np.where(np.arange(game.num_players) == winner, 1, -1 / (game.num_players - 1))
                assert given == pytest.approx(expected / len(winners), abs=1e-6)
            else:
                assert given.sum() == pytest.approx(0, abs=1e-6)
                assert set(np.flatnonzero(given == given.max())) == set(winners)


@pytest.mark.parametrize(
    ("kind", "scores", "ranks", "expected"),
    [
        (OUTCOME, [9, 5], [0, 1], [1, -1]),
        (OUTCOME, [5, 5], [0, 0], [0, 0]),
        (OUTCOME, [5, 9, 9], [2, 0, 0], [-0.5, 0.25, 0.25]),
        (OUTCOME, [1, 9, 5, 3], [3, 0, 1, 2], [-1 / 3, 1, -1 / 3, -1 / 3]),
        (OUTCOME, [9, 9, 9, 3], [0, 0, 0, 3], [1 / 9, 1 / 9, 1 / 9, -1 / 3]),
        (MARGIN, [30, 20], [0, 1], [0.2, -0.2]),
        (MARGIN, [30, 20, 5], [0, 1, 2], [0.2, -0.2, -0.5]),
        (RANK, [30, 20, 5], [0, 1, 2], [1, 0, -1]),
        (RANK, [30, 5, 5, 1], [0, 1, 1, 3], [1, 0, 0, -1]),
        (RANK, [30, 30, 5, 1], [0, 0, 2, 3], [2 / 3, 2 / 3, -1 / 3, -1]),
    ],
)
def test_rewards_of_given_results(kind: int, scores: list[int], ranks: list[int], expected: list[float]) -> None:
    rewards = np.zeros(4, np.float32)
    write_rewards(np.array(scores, np.int32), np.array(ranks, np.int32), len(scores), kind, 50.0, rewards)
    assert rewards[: len(scores)] == pytest.approx(expected, abs=1e-6)


def test_clone_copy_and_pickle_have_the_same_future_and_share_nothing() -> None:
    batch = played(GameBatch(GAMES[0], 6, threads=2, rewards="rank"), 40)
    clones = [batch.clone(), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    before = batch.states.tobytes()
    for clone in clones:
        for _ in range(80):
            clone.step(clone.random_actions())
    assert batch.states.tobytes() == before
    for _ in range(80):
        batch.step(batch.random_actions())
    for clone in clones:
        assert clone.states.tobytes() == batch.states.tobytes()
        assert clone.outcomes.tobytes() == batch.outcomes.tobytes()


def test_saved_batch_goes_on_alike(tmp_path: Path) -> None:
    batch = played(GameBatch(make_game("azul", wall="grey"), 6, rewards="margin", auto_reset=False), 40)
    path = tmp_path / "games.npz"
    batch.save(path)
    loaded = GameBatch.load(path)
    assert loaded.game == batch.game
    for _ in range(200):
        loaded.step(loaded.random_actions())
        batch.step(batch.random_actions())
        assert loaded.states.tobytes() == batch.states.tobytes()
        assert (loaded.rewards == batch.rewards).all()
    assert (loaded.states["status"] > 0).all()
    assert sorted(os.listdir(tmp_path)) == ["games.npz"]


def test_other_files_are_not_taken_for_a_saved_batch(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", states=np.zeros(3))
    with pytest.raises(ValueError, match=r"other\.npz is no file of GameBatch\.save"):
        GameBatch.load(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_games": 0}, "num_games must be from 1 to 1048576, not 0"),
        ({"num_games": 1, "threads": 0}, "threads must be from 1 to 1024, not 0"),
        ({"num_games": 1, "rewards": "points"}, "outcome, margin, rank"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameBatch(GAMES[0], **arguments)


def test_unknown_games_and_options_are_refused_with_the_valid_ones() -> None:
    with pytest.raises(ValueError, match=r"no game 'chess'; the games are .*azul"):
        make_game("chess")
    for name in game_names():
        with pytest.raises(ValueError, match=r"no option 'size'; it has num_players"):
            make_game(name, size=3)
        few, many = min(player_counts(name)), max(player_counts(name))
        for players in (few - 1, many + 1, str(few), True, float(few)):
            with pytest.raises(ValueError, match=f"num_players must be one of the integers from {few} to {many}"):
                make_game(name, num_players=players)


def test_the_numbers_of_players_are_those_of_the_option() -> None:
    for name in game_names():
        spec = describe(name)
        (option,) = (one for one in spec.options if one.name == "num_players")
        assert list(spec.player_counts) == list(range(option.low, option.high + 1))
        assert spec.most_players == option.high
        assert spec.default_players == make_game(name).num_players


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_every_action_decodes_to_one_move_and_back(game: Game) -> None:
    moves = [game.move(action) for action in range(game.num_actions)]
    assert [game.action(move) for move in moves] == list(range(game.num_actions))
    for action in (-1, game.num_actions):
        with pytest.raises(ValueError, match=f"actions 0 to {game.num_actions - 1}"):
            game.move(action)


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_observation_and_mask_hide_what_the_seat_cannot_see(game: Game) -> None:
    batch = played(GameBatch(game, 50), 33)
    seats = batch.to_move.astype(np.int64)
    stream = np.array([1, 2, 3, 4], np.uint32)
    determinized = batch.states.copy()
    determinize_games(determinized, seats, stream)
    other = batch.clone()
    other.states[:] = determinized
    assert (batch.observe(seats) == other.observe(seats)).all()
    assert (batch.mask() == other.mask()).all()
    assert (batch.states["random"] != other.states["random"]).any(axis=1).all()
    batch.play_out(60)
    other.play_out(60)
    assert (other.states["seed"] == 0).all()
    assert batch.states.tobytes() != other.states.tobytes()


def test_games_play_in_plain_python() -> None:
    """Without compilation the same seed gives the same games, and nothing overflows."""
    program = """
import sys, warnings
import numpy as np
warnings.simplefilter("error")
from meeplezoo.envs import GameBatch, game_names, make_game
from meeplezoo.envs.registry import describe
for name in game_names():
    counts = describe(name).player_counts
    for players in {counts[0], counts[-1]}:
        for option in [o for o in make_game(name).spec.options if hasattr(o, "choices")]:
            for choice in option.choices:
                game = make_game(name, num_players=players, **{option.name: choice})
                batch = GameBatch(game, 2, auto_reset=False)
                batch.reset(8)
                while not (batch.states["status"] > 0).all():
                    batch.step(batch.random_actions(), mask=batch.mask(), observation=batch.observe())
                import hashlib
                print(name, players, choice, hashlib.sha256(batch.states.tobytes()).hexdigest())
"""
    outputs = []
    for disabled in ("1", "0"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1]
    assert "azul 4 grey" in outputs[0]


_SINGLE_GAMES = """
import hashlib, json, pickle, warnings
import numpy as np
warnings.simplefilter("error")
from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.envs import game_names, make_game
from meeplezoo.envs.engine.batch import determinize_games
from meeplezoo.envs.game import as_batch
from meeplezoo.envs.registry import describe
for name in game_names():
    game = make_game(name, num_players=describe(name).most_players)
    random, stream = make_agent("random", game, 1), np.array([1, 2, 3, 4], np.uint32)
    state, seen = game.new(3), hashlib.sha256()
    while not game.is_over(state):
        seat = int(state["to_move"])
        seen.update(game.mask(state).tobytes() + game.observe(state, seat).tobytes())
        seen.update(json.dumps([game.position(state), game.legal_moves(state), game.result(state)]).encode())
        if state["ply"] % 16 == 5:
            # a copy that owns its memory, and a game read from its position
            state = pickle.loads(pickle.dumps(state))
            seen.update(game.from_position(game.position(state), 5).tobytes())
            determinize_games(as_batch(state), np.array([seat]), stream)
        decisions = DecisionBatch(game, as_batch(state))
        seen.update(decisions.projected_margins.tobytes())
        action = int(random.act(decisions)[0])
        if state["ply"] % 2:
            game.play_action(state, action)
        else:
            game.play(state, game.move(action, state))
    seen.update(json.dumps([game.position(state), game.result(state)]).encode())
    print(name, state["ply"], seen.hexdigest())
"""


def test_single_games_play_in_plain_python() -> None:
    outputs = []
    for disabled in ("1", "0"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        run = subprocess.run(
            [sys.executable, "-c", _SINGLE_GAMES], env=environment, capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1]
    assert [line.split()[0] for line in outputs[0].splitlines()] == list(game_names())


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_settled_margins_of_an_ended_game_are_its_margins(game: Game) -> None:
    batch = GameBatch(game, 20, auto_reset=False)
    batch.reset(6)
    batch.play_out()
    margins = game.margins(batch.states)
    assert margins.any()
    np.testing.assert_array_equal(game.projected_margins(batch.states), margins)


@pytest.mark.parametrize("owned", [False, True])
def test_a_record_as_a_batch_is_the_record(owned: bool) -> None:
    game = make_game("azul")
    state = game.new(3)
    if owned:
        state = pickle.loads(pickle.dumps(state))
    as_batch(state)["round"] = 7
    assert state["round"] == 7
    action = int(np.flatnonzero(game.mask(state))[0])
    game.play_action(state, action)
    assert state["ply"] == 1
    assert game.mask(state)[action] == 0
    batch = as_batch(state)
    seat = int(state["to_move"])
    del state
    gc.collect()
    assert batch["to_move"] == seat


def test_second_start_finds_the_compiled_kernels(tmp_path: Path) -> None:
    program = (
        "from meeplezoo.envs import GameBatch, make_game\n"
        "b = GameBatch(make_game('azul'), 1); b.reset(1); b.step(b.random_actions(), mask=b.mask())"
    )
    environment = {**os.environ, "MEEPLEZOO_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    assert runs[0].stderr.count("\n") == 1
    assert "compiling" in runs[0].stderr
    assert runs[1].stderr == ""

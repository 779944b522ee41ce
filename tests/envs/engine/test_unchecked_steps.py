"""Steps without a check of legality: nothing but the game itself is ever written to, whatever is played in it."""

from itertools import product

import numpy as np
import pytest

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.streams import agent_stream
from meeplezoo.envs import Game, GameBatch, IllegalMove, game_names, make_game
from meeplezoo.envs.engine.batch import apply_one
from meeplezoo.envs.registry import BUILT_IN, describe

NAMES = game_names()


def games_of(name: str) -> list[Game]:
    """Return the game in all numbers of players and all values of its options of words."""
    spec = describe(name)
    words = [option for option in spec.options if hasattr(option, "choices")]
    names = [word.name for word in words]
    return [
        make_game(name, num_players=players, **dict(zip(names, choices, strict=True)))
        for players in spec.player_counts
        for choices in product(*(word.choices for word in words))
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("outputs", [False, True])
def test_actions_of_no_game_are_refused_before_anything_changes(name: str, threads: int, outputs: bool) -> None:
    game = make_game(name)
    batch = GameBatch(game, 6, threads=threads)
    batch.reset(1)
    for _ in range(30):
        batch.step(batch.random_actions())
    actions = batch.random_actions()
    written = {"mask": batch.mask(), "observation": batch.observe()} if outputs else {}
    before = [array.tobytes() for array in (batch.states, batch.outcomes, batch.finals, *written.values())]
    for wrong in (-1, game.num_actions, 2363, 2**40, -(2**63), 2**63 - 1):
        refused = actions.copy()
        refused[3] = wrong if wrong >= game.num_actions or wrong < 0 else game.num_actions
        with pytest.raises(IllegalMove, match=f"game 3 of the batch: {name}: action {refused[3]} is illegal: the acti"):
            batch.step(refused, check=False, **written)
        with pytest.raises(IllegalMove, match=f"game 3 of the batch: {name}: action {refused[3]} is illegal: the acti"):
            batch.step_subset(np.arange(6), refused, check=False)
        assert [array.tobytes() for array in (batch.states, batch.outcomes, batch.finals, *written.values())] == before
    batch.step(actions, check=False, **written)
    assert (batch.states["ply"] > 0).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_finished_games_ignore_any_action(name: str, check: bool, threads: int) -> None:
    batch = GameBatch(make_game(name), 4, auto_reset=False, threads=threads)
    batch.reset(1)
    batch.play_out()
    before = batch.states.tobytes()
    for actions in (batch.random_actions(), np.array([-1, 10**9, -(2**63), 2**63 - 1])):
        batch.step(actions, check=check)
        batch.step_subset(np.arange(4), actions, check=check)
    assert batch.states.tobytes() == before


@pytest.mark.parametrize("name", NAMES)
def test_illegal_actions_change_no_other_game_and_no_option(name: str) -> None:
    """Actions of the game at random, legal or not, in every other one of nine games; then all that kernels do there."""
    random = np.random.default_rng(5)
    for index, game in enumerate(games_of(name)):
        batch = GameBatch(game, 9, auto_reset=index % 2 == 0)
        batch.reset(index)
        for _ in range(random.integers(60)):
            batch.step(batch.random_actions())
        played, others = np.arange(1, 9, 2), np.arange(0, 9, 2)
        before = batch.states[others].tobytes(), batch.finals[others].tobytes()
        room = np.full((3, 9, game.num_actions), 7, np.int8)
        seen = np.full((3, 9, game.observation_size), 7, np.float32)
        legal_share = random.random()
        greedy = make_agent("greedy", game, 1)
        for _ in range(60):
            actions = random.integers(0, game.num_actions, 4)
            # the low ones too, of which some games have few among many
            actions = np.where(random.random(4) < 0.5, actions, random.integers(0, min(80, game.num_actions), 4))
            legal = batch.random_actions()[played]
            actions = np.where((random.random(4) < legal_share) & (legal >= 0), legal, actions)
            batch.step_subset(played, actions, check=False)
            batch.mask(out=room[1])
            batch.observe(int(random.integers(game.num_players)), out=seen[1])
        batch.results()
        running = batch.states[batch.states["status"] == 0]
        decisions = DecisionBatch(game, running)
        decisions.determinize(agent_stream(index))
        assert np.isfinite(decisions.action_values).all()
        assert np.isfinite(decisions.projected_margins).all()
        greedy.act(decisions)
        assert (batch.states[others].tobytes(), batch.finals[others].tobytes()) == before
        for option, value in game.options.items():
            assert (batch.states[f"option_{option}"] == game.template[f"option_{option}"][0]).all(), value
        # outputs on both sides are untouched
        assert (room[[0, 2]] == 7).all()
        assert (seen[[0, 2]] == 7).all()
        # and it can be played on, in one way or another
        batch.play_out(50)
        batch.reset(3)
        game.check_states(batch.states)


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_integer_makes_a_game_write_outside_its_record(name: str) -> None:
    """What even unchecked steps refuse: kernels play such actions in no way either."""
    random = np.random.default_rng(6)
    for game in games_of(name):
        batch = GameBatch(game, 3)
        batch.reset(2)
        before = batch.states[[0, 2]].tobytes()
        for _ in range(40):
            batch.step_subset(np.array([1]), batch.random_actions()[1:2])
            for action in (-1, -2, game.num_actions, -(2**63), 2**62, *random.integers(-(2**14), 2**14, 5).tolist()):
                state = batch.states[1:2].copy()
                around = np.concatenate([batch.states[:1], state, batch.states[2:]])
                if not 0 <= action < game.num_actions:
                    apply_one(around[1:2], np.int64(action))
                    assert around[[0, 2]].tobytes() == before
                    around["ply"][1] -= 1
                    assert around[1:2].tobytes() == state.tobytes()

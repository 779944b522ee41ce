"""What agents are handed: nothing in it is a function of what their seat cannot see."""

import numpy as np
import pytest

from meeplezoo.agents import DecisionBatch
from meeplezoo.agents.streams import agent_stream
from meeplezoo.envs import GameBatch, game_names, make_game
from meeplezoo.envs.engine.random_stream import MAX_SEED
from meeplezoo.envs.engine.state import RUNNING
from meeplezoo.envs.registry import describe

CASES = [(name, players) for name in game_names() for players in describe(name).player_counts]


@pytest.mark.parametrize(("name", "players"), CASES)
def test_states_that_look_alike_to_a_seat_are_dealt_anew_to_the_same_bytes(name: str, players: int) -> None:
    game = make_game(name, num_players=players)
    batch = GameBatch(game, 30)
    batch.reset(3)
    random = np.random.default_rng(4)
    hidden = 0
    for plies in (0, 1, 2, 13, 40):
        for _ in range(plies):
            batch.step(batch.random_actions())
        states = batch.states.copy()
        decisions = DecisionBatch(game, states)
        # other seeds, other streams, and other tiles wherever the seat does not see them
        other = decisions.determinize(agent_stream(99))
        other["seed"] = random.integers(0, MAX_SEED, len(other))
        alike = DecisionBatch(game, other)
        assert (alike.observation == decisions.observation).all()
        hidden += other.tobytes() != states.tobytes()
        dealt, dealt_alike = decisions.determinize(agent_stream(5)), alike.determinize(agent_stream(5))
        assert dealt.tobytes() == dealt_alike.tobytes()
        assert not dealt["seed"].any()
        assert dealt.tobytes() != decisions.determinize(agent_stream(6)).tobytes()
        # and the true ones are as they were
        assert states.tobytes() == batch.states.tobytes()
    assert hidden


@pytest.mark.parametrize(("name", "players"), CASES)
def test_redealt_states_are_states_of_the_game_and_play_on(name: str, players: int) -> None:
    game = make_game(name, num_players=players)
    batch = GameBatch(game, 10, auto_reset=False)
    batch.reset(3)
    batch.play_out(17)
    running = batch.states[batch.states["status"] == RUNNING]
    assert len(running) > 2
    dealt = DecisionBatch(game, running).determinize(agent_stream(1))
    game.check_states(dealt)
    own = GameBatch(game, len(running))
    own.reset(1)
    own.set_state({"states": dealt.view(np.uint8)})
    ended = np.zeros(len(running), np.bool_)
    while not ended.all():
        own.step(own.random_actions())
        ended |= own.done
    # the games that follow are drawn from the new streams, all different
    assert len(np.unique(own.states["seed"])) == len(running)

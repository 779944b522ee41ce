"""Opponents that play inside the kernel, against a plain loop over single games with the same streams."""

import copy

import numpy as np
import pytest

from meeplezoo.agents import make_agent
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.engine.batch import write_action_values
from meeplezoo.envs.engine.choice import choose_best
from meeplezoo.envs.engine.dispatch import kernels_of
from meeplezoo.envs.engine.learners import OPPONENT_STREAM, random_seat
from meeplezoo.envs.engine.random_stream import draw, draw_seed, seed_stream
from meeplezoo.envs.interfaces.decision_batch import DecisionBatch
from meeplezoo.envs.interfaces.opponent_batch import OpponentBatch
from tests.every_game import NAMES, TABLES, quick

GAMES = 5
SEATS = ("random", "rotate", 0)


def action_of(name, game, state, stream):
    """Return what the agent of a name plays."""
    if name == "random":
        mask = game.mask(state)
        n = int(draw(stream, np.count_nonzero(mask)))
        # the order in which a game counts its actions is its own
        nth_legal = kernels_of(state.dtype).nth_legal
        return int(np.flatnonzero(mask)[n] if nth_legal is None else nth_legal(state.reshape(1)[0], n))
    values = np.empty((1, game.num_actions), np.float32)
    write_action_values(state.reshape(1).copy(), values, game.make_workspace().scratch)
    return int(choose_best(values[0], stream))


class PlainGame:
    """One game of a learner, played move by move."""

    def __init__(self, game, seed, opponents_seed, seat, place, names):
        self.game, self.seat_mode, self.names = game, seat, names
        self.stream = np.zeros(4, np.uint32)
        seed_stream(self.stream, np.uint64(seed) ^ np.uint64(opponents_seed), OPPONENT_STREAM)
        self.batch = GameBatch(game, 1)
        self.batch.reset(int(seed))
        self.seat = (place - 1) % game.num_players
        self.take_seats()
        self.endings = []
        self.play_opponents()

    def take_seats(self):
        players = self.game.num_players
        if self.seat_mode == "random":
            self.seat = int(random_seat(self.batch.states["seed"][0], players))
        elif self.seat_mode == "rotate":
            self.seat = (self.seat + 1) % players
        else:
            self.seat = self.seat_mode

    def play(self, action):
        self.batch.step(np.array([action]))
        if self.batch.done[0]:
            self.endings.append((float(self.batch.rewards[0, self.seat]), self.seat, bool(self.batch.truncated[0])))
            self.take_seats()

    def play_opponents(self):
        while (mover := int(self.batch.to_move[0])) != self.seat:
            distance = (mover - self.seat) % self.game.num_players
            name = self.names[(distance - 1) % len(self.names)]
            self.play(action_of(name, self.game, self.batch.states[0].reshape(()), self.stream))

    def step(self, action):
        self.endings = []
        self.play(action)
        self.play_opponents()


def agents_of(game, names, seed=3):
    return [make_agent(name, game, seed + index) for index, name in enumerate(names)]


def opponents_seed_of(agents):
    seed = 0
    for agent in copy.deepcopy(agents):
        seed ^= int(draw_seed(agent.stream))
    return seed


@pytest.mark.parametrize(("name", "players"), TABLES)
@pytest.mark.parametrize("seat", SEATS)
def test_games_are_those_of_a_plain_loop(name, players, seat):
    game = make_game(name, num_players=players, **quick(name))
    names = ["random"] if players == 2 else ["greedy", *["random"] * (players - 2)]
    agents = agents_of(game, names)
    seeds = np.array([4, 99, 12345, 7, 2**53 - 1], np.uint64)
    plain = [PlainGame(game, seed, opponents_seed_of(agents), seat, place, names) for place, seed in enumerate(seeds)]
    batch = OpponentBatch(game, GAMES, agents, seat=seat, rewards="outcome")
    batch.reset(seeds)
    random = np.random.default_rng(1)
    endings = 0
    for _ in range(120 if name != "qwirkle" else 60):
        for index, one in enumerate(plain):
            assert batch.batch.states[index].tobytes() == one.batch.states[0].tobytes()
            assert batch.seats[index] == one.seat
            assert (batch.mask[index] == game.mask(one.batch.states[0])).all()
            assert (batch.observation[index] == game.observe(one.batch.states[0], one.seat)).all()
        actions = np.array([random.choice(np.flatnonzero(mask)) for mask in batch.mask])
        rewards, done, truncated, finished = batch.step(actions)
        for one, action in zip(plain, actions, strict=True):
            one.step(action)
        assert done.tolist() == [bool(one.endings) for one in plain]
        for index, place in enumerate(finished.games):
            reward, last_seat, cut = plain[place].endings[0]
            assert (finished.rewards[index], finished.seats[index], finished.truncated[index]) == (
                np.float32(reward),
                last_seat,
                cut,
            )
            assert (rewards[place], truncated[place]) == (np.float32(reward), cut)
            endings += 1
    assert endings or name == "qwirkle"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_a_game_does_not_depend_on_the_batch_and_another_seed_of_the_agent_plays_otherwise(name, opponent):
    game = make_game(name, **quick(name))

    def played(num_games, agent_seed):
        batch = OpponentBatch(game, num_games, agents_of(game, [opponent], agent_seed))
        batch.reset(8)
        seen = []
        for _ in range(12):
            batch.step(batch.mask.argmax(axis=1))
            seen.append((batch.observation[:2].copy(), batch.mask[:2].copy()))
        return seen

    few, many, other = played(2, 5), played(9, 5), played(2, 6)
    for one, same in zip(few, many, strict=True):
        for mine, theirs in zip(one, same, strict=True):
            assert (mine == theirs).all()
    if opponent == "random":
        assert any((one[0] != another[0]).any() for one, another in zip(few, other, strict=True))


class Outsider:
    """Plays as `random` does, but not inside the kernel; counts its calls."""

    name = "outsider"

    def __init__(self):
        self.calls = 0
        self._random = np.random.default_rng(2)

    def act(self, decisions):
        self.calls += 1
        return np.array([self._random.choice(np.flatnonzero(mask)) for mask in decisions.mask])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("auto_reset", [True, False])
def test_agents_inside_and_outside_of_the_kernel_sit_together(name, auto_reset):
    game = make_game(name, num_players=3, **quick(name))
    outsider = Outsider()
    batch = OpponentBatch(
        game, 20, [outsider, *agents_of(game, ["random"])], seat="rotate", rewards="rank", auto_reset=auto_reset
    )
    batch.reset(1)
    random = np.random.default_rng(3)
    ended = 0
    for _ in range(400):
        running = batch.batch.states["status"] == 0
        if not running.any():
            break
        assert (batch.batch.to_move == batch.seats)[running].all()
        actions = np.array([random.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in batch.mask])
        before = batch.seats.copy()
        rewards, done, _, finished = batch.step(actions)
        assert (finished.seats == before[finished.games]).all()
        for index, place in enumerate(finished.games):
            ranks = finished.ranks[index]
            assert (finished.scores[index] == game.result(finished.states[index])["scores"]).all()
            rank = ranks[finished.seats[index]]
            sharing = np.sum(ranks == rank)
            assert rewards[place] == pytest.approx(1 - (rank + (sharing - 1) / 2))
        assert (rewards[~done] == 0).all()
        ended += len(finished.games)
    assert outsider.calls > 20
    assert ended >= (20 if auto_reset or name != "qwirkle" else 1)


@pytest.mark.parametrize("name", NAMES)
def test_the_heuristic_knows_no_more_than_the_seat_to_move_and_restores_the_game(name):
    # so the kernel may use it on the true game
    for players in {2, 3, 4} & set(make_game(name).spec.player_counts):
        game = make_game(name, num_players=players, **quick(name))
        batch = GameBatch(game, 40)
        batch.reset(2)
        stream = np.array([1, 2, 3, 4], np.uint32)
        scratch = game.make_workspace().scratch
        for _ in range(60):
            resampled = DecisionBatch(game, batch.states).determinize(stream)
            values = np.empty((2, 40, game.num_actions), np.float32)
            untouched = batch.states.copy()
            write_action_values(batch.states, values[0], scratch)
            assert batch.states.tobytes() == untouched.tobytes()
            write_action_values(resampled, values[1], scratch)
            assert (values[0] == values[1]).all()
            batch.step(batch.random_actions())

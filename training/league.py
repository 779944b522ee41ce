"""The league: which opponents the learner plays against, and how often.

**Members** are the baselines of the config, which stay for the whole run as anchors (a policy that only exploits a
weakness of past selves does not beat them), and past selves: frozen copies of the network of the learner. The league
grows by one past self every `snapshot_interval` iterations, up to `pool_size` of them; then the newest replaces the
oldest. Running games against the oldest continue against the newest and count for it: a few among the hundreds that its
win rate is based on.

**Seats.** A new game is a league game with probability `share_league`: then the learner has one seat, chosen uniformly,
and each other seat draws a member. In all other games the learner holds all seats and learns from each. Without
members, all games are of that kind.

A member is drawn by prioritised fictitious self-play (Vinyals et al. 2019, "Grandmaster level in StarCraft II using
multi-agent reinforcement learning"): the opponents that the learner loses to are played most. With k members and win
rates w_i of the learner against them,

    p_i = league_floor / k  +  (1 - league_floor) (1 - w_i) ** league_power / sum_j (1 - w_j) ** league_power

The uniform part keeps members in play that are long beaten: forgetting is noticed, and no win rate goes stale.

**Win rates** are kept as two decaying sums for each member: games, and wins of the learner (a tie is half a win; with
more than two players a win is the better rank). The decay is 0.995 a game, a horizon of about 200 games. A new member
starts with a prior of 10 games, half of them won, as if it were as good as the learner.
"""

import copy
from typing import Any

import numpy as np
import torch

from ..agents import Agent, make_agent
from ..envs import Game
from ..envs.engine.random_stream import MAX_SEED
from ..envs.interfaces.decision_batch import DecisionBatch
from ..envs.validation.arrays import check_integer
from .config import TrainingConfig
from .masked_categorical import legal_probabilities, sample
from .state_checks import MOST, check_array, check_keys, check_list, set_numpy_generator, set_weights

DECAY = 0.995
PRIOR_GAMES = 10.0
_STREAM = 1
"""Distinguishes the generator of the league from others of the same seed."""


class FrozenPolicy:
    """A frozen network as an agent that samples its actions."""

    def __init__(self, name: str, network: torch.nn.Module, seed: int) -> None:
        self.name = name
        self._network = network
        self._device = next(network.parameters()).device
        self._generator = torch.Generator(self._device).manual_seed(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]."""
        # copies in memory of torch: the alignment of arrays can change the last bits of a product
        observation = torch.tensor(decisions.observation, device=self._device)
        mask = torch.tensor(decisions.mask, device=self._device)
        with torch.no_grad():
            logits, _ = self._network(observation)
            return sample(legal_probabilities(logits.float(), mask), mask, self._generator).cpu().numpy()


def pfsp_probabilities(win_rates: np.ndarray, uniform_mix: float, power: float) -> np.ndarray:
    """Return the probability of each member, float64 [k], from the win rates [k] of the learner against them."""
    hardness = (1.0 - win_rates) ** power
    total = hardness.sum()
    uniform = np.full(len(win_rates), 1.0 / len(win_rates))
    return uniform_mix * uniform + (1.0 - uniform_mix) * (hardness / total if total > 0 else uniform)


class League:
    """The members by number, baselines first, and the win rates of the learner against them; see the module.

    Agents get new random streams in every iteration, which depend on seed and iteration alone.

    Arguments:
        network: of the learner; `grow` copies it.
        trust: that of `make_agent`, for the baselines.
    """

    def __init__(self, config: TrainingConfig, game: Game, network: torch.nn.Module, *, trust: bool = False) -> None:
        self._config = config
        self._trust = trust
        self._game = game
        self._network = network
        self._past: list[torch.nn.Module] = []
        self._snapshots = 0
        self._agents: dict[int, Agent] = {}
        self._iteration = 0
        self._random = np.random.default_rng([config.seed, _STREAM])
        self.games = np.full(len(config.baselines), PRIOR_GAMES)
        self.wins: np.ndarray = self.games / 2

    def __len__(self) -> int:
        return len(self.games)

    @property
    def names(self) -> list[str]:
        """Return the members' names: the baselines' texts, then "past 0" and so on."""
        return [*self._config.baselines, *(f"past {index}" for index in range(len(self._past)))]

    @property
    def win_rates(self) -> np.ndarray:
        """Return the learner's win rates, float64 [k]."""
        return self.wins / self.games

    def start_iteration(self, iteration: int) -> None:
        """Start an iteration, with new random streams for the agents."""
        self._iteration = iteration
        self._agents = {}

    def agent(self, member: int) -> Agent:
        """Return the agent of a member, made on first use in an iteration."""
        if member not in self._agents:
            sequence = np.random.SeedSequence([self._config.seed, self._iteration, member])
            seed = int(sequence.generate_state(1, np.uint64)[0]) & MAX_SEED
            self._agents[member] = self._make(member, seed)
        return self._agents[member]

    def draw_seats(self, num_games: int) -> np.ndarray:
        """Draw the member in each seat of new games, int64 [num_games, players]; -1 is the learner."""
        players = self._game.num_players
        seats = np.full((num_games, players), -1)
        if len(self):
            # drawn for all games, so that later draws do not depend on the results of these
            is_league_game = self._random.random(num_games) < self._config.share_league
            learner_seats = self._random.integers(players, size=num_games)
            probabilities = pfsp_probabilities(self.win_rates, self._config.league_floor, self._config.league_power)
            members = self._random.choice(len(self), size=(num_games, players), p=probabilities)
            of_members = is_league_game[:, None] & (np.arange(players) != learner_seats[:, None])
            seats[of_members] = members[of_members]
        return seats

    def record(self, seats: np.ndarray, ranks: np.ndarray) -> None:
        """Count n finished games: seats as from `draw_seats`, and ranks, both int [n, players]."""
        games, member_seats = (seats >= 0).nonzero()
        if not len(games):
            return
        learner_ranks = ranks[games, (seats[games] < 0).argmax(axis=1)]
        scores = 0.5 + 0.5 * np.sign(ranks[games, member_seats] - learner_ranks)
        members = seats[games, member_seats]
        counts = np.bincount(members, minlength=len(self))
        decay = DECAY**counts
        self.games = decay * self.games + counts
        self.wins = decay * self.wins + np.bincount(members, scores, len(self))

    def grow(self) -> None:
        """Add a copy of the learner to the past selves."""
        if self._config.pool_size == 0:
            return
        index = self._snapshots % self._config.pool_size
        self._past[index : index + 1] = [self._freeze()]
        self._snapshots += 1
        if len(self.names) > len(self.games):
            self.games, self.wins = np.append(self.games, 0.0), np.append(self.wins, 0.0)
        member = len(self._config.baselines) + index
        self.games[member], self.wins[member] = PRIOR_GAMES, PRIOR_GAMES / 2

    def metrics(self) -> dict[str, float]:
        """Return the win rates as metrics "league/NAME"."""
        return {f"league/{name}": float(rate) for name, rate in zip(self.names, self.win_rates, strict=True)}

    def get_state(self) -> dict[str, Any]:
        """Return past selves, win rates and random state."""
        return {
            "past": [dict(network.state_dict()) for network in self._past],
            "snapshots": self._snapshots,
            "games": self.games.copy(),
            "wins": self.wins.copy(),
            "random": self._random.bit_generator.state,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; ValueError if it does not fit."""
        check_keys(state, ("past", "snapshots", "games", "wins", "random"), "league")
        self._snapshots = check_integer(state["snapshots"], "league/snapshots", 0, MOST)
        num_past = min(self._snapshots, self._config.pool_size)
        self._past = []
        for index, weights in enumerate(check_list(state["past"], num_past, "league/past")):
            network = self._freeze()
            set_weights(network, weights, f"league/past/{index}")
            self._past.append(network)
        members = len(self._config.baselines) + num_past
        games, wins = (check_array(state[name], f"league/{name}", self.games, members) for name in ("games", "wins"))
        # two sums of the same weights, rounded differently
        if (games <= 0).any() or (wins < 0).any() or (wins > 1.000001 * games).any():
            raise ValueError("league/wins must be from 0 to the games, and these above 0")
        self.games, self.wins = games.copy(), wins.copy()
        set_numpy_generator(self._random, state["random"], "league/random")

    def _make(self, member: int, seed: int) -> Agent:
        baselines = self._config.baselines
        if member < len(baselines):
            return make_agent(baselines[member], self._game, seed, trust=self._trust)
        return FrozenPolicy(self.names[member], self._past[member - len(baselines)], seed)

    def _freeze(self) -> torch.nn.Module:
        return copy.deepcopy(self._network).eval().requires_grad_(False)

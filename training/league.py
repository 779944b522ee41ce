"""The league: who the learner plays against, and how often.

**Its members** are the baselines of the config, which stay for the whole run as anchors (whoever beats a past self
only by a trick that it falls for still has to beat them), and past selves: copies of the learner's network that learn
no more. The league grows by one past self every `snapshot_interval` iterations, up to `pool_size` of them; from then
on the newest takes the place of the oldest. Games under way against the oldest go on against the newest, and count
for it: a few among the hundreds that its win rate is made of.

**Who is drawn.** When a game begins it is a game of the league with probability `share_league`: then the learner has
one seat, drawn equally among all, and each other seat draws its member. In all other games the learner holds all
seats and learns from each. With no member yet, all games are of that kind.

A member is drawn by prioritised fictitious self-play (Vinyals et al. 2019, "Grandmaster level in StarCraft II using
multi-agent reinforcement learning"): those that the learner loses to are played most. With k members, and win rates
w of the learner against them,

    p_i = league_floor / k  +  (1 - league_floor) (1 - w_i) ** league_power / sum_j (1 - w_j) ** league_power

The first part keeps everyone in play, also those long beaten: nothing is forgotten unnoticed, and no rate goes stale.

**Win rates** are kept as two decaying sums for each member: games, and wins of the learner, ties half; a win is the
better place, with more than two players too. A game weighs 0.995 of the one that came after it, so that a rate tells
about the last 200 games or so. A new member begins with 10 games, half of them won: at first every past self is drawn
as one that is as good as the learner.
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
FIRST_GAMES = 10.0
_DRAWS = 1
"""Tells the league's generator from others of the config's seed."""


class FrozenPolicy:
    """A network that learns no more, as an agent that draws its actions by their probabilities."""

    def __init__(self, name: str, network: torch.nn.Module, seed: int) -> None:
        self.name = name
        self._network = network
        self._device = next(network.parameters()).device
        self._generator = torch.Generator(self._device).manual_seed(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]."""
        # copies in torch's own memory: how numpy's lies in memory can change the last bits of a product
        observation = torch.tensor(decisions.observation, device=self._device)
        mask = torch.tensor(decisions.mask, device=self._device)
        with torch.no_grad():
            logits, _ = self._network(observation)
            return sample(legal_probabilities(logits.float(), mask), mask, self._generator).cpu().numpy()


def draw_probabilities(win_rates: np.ndarray, floor: float, power: float) -> np.ndarray:
    """Return how often each member is drawn, float64 [k] of sum 1, from the learner's win rates [k] against them."""
    hardness = (1.0 - win_rates) ** power
    total = hardness.sum()
    even = np.full(len(win_rates), 1.0 / len(win_rates))
    return floor * even + (1.0 - floor) * (hardness / total if total > 0 else even)


class League:
    """The members by number, baselines first, with the learner's win rates against them; see the file's head.

    Agents get fresh random streams in every iteration, which follow from seed and iteration alone.

    Arguments:
        network: the learner's; past selves are copies of what it is when `grow` is called.
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
        self._random = np.random.default_rng([config.seed, _DRAWS])
        self.games = np.full(len(config.baselines), FIRST_GAMES)
        self.wins: np.ndarray = self.games / 2

    def __len__(self) -> int:
        return len(self.games)

    @property
    def names(self) -> list[str]:
        """Return the members' names: the baselines' texts, then "past 0" and so on."""
        return [*self._config.baselines, *(f"past {place}" for place in range(len(self._past)))]

    @property
    def win_rates(self) -> np.ndarray:
        """Return the learner's win rates, float64 [k]."""
        return self.wins / self.games

    def begin(self, iteration: int) -> None:
        """Begin an iteration: with other random streams for the agents than in any other one."""
        self._iteration = iteration
        self._agents = {}

    def agent(self, member: int) -> Agent:
        """Return the agent of a member, made when it is first asked for in an iteration."""
        if member not in self._agents:
            sequence = np.random.SeedSequence([self._config.seed, self._iteration, member])
            seed = int(sequence.generate_state(1, np.uint64)[0]) & MAX_SEED
            self._agents[member] = self._make(member, seed)
        return self._agents[member]

    def draw_seats(self, games: int) -> np.ndarray:
        """Return who sits where in games that begin, int64 [games, players]: a member's number, -1 for the learner."""
        players = self._game.num_players
        seats = np.full((games, players), -1)
        if len(self):
            # everything is drawn for all games, so that what is drawn later does not depend on these draws
            of_league = self._random.random(games) < self._config.share_league
            own_seats = self._random.integers(players, size=games)
            odds = draw_probabilities(self.win_rates, self._config.league_floor, self._config.league_power)
            members = self._random.choice(len(self), size=(games, players), p=odds)
            theirs = of_league[:, None] & (np.arange(players) != own_seats[:, None])
            seats[theirs] = members[theirs]
        return seats

    def record(self, seats: np.ndarray, ranks: np.ndarray) -> None:
        """Count finished games: who sat where, as from `draw_seats`, and everybody's place, both int [n, players]."""
        games, theirs = (seats >= 0).nonzero()
        if not len(games):
            return
        own_ranks = ranks[games, (seats[games] < 0).argmax(axis=1)]
        scores = 0.5 + 0.5 * np.sign(ranks[games, theirs] - own_ranks)
        members = seats[games, theirs]
        counts = np.bincount(members, minlength=len(self))
        kept = DECAY**counts
        self.games = kept * self.games + counts
        self.wins = kept * self.wins + np.bincount(members, scores, len(self))

    def grow(self) -> None:
        """Add the learner as it is now to the past selves."""
        if self._config.pool_size == 0:
            return
        place = self._snapshots % self._config.pool_size
        self._past[place : place + 1] = [self._frozen()]
        self._snapshots += 1
        if len(self.names) > len(self.games):
            self.games, self.wins = np.append(self.games, 0.0), np.append(self.wins, 0.0)
        member = len(self._config.baselines) + place
        self.games[member], self.wins[member] = FIRST_GAMES, FIRST_GAMES / 2

    def logged(self) -> dict[str, float]:
        """Return the win rates as they are logged: "league/NAME"."""
        return {f"league/{name}": float(rate) for name, rate in zip(self.names, self.win_rates, strict=True)}

    def get_state(self) -> dict[str, Any]:
        """Return past selves, win rates and the state of the draws."""
        return {
            "past": [dict(network.state_dict()) for network in self._past],
            "snapshots": self._snapshots,
            "games": self.games.copy(),
            "wins": self.wins.copy(),
            "random": self._random.bit_generator.state,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`; ValueError if it is none of such a league."""
        check_keys(state, ("past", "snapshots", "games", "wins", "random"), "league")
        self._snapshots = check_integer(state["snapshots"], "league/snapshots", 0, MOST)
        kept = min(self._snapshots, self._config.pool_size)
        self._past = []
        for place, weights in enumerate(check_list(state["past"], kept, "league/past")):
            network = self._frozen()
            set_weights(network, weights, f"league/past/{place}")
            self._past.append(network)
        members = len(self._config.baselines) + kept
        games, wins = (check_array(state[name], f"league/{name}", self.games, members) for name in ("games", "wins"))
        # sums of the same weights, which are rounded apart
        if (games <= 0).any() or (wins < 0).any() or (wins > 1.000001 * games).any():
            raise ValueError("league/wins must be from 0 to the games, and these above 0")
        self.games, self.wins = games.copy(), wins.copy()
        set_numpy_generator(self._random, state["random"], "league/random")

    def _make(self, member: int, seed: int) -> Agent:
        baselines = self._config.baselines
        if member < len(baselines):
            return make_agent(baselines[member], self._game, seed, trust=self._trust)
        return FrozenPolicy(self.names[member], self._past[member - len(baselines)], seed)

    def _frozen(self) -> torch.nn.Module:
        return copy.deepcopy(self._network).eval().requires_grad_(False)

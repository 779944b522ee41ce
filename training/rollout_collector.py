"""Collect rollouts for PPO: all games are played side by side, ply by ply, into preallocated tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..envs import Game, GameBatch, IllegalMove
from ..envs.game import illegal_action_message
from ..envs.interfaces.decision_batch import DecisionBatch
from .config import TrainingConfig
from .league import League
from .state_checks import check_like, check_range, set_batch_state

Act = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor, torch.Tensor]]
"""Takes observations float32 [n, size] and masks int8 [n, actions]; returns actions int64 [n], their log-probabilities
float32 [n], and values float32 [n, players], all on the CPU."""


class Rollout:
    """T plies of N games: allocated once, overwritten by every rollout.

    | tensor | type and shape | |
    |---|---|---|
    | `observation` | float32 [T + 1, N, size] | of the mover before each ply, and after the last |
    | `mask` | int8 [T + 1, N, actions] | its legal actions |
    | `action` | int64 [T, N] | the action taken |
    | `log_probability` | float32 [T, N] | of the action; read only where the learner decided |
    | `value` | float32 [T, N, players] | by the learner, of the players from the mover on; likewise |

    | array | type and shape | |
    |---|---|---|
    | `mover` | int64 [T, N] | the seat that decided |
    | `learning` | bool [T, N, players] | the seats that the learner holds |
    | `reward` | float32 [T, N, players] | of each seat in the ply |
    | `done` | bool [T, N] | whether the ply ended the game |

    `pinned`: in pinned memory, from which copies to a GPU are asynchronous.
    """

    def __init__(self, game: Game, num_steps: int, num_games: int, *, pinned: bool) -> None:
        shape, players = (num_steps, num_games), game.num_players
        self.observation = torch.zeros(num_steps + 1, num_games, game.observation_size, pin_memory=pinned)
        self.mask = torch.zeros(num_steps + 1, num_games, game.num_actions, dtype=torch.int8, pin_memory=pinned)
        self.action = torch.zeros(shape, dtype=torch.int64)
        self.log_probability = torch.zeros(shape)
        self.value = torch.zeros(*shape, players)
        self.mover: np.ndarray = np.zeros(shape, np.int64)
        self.learning: np.ndarray = np.zeros((*shape, players), np.bool_)
        self.reward: np.ndarray = np.zeros((*shape, players), np.float32)
        self.done: np.ndarray = np.zeros(shape, np.bool_)


class RolloutCollector:
    """N games side by side: in each the learner holds all seats or one, and members of the league the others.

    The engine writes observations and masks directly into the tensors of the rollout. With `dense` the reward of a ply
    is the change of the margin, which sums to the final reward over a game (potential-based shaping: Ng, Harada,
    Russell 1999).

    Attributes:
        batch: the games, reset as they end.
        seats: int64 [N, players], the member of the league in each seat, -1 for the learner.
        rollout: the last one.
    """

    def __init__(self, config: TrainingConfig, game: Game, league: League) -> None:
        self._config = config
        self._game = game
        self._league = league
        self.batch = GameBatch(game, config.games, rewards=config.rewards)
        pinned = torch.device(config.device).type == "cuda"
        self.rollout = Rollout(game, config.rollout, config.games, pinned=pinned)
        # views of the same memory for the engine
        self._observations = self.rollout.observation.numpy()
        self._masks = self.rollout.mask.numpy()
        self._actions = self.rollout.action.numpy()
        self._last_margins: np.ndarray = np.zeros((config.games, game.num_players), np.float32)
        self._returns: np.ndarray = np.zeros_like(self._last_margins)
        self._finished: list[tuple[np.ndarray, ...]] = []
        self.batch.reset(config.seed)
        self.seats: np.ndarray = league.draw_seats(config.games)
        self._observe()

    def play(self, act: Act) -> dict[str, float]:
        """Play T plies of every game, the learner by `act`, and return metrics of the games that ended."""
        rollout, batch = self.rollout, self.batch
        num_steps = len(self._actions)
        self._observations[0], self._masks[0] = self._observations[num_steps], self._masks[num_steps]
        self._finished = []
        for ply in range(num_steps):
            rollout.mover[ply] = batch.to_move
            rollout.learning[ply] = self.seats < 0
            self._decide(ply, act)
            batch.step(
                self._actions[ply], check=False, mask=self._masks[ply + 1], observation=self._observations[ply + 1]
            )
            rollout.done[ply] = batch.done
            rollout.reward[ply] = self._dense_rewards() if self._config.dense else batch.rewards
            self._returns += rollout.reward[ply]
            if batch.done.any():
                self._finish_games(batch.done.nonzero()[0])
        return self._statistics()

    def get_state(self) -> dict[str, Any]:
        """Return the running games."""
        return {
            "states": self.batch.states.view(np.uint8).copy(),
            "outcomes": self.batch.outcomes.view(np.uint8).copy(),
            "seats": self.seats.copy(),
            "last_margins": self._last_margins.copy(),
            "returns": self._returns.copy(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; ValueError if it does not fit."""
        checked = check_like(state, self.get_state(), "collector")
        seats = check_range(checked["seats"], "collector/seats", -1, len(self._league) - 1)
        num_learning = (seats < 0).sum(axis=1)
        if not ((num_learning == 1) | (num_learning == seats.shape[1])).all():
            raise ValueError("collector/seats must give the learner one seat of each game, or all")
        set_batch_state(self.batch, {name: checked[name] for name in ("states", "outcomes")}, "collector")
        self.seats[:] = seats
        self._last_margins[:] = checked["last_margins"]
        self._returns[:] = checked["returns"]
        self._observe()

    def _observe(self) -> None:
        """Write observations and masks where the next rollout starts from."""
        self.batch.observe(out=self._observations[-1])
        self.batch.mask(out=self._masks[-1])

    def _decide(self, ply: int, act: Act) -> None:
        """Write the actions of a ply: learner and members each decide for all their games at once."""
        rollout = self.rollout
        members = self.seats[np.arange(len(self.seats)), rollout.mover[ply]]
        learning = torch.from_numpy((members < 0).nonzero()[0])
        observation, mask = rollout.observation[ply], rollout.mask[ply]
        if len(learning) < len(members):
            # much faster than indexing with a tensor
            observation, mask = observation.index_select(0, learning), mask.index_select(0, learning)
        if len(learning):
            action, log_probability, value = act(observation, mask)
            if not mask.gather(1, action[:, None]).all():
                raise IllegalMove("the network chose an illegal action: its outputs are not finite")
            rollout.action[ply].index_copy_(0, learning, action)
            rollout.log_probability[ply].index_copy_(0, learning, log_probability)
            rollout.value[ply].index_copy_(0, learning, value)
        for member in np.unique(members[members >= 0]).tolist():
            self._decide_as(member, ply, (members == member).nonzero()[0])

    def _decide_as(self, member: int, ply: int, games: np.ndarray) -> None:
        agent = self._league.agent(member)
        states = self.batch.states.take(games)
        mask, observation = self._masks[ply].take(games, axis=0), self._observations[ply].take(games, axis=0)
        actions = agent.act(DecisionBatch(self._game, states, mask, observation))
        valid = actions.clip(0, self._game.num_actions - 1)
        illegal = (actions != valid) | (mask[np.arange(len(games)), valid] == 0)
        if illegal.any():
            first = int(illegal.argmax())
            message = illegal_action_message(self._game, states[first], int(actions[first]))
            raise IllegalMove(f"opponent {agent.name!r}: {message}")
        self._actions[ply, games] = actions

    def _dense_rewards(self) -> np.ndarray:
        """Return the change of each margin in the last ply, float32 [N, players]; a new game starts from 0."""
        done = self.batch.done
        margins = self._game.margins(self.batch.states)
        margins[done] = self.batch.rewards[done]
        rewards = margins - self._last_margins
        margins[done] = 0.0
        self._last_margins = margins
        return rewards

    def _finish_games(self, games: np.ndarray) -> None:
        """Record games that ended and draw the seats of those that replace them."""
        ranks = self.batch.outcomes["ranks"][games, : self._game.num_players]
        self._league.record(self.seats[games], ranks)
        self._finished.append((self._returns[games], self.seats[games], self.batch.finals["ply"][games]))
        self._returns[games] = 0.0
        self.seats[games] = self._league.draw_seats(len(games))

    def _statistics(self) -> dict[str, float]:
        if not self._finished:
            return {}
        returns, seats, plies = (np.concatenate(part) for part in zip(*self._finished, strict=True))
        metrics = {"rollout/games": float(len(plies)), "rollout/plies": float(plies.mean())}
        # where all seats learn, the mean of their rewards is about 0
        league = (seats < 0) & (seats >= 0).any(axis=1, keepdims=True)
        return {**metrics, "rollout/league_reward": float(returns[league].mean())} if league.any() else metrics

"""The games that PPO learns from: played a ply at a time, all side by side, into the tensors of a rollout."""

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
"""Takes observations float32 [n, size] and masks int8 [n, actions]; returns actions int64 [n], the logarithms of their
probabilities float32 [n], and values float32 [n, players], all on the CPU."""


class Rollout:
    """What T plies of N games were, made once and written anew in every rollout.

    | tensor | type and shape | |
    |---|---|---|
    | `observation` | float32 [T + 1, N, size] | what the mover sees before each ply, and after the last |
    | `mask` | int8 [T + 1, N, actions] | its legal actions |
    | `action` | int64 [T, N] | what was played |
    | `log_probability` | float32 [T, N] | of the action, to the learner; read only where it decided |
    | `value` | float32 [T, N, players] | the learner's, of the player k seats after the mover; likewise |

    | array | type and shape | |
    |---|---|---|
    | `mover` | int64 [T, N] | the seat that decided |
    | `learning` | bool [T, N, players] | the seats that the learner holds |
    | `reward` | float32 [T, N, players] | what each seat is paid in the ply |
    | `done` | bool [T, N] | whether the ply ended the game |

    `pinned`: in memory that a GPU can read while others work.
    """

    def __init__(self, game: Game, plies: int, games: int, *, pinned: bool) -> None:
        shape, players = (plies, games), game.num_players
        self.observation = torch.zeros(plies + 1, games, game.observation_size, pin_memory=pinned)
        self.mask = torch.zeros(plies + 1, games, game.num_actions, dtype=torch.int8, pin_memory=pinned)
        self.action = torch.zeros(shape, dtype=torch.int64)
        self.log_probability = torch.zeros(shape)
        self.value = torch.zeros(*shape, players)
        self.mover: np.ndarray = np.zeros(shape, np.int64)
        self.learning: np.ndarray = np.zeros((*shape, players), np.bool_)
        self.reward: np.ndarray = np.zeros((*shape, players), np.float32)
        self.done: np.ndarray = np.zeros(shape, np.bool_)


class RolloutCollector:
    """N games side by side, in each of which the learner holds all seats or one, and members of the league the others.

    The engine writes observations and masks straight into the rollout's tensors. With `dense` every change of each
    seat's margin is paid in the ply that brings it; the sum over a game is the reward of its end (a potential-based
    shaping: Ng, Harada, Russell 1999).

    Attributes:
        batch: the games, begun anew where they end.
        seats: int64 [N, players], who sits where: the number of a member of the league, -1 for the learner.
        rollout: the last one.
    """

    def __init__(self, config: TrainingConfig, game: Game, league: League) -> None:
        self._config = config
        self._game = game
        self._league = league
        self.batch = GameBatch(game, config.games, rewards=config.rewards)
        pinned = torch.device(config.device).type == "cuda"
        self.rollout = Rollout(game, config.rollout, config.games, pinned=pinned)
        # the same memory, as the engine takes it
        self._observations = self.rollout.observation.numpy()
        self._masks = self.rollout.mask.numpy()
        self._actions = self.rollout.action.numpy()
        self._paid: np.ndarray = np.zeros((config.games, game.num_players), np.float32)
        self._returns: np.ndarray = np.zeros_like(self._paid)
        self._ended: list[tuple[np.ndarray, ...]] = []
        self.batch.reset(config.seed)
        self.seats: np.ndarray = league.draw_seats(config.games)
        self._look()

    def play(self, act: Act) -> dict[str, float]:
        """Play T plies of every game, the learner's by `act`, and return statistics of the games that ended."""
        rollout, batch = self.rollout, self.batch
        plies = len(self._actions)
        self._observations[0], self._masks[0] = self._observations[plies], self._masks[plies]
        self._ended = []
        for ply in range(plies):
            rollout.mover[ply] = batch.to_move
            rollout.learning[ply] = self.seats < 0
            self._decide(ply, act)
            batch.step(
                self._actions[ply], check=False, mask=self._masks[ply + 1], observation=self._observations[ply + 1]
            )
            rollout.done[ply] = batch.done
            rollout.reward[ply] = self._payments() if self._config.dense else batch.rewards
            self._returns += rollout.reward[ply]
            if batch.done.any():
                self._begin_again(batch.done.nonzero()[0])
        return self._statistics()

    def get_state(self) -> dict[str, Any]:
        """Return all that the future depends on but league and learner."""
        return {
            "states": self.batch.states.view(np.uint8).copy(),
            "outcomes": self.batch.outcomes.view(np.uint8).copy(),
            "seats": self.seats.copy(),
            "paid": self._paid.copy(),
            "returns": self._returns.copy(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`; ValueError if it is none of such games."""
        checked = check_like(state, self.get_state(), "games")
        seats = check_range(checked["seats"], "games/seats", -1, len(self._league) - 1)
        own = (seats < 0).sum(axis=1)
        if not ((own == 1) | (own == seats.shape[1])).all():
            raise ValueError("games/seats must give the learner one seat of each game, or all")
        set_batch_state(self.batch, {name: checked[name] for name in ("states", "outcomes")}, "games")
        self.seats[:] = seats
        self._paid[:] = checked["paid"]
        self._returns[:] = checked["returns"]
        self._look()

    def _look(self) -> None:
        """Write what the movers see where the next rollout takes it from."""
        self.batch.observe(out=self._observations[-1])
        self.batch.mask(out=self._masks[-1])

    def _decide(self, ply: int, act: Act) -> None:
        """Write everybody's actions of a ply: those of the learner, and of each member, for all its games at once."""
        rollout = self.rollout
        who = self.seats[np.arange(len(self.seats)), rollout.mover[ply]]
        own = torch.from_numpy((who < 0).nonzero()[0])
        observation, mask = rollout.observation[ply], rollout.mask[ply]
        if len(own) < len(who):
            # row by row: much faster than torch's indexing
            observation, mask = observation.index_select(0, own), mask.index_select(0, own)
        if len(own):
            action, log_probability, value = act(observation, mask)
            if not mask.gather(1, action[:, None]).all():
                raise IllegalMove("the network chose an illegal action: what it computes is not finite")
            rollout.action[ply].index_copy_(0, own, action)
            rollout.log_probability[ply].index_copy_(0, own, log_probability)
            rollout.value[ply].index_copy_(0, own, value)
        for member in np.unique(who[who >= 0]).tolist():
            self._decide_as(member, ply, (who == member).nonzero()[0])

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

    def _payments(self) -> np.ndarray:
        """Return how much each seat's margin has changed in the last ply; a new game begins with nothing."""
        done = self.batch.done
        margins = self._game.margins(self.batch.states)
        margins[done] = self.batch.rewards[done]
        payments = margins - self._paid
        margins[done] = 0.0
        self._paid = margins
        return payments

    def _begin_again(self, ended: np.ndarray) -> None:
        """Count games that have ended and seat the players of those that take their places."""
        ranks = self.batch.outcomes["ranks"][ended, : self._game.num_players]
        self._league.record(self.seats[ended], ranks)
        self._ended.append((self._returns[ended], self.seats[ended], self.batch.finals["ply"][ended]))
        self._returns[ended] = 0.0
        self.seats[ended] = self._league.draw_seats(len(ended))

    def _statistics(self) -> dict[str, float]:
        if not self._ended:
            return {}
        returns, seats, plies = (np.concatenate(part) for part in zip(*self._ended, strict=True))
        found = {"rollout/games": float(len(plies)), "rollout/plies": float(plies.mean())}
        # where all seats learn their rewards add up to little or nothing
        own = (seats < 0) & (seats >= 0).any(axis=1, keepdims=True)
        return {**found, "rollout/league_reward": float(returns[own].mean())} if own.any() else found

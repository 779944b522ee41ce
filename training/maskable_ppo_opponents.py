"""The pool of opponents of MaskablePPO: the current learner, baselines, past selves."""

from typing import Any

import numpy as np

from ..agents import Agent, make_agent
from ..agents.maskable_ppo.model_agent import MaskablePPOAgent
from ..envs import Game
from ..envs.engine.random_stream import MAX_SEED
from ..envs.validation.arrays import check_integer
from .config import TrainingConfig
from .state_checks import MOST, check_keys, check_list, check_tensors

CURRENT, PAST = "current", "past"


class OpponentPool:
    """Opponents in fixed order: the learner itself, the baselines, then past selves, the oldest replaced first.

    Every iteration gets agents with new random streams that depend on seed and iteration alone, so that a checkpoint
    needs only the past selves.

    `model` is the MaskablePPO that learns: the current opponent plays with its policy as it changes. `trust` is that of
    `make_agent`.
    """

    def __init__(self, game: Game, config: TrainingConfig, model: Any, *, trust: bool = False) -> None:
        self._game = game
        self._trust = trust
        self._config = config
        self._model = model
        self._past: list[Any] = []
        self._snapshots = 0

    def agents(self, iteration: int) -> list[Agent]:
        """Return the opponents of an iteration."""
        config = self._config
        count = 1 + len(config.baselines) + len(self._past)
        sequence = np.random.SeedSequence([config.seed, iteration])
        seeds = [int(seed) & MAX_SEED for seed in sequence.generate_state(count, np.uint64)]
        agents: list[Agent] = [MaskablePPOAgent(CURRENT, self._model.policy, seeds[0])]
        for text, seed in zip(config.baselines, seeds[1:], strict=False):
            agents.append(make_agent(text, self._game, seed, trust=self._trust))
        for number, policy in enumerate(self._past):
            agents.append(MaskablePPOAgent(f"{PAST} {number}", policy, seeds[1 + len(config.baselines) + number]))
        return agents

    def weights(self) -> list[float]:
        """Return the weight of each opponent; before the first past self the learner has that weight too."""
        config = self._config
        past = config.share_past if self._past else 0.0
        current = config.share_current + config.share_past - past
        baselines = [config.share_baselines / len(config.baselines)] * len(config.baselines)
        weights = [current, *baselines, *[past / max(1, len(self._past))] * len(self._past)]
        # if only past selves have weight, the learner plays itself before the first one
        return weights if sum(weights) > 0 else [1.0, *weights[1:]]

    def take_snapshot(self) -> None:
        """Add a copy of the learner to the past selves."""
        if self._config.pool_size:
            self._add_policy(self._model.policy.state_dict())

    def get_state(self) -> dict[str, Any]:
        """Return the parameters of the past selves."""
        return {"snapshots": self._snapshots, "past": [dict(policy.state_dict()) for policy in self._past]}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; ValueError if it does not fit."""
        check_keys(state, ("snapshots", "past"), "pool")
        snapshots = check_integer(state["snapshots"], "pool/snapshots", 0, MOST)
        past = check_list(state["past"], min(snapshots, self._config.pool_size), "pool/past")
        self._past, self._snapshots = [], 0
        template = self._model.policy.state_dict()
        for index, parameters in enumerate(past):
            self._add_policy(check_tensors(parameters, template, f"pool/past/{index}"))
        self._snapshots = snapshots

    def _add_policy(self, parameters: dict[str, Any]) -> None:
        from stable_baselines3.common.utils import FloatSchedule

        model = self._model
        schedule = FloatSchedule(0.0)
        policy = model.policy_class(model.observation_space, model.action_space, schedule, **model.policy_kwargs)
        policy = policy.to(model.device)
        policy.load_state_dict(parameters)
        policy.set_training_mode(False)
        policy.requires_grad_(False)
        index = self._snapshots % self._config.pool_size
        self._past[index : index + 1] = [policy]
        self._snapshots += 1

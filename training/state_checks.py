"""Validation of states from checkpoints, before they are used.

Every check raises ValueError with one sentence that begins with the part of the state it is about.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from ..envs import GameBatch
from ..envs.system.messages import shorten
from ..envs.validation.arrays import check_integer

MOST = 2**53
"""Upper limit of counters."""
_CHUNK_ELEMENTS = 2**22
_HALF = 2**32
_PCG64 = 2**128


def check_keys(state: Any, names: Iterable[str], where: str) -> dict[str, Any]:
    """Return a state if it is a mapping with exactly these keys."""
    required = list(names)
    if not isinstance(state, dict):
        raise ValueError(f"{where} must be a mapping, not {shorten(state)}")
    for name in [*required, *state]:
        if (name in state) != (name in required):
            raise ValueError(f"{where} {'has no' if name in required else 'should not have a'} part {shorten(name)}")
    return state


def check_list(state: Any, length: int, where: str) -> list[Any]:
    """Return a state if it is a list of that length."""
    if not isinstance(state, list) or len(state) != length:
        given = f"a list of {len(state)}" if isinstance(state, list) else shorten(state)
        raise ValueError(f"{where} must be a list of {length}, not {given}")
    return state


def check_number(value: Any, where: str, low: float, high: float = float("inf")) -> float:
    """Return a finite float from low to high."""
    # written so that nan is refused too
    if not isinstance(value, float) or not low <= value <= high or value in (float("inf"), -float("inf")):
        raise ValueError(f"{where} must be a number from {low} to {high}, not {shorten(value)}")
    return value


def check_array(value: Any, where: str, like: np.ndarray, length: int | None = None) -> np.ndarray:
    """Return an array of the dtype and shape of another, but with `length` rows if that is given; floats are finite."""
    shape = like.shape if length is None else (length, *like.shape[1:])
    if not isinstance(value, np.ndarray) or value.dtype != like.dtype or value.shape != shape:
        given = f"{value.dtype} of {value.shape}" if isinstance(value, np.ndarray) else shorten(value)
        raise ValueError(f"{where} must be an array {like.dtype} of {shape}, not {given}")
    if value.dtype.kind == "f":
        rows = max(1, _CHUNK_ELEMENTS // max(1, value[:1].size))
        # in chunks: it can be a gigabyte
        if not all(np.isfinite(value[first : first + rows]).all() for first in range(0, len(value), rows)):
            raise ValueError(f"{where} holds numbers that are not finite")
    return value


def check_range(value: np.ndarray, where: str, low: int, high: int) -> np.ndarray:
    """Return an array of integers from low to high."""
    if value.size and (value.min() < low or value.max() > high):
        raise ValueError(f"{where} must hold integers from {low} to {high}")
    return value


def check_like(state: Any, like: dict[str, np.ndarray], where: str) -> dict[str, np.ndarray]:
    """Return a mapping with arrays of the names, dtypes and shapes of others."""
    check_keys(state, like, where)
    return {name: check_array(state[name], f"{where}/{name}", one) for name, one in like.items()}


def check_tensors(state: Any, like: dict[str, torch.Tensor], where: str) -> dict[str, torch.Tensor]:
    """Return a mapping with finite tensors of the names, dtypes and shapes of others."""
    for name, value in check_keys(state, like, where).items():
        _check_tensor(value, f"{where}/{name}", like[name])
    return state


def set_weights(network: nn.Module, state: Any, where: str) -> None:
    """Give a network the weights of a state, as `state_dict` has them."""
    network.load_state_dict(check_tensors(state, network.state_dict(), where))


def get_optimizer_state(optimizer: torch.optim.Optimizer) -> list[dict[str, torch.Tensor]]:
    """Return the moments of an Adam optimizer by parameter; empty before the first step."""
    kept = optimizer.state_dict()["state"]
    return [dict(kept.get(number, {})) for number in range(len(_parameters(optimizer)))]


def set_optimizer_state(optimizer: torch.optim.Optimizer, state: Any, where: str) -> None:
    """Restore a state from `get_optimizer_state`; learning rates and other settings stay."""
    parameters = _parameters(optimizer)
    kept = {}
    for number, (parameter, one) in enumerate(zip(parameters, check_list(state, len(parameters), where), strict=True)):
        part = f"{where}/{number}"
        if one == {}:
            continue
        like = {"step": torch.tensor(0.0), "exp_avg": parameter, "exp_avg_sq": parameter}
        kept[number] = check_tensors(one, like, part)
        if one["step"] < 0 or (one["exp_avg_sq"] < 0).any():
            raise ValueError(f"{part} holds numbers below 0")
    optimizer.load_state_dict({"state": kept, "param_groups": optimizer.state_dict()["param_groups"]})


def set_torch_generator(generator: torch.Generator, state: Any, where: str) -> None:
    """Restore a state from the `get_state` of a generator."""
    _check_tensor(state, where, generator.get_state())
    try:
        generator.set_state(state)
    except RuntimeError:
        raise ValueError(f"{where} is no state of a generator") from None


def set_numpy_generator(generator: np.random.Generator, state: Any, where: str) -> None:
    """Restore a state of a PCG64 generator, the `state` of its bit generator."""
    check_keys(state, generator.bit_generator.state, where)
    inner = check_keys(state["state"], ("state", "inc"), f"{where}/state")
    for name in ("state", "inc"):
        check_integer(inner[name], f"{where}/state/{name}", 0, _PCG64 - 1)
    check_integer(state["has_uint32"], f"{where}/has_uint32", 0, 1)
    check_integer(state["uinteger"], f"{where}/uinteger", 0, _HALF - 1)
    if state["bit_generator"] != generator.bit_generator.state["bit_generator"] or inner["inc"] % 2 == 0:
        raise ValueError(f"{where} is no state of a generator")
    generator.bit_generator.state = state


def set_batch_state(batch: GameBatch, state: dict[str, np.ndarray], where: str) -> None:
    """Restore a state from the `get_state` of a batch; parts that are missing stay."""
    try:
        batch.set_state(state)
    except ValueError as error:
        raise ValueError(f"{where}/{error}") from None


def _check_tensor(value: Any, where: str, like: torch.Tensor) -> None:
    if not isinstance(value, torch.Tensor) or value.dtype != like.dtype or value.shape != like.shape:
        given = f"{value.dtype} of {tuple(value.shape)}" if isinstance(value, torch.Tensor) else shorten(value)
        raise ValueError(f"{where} must be a tensor {like.dtype} of {tuple(like.shape)}, not {given}")
    if value.is_floating_point() and not torch.isfinite(value).all():
        raise ValueError(f"{where} holds numbers that are not finite")


def _parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]

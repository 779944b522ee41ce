"""placeholder"""
from typing import Any
from ..engine.compilation import kernel
@kernel
def observe(state: Any, seat: int, observation: Any) -> None:
    observation[0]=state["score"][seat]

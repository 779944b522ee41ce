"""placeholder"""
from typing import Any
from ..engine.compilation import kernel
@kernel
def action_values(state: Any, values: Any) -> None:
    for i in range(len(values)): values[i]=0.0

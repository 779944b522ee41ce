"""The formats that are fuzzed."""

from .cases import Format


def _format(name: str, target: str, weight: int) -> Format:
    return Format(name, f"{__package__}.{target}", weight)


FORMATS = (
    _format("moves", "notation:Moves", 2500),
    _format("positions", "notation:Positions", 2500),
    _format("options", "notation:Options", 1500),
    _format("records", "records:Records", 2000),
    _format("batches", "batches:Batches", 2000),
    _format("networks", "networks:Networks", 1200),
    _format("ppo", "networks:MaskablePPOFiles", 500),
    _format("configs", "training:Configs", 2000),
    _format("checkpoints", "training:Checkpoints", 600),
    _format("runs", "training:Runs", 1000),
    _format("tournaments", "tournaments:Tournaments", 600),
    _format("agents", "agents:AgentTexts", 1000),
    _format("answers", "agents:Answers", 800),
    _format("commands", "command_lines:CommandLines", 1200),
    _format("typed", "command_lines:TypedLines", 600),
    _format("arguments", "arguments:Arguments", 2000),
)

"""`python -m meeplezoo.training.demo [CONFIG] [KEY=VALUE ...]`: train, evaluate and record, in some minutes.

Without a config the first one of the package that is called "demo" is taken.
"""

import sys
import time
from pathlib import Path

from ..agents.arena.evaluation import Evaluation, evaluate
from ..agents.arena.recording import record_games
from ..configs.yaml_settings import parse_overrides
from ..envs.engine.random_stream import MAX_SEED
from ..envs.records.record import write_records
from ..envs.system.files import write_json
from ..envs.system.messages import display_name, display_path, error_line
from .command import DONE, USAGE_ERROR, train_command
from .config import TrainingConfig
from .config_files import config_names, read_config
from .progress import format_duration
from .run_folder import RunFolder

GAMES = 1000
_EVALUATION_SEED_OFFSET = 1_000_000
"""Added to the seed for the final evaluation, so that its deals are not those the best model was chosen by."""


def run_demo(config_name: str, overrides: list[str], games: int = GAMES) -> int:
    """Train with a config, play the best model against the evaluation opponents, and print where the files are.

    Returns the exit code of the training if it did not come to its end, otherwise 0.
    """
    began = time.perf_counter()
    try:
        config = read_config(config_name, overrides)
    except ValueError as error:
        print(error_line(error), file=sys.stderr)
        return USAGE_ERROR
    folder = RunFolder(config.run or f"runs/demo-{time.strftime('%Y%m%d-%H%M%S')}")
    overrides = [*overrides, *([] if "run" in parse_overrides(overrides) else [f"run={folder.path}"])]
    print(f"training {config.game} for {config.decisions:,} decisions by self-play", flush=True)
    code = train_command(config_name, overrides, None)
    if code != DONE:
        return code
    opponents = ", ".join(map(display_name, config.evaluation_opponents))
    print(f"\nthe best model in {games:,} games against each of {opponents}:\n")
    learner = folder.best_agent()
    assert learner is not None
    tables = {opponent: _play(config, learner, opponent, games) for opponent in config.evaluation_opponents}
    print("\n".join(format_table(tables)))
    write_json(folder.path / "final-evaluation.json", {name: table.as_json() for name, table in tables.items()})
    replay = _record(config, learner, config.evaluation_opponents[-1], folder.path / "replay.jsonl")
    print(
        f"\nlearning curve  {display_path(folder.learning_curve)}\nmodel           {display_path(learner)}"
        f"\nreplay          {display_path(replay)}"
        f"\n\nwatch it:       meeplezoo replay {display_path(replay, quoted=True)}"
        f"\nplay it:        meeplezoo play {config.game} human {display_path(learner, quoted=True)}"
        f"\n\ntook {format_duration(time.perf_counter() - began)}"
    )
    return DONE


def format_table(tables: dict[str, Evaluation]) -> list[str]:
    """Return the lines of a table of one agent's results by opponent."""
    names = f"{'against':<10}{'games':>7}{'won':>7}{'drawn':>7}{'lost':>7}"
    lines = [f"{names}{'win rate':>10}  {'95 % interval':<16}{'margin':>8}"]
    for opponent, table in tables.items():
        result = table.agents[0]
        low, high = result.interval
        interval = f"{100 * low:.1f} - {100 * high:.1f} %"
        lines.append(
            f"{display_name(opponent):<10}{result.games:>7,}{result.wins:>7,}{result.draws:>7,}{result.losses:>7,}"
            f"{100 * result.win_rate:>8.1f} %  {interval:<16}{result.mean_margin:>+8.1f}"
        )
    return lines


def _agents(config: TrainingConfig, learner: str, opponent: str) -> list[str]:
    return [learner, *[opponent] * (config.make_game().num_players - 1)]


def _seed(config: TrainingConfig) -> int:
    return (config.seed + _EVALUATION_SEED_OFFSET) & MAX_SEED


def _play(config: TrainingConfig, learner: str, opponent: str, games: int) -> Evaluation:
    return evaluate(config.make_game(), _agents(config, learner, opponent), games, _seed(config))


def _record(config: TrainingConfig, learner: str, opponent: str, path: Path) -> Path:
    agents = _agents(config, learner, opponent)
    write_records(path, record_games(config.make_game(), agents, 1, _seed(config)))
    return path


def main(argv: list[str]) -> int:
    """Run the demo with the config and the overrides of the command line."""
    if argv and "=" not in argv[0]:
        return run_demo(argv[0], argv[1:])
    return run_demo(next(name for name in config_names() if name.endswith("/demo")), argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

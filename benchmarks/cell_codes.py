"""What one plane of codes costs a learner beside one-hot planes: memory of an observation, time of the first layer.

python -m meeplezoo.benchmarks.cell_codes GAME
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from ..envs import GameBatch, game_names, make_game
from ..envs.system.messages import error_line
from .arguments import BenchmarkParser

SAMPLES = 256
CHANNELS = 16


def milliseconds(work: Callable[[], Any]) -> float:
    """Return the median time of five runs of some work, after one that is not counted."""
    work()
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return 1000 * sorted(times)[2]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table; exit code 2 if the game's observations have no plane of codes."""
    parser = BenchmarkParser(prog="cell_codes", description="Compare codes with one-hot planes.")
    parser.add_argument("game", choices=game_names())
    game = make_game(parser.parse_args(arguments).game)
    plane = game.observation_fields[0]
    if game.spec.first_cell_action is None or len(plane.shape) != 3:
        print(error_line(f"the observations of {game.name} have no plane of cells"), file=sys.stderr)
        return 2
    import torch
    from torch import nn

    torch.set_num_threads(1)
    batch = GameBatch(game, SAMPLES)
    batch.reset(1)
    batch.play_out(150)
    side, codes = plane.shape[1], int(plane.high) + 1
    stored = torch.as_tensor(batch.observe()[:, : side * side]).view(SAMPLES, side, side)
    one_hot = nn.functional.one_hot(stored.long(), codes).permute(0, 3, 1, 2).float()
    embedding = nn.Embedding(codes, CHANNELS)
    convolution = nn.Conv2d(codes, CHANNELS, 1)

    def learn_from_codes() -> None:
        embedding(stored.long()).sum().backward()

    def learn_from_planes() -> None:
        convolution(one_hot).sum().backward()

    print(f"{'form':<14}{'kB an observation':>18}{'first layer, ms a ' + str(SAMPLES):>26}")
    print(f"{'codes':<14}{4 * side * side / 1000:>18.1f}{milliseconds(learn_from_codes):>26.1f}")
    print(f"{'one-hot':<14}{4 * codes * side * side / 1000:>18.1f}{milliseconds(learn_from_planes):>26.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draw docs/pictures/<game>.svg: a game between greedy agents after some plies.

python docs/pictures/make.py
"""

from pathlib import Path

import numpy as np

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.envs import make_game
from meeplezoo.envs.records.notation import LastMove

SEED = 4
PLIES = {"azul": 38, "qwirkle": 118, "manhattan": 76}


def picture(name: str, plies: int) -> str:
    """Return the position after so many plies as SVG."""
    game = make_game(name)
    agent = make_agent("greedy", game, seed=SEED)
    state = game.new(seed=SEED)
    last_move = None
    for _ in range(plies):
        action = int(agent.act(DecisionBatch(game, np.array([state])))[0])
        last_move = LastMove(int(state["to_move"]), game.move(action, state))
        game.play_action(state, action)
    return game.spec.view().svg(game.position(state), last_move, None)


if __name__ == "__main__":
    for name, plies in PLIES.items():
        Path(__file__).with_name(f"{name}.svg").write_text(picture(name, plies), encoding="utf-8")

"""Draw docs/pictures/azul.svg: a game of two greedy agents, in the middle of its fourth round.

python docs/pictures/make_azul.py
"""

from pathlib import Path

import numpy as np

from meeplezoo.agents import Decisions, make_agent
from meeplezoo.envs import make_game
from meeplezoo.envs.drawing import LastMove

SEED = 4
ROUND = 4

game = make_game("azul")
agent = make_agent("greedy", game, seed=SEED)
state = game.new(seed=SEED)
last_move = None
while state["round"] < ROUND or state["sources"][0].sum() < 6:
    action = int(agent.act(Decisions(game, np.array([state])))[0])
    last_move = LastMove(int(state["to_move"]), game.move(action, state))
    game.play_action(state, action)
picture = game.description.module("drawing").svg(game.position(state), last_move)
Path(__file__).with_name("azul.svg").write_text(picture, encoding="utf-8")

"""Compiling ahead: every kernel that games and agents call, called once.

A new process loads compiled kernels at their first call, and the first process ever compiles them, which takes many
seconds. Whoever lets several processes play, or keeps a person waiting, calls `warm_up` before.
"""

from collections.abc import Callable, Iterable
from importlib.util import find_spec

import numpy as np

from ..envs.batch import GameBatch
from ..envs.engine.compilation import JIT_DISABLED
from ..envs.engine.random_stream import draw, draw_seed
from ..envs.engine.search_tree import extract_subtree, node_dtype
from ..envs.engine.tree_search import find_observation_node
from ..envs.game import Game, as_batch, make_game
from ..envs.interfaces.decision_batch import DecisionBatch
from ..envs.interfaces.opponent_batch import OpponentBatch
from ..envs.interfaces.pettingzoo_env import GameAECEnv
from ..envs.interfaces.single_agent_env import SingleAgentEnv
from ..envs.validation.states import State
from .baselines.greedy_agent import GreedyAgent
from .baselines.random_agent import RandomAgent
from .registry import kind_of
from .search.batched_search import search_with_network
from .search.gumbel_search import gumbel_search
from .search.mcts_agent import MCTSAgent, SearchSettings
from .search.minimax_agent import MinimaxAgent, MinimaxSettings
from .streams import agent_stream

_NODES = 1000
_PLIES = 40


def warm_up(game: Game, agents: Iterable[str] | None = None) -> None:
    """Compile or load all kernels that games between such agents call; None for those of all kinds of agents.

    Agents are texts as `make_agent` takes them. The options of the game make no difference: its kernels are the same.
    Without torch there are no networks, whose searches are left out then.
    """
    if JIT_DISABLED:
        return
    _warm_up_games(game)
    kinds = {kind_of(text) for text in (_KINDS if agents is None else agents)}
    if find_spec("torch") is None:
        kinds.discard("net")
    for kind, call_kernels in _KINDS.items():
        if kind in kinds:
            call_kernels(game)


def _warm_up_games(game: Game) -> None:
    """Play a little by every way of playing, and look at all that agents may see."""
    batch = GameBatch(game, 2)
    batch.reset(0)
    mask, observation = batch.mask(), batch.observe()
    batch.step(batch.random_actions(), mask=mask, observation=observation)
    batch.step_subset(np.zeros(1, np.int64), batch.random_actions()[:1])
    batch.set_state(batch.get_state())
    batch.play_out(1)
    together = GameBatch(game, 2, threads=2)
    together.reset(0)
    together.step(together.random_actions())
    batch.results()
    _play_environment(game)
    _play_learner(game)
    state: State = game.new(0)
    stream = agent_stream(0)
    for _ in range(_PLIES):
        if game.is_over(state):
            break
        # a copy: a view of one record may be of another kind to the compiler
        decisions = DecisionBatch(game, as_batch(state).copy())
        _ = decisions.observation, decisions.margins, decisions.projected_margins, decisions.action_values
        _ = decisions.determinize(stream), game.observe(state, 0), game.result(state)
        RandomAgent("random", 0).act(decisions)
        state = game.from_position(game.position(state), 0)
        game.play(state, game.legal_moves(state)[0])


def _play_environment(game: Game) -> None:
    env = GameAECEnv(game)
    env.reset(seed=0)
    while env.agents:
        agent = env.agent_selection
        over = env.terminations[agent] or env.truncations[agent]
        env.step(None if over else int(np.flatnonzero(env.infos[agent]["action_mask"])[-1]))


def _play_learner(game: Game) -> None:
    # one that is drawn stops after every ply, as it does for agents outside of the kernel
    for render_mode in (None, "svg"):
        env = SingleAgentEnv(game, opponents=RandomAgent("random", 0), render_mode=render_mode)
        _, info = env.reset(seed=0)
        env.step(int(np.flatnonzero(info["action_mask"])[0]))
    batch = OpponentBatch(game, 1, [RandomAgent("random", 0)])
    batch.reset(0)
    batch.set_state(batch.get_state())


def _decisions(game: Game) -> DecisionBatch:
    return DecisionBatch(game, as_batch(game.new(0)).copy())


def _warm_up_greedy(game: Game) -> None:
    GreedyAgent(game, "greedy", 0).act(_decisions(game))


def _warm_up_mcts(game: Game) -> None:
    decisions = _decisions(game)
    MCTSAgent(game, "mcts", SearchSettings(sims=1, nodes=_NODES), 0).act(decisions)
    # what an agent with closed chance calls besides
    trees = np.zeros((2, _NODES), node_dtype(game.spec.most_players))
    numbers = np.zeros(game.observation_size, np.int16)
    root = decisions.determinize(agent_stream(0))
    find_observation_node(root, trees[0], 1, game.layout_index, numbers)
    extract_subtree(trees[0], 0, trees[1], np.zeros(_NODES, np.int32))


def _warm_up_minimax(game: Game) -> None:
    if 2 in game.spec.player_counts:
        two = make_game(game.name, **{**game.options, "num_players": 2})
        least = MinimaxSettings(depth=1, width=1, samples=1, plies=0)
        MinimaxAgent(two, "minimax", least, 0).act(_decisions(two))
        draw(agent_stream(0), 2)


def _warm_up_net(game: Game) -> None:
    decisions = _decisions(game)
    states = decisions.determinize(agent_stream(0))

    def evaluate(leaves: DecisionBatch) -> tuple[np.ndarray, np.ndarray]:
        priors = leaves.mask / leaves.mask.sum(axis=1, keepdims=True)
        return priors.astype(np.float32), np.full((len(leaves), game.num_players), 0.5, np.float32)

    gumbel_search(game, states, decisions.mask, evaluate, 1, 0, plies=1, nodes=_NODES)
    search_with_network(game, states, evaluate, 2, 0, nodes=_NODES)
    draw_seed(agent_stream(0))
    draw(agent_stream(0), 2**32 - 1)


_KINDS: dict[str, Callable[[Game], None]] = {
    "greedy": _warm_up_greedy,
    "mcts": _warm_up_mcts,
    "minimax": _warm_up_minimax,
    "net": _warm_up_net,
}
"""Kinds of agents -> what calls the kernels that they call beside those of the games."""

"""A clock that goes on with the work of a search alone: tests of time limits need no time and never waver."""


class Clock:
    """Stands for the module `time` in the agents."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        """Return the seconds that the work so far has taken."""
        return self.now


def clock_of_work(monkeypatch, agent_module, search, pieces, seconds, loading=0.0):
    """Return a Clock to which every piece of a kernel's work adds some seconds, and the first call `loading` more.

    `pieces` says how many pieces a call with some arguments is. `search` names the kernel in the agent's module.
    """
    clock = Clock()
    for module in ("mcts_agent", "minimax_agent", "time_limit"):
        monkeypatch.setattr(f"meeplezoo.agents.search.{module}.time", clock)
    kernel, left = getattr(agent_module, search), [loading]

    def timed(*arguments):
        clock.now += seconds * pieces(arguments) + left[0]
        left[0] = 0.0
        return kernel(*arguments)

    monkeypatch.setattr(agent_module, search, timed)
    return clock

"""A tournament in one frozen dataclass, from arguments or from a mapping as YAML gives it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ...envs import Game, make_game
from ...envs.engine.random_stream import checked_seed

ROUND_ROBIN, SWISS = "round-robin", "swiss"
PAIRINGS = (ROUND_ROBIN, SWISS)
_USUAL_ANCHOR = "random"


@dataclass(frozen=True)
class Entrant:
    """An agent of a tournament: the name that results show, and the text that `make_agent` takes."""

    name: str
    agent: str


@dataclass(frozen=True, kw_only=True)
class TournamentSettings:
    """Everything that a tournament's games follow from; ValueError, one sentence, if something is wrong.

    | field | meaning |
    |---|---|
    | `game`, `options` | name and options of the game |
    | `agents` | the entrants, at least two, with different names |
    | `pairing` | "round-robin": every line-up in every round; "swiss": agents that do equally well |
    | `rounds` | how many rounds at most |
    | `deals` | how many deals every line-up plays in a round, each in all its seatings |
    | `seed` | of all deals and agents |
    | `precision` | Elo: stop when the ratings are known this well (see `standings.settled`); None: play all rounds |
    | `move_seconds` | time limit for a move of the user's own agents and of searches; None for none |
    | `records` | whether to keep the records of all games |
    | `anchor` | the entrant whose rating is 0; None: the mean is 0 |
    """

    game: str
    agents: tuple[Entrant, ...]
    options: dict[str, Any]
    pairing: str = ROUND_ROBIN
    rounds: int = 10
    deals: int = 10
    seed: int = 0
    precision: float | None = None
    move_seconds: float | None = None
    records: bool = False
    anchor: str | None = None

    def __post_init__(self) -> None:
        game = self.make_game()
        names = [entrant.name for entrant in self.agents]
        if game.num_players < 2:
            players = f"{game.name} has {game.num_players} here"
            raise ValueError(f"game: a tournament needs a game of at least 2 players, and {players}")
        if len(names) < 2:
            raise ValueError(f"agents: a tournament needs at least 2, not {len(names)}")
        if len(set(names)) < len(names):
            raise ValueError(f"agents: two have the name {max(names, key=names.count)!r}; names must differ")
        if self.pairing not in PAIRINGS:
            raise ValueError(f"pairing must be one of {', '.join(PAIRINGS)}, not {self.pairing!r}")
        if self.pairing == SWISS and len(names) < game.num_players:
            raise ValueError(f"pairing: swiss needs at least as many agents as players, {game.num_players}")
        for name in ("rounds", "deals"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, not {value!r}")
        for name in ("precision", "move_seconds"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
                raise ValueError(f"{name} must be a number above 0, not {value!r}")
        if type(self.records) is not bool:
            raise ValueError(f"records must be true or false, not {self.records!r}")
        checked_seed(self.seed)
        if self.anchor is not None and self.anchor not in names:
            raise ValueError(f"anchor must be one of the agents {', '.join(names)}, not {self.anchor!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the entrants in their order."""
        return tuple(entrant.name for entrant in self.agents)

    def make_game(self) -> Game:
        """Return the game."""
        return make_game(self.game, **self.options)

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings as `make_settings` takes them, everything spelled out."""
        agents = [{"name": entrant.name, "agent": entrant.agent} for entrant in self.agents]
        mapping = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**mapping, "options": dict(self.make_game().options), "agents": agents}


def make_settings(settings: Mapping[str, Any]) -> TournamentSettings:
    """Return the settings of a mapping; agents are texts, or mappings of `name` and `agent`.

    Without an anchor, an agent that plays `random` is it. Raises ValueError that names the setting and what is
    wrong.
    """
    known = [field.name for field in fields(TournamentSettings)]
    for name in settings:
        if name not in known:
            raise ValueError(f"there is no setting {name!r}; the settings are {', '.join(known)}")
    for name in ("game", "agents"):
        if name not in settings:
            raise ValueError(f"the setting {name!r} is missing")
    options = settings.get("options") or {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a mapping of options to values, not {options!r}")
    entrants = _entrants(settings["agents"])
    usual = [entrant.name for entrant in entrants if entrant.agent == _USUAL_ANCHOR]
    anchor = settings.get("anchor") or (usual[0] if usual else None)
    given = {**settings, "options": dict(options), "agents": entrants, "anchor": anchor}
    return TournamentSettings(**given)


def _entrants(agents: Any) -> tuple[Entrant, ...]:
    if not isinstance(agents, Sequence) or isinstance(agents, str):
        raise ValueError(f"agents must be a list, not {agents!r}")
    entrants: list[Entrant] = []
    for agent in agents:
        if isinstance(agent, str):
            count = sum(entrant.agent == agent for entrant in entrants)
            entrants.append(Entrant(f"{agent} ({count + 1})" if count else agent, agent))
        elif isinstance(agent, Mapping) and set(agent) == {"name", "agent"} and all(map(_is_text, agent.values())):
            entrants.append(Entrant(agent["name"], agent["agent"]))
        else:
            raise ValueError(f"agents: must be texts, or mappings of name and agent, not {agent!r}")
    return tuple(entrants)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)

"""A tournament in one frozen dataclass, from arguments or from a mapping as YAML gives it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import factorial
from typing import Any

from ...envs import Game, make_game
from ...envs.engine.random_stream import check_seed
from ...envs.options import check_names
from ...envs.registry import describe
from ...envs.system.messages import shorten
from ...envs.validation.arguments import check_choice, check_positive
from ...envs.validation.arrays import check_integer
from ..agent_settings import MOST_SECONDS
from ..external.session import SECONDS_TO_START
from ..registry import LONGEST_TEXT, check_agent_text, is_own_bot
from .schedule import MOST_GAMES_AT_ONCE, MOST_LINE_UPS, MOST_ROUNDS, count_line_ups
from .short_names import short_names

ROUND_ROBIN, SWISS = "round-robin", "swiss"
PAIRINGS = (ROUND_ROBIN, SWISS)
MOST_AGENTS = 200
MOST_PRECISION = 1_000_000
_MOST_LISTED = 20
_DEFAULT_ANCHOR = "random"


@dataclass(frozen=True)
class Participant:
    """An agent of a tournament: the name that results show, and the text that `make_agent` takes."""

    name: str
    agent: str


@dataclass(frozen=True, kw_only=True)
class TournamentSettings:
    """Everything that a tournament's games follow from; ValueError, one sentence, if something is wrong.

    | field | meaning |
    |---|---|
    | `game`, `options` | name and options of the game |
    | `agents` | the participants, at least two, with different names |
    | `pairing` | "round-robin": every line-up in every round; "swiss": agents that do equally well |
    | `rounds` | how many rounds at most |
    | `deals` | how many deals every line-up plays in a round, each in all its seatings |
    | `seed` | of all deals and agents |
    | `precision` | Elo: stop when the ratings are known this well (`standings.has_converged`); None: play all rounds |
    | `move_seconds` | time limit for a move of the user's own agents and of searches; None for none |
    | `start_seconds` | how long bots of the user's own have to start, apart from their moves |
    | `records` | whether to keep the records of all games |
    | `anchor` | the participant whose rating is 0; None: the mean is 0 |
    """

    game: str
    agents: tuple[Participant, ...]
    options: dict[str, Any]
    pairing: str = ROUND_ROBIN
    rounds: int = 10
    deals: int = 10
    seed: int = 0
    precision: float | None = None
    move_seconds: float | None = None
    start_seconds: float = SECONDS_TO_START
    records: bool = False
    anchor: str | None = None

    def __post_init__(self) -> None:
        game = self.make_game()
        if game.num_players < 2:
            players = f"{game.name} has {game.num_players} here"
            raise ValueError(f"game: a tournament needs a game of at least 2 players, and {players}")
        _check_participants(self.agents)
        check_choice(self.pairing, "pairing", PAIRINGS)
        self._check_line_ups(game.num_players)
        # all seatings of a deal are played side by side
        most_deals = max(1, MOST_GAMES_AT_ONCE // factorial(game.num_players))
        for name, most_integer in (("rounds", MOST_ROUNDS), ("deals", most_deals)):
            object.__setattr__(self, name, check_integer(getattr(self, name), name, 1, most_integer))
        check_positive(self.start_seconds, "start_seconds", MOST_SECONDS)
        for name, most in (("precision", MOST_PRECISION), ("move_seconds", MOST_SECONDS)):
            if getattr(self, name) is not None:
                check_positive(getattr(self, name), name, most)
        if type(self.records) is not bool:
            raise ValueError(f"records must be true or false, not {shorten(self.records)}")
        if self.seed is None:
            raise ValueError("seed must be an integer, not None")
        check_seed(self.seed)
        if self.anchor is not None and self.anchor not in self.names:
            raise ValueError(f"anchor must be one of the agents {_list_names(self.names)}, not {shorten(self.anchor)}")

    def _check_line_ups(self, num_players: int) -> None:
        """Raise ValueError if there are too few agents to be paired, or too many line-ups to be played."""
        number = len(self.agents)
        if self.pairing == SWISS:
            if number < num_players:
                raise ValueError(f"pairing: swiss needs at least as many agents as players, {num_players}")
            return
        line_ups = count_line_ups(number, num_players)
        if line_ups > MOST_LINE_UPS:
            raise ValueError(
                f"pairing: {number} agents have {line_ups:,} line-ups in a round robin, more than {MOST_LINE_UPS:,}; "
                "pair them as swiss"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the participants in their order."""
        return tuple(participant.name for participant in self.agents)

    @property
    def with_own_bots(self) -> bool:
        """Tell whether bots of the user's own take part."""
        return any(is_own_bot(participant.agent) for participant in self.agents)

    def make_game(self) -> Game:
        """Return the game."""
        check_names(self.game, describe(self.game).options, self.options)
        return make_game(self.game, **self.options)

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings as `make_settings` takes them, everything spelled out."""
        agents = [{"name": participant.name, "agent": participant.agent} for participant in self.agents]
        mapping = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**mapping, "options": dict(self.make_game().options), "agents": agents}


def make_settings(settings: Mapping[str, Any]) -> TournamentSettings:
    """Return the settings of a mapping; agents are texts, or mappings of `name` and `agent`.

    Texts of bots of the user's own are named without the folders that they lie in. Without an anchor, an agent that
    plays `random` is it; one may be given by its text, too. Raises ValueError that names the setting and what is wrong.
    """
    known = [field.name for field in fields(TournamentSettings)]
    for name in settings:
        if name not in known:
            raise ValueError(f"there is no setting {shorten(name)}; the settings are {', '.join(known)}")
    for name in ("game", "agents"):
        if name not in settings:
            raise ValueError(f"the setting {name!r} is missing")
    options = {} if settings.get("options") is None else settings["options"]
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a mapping of options to values, not {shorten(options)}")
    participants = _participants(settings["agents"])
    names, texts = [one.name for one in participants], [one.agent for one in participants]
    anchor = settings.get("anchor")
    if anchor is None and _DEFAULT_ANCHOR in texts:
        anchor = names[texts.index(_DEFAULT_ANCHOR)]
    if anchor in texts and anchor not in names:
        anchor = names[texts.index(anchor)]
    given = {**settings, "options": dict(options), "agents": participants, "anchor": anchor}
    return TournamentSettings(**given)


def _participants(agents: Any) -> tuple[Participant, ...]:
    if not isinstance(agents, Sequence) or isinstance(agents, str | bytes):
        raise ValueError(f"agents must be a list, not {shorten(agents)}")
    if len(agents) > MOST_AGENTS:
        raise ValueError(f"agents: a tournament has at most {MOST_AGENTS}, not {len(agents):,}")
    participants: list[Participant] = []
    texts = [agent for agent in agents if isinstance(agent, str)]
    names = dict(zip(texts, short_names(texts), strict=True))
    for agent in agents:
        if isinstance(agent, str):
            count = sum(participant.agent == agent for participant in participants)
            participants.append(Participant(f"{names[agent]} ({count + 1})" if count else names[agent], agent))
        elif isinstance(agent, Mapping) and set(agent) == {"name", "agent"} and all(map(_is_text, agent.values())):
            participants.append(Participant(agent["name"], agent["agent"]))
        else:
            raise ValueError(f"agents: must be texts, or mappings of name and agent, not {shorten(agent)}")
    return tuple(participants)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _check_participants(participants: tuple[Participant, ...]) -> None:
    """Raise ValueError if they are too few or too many, or have no names of their own that can be written."""
    if not 2 <= len(participants) <= MOST_AGENTS:
        some = "at least 2" if len(participants) < 2 else f"at most {MOST_AGENTS}"
        raise ValueError(f"agents: a tournament needs {some}, not {len(participants)}")
    names = [participant.name for participant in participants]
    for name in names:
        if not name or len(name) > LONGEST_TEXT + 10 or not _is_writable(name):
            raise ValueError(f"agents: a name must be 1 to {LONGEST_TEXT:,} characters of UTF-8, not {shorten(name)}")
    for participant in participants:
        check_agent_text(participant.agent)
        if not _is_writable(participant.agent):
            raise ValueError(f"agents: the text of an agent must be UTF-8, not {shorten(participant.agent)}")
    if len(set(names)) < len(names):
        raise ValueError(f"agents: two have the name {shorten(max(names, key=names.count))}; names must differ")


def _is_writable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _list_names(names: Sequence[str]) -> str:
    """Return some names for a message: as many as it has room for."""
    text = ", ".join(names[:_MOST_LISTED])
    return text if len(names) <= _MOST_LISTED and len(text) <= 200 else f"{text[:200]}, ..."

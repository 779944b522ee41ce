"""Command lines of every command, and what a person types into a game."""

import random
import re
from pathlib import Path
from typing import Any

import yaml

from ...cli.main import COMMANDS
from ...cli.move_entry import short_form
from ...envs import game_names, make_game
from ...envs.records.record import record_line
from .cases import PIPE, Case, CommandResult
from .command import SECONDS_TO_WORK, run_command
from .games import draw_game, draw_record, warm_all
from .hostile import NUMBERS, PYTHON, TEXTS, to_json
from .mutations import change_bytes, change_text, change_tree, format_number, several
from .training import load_training

_APART = 0.03
"""How many run in a process of their own, which takes seconds."""
_CONFIG = {
    "games": 4,
    "rollout": 8,
    "minibatch": 16,
    "hidden": [4],
    "decisions": 32,
    "evaluation_opponents": ["random"],
}
_FILES = ("games.jsonl", "c.yaml", "t.yaml", "folder", "pipe", "missing", "text.txt", "binary", "/dev/zero", "runs")
_READING = ("games", "replay", "runs")
_SURROGATE = "\udcff"
"""A byte of a command line that is not UTF-8, as Python hands it over."""


class CommandLines:
    """A valid command line with words and values changed, added, removed and exchanged."""

    refusals = ()
    may_make_files = True

    def __init__(self, kept: Path) -> None:
        warm_all()
        load_training()
        self._flags = {command: _flags(command) for command in COMMANDS}

    def make(self, draw: random.Random) -> Case:
        """Return a command line and the files that it may name."""
        command = draw.choice(list(COMMANDS))
        words = draw.choice(_usual_words(command, draw.choice(game_names())))
        notes = []
        for _ in range(several(draw)):
            words, note = _change(words, self._flags[command], draw)
            notes.append(note)
        words = [command, *words] if draw.random() < 0.97 else words
        files = {
            "games.jsonl": record_line(draw_record(draw_game(draw), draw)),
            "c.yaml": yaml.safe_dump({"game": draw.choice(game_names()), "algorithm": "ppo", **_CONFIG}).encode(),
            "t.yaml": yaml.safe_dump({"game": game_names()[0], "agents": ["random", "greedy"], "rounds": 1}).encode(),
            "text.txt": b"some text\n",
            "binary": bytes(range(256)),
            "folder/": b"",
            "runs/": b"",
            f"pipe{PIPE}": b"",
        }
        apart = draw.random() < _APART
        return Case({"words": _harmless(words, apart), "apart": apart}, files, f"{command}: {'; '.join(notes)}")

    def run(self, case: Case) -> CommandResult:
        """Run it; a command that works gets Ctrl-C after a while."""
        words = case.words["words"]
        # those that only read are done at once
        after = None if words and words[0] in _READING else SECONDS_TO_WORK
        return run_command(words, b"1\nq\n", after, case.words["apart"])


def _flags(command: str) -> list[str]:
    """Return the options of a command, as its help tells."""
    return sorted(set(re.findall(r"(?<!\w)--[a-z][a-z-]*", run_command([command, "--help"]).output)))


def _usual_words(command: str, game: str) -> list[list[str]]:
    """Return valid words behind a command; of a command that is not known here its name alone, or a game."""
    known: dict[str, list[list[str]]] = {
        "games": [[]],
        "play": [[game, "greedy", "random", "--seed", "7", "--save", "out.jsonl"], [game], [game, "human", "random"]],
        "record": [[game, "--agents", "random,greedy", "--games", "2", "--seed", "1", "--out", "out.jsonl"]],
        "replay": [["games.jsonl"], ["games.jsonl", "--check"]],
        "evaluate": [[game, "greedy", "random", "--games", "2", "--seed", "3", "--json", "out.json"]],
        "tournament": [
            [game, "random", "greedy", "--rounds", "1", "--deals", "1", "--processes", "1", "--out", "t"],
            ["t.yaml", "deals=1", "--processes", "1", "--out", "t"],
            ["--resume", "folder"],
        ],
        "train": [["c.yaml", "minutes=0", "evaluation_games=2", "run=run"], ["--resume", "folder"]],
        "runs": [["runs"], ["--json", "folder", "runs"]],
        "bench": [["--only", "nothing"]],
    }
    return known.get(command, [[], [game]])


def _change(words: list[str], flags: list[str], draw: random.Random) -> tuple[list[str], str]:
    words = list(words)
    place = draw.randrange(len(words) + 1)
    hostile = draw.choice((*TEXTS, *map(format_number, NUMBERS), *_FILES, _SURROGATE))
    kind = draw.choice(("replace", "replace", "flag", "flag", "insert", "remove", "repeat", "change", "exchange"))
    if kind == "flag" and flags:
        flag = draw.choice(flags)
        words[place:place] = draw.choice(([flag, hostile], [flag], [f"{flag}={hostile}"]))
        return words, f"{flag} {hostile[:40]!r}"
    if not words or kind in ("flag", "insert"):
        words.insert(place, hostile)
        return words, f"{hostile[:40]!r} inserted"
    place %= len(words)
    word = words[place]
    if kind == "remove":
        del words[place]
    elif kind == "repeat":
        words[place:place] = [word] * draw.choice((1, 1, 5, 300))
    elif kind == "change":
        words[place], _ = change_text(word, draw)
    elif kind == "exchange":
        other = draw.randrange(len(words))
        words[place], words[other] = words[other], words[place]
    else:
        name, equals, _ = word.partition("=")
        words[place] = f"{name}={hostile}" if equals else hostile
    return words, f"{word[:40]!r} {kind}d: {words[place][:40] if place < len(words) else ''!r}"


def _harmless(words: list[str], apart: bool) -> list[str]:
    """Return words that name no absolute path where a command writes, no program, and can be handed over."""
    found = []
    for place, word in enumerate(words):
        if word.startswith("/") and (place == 0 or words[place - 1].startswith("-")):
            word = word.lstrip("/")
        word = re.sub(r"=/+", "=", word).replace("program:", "program")
        # the system takes no zero bytes, and no half characters but those that stand for bytes
        found.append(word.replace("\x00", "") if apart else word)
    return found


class TypedLines:
    """What a person types into a game: numbers, short forms, JSON, and everything else."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()

    def make(self, draw: random.Random) -> Case:
        """Return some lines, most of them changed."""
        game = make_game(draw.choice(game_names()), num_players=2)
        legal = game.legal_moves(game.new(1))
        lines = []
        for _ in range(draw.randrange(1, 6)):
            line = _line(draw.choice(legal), draw)
            lines.append(change_text(line, draw)[0] if draw.random() < 0.5 else line)
        typed = "\n".join(lines).encode(errors="surrogatepass") + draw.choice((b"\n", b"", b"\nq\n"))
        note = repr(lines[-1][:80])
        if draw.random() < 0.3:
            typed, note = change_bytes(typed, draw)
        words = ["play", game.name, "human", "random", "--seed", "1"]
        return Case({"words": words, "apart": draw.random() < _APART}, {"typed": typed}, f"{game.name}: {note}")

    def run(self, case: Case) -> CommandResult:
        """Play with the lines as input."""
        typed = Path("typed").read_bytes()
        return run_command(case.words["words"], typed, SECONDS_TO_WORK, apart=case.words["apart"])


def _line(move: dict[str, Any], draw: random.Random) -> str:
    changed, _ = change_tree(move, draw, [value for value in PYTHON if not isinstance(value, dict)])
    lines = (
        short_form(move),
        short_form(move)[: draw.randrange(1, 9)],
        to_json(move),
        to_json(changed),
        str(draw.randrange(50)),
        format_number(draw.choice(NUMBERS)),
        draw.choice(TEXTS),
        draw.choice(("?", "q", "quit", "", " ", "{", "[" * 5000)),
    )
    return draw.choice(lines)

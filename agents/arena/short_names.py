"""Short names of agents for tables: bots of the user's own without the folders that their files lie in."""

import shlex
from collections.abc import Sequence

from ..external.bot_settings import split_name
from ..registry import is_own_bot

_LONGEST = 40


def short_names(texts: Sequence[str]) -> list[str]:
    """Return a name for each text of an agent; different texts have different names.

    Texts of the user's own bots lose the folders of their files and what goes beyond 40 characters, unless two would
    then be called the same; all others are their own names.
    """
    short = {text: _shorten(text) if is_own_bot(text) else text for text in texts}
    names = list(short.values())
    return [short[text] if names.count(short[text]) == 1 else text for text in texts]


def _shorten(text: str) -> str:
    try:
        name = _shorten_command(text) if text.startswith("program:") else _shorten_file(text)
    except ValueError:
        # no agent, as whoever makes it will say
        return text
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _shorten_file(text: str) -> str:
    file, _, _ = split_name(text)
    return f"{_last_part(file)}{text.removeprefix(file)}"


def _shorten_command(text: str) -> str:
    kind, _, command = text.partition(":")
    # an option stays as it is, and so does a word of several words, unless it is the path of a file
    paths = ("/", "./", "../", "~/")
    words = [
        word if word.startswith("-") or (" " in word and not word.startswith(paths)) else _last_part(word)
        for word in shlex.split(command)
    ]
    return f"{kind}:{' '.join(words)}"


def _last_part(path: str) -> str:
    return path.rpartition("/")[2] or path

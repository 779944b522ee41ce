"""Settings of a Python bot, as they stand behind its name: "FILE.py:NAME,sims=50,style=bold"."""

import re

from ...envs.system.messages import shorten
from ..agent_settings import agent_error

Setting = bool | int | float | str

_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_TRUTHS = {"true": True, "false": False}


def split_name(text: str) -> tuple[str, str, dict[str, Setting]]:
    """Return file, name and settings of a text; ValueError, one sentence, if it is none of that form.

    Values that look like integers, numbers, true or false become such, all others are texts.
    """
    file, ending, rest = text.partition(".py:")
    name, *parts = rest.split(",")
    if not ending or not name:
        raise agent_error(text, "it lacks the name of a function or class in the file; write FILE.py:NAME")
    settings: dict[str, Setting] = {}
    for part in parts:
        setting, equals, value = part.partition("=")
        if not equals or not setting.isidentifier():
            raise agent_error(text, f"{shorten(part)} is no setting; write FILE.py:NAME,SETTING=VALUE,...")
        if setting in settings:
            raise agent_error(text, f"{setting} is given twice")
        settings[setting] = _value(value)
    return f"{file}.py", name, settings


def _value(text: str) -> Setting:
    if text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text

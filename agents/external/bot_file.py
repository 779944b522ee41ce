"""Load a bot from a Python file; its parameters tell which kind of bot it is."""

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ...envs.system.messages import shorten
from .replies import truncate

_FUNCTIONS = (({"observation", "mask"}, set[str]()), ({"position"}, {"legal"}))
"""The kinds of functions: the parameters that one must have, and those that it may have beside them."""
_ANY_FUNCTION = {"random", "game_index", "ply"}
_CLASS = {"game", "seed"}
_KINDS = (
    "a function takes (observation, mask), (position) or (position, legal), each also with random, game_index or ply; "
    "a class takes (game, seed) or nothing and has act(decisions); what else they need stands behind the name, as in "
    "FILE.py:NAME,SETTING=VALUE"
)


class InvalidBot(Exception):
    """Why a file, or a name in it, is not a bot, in one sentence."""


def load(file: Path, name: str) -> Any:
    """Run a file, its folder first on the path as if it were a script, and return what it calls by that name.

    Raises InvalidBot if the file raises or knows no such name.
    """
    sys.path.insert(0, str(file.parent))
    # a name that no import asks for: a bot may be called random.py
    spec = importlib.util.spec_from_file_location(f"meeplezoo bot {file.stem}", file)
    if spec is None or spec.loader is None:
        raise InvalidBot(f"{file.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # dataclasses and pickles look their module up
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        traceback.print_exception(error)
        raise InvalidBot(f"{file.name} cannot be imported: {describe_error(error, file)}") from None
    if not hasattr(module, name):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == spec.name]
        raise InvalidBot(f"{file.name} has no {shorten(name)}; it has {', '.join(own) or 'no functions or classes'}")
    return getattr(module, name)


def required_parameters(thing: Any, name: str, settings: Collection[str] = ()) -> set[str]:
    """Return the names of the parameters that a function or class is to be given beside its settings.

    Raises InvalidBot if it is of no kind, or has no such settings.
    """
    if not callable(thing):
        raise InvalidBot(f"{name} is no function or class, but {truncate(repr(thing))}")
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        raise InvalidBot(f"{name} is no bot: {_KINDS}") from None
    named = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = {each.name for each in parameters if each.default is each.empty and each.kind not in variable}
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
    for allowed in _kinds(thing, set(named)):
        own = [each for each in named if each not in allowed]
        unknown = [each for each in settings if each in allowed or not (takes_any or each in own)]
        if required <= allowed | set(settings):
            if unknown:
                there_are = f"its settings are {', '.join(own)}" if own else "it has no settings"
                raise InvalidBot(f"{name} has no setting {shorten(unknown[0])}; {there_are}")
            return set(named) & allowed
    takes = f"{name}({', '.join(each.name for each in parameters)})"
    lacks = " without act" if isinstance(thing, type) and not _has_act(thing) else ""
    raise InvalidBot(f"{takes}{lacks} is no bot: {_KINDS}")


def _kinds(thing: Any, named: set[str]) -> list[set[str]]:
    """Return what a thing may be given as the kinds of bots that it may be by the names of its parameters."""
    if isinstance(thing, type):
        return [_CLASS] if _has_act(thing) else []
    return [needed | optional | _ANY_FUNCTION for needed, optional in _FUNCTIONS if needed <= named]


def _has_act(thing: type) -> bool:
    return callable(getattr(thing, "act", None))


def describe_error(error: BaseException, file: Path) -> str:
    """Return an error in one line, with the last line of the file that it came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    place = f" ({file.name}, line {frames[-1].lineno})" if frames else ""
    try:
        message = truncate(str(error))
    except Exception as worse:  # an error of the bot's own may fail to tell itself
        message = type(worse).__name__
    return f"{type(error).__name__}{f': {message}' if message else ''}{place}"

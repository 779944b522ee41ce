"""A Python file with a bot in it: run, and what it names told apart by its parameters."""

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from typing import Any

from .answers import shortened

_FUNCTIONS = (({"observation", "mask"}, set[str]()), ({"position"}, {"legal"}))
"""The kinds of functions: the parameters that one must have, and those that it may have beside them."""
_ANY_FUNCTION = {"random"}
_CLASS = {"game", "seed"}
_KINDS = (
    "a function takes (observation, mask), (position) or (position, legal), each also with random; "
    "a class takes (game, seed) or nothing and has act(decisions)"
)


class NoBot(Exception):
    """Why a file or what it names is no bot, in one sentence."""


def load(file: Path, name: str) -> Any:
    """Run a file, its folder first on the path as if it were a script, and return what it calls by that name.

    Raises NoBot if the file raises or knows no such name.
    """
    sys.path.insert(0, str(file.parent))
    # a name that no import asks for: a bot may be called random.py
    spec = importlib.util.spec_from_file_location(f"meeplezoo bot {file.stem}", file)
    if spec is None or spec.loader is None:
        raise NoBot(f"{file.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # dataclasses and pickles look their module up
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        traceback.print_exception(error)
        raise NoBot(f"{file.name} cannot be imported: {described(error, file)}") from None
    if not hasattr(module, name):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == spec.name]
        raise NoBot(f"{file.name} has no {name!r}; it has {', '.join(own) or 'no functions or classes'}")
    return getattr(module, name)


def wanted_parameters(thing: Any, name: str) -> set[str]:
    """Return the names of the parameters that a function or class is to be given; NoBot if it is of no kind."""
    if not callable(thing):
        raise NoBot(f"{name} is no function or class, but {shortened(repr(thing))}")
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        raise NoBot(f"{name} is no bot: {_KINDS}") from None
    named = {each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = {each.name for each in parameters if each.default is each.empty and each.kind not in variable}
    acts = callable(getattr(thing, "act", None))
    if isinstance(thing, type):
        if acts and required <= named & _CLASS:
            return named & _CLASS
    else:
        for needed, optional in _FUNCTIONS:
            allowed = needed | optional | _ANY_FUNCTION
            if needed <= named and required <= named & allowed:
                return named & allowed
    takes = f"{name}({', '.join(each.name for each in parameters)})"
    lacks = " without act" if isinstance(thing, type) and not acts else ""
    raise NoBot(f"{takes}{lacks} is no bot: {_KINDS}")


def described(error: BaseException, file: Path) -> str:
    """Return an error in one line, with the last line of the file that it came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    place = f" ({file.name}, line {frames[-1].lineno})" if frames else ""
    said = shortened(str(error))
    return f"{type(error).__name__}{f': {said}' if said else ''}{place}"

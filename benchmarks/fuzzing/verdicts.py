"""What a fault is: how an input may end, and what the sentence that refuses it may look like."""

import json
import re
import traceback
import unicodedata
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...envs.system.messages import escape_controls
from .cases import Case, CommandResult, FaultFound, Target

ACCEPTED, REFUSED, FAULT = "accepted", "refused", "fault"

LONGEST_SENTENCE = 500
"""Characters of an error's text at most, lists of many valid choices left out."""

_CHOICES = re.compile(r"([^\s,]{1,40}, ){8,}[^\s,]{1,40}")

_PACKAGE = Path(__file__).parents[2]
_RAW_ERRORS = (json.JSONDecodeError, UnicodeError, np.linalg.LinAlgError, zipfile.BadZipFile)
"""ValueErrors of other libraries, which name neither the file nor what is wrong in it."""
_EXIT_CODES = (0, 1, 2)
_INTERRUPTED = 130
_LAYOUT = "\n\r\t"


@dataclass(frozen=True)
class Verdict:
    """How an input ended: ACCEPTED, REFUSED or FAULT; of a fault the reason, the text, and the place in the source."""

    kind: str
    reason: str = ""
    text: str = ""
    place: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON data."""
        return asdict(self)


def judge(target: Target, case: Case) -> Verdict:
    """Run an input and judge how it ends."""
    try:
        ended = target.run(case)
    except BaseException as error:
        return _judge_exception(error, (ValueError, OSError, *target.refusals))
    return Verdict(ACCEPTED) if ended is None else _judge_command(ended)


def _judge_exception(error: BaseException, documented: tuple[type[BaseException], ...]) -> Verdict:
    try:
        text = str(error)
    except Exception as second:
        text = f"its text raises {type(second).__name__}"
    place = _place(error)
    if isinstance(error, FaultFound):
        return Verdict(FAULT, text, _truncate(error.details), place)
    foreign = isinstance(error, _RAW_ERRORS) or (isinstance(error, OSError) and error.errno is None)
    if foreign or not isinstance(error, documented):
        return Verdict(FAULT, type(error).__name__, _truncate(text), place)
    wrong = wrong_sentence(text)
    return Verdict(FAULT, wrong, _truncate(text), place) if wrong else Verdict(REFUSED, type(error).__name__, text)


def wrong_sentence(text: str) -> str:
    """Return what is wrong with the text of an error, "" if it is one clear line."""
    if not text.strip():
        return "error without a text"
    if len(_CHOICES.sub(_without_choices, text)) > LONGEST_SENTENCE:
        return f"error text of more than {LONGEST_SENTENCE} characters"
    if "\n" in text or "\r" in text:
        return "error text of several lines"
    return "control characters in an error text" if has_controls(text) else ""


def _without_choices(found: re.Match[str]) -> str:
    words = found[0].split(", ")
    return "" if len(set(words)) == len(words) else found[0]


def has_controls(text: str, allowed: str = "") -> bool:
    """Tell whether a text holds characters that act on a terminal."""
    return any(unicodedata.category(each) in ("Cc", "Cs") and each not in allowed for each in set(text))


def _judge_command(ended: CommandResult) -> Verdict:
    codes = (*_EXIT_CODES, _INTERRUPTED) if ended.interrupted else _EXIT_CODES
    lines = [line for line in re.split(r"[\r\n]", ended.errors) if line.strip()]
    last = lines[-1] if lines else ""
    shown, place = _truncate(last), f"meeplezoo {ended.command}".strip()
    if "Traceback (most recent" in ended.errors:
        return Verdict(FAULT, "traceback", shown, _last_frame(ended.errors))
    if ended.code not in codes:
        return Verdict(FAULT, f"exit code {ended.code}", shown, place)
    if has_controls(ended.errors, _LAYOUT):
        return Verdict(FAULT, "control characters on stderr", shown, place)
    if has_controls(ended.output, _LAYOUT):
        return Verdict(FAULT, "control characters on stdout", _truncate(_line_with_controls(ended.output)), place)
    if ended.code in (0, _INTERRUPTED):
        return Verdict(ACCEPTED)
    if not last.startswith("meeplezoo"):
        return Verdict(FAULT, f"exit code {ended.code} without a sentence", shown, place)
    if ended.code == 2 and len(lines) > 1:
        return Verdict(FAULT, "error text of several lines", _truncate(" | ".join(lines)), place)
    wrong = wrong_sentence(last)
    return Verdict(FAULT, wrong, shown, place) if wrong else Verdict(REFUSED, f"exit code {ended.code}", last, place)


def _line_with_controls(text: str) -> str:
    return next(line for line in text.splitlines() or [text] if has_controls(line, _LAYOUT))


def _truncate(text: str) -> str:
    """Return a text of the table: printable, on one line, short."""
    shown = escape_controls(text)
    return shown if len(shown) <= 200 else f"{shown[:190]}... ({len(text)} characters)"


def _place(error: BaseException) -> str:
    """Return the last line of the package, outside the fuzzer, that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    fuzzer = str(Path(__file__).parent)
    inside = [one for one in frames if one.filename.startswith(fuzzer)]
    own = [one for one in frames if _is_own(one.filename)] or inside
    return _format_place(own[-1].filename, own[-1].lineno, own[-1].name) if own else ""


def _last_frame(text: str) -> str:
    """Return the last line of the package in a printed traceback."""
    return next(reversed(frames_of_package(text)), "")


def frames_of_package(text: str) -> list[str]:
    """Return the lines of the package, outside the fuzzer, in a traceback of Python or of its crash handler."""
    frames = re.findall(r'File "(.*)", line (\d+),? in (\S+)', text)
    return [_format_place(file, int(line), function) for file, line, function in frames if _is_own(file)]


def _is_own(file: str) -> bool:
    outside = file.startswith(str(Path(__file__).parent)) or ".venv" in file
    return file.startswith(str(_PACKAGE)) and not outside


def _format_place(file: str, line: int | None, function: str) -> str:
    return f"{Path(file).relative_to(_PACKAGE)}:{line} {function}"

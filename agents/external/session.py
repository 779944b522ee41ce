"""A session with the process of a bot, in JSON Lines; a lost process is restarted for the next decision."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ...envs.system.strict_json import parse_json
from .bot_process import BotProcess
from .prints import Prints
from .replies import BotError, as_json, sentence, truncate

SECONDS_TO_START = 120.0
"""How long a bot has to say that it is ready, if nothing else is asked for; one that compiles takes a minute."""

_GOODBYE = b'{"type": "goodbye"}'


class BotSession:
    """Asks a bot for decisions, one after the other; whatever goes wrong raises BotError with the reason.

    Arguments:
        command: the program and its arguments.
        hello: the message that every process begins with; the bot answers {"type": "ready", ...}, or
            {"type": "refused", "reason": ...}.
        environment: variables that are added to those of this process.
        name: what the bot is called when its prints are cut off.
        start_seconds: time limit for its ready message after every start and reset; None for
            SECONDS_TO_START.

    Attributes:
        seconds_starting: seconds spent restarting it for decisions.

    A copy, or one out of a pickle, starts a process of its own when it is first asked.
    """

    def __init__(
        self,
        command: Sequence[str],
        hello: dict[str, Any],
        environment: Mapping[str, str] | None = None,
        *,
        name: str,
        start_seconds: float | None = None,
    ) -> None:
        self.seconds_starting = 0.0
        self._command = list(command)
        self._environment = dict(environment or {})
        self._hello = hello
        self._start_seconds = start_seconds
        self._prints = Prints(name)
        self._last_id = 0
        self._process: BotProcess | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_process": None}

    def start(self) -> dict[str, Any]:
        """Start the process and return what it answers to the hello."""
        try:
            self._process = BotProcess(self._command, _GOODBYE, self._environment, self._prints)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BotError(f"{self._command[0]!r} cannot be started: {reason}") from None
        return self._greet()

    def reset(self, hello: dict[str, Any]) -> None:
        """Reset to this hello, in the running process and in those started later."""
        self._hello = hello
        self._last_id = 0
        if self._running() is not None:
            try:
                self._greet()
            except BotError:
                # the process is gone; the next decision restarts it, or says why it cannot
                self._process = None

    def ask(self, content: dict[str, Any], seconds: float | None, moves: str = "a move") -> dict[str, Any]:
        """Send a decision and return the bot's answer to it; None for any time, `moves` is what the time is for."""
        if self._running() is None:
            began = time.perf_counter()
            try:
                self.start()
            except BotError as reason:
                raise BotError(f"could not be started again: {reason}") from None
            finally:
                self.seconds_starting += time.perf_counter() - began
        self._last_id += 1
        message = {"type": "decision", "id": self._last_id, **content}
        late = "" if seconds is None else f"took longer than {seconds:g} s for {moves}"
        reply = self._exchange(message, seconds, late)
        if reply.get("id") != self._last_id:
            self._fail(f"answered {as_json(reply)} to the decision with the id {self._last_id}")
        return reply

    def _running(self) -> BotProcess | None:
        if self._process is not None and not self._process.is_own:
            self._process = None
        return self._process

    def _greet(self) -> dict[str, Any]:
        seconds = SECONDS_TO_START if self._start_seconds is None else self._start_seconds
        reply = self._exchange(self._hello, seconds, f"did not say ready within {seconds:g} s")
        if reply.get("type") == "refused":
            self._fail(sentence(reply.get("reason")))
        if reply.get("type") != "ready":
            self._fail(f'answered {as_json(reply)} to the hello, not {{"type": "ready"}}')
        return reply

    def _exchange(self, message: dict[str, Any], seconds: float | None, late: str) -> dict[str, Any]:
        process = self._process
        assert process is not None
        try:
            line = process.exchange(json.dumps(message, separators=(",", ":")).encode(), seconds)
        except TimeoutError:
            self._fail(late)
        except EOFError as end:
            self._fail(str(end))
        except BaseException:
            # interrupted in the middle: what it answers next would be taken for the answer to something else
            self._discard_process()
            raise
        try:
            reply = parse_json(line)
        except ValueError as error:
            shown, reason = truncate(line.decode(errors="replace")), str(error)
            is_clause = reason.startswith(("has ", "holds "))
            self._fail(f"answered {shown}, which {reason}" if is_clause else f"answered no JSON: {shown}")
        if not isinstance(reply, dict):
            self._fail(f"answered {truncate(line.decode())}, which is no JSON object")
        return reply

    def _fail(self, reason: str) -> NoReturn:
        """Kill the process and raise BotError."""
        self._discard_process()
        raise BotError(reason)

    def _discard_process(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None

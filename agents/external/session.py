"""A bot's process through all its decisions, in JSON Lines; one that is lost is started anew for the next decision."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ...envs.system.strict_json import parse_json
from .bot_process import BotProcess
from .prints import Prints
from .replies import NoMove, as_json, sentence, shortened

SECONDS_TO_START = 120.0
"""How long a bot has to say that it is ready, if nothing else is asked for; one that compiles takes a minute."""

_GOODBYE = b'{"type": "goodbye"}'


class BotSession:
    """Asks a bot for decisions, one after the other; whatever goes wrong raises NoMove with the reason.

    Arguments:
        command: the program and its arguments.
        hello: the message that every process begins with; the bot answers {"type": "ready", ...}, or
            {"type": "refused", "reason": ...}.
        environment: variables that the program gets beside those of this process.
        name: what the bot is called when its prints are cut off.
        start_seconds: how long it has to say that it is ready, whenever it starts or begins anew; None for
            SECONDS_TO_START.

    Attributes:
        seconds_starting: the time that has gone into starting it anew for decisions.

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
        self._asked = 0
        self._process: BotProcess | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_process": None}

    def start(self) -> dict[str, Any]:
        """Start the process and return what it answers to the hello."""
        try:
            self._process = BotProcess(self._command, _GOODBYE, self._environment, self._prints)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise NoMove(f"{self._command[0]!r} cannot be started: {reason}") from None
        return self._greet()

    def begin_anew(self, hello: dict[str, Any]) -> None:
        """Begin as if just made with this hello, in the process that runs; a later one begins with it too."""
        self._hello = hello
        self._asked = 0
        if self._running() is not None:
            try:
                self._greet()
            except NoMove:
                # the process is gone; the next decision starts it anew, and says why if it cannot
                self._process = None

    def ask(self, content: dict[str, Any], seconds: float | None, moves: str = "a move") -> dict[str, Any]:
        """Send a decision and return the bot's answer to it; None for any time, `moves` is what the time is for."""
        if self._running() is None:
            began = time.perf_counter()
            try:
                self.start()
            except NoMove as reason:
                raise NoMove(f"could not be started again: {reason}") from None
            finally:
                self.seconds_starting += time.perf_counter() - began
        self._asked += 1
        message = {"type": "decision", "id": self._asked, **content}
        late = "" if seconds is None else f"took longer than {seconds:g} s for {moves}"
        answer = self._exchange(message, seconds, late)
        if answer.get("id") != self._asked:
            self._lose(f"answered {as_json(answer)} to the decision with the id {self._asked}")
        return answer

    def _running(self) -> BotProcess | None:
        if self._process is not None and not self._process.is_own:
            self._process = None
        return self._process

    def _greet(self) -> dict[str, Any]:
        seconds = SECONDS_TO_START if self._start_seconds is None else self._start_seconds
        answer = self._exchange(self._hello, seconds, f"did not say ready within {seconds:g} s")
        if answer.get("type") == "refused":
            self._lose(sentence(answer.get("reason")))
        if answer.get("type") != "ready":
            self._lose(f'answered {as_json(answer)} to the hello, not {{"type": "ready"}}')
        return answer

    def _exchange(self, message: dict[str, Any], seconds: float | None, late: str) -> dict[str, Any]:
        process = self._process
        assert process is not None
        try:
            line = process.exchange(json.dumps(message, separators=(",", ":")).encode(), seconds)
        except TimeoutError:
            self._lose(late)
        except EOFError as end:
            self._lose(str(end))
        except BaseException:
            # interrupted in the middle: what it answers next would be taken for the answer to something else
            self._drop()
            raise
        try:
            answer = parse_json(line)
        except ValueError as error:
            shown, reason = shortened(line.decode(errors="replace")), str(error)
            told = reason.startswith(("has ", "holds "))
            self._lose(f"answered {shown}, which {reason}" if told else f"answered no JSON: {shown}")
        if not isinstance(answer, dict):
            self._lose(f"answered {shortened(line.decode())}, which is no JSON object")
        return answer

    def _lose(self, reason: str) -> NoReturn:
        """Kill the process and raise NoMove."""
        self._drop()
        raise NoMove(reason)

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None

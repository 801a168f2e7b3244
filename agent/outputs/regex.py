"""Regular expressions from a file or a person, searched in a process of their own, which is killed when it takes too long."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import threading
from collections import Counter
from functools import lru_cache
from typing import Any

SECONDS = 1.0
"""How long one search may take."""
MOST_TIMEOUTS = 3
"""A pattern that was stopped so often is not searched again by this process."""

_WORKER = """
import json, re, sys
print("ready", flush=True)
for line in sys.stdin:
    pattern, text, new = json.loads(line)
    try:
        if new is None:
            answer = re.search(pattern, text) is not None
        else:
            answer = [(*one.span(), one.expand(new)) for one in re.finditer(pattern, text, re.MULTILINE)]
    except (re.error, IndexError, OverflowError, RecursionError, MemoryError) as error:
        answer = str(error)
    print(json.dumps(answer), flush=True)
"""


class RegexError(Exception):
    """The pattern is no regular expression, or its search took too long; the message is a clause."""


class RegexWorker:
    """One worker process, started when it is first needed. Safe to use from several threads."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def search(self, pattern: str, text: str, seconds: float = SECONDS) -> bool:
        """Return whether the pattern is found anywhere in the text, as Python's `re.search` does.

        Raises:
            RegexError: it is invalid, or takes longer than `seconds`.
        """
        return self._answer(pattern, text, None, seconds) is True

    def matches(
        self, pattern: str, text: str, new: str, seconds: float = SECONDS
    ) -> list[tuple[int, int, str]]:
        """Return start and end of each match, and what `new` becomes there; `^` and `$` are the ends of lines.

        Raises:
            RegexError: see `search`; or `new` names a group that there is not.
        """
        return [tuple(one) for one in self._answer(pattern, text, new, seconds)]

    def _answer(self, pattern: str, text: str, new: str | None, seconds: float) -> Any:
        with self._lock:
            answer = json.loads(self._ask(json.dumps([pattern, text, new]).encode() + b"\n", seconds))
        if isinstance(answer, str):
            raise RegexError(f"is not a regular expression: {answer}")
        return answer

    def close(self) -> None:
        """End the process; the next search starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]

    def _ask(self, line: bytes, seconds: float) -> str:
        for _ in range(2):  # a worker that somebody killed is replaced once
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(line)
                process.stdin.flush()
            except OSError:
                self.close()
                continue
            waiting = select.poll()
            waiting.register(process.stdout, select.POLLIN)
            if not waiting.poll(seconds * 1000):
                self.close()
                raise RegexError(f"was stopped: its search took longer than {seconds:g} s")
            if answer := process.stdout.readline():
                return answer.decode().strip()
            self.close()
        raise RegexError("could not be searched: its process ended")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl+C is for the program, not for its worker
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()  # its start does not count
        return self._process


_SHARED = RegexWorker()
_timeouts: Counter[str] = Counter()


@lru_cache(maxsize=1024)
def _searched(pattern: str, text: str) -> bool | str:
    if _timeouts[pattern] >= MOST_TIMEOUTS:
        return f"was stopped {MOST_TIMEOUTS} times, each after {SECONDS:g} s, and is not searched again"
    try:
        return _SHARED.search(pattern, text)
    except RegexError as error:
        _timeouts[pattern] += "took longer" in str(error)
        return str(error)


def search(pattern: str, text: str) -> bool:
    """Return whether the pattern is found in the text. What was searched once is remembered.

    Raises:
        RegexError: the pattern is invalid or takes too long.
    """
    found = _searched(pattern, text)
    if isinstance(found, str):
        raise RegexError(found)
    return found


def matches(pattern: str, text: str, new: str = "") -> list[tuple[int, int, str]]:
    """Return the matches in a text, see `RegexWorker.matches`.

    Raises:
        RegexError: the pattern is invalid or takes too long.
    """
    return _SHARED.matches(pattern, text, new)

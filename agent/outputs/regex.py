"""Regular expressions from a file or a person, searched in a process of their own, which is killed when it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
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
    pattern, texts, new = json.loads(line)
    for text in texts:
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
        return self._answers(pattern, [text], None, seconds) == [True]

    def matches(
        self, pattern: str, texts: Sequence[str], new: str, seconds: float = SECONDS
    ) -> list[list[tuple[int, int, str]]]:
        """Return of each text start and end of each match, and what `new` becomes there; `^` and `$` are the ends of lines.

        Raises:
            RegexError: the pattern is invalid, takes longer than `seconds` in one text, or `new` names a group that
                there is not.
        """
        return self._answers(pattern, texts, new, seconds)

    def _answers(self, pattern: str, texts: Sequence[str], new: str | None, seconds: float) -> list[Any]:
        with self._lock:
            line = json.dumps([pattern, texts, new]).encode() + b"\n"
            answers = [json.loads(one) for one in self._ask(line, len(texts), seconds)]
        for answer in answers:
            if isinstance(answer, str):
                raise RegexError(f"is not a regular expression: {answer}")
        return answers

    def close(self) -> None:
        """End the process; the next search starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]

    def _ask(self, line: bytes, count: int, seconds: float) -> list[bytes]:
        for _ in range(2):  # a worker that somebody killed is replaced once
            process = self._started()
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.write(line)
                process.stdin.flush()
                if len(answers := self._read(process, count, seconds)) == count:
                    return answers
            self.close()
        raise RegexError("could not be searched: its process ended")

    def _read(self, process: subprocess.Popen[bytes], count: int, seconds: float) -> list[bytes]:
        """Return so many lines, fewer where the process ends; each may take `seconds`."""
        assert process.stdout is not None
        waiting = select.poll()
        waiting.register(process.stdout, select.POLLIN)
        lines, rest = list[bytes](), b""
        while len(lines) < count:
            if not waiting.poll(seconds * 1000):
                self.close()
                raise RegexError(f"was stopped: its search took longer than {seconds:g} s")
            if not (part := os.read(process.stdout.fileno(), 1 << 20)):
                break
            *whole, rest = (rest + part).split(b"\n")
            lines += whole
        return lines

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


def matches(pattern: str, texts: Sequence[str], new: str = "") -> list[list[tuple[int, int, str]]]:
    """Return the matches in each text, see `RegexWorker.matches`.

    Raises:
        RegexError: the pattern is invalid or takes too long.
    """
    return _SHARED.matches(pattern, texts, new)

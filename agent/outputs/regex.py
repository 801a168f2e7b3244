"""Regular expressions from a file, searched in a process of their own, which is killed when it takes too long."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import threading
from collections import Counter
from functools import lru_cache

SECONDS = 1.0
"""How long one search may take."""
MOST_TIMEOUTS = 3
"""A pattern that was stopped so often is not searched again by this process."""

_WORKER = """
import json, re, sys
print("ready", flush=True)
for line in sys.stdin:
    pattern, text = json.loads(line)
    try:
        print("found" if re.search(pattern, text) else "none", flush=True)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        print("invalid " + json.dumps(str(error)), flush=True)
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
        with self._lock:
            answer = self._ask(json.dumps([pattern, text]).encode() + b"\n", seconds)
        if answer.startswith("invalid "):
            raise RegexError(f"is not a regular expression: {json.loads(answer[8:])}")
        return answer == "found"

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

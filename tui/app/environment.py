"""The environment as the program was given it: Python itself may have added a locale that nobody set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""What Python sets `LC_CTYPE` to where the C library found no locale but C, before any of our code runs (PEP 538)."""


def given_environment() -> dict[str, str]:
    """Return `os.environ`, with the `LC_CTYPE` that the program was started with."""
    return without_coerced_locale(os.environ, startup_environment())


def startup_environment() -> bytes:
    """Return the entries of the environment this process was started with; empty where the system does not say."""
    try:
        return Path("/proc/self/environ").read_bytes()
    except OSError:  # no Linux
        return b""


def without_coerced_locale(environment: Mapping[str, str], begun: bytes) -> dict[str, str]:
    """Return an environment without the `LC_CTYPE` that Python has put into it. Pure.

    What the terminal takes is told by what the person, or who let them in, has set: by `LANG=C`, that it takes ASCII
    alone. Python's own locale is about what Python writes; as the more special name it would win over that. One that
    was set is handle_signals, whatever it is: over SSH it says what the terminal at the other end takes. A locale that this
    machine does not have still says by its name what the terminal takes. No locale at all says nothing: so it is in
    many containers, and nearly every terminal takes UTF-8.

    Args:
        environment: as `os.environ`.
        begun: what `startup_environment` returns, each entry with a NUL behind it. Where it is empty, Python's own cannot be
            told from one that was set: it is taken for Python's beside a `LANG` of C or POSIX.
    """
    given = dict(environment)
    if given.get("LC_ALL") or given.get("LC_CTYPE") not in COERCED:
        return given
    if begun:
        name = b"LC_CTYPE="
        set_to = [entry.removeprefix(name) for entry in begun.split(b"\0") if entry.startswith(name)]
        given["LC_CTYPE"] = os.fsdecode(set_to[0]) if set_to else ""
    elif given.get("LANG") in ("C", "POSIX"):
        given["LC_CTYPE"] = ""
    return given

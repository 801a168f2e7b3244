"""A store on a disk that is slow, full or watched when a test says so; the home below it is a real one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from personas.errors import StorageError
from personas.store import Store

LONGEST = 60.0
"""Seconds after which a call that a test forgot to let go ends nevertheless."""
FULL = StorageError("The disk is full; nothing was written.")

Call = Callable[..., Any]


class Held:
    """Calls that wait for the disk.

    Attributes:
        waits: set once one waits.
        goes_on: set by the test; from then on none waits.
    """

    def __init__(self) -> None:
        self.waits, self.goes_on = threading.Event(), threading.Event()


class FaultyStore(Store):
    """A store whose methods can be held up, refused or watched, each by its name."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        faults = super().__getattribute__("__dict__").get("_faults")
        return faults[name](value) if faults and name in faults else value

    def put_in_place_of(self, name: str, fault: Callable[[Call], Call]) -> None:
        """Have calls of the method `name` go to what `fault` makes of it."""
        self.__dict__.setdefault("_faults", {})[name] = fault

    def hold(
        self,
        name: str,
        *,
        late: bool = False,
        about: str | None = None,
        refusal: Exception | None = None,
        when: Callable[[], bool] = lambda: True,
    ) -> Held:
        """Have calls of the method `name` wait until the test lets them go.

        Args:
            late: they do their work before they wait, not afterwards.
            about: only those with this first argument.
            refusal: raised when they go on.
            when: whether a call is one to be held up.
        """
        held = Held()

        def slow(method: Call) -> Call:
            def call(*given: Any, **named: Any) -> Any:
                if not when() or (about is not None and about != given[0]):
                    return method(*given, **named)
                done = method(*given, **named) if late else None
                held.waits.set()
                held.goes_on.wait(LONGEST)
                if refusal is not None:
                    raise refusal
                return done if late else method(*given, **named)

            return call

        self.put_in_place_of(name, slow)
        return held

    def refuse(self, name: str, *kinds: type, error: Exception = FULL) -> None:
        """Have the method `name` fail; with `kinds`, only for changes of these."""

        def full(method: Call) -> Call:
            def call(*given: Any, **named: Any) -> Any:
                if not kinds or any(isinstance(one, kinds) for one in given):
                    raise error
                return method(*given, **named)

            return call

        self.put_in_place_of(name, full)

    def watch(self, name: str, see: Callable[[], object]) -> None:
        """Have `see` be called before each call of the method `name`, in the thread of that."""

        def watched(method: Call) -> Call:
            def call(*given: Any, **named: Any) -> Any:
                see()
                return method(*given, **named)

            return call

        self.put_in_place_of(name, watched)

    def mend(self) -> None:
        """From now on it is an ordinary store; what waits still does."""
        self.__dict__["_faults"] = {}

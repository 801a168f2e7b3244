"""An event loop whose time jumps to the next timer when nothing else is to do, and a clock that reads it."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Asks the operating system without waiting; the waiting is done by moving the time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.before_jump: Callable[[], None] = lambda: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("everything waits for ever")
            if timeout > 0:
                self.before_jump()
            self.now += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs the same every time, without ever sleeping."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        self.ticks = 0
        self._at_tick: dict[int, Callable[[], object]] = {}
        super().__init__(self._virtual)

    def at_tick(self, tick: int, function: Callable[[], object]) -> None:
        """Call a function before the loop's `tick`-th turn: between any two awaits of the program."""
        self._at_tick[tick] = function

    def watch_jumps(self, excused: Callable[[asyncio.TimerHandle], bool]) -> None:
        """From now on it is an error when the time jumps to a timer of which all are `excused`.

        A run that has nothing outstanding but its own longest duration hangs.
        """

        def before_jump() -> None:
            timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
            if all(timer.cancelled() or excused(timer) for timer in timers):
                raise RuntimeError("the run waits for nothing but its longest duration")

        self._virtual.before_jump = before_jump

    def _run_once(self) -> None:
        self.ticks += 1
        function = self._at_tick.pop(self.ticks, None)
        if function is not None:
            function()
        super()._run_once()  # type: ignore[misc]

    def time(self) -> float:
        return self._virtual.now


class LoopClock:
    """The running loop's time, as the agent wants it."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, callback)


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end in virtual time; tasks still there afterwards are an error, and so is what nobody looked at."""
    loop = VirtualLoop()
    unseen: list[str] = []
    loop.set_exception_handler(lambda _loop, context: unseen.append(str(context["message"])))
    try:
        result = loop.run_until_complete(main)
        left = asyncio.all_tasks(loop)
        assert not left, f"tasks left behind: {left}"
        assert not unseen, unseen
        return result
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

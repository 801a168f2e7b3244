"""Whether a program in a test has anything left to do: in its loop, in its threads, on its screen.

Textual's pilot sleeps for 20 milliseconds, three or four times for each key, and takes the program for done when the
processor was idle. Here it is known what is left: nothing is waited for where nothing is, and a thread is waited for
though the disk is slow. What comes from outside, from a server or another process, is not known: a test names it
(`Program.until`).
"""

from __future__ import annotations

import asyncio
import threading
import time
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from textual.app import App
from textual.timer import Timer

SOON = 0.04
"""Seconds: a timer that is due within them of the beginning of a wait is waited for, as a debounce is."""
PATIENCE = 0.3
"""Seconds that a thread is waited for, at first."""
HELD = 0.02
"""Seconds for one that was waited for in vain: the test holds it, or lets it go at this moment."""
LONGEST = 1.0
"""Seconds after which a loop that never rests is left to itself."""
LOOK_EVERY = 0.001
AT_A_TIME = 50
"""Turns of the loop after which the clock is looked at, which is dear."""

OWN_THREADS = ("loading", "keyring")
"""The names of those of the program's own threads that are soon done."""


class InThread:
    """A call that was given to a thread."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._begun = self._ended = False
        self.answer: asyncio.Future[Any]

    def __call__(self, *arguments: Any) -> Any:
        self._begun = True
        try:
            return self._function(*arguments)
        finally:
            self._ended = True

    @property
    def done(self) -> bool:
        """Whether it has ended and its answer is there; also where nobody waits for it any more."""
        return self.answer.done() and self._begun == self._ended


_held: WeakSet[InThread | threading.Thread] = WeakSet()
"""What was waited for in vain."""


def _calls(loop: asyncio.AbstractEventLoop) -> set[InThread]:
    """What `loop` gave to threads. The loop has it itself: nothing else keeps the loop, and the program in it, alive."""
    calls: set[InThread] = vars(loop).setdefault("given_to_threads", set())
    return calls


def know_what_is_in_threads() -> None:
    """Write down, for each loop, what it gives to threads (`asyncio.to_thread` is one of the ways)."""
    give = BaseEventLoop.run_in_executor

    def run_in_executor(
        loop: BaseEventLoop, executor: Any, function: Callable[..., Any], *arguments: Any
    ) -> asyncio.Future[Any]:
        call = InThread(function)
        call.answer = give(loop, executor, call, *arguments)
        _calls(loop).add(call)
        return call.answer

    BaseEventLoop.run_in_executor = run_in_executor  # type: ignore[method-assign,assignment]


know_what_is_in_threads()


def in_threads(loop: asyncio.AbstractEventLoop) -> set[InThread]:
    """What `loop` gave to threads and is not done."""
    calls = _calls(loop)
    calls.difference_update([call for call in calls if call.done])
    return calls


def own_threads() -> set[threading.Thread]:
    """The program's own threads that are at work."""
    return {thread for thread in threading.enumerate() if thread.name in OWN_THREADS}


def _is_on(timer: Timer | None) -> bool:
    return timer is not None and timer._active.is_set()


def paint(app: App[Any]) -> bool:
    """Bring the screen up to date, if that was put off to its next frame; returns whether it was."""
    put_off = [screen for screen in app.screen_stack if _is_on(screen.__dict__.get("_Screen__update_timer"))]
    for screen in put_off:
        screen._on_timer_update()
    return bool(put_off)


_resting = False
_unpainted: WeakSet[App[Any]] = WeakSet()
"""Programs that are not painted although they rest."""


@contextmanager
def unpainted(app: App[Any]) -> Iterator[None]:
    """Leave a program unpainted where it only rests on the way: between keys, or before it is what a test waits for."""
    if app in _unpainted:
        yield
        return
    _unpainted.add(app)
    try:
        yield
    finally:
        _unpainted.discard(app)


def is_at_rest() -> bool:
    """Whether the program that is painted has come to rest."""
    return _resting


def paint_what_is_put_off(app: App[Any]) -> bool:
    """Paint what changed since the program rested last (see `program.painted_at_rest`); returns whether there was any."""
    global _resting
    if not app.is_running or not app.screen_stack or app in _unpainted:
        return False
    screen = app.screen
    if not screen._compositor._dirty_regions or not screen.is_running:
        return False
    _resting = True
    try:
        app._display(screen, screen._compositor.render_update(screen_stack=app._background_screens))
    finally:
        _resting = False
    return True


def is_due(loop: Any, app: App[Any] | None, end: float) -> bool:
    """Whether a timer is due before `end`, but for those that only look whether there is something to paint."""
    due = [handle for handle in loop._scheduled if handle._when <= end and not handle._cancelled]
    if not due or app is None:
        return bool(due)
    painting = [screen.__dict__.get("_Screen__update_timer") for screen in app.screen_stack]
    idle = [timer for timer in (*painting, app.animator._timer) if timer is not None and not _is_on(timer)]
    slept = [getattr(timer._task, "_fut_waiter", None) for timer in idle]
    return any(not handle._args or all(handle._args[0] is not sleep for sleep in slept) for handle in due)


async def until_rest(app: App[Any] | None, *, painted: bool = True) -> None:
    """Let the program work until nothing is left to do of which it is known that it is done soon.

    Args:
        painted: what is seen is to be painted too; not between two keys of one press.
    """
    loop: Any = asyncio.get_running_loop()
    begun, slept, passed = time.thread_time(), 0.0, 0.0
    # Time counts as far as this process got it: a busy machine makes nothing look as if it hung.
    while passed < LONGEST:
        for _ in range(AT_A_TIME):
            if not loop._ready:
                break
            await asyncio.sleep(0)
        passed = time.thread_time() - begun + slept
        if loop._ready:
            continue
        threads = {*in_threads(loop), *own_threads()}
        if passed >= PATIENCE:
            _held.update(threads)
        patient = PATIENCE if threads.difference(_held) else HELD if threads else 0
        if passed >= patient:
            # Only now: what a thread brings is laid out and painted together with what was there before.
            if app is not None and paint(app):
                continue
            if not is_due(loop, app, loop.time() + SOON - passed):
                if app is not None and painted and paint_what_is_put_off(app):
                    continue
                return
        await asyncio.sleep(LOOK_EVERY)
        slept += LOOK_EVERY

"""Waiting for a screen in a test: for those parts of it that have something to do, and until all is at rest.

Textual's pilot sends a message to every part of the screen and waits until each has taken it: sixty messages and ten
milliseconds of work for each wait, though most parts of a screen have nothing to do and sleep. They are left asleep
here. And it sleeps itself, to see whether the processor is idle: see `rest`.
"""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakSet

import textual.app
import textual.pilot
from textual._context import active_app
from textual.app import App
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout

from tests.support.rest import until_rest

_at_once: WeakSet[App[Any]] = WeakSet()


def begin_at_once(app: App[Any]) -> None:
    """Have the test go on as soon as the screen of `app` is there, though the program is at work."""
    _at_once.add(app)


def has_something_to_do(part: MessagePump) -> bool:
    """Whether messages wait for `part`, or it is at work on one; else it sleeps until the next is sent."""
    if part._pending_message is not None or not part._message_queue.empty():
        return True
    return all(sleep.done() for sleep in part._message_queue.ready_event._waiters)


def at_work(pilot: Pilot[object]) -> list[MessagePump]:
    """The parts of the screen that is shown, and the program itself, as far as they have something to do."""
    parts = (pilot.app, *pilot.app.screen.walk_children(with_self=True))
    return [part for part in parts if has_something_to_do(part)]


async def wait_for_screen(pilot: Pilot[object], timeout: float = 30.0) -> bool:
    """Wait until what was sent to the parts of the screen is done, and what that led to, unless it never rests.

    Returns:
        False if the program failed meanwhile, or has no screen.
    """
    if not pilot.app.screen_stack:
        return False
    done = asyncio.Event()
    waited_for = 0

    def one_is_done() -> None:
        nonlocal waited_for
        waited_for -= 1
        if waited_for == 0:
            done.set()

    for part in at_work(pilot):
        waited_for += part.call_later(one_is_done)
    if waited_for:
        ways = [asyncio.ensure_future(done.wait()), asyncio.ensure_future(pilot.app._exception_event.wait())]
        _, pending = await asyncio.wait(ways, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for way in pending:
            way.cancel()
        if len(pending) == len(ways):
            raise WaitForScreenTimeout("a part of the screen is at work on something that does not end")
        if waited_for > 0:
            return False
    if pilot.app in _at_once:
        _at_once.discard(pilot.app)
    else:
        await until_rest(pilot.app)
    return True


async def wait_for_idle(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait between keys until the program that is driven is at rest, in place of Textual's look at the processor."""
    await asyncio.sleep(0)  # a key that was just sent is on its way
    await until_rest(active_app.get(None), painted=False)


Pilot._wait_for_screen = wait_for_screen  # type: ignore[method-assign,assignment]
textual.pilot.wait_for_idle = wait_for_idle
textual.app.wait_for_idle = wait_for_idle  # type: ignore[attr-defined]

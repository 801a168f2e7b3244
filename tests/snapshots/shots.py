"""Taking pictures of a running program: as it stands when all is done, at several sizes and in both themes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from textual.message_pump import MessagePump

from tests.screen_svg import draw
from tests.tui.program import Program

Size = tuple[int, int]
TINY, SMALL, MIDDLE, LARGE = SIZES = (60, 15), (80, 24), (120, 40), (160, 50)
THEMES = ("dark", "light")
TEXTS = ("plain", "wide", "hostile")
STILL = 12
"""How often in a row all tasks of the program went on a step, and none of them left the screen anything to do."""
LONGEST = 60.0
"""Seconds to wait for a screen that stands still: a loaded machine is slow."""


@dataclass(frozen=True)
class Look:
    """How a screen is looked at."""

    size: Size
    theme: str

    def __str__(self) -> str:
        return f"{self.size[0]}x{self.size[1]}-{self.theme}"


def looks(first: Size, second: Size) -> list[Look]:
    """Return two sizes in both themes, one change from each to the next: another theme costs most."""
    return [Look(first, "dark"), Look(second, "dark"), Look(second, "light"), Look(first, "light")]


async def take(p: Program, wanted: Sequence[Look]) -> dict[str, str]:
    """Return the pictures of what is on the screen, by look, beginning with the theme that it has."""
    begin = 1 if p.app.theme.endswith(wanted[0].theme) else -1
    return {str(look): await shot(p, look) for look in wanted[::begin]}


async def shot(p: Program, look: Look) -> str:
    """Return the picture of what is on the screen in this look."""
    await turn_to(p, look)
    return draw(p.app)


async def turn_to(p: Program, look: Look) -> None:
    """Give the terminal this size and the program this theme, and wait until it has followed."""
    p.app.theme = f"textual-{look.theme}"
    if p.app.size != look.size:
        await p.pilot.resize_terminal(*look.size)
    await settle(p)
    # Where the editor stands after a run depends on when each change met the panel's height; pictures have one place.
    if p.prompt.scroll_offset.y:
        p.prompt.scroll_to(y=0, animate=False, force=True)
        await settle(p)
    assert p.app.size == look.size


async def settle(p: Program) -> None:
    """Wait until nothing is left to be done on the screen; let no duration show and nothing that goes by itself."""
    p.app.clear_notifications()
    p.main.show_keys()
    p.main.conversing.view.draw_frame()
    end, still = time.monotonic() + LONGEST, 0
    while still < STILL:
        assert time.monotonic() < end, "the screen never stood still"
        p.app.screen._on_timer_update()
        await asyncio.sleep(0)
        if any(_waiting(p)):
            p.main.conversing.view.draw_frame()
            still = 0
        else:
            still += 1


def _waiting(p: Program) -> Iterator[bool]:
    """Yield, for each thing that could still change the screen, whether it is about to."""
    screen = p.app.screen
    yield screen._layout_required or screen._scroll_required or screen._repaint_required
    yield bool(screen._dirty_widgets)
    pumps: list[MessagePump] = [p.app]
    for one in p.app.screen_stack:
        yield bool(one._callbacks)
        pumps += one.walk_children(with_self=True)
    yield any(pump._next_callbacks or pump.message_queue_size for pump in pumps)


async def wait(condition: Callable[[], object]) -> None:
    """Let the program work until `condition` holds; looks often, and costs the program nothing."""
    end = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < end, "never came true"
        await asyncio.sleep(0.005)

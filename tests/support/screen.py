"""What stands on the screen of a program in a test, and keys and clicks as they reach it."""

from __future__ import annotations

from typing import Any

from textual import events

from tests.support.program import Program
from tui.screens.dialogs.base import Dialog


def drawn(screen: object) -> str:
    """Every character a terminal would be sent for this screen."""
    strips = screen._compositor.render_strips()  # type: ignore[attr-defined]
    return "".join(segment.text for strip in strips for segment in strip)


def drawn_in(dialog: Dialog[Any]) -> str:
    """Every character inside the box of a dialog, without what is told beside it."""
    region = dialog.query_one(".dialog").region
    strips = dialog._compositor.render_strips()[region.y : region.bottom]
    return "".join(strip.crop(region.x, region.right).text for strip in strips)


def place_of(p: Program, words: str) -> tuple[int, int] | None:
    """Return where these words begin on the screen, or in the dialog that is open; None where they do not stand there."""
    for y, strip in enumerate(p.app.screen._compositor.render_strips()):
        x = strip.text.find(words)
        while x >= 0:
            if p.app.screen.get_widget_at(x, y)[0] is not p.app.screen:  # else it is below the dialog
                return x, y
            x = strip.text.find(words, x + 1)
    return None


async def click(p: Program, words: str, *, at: int = 0) -> None:
    """Click on the first place where these words stand on the screen, `at` columns behind their beginning."""
    place = place_of(p, words)
    assert place is not None, f"{words!r} is not on the screen"
    x, y = place[0] + at, place[1]
    widget, region = p.app.screen.get_widget_at(x, y)  # as a terminal's click, it is that widget's
    await p.pilot.click(widget, offset=(x - region.x, y - region.y))


def at_once(p: Program, *keys: str) -> None:
    """Press keys as they come in one read: all are there before the first is taken."""
    for key in keys:
        p.app.post_message(events.Key(key, key if len(key) == 1 else None))

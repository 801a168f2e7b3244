"""Contents of test inputs on their way into the file, one after the other."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.document.merge import Clash, meet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass(eq=False, slots=True)
class OnTheWay:
    """A content that is to be stored.

    Attributes:
        persona_id: whose test input it is.
        input_id: which one.
        base: the content it grew from.
        text: the content.
        shown: the showing of the editor it was typed in, see `TextEditor.showing`; None where it was in no editor.
    """

    persona_id: str
    input_id: str
    base: str
    text: str
    shown: int | None = None


class InputQueue:
    """Lets each content wait for those before it: on a slow disk a second one would meet the first as another's deed.

    Each is in here from the moment its storing is asked for: the editor may show another one by then.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._all: list[OnTheWay] = []

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, one: OnTheWay) -> None:
        """Take in a content; `turn` is to follow."""
        self._all.append(one)

    @asynccontextmanager
    async def turn(self, one: OnTheWay) -> AsyncIterator[None]:
        """Wait for those before it; afterwards it is on its way no more."""
        try:
            async with self._turn:
                yield
        finally:
            self._all.remove(one)  # by identity: two may be alike

    async def settled(self) -> None:
        """Wait for all that are on their way now."""
        async with self._turn:
            pass

    def became(self, done: OnTheWay, input_id: str, stored: str) -> None:
        """A content was stored: what was typed on in the same showing of the editor grew from that.

        Args:
            done: the content.
            input_id: the test input that holds it now.
            stored: what that holds: the content with what others wrote meanwhile.
        """
        for one in self._all:
            if one is done or one.shown is None or (one.shown, one.base) != (done.shown, done.base):
                continue
            met = meet(done.text, one.text, stored)
            one.input_id = input_id
            one.base, one.text = (done.text, one.text) if isinstance(met, Clash) else (stored, met)

    def latest(self) -> list[OnTheWay]:
        """Return what is on its way, of each showing of the editor the last content."""
        found = {id(one) if one.shown is None else ("", one.shown): one for one in self._all}
        return list(found.values())

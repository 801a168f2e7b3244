"""Texts begun in a dialog, as one program keeps them: what the disk has not taken yet is in its memory."""

from __future__ import annotations

import asyncio
import threading

from personas.files.home import Home
from tui.drafts.stored_dialog_drafts import keep_unfinished, unfinished


class Begun:
    """The begun texts of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._due: dict[str, str] = {}  # what the disk does not say yet; an empty text is one that is given
        self._noted = 0
        self._turn = asyncio.Lock()
        self._changing = threading.Lock()  # never held while the disk is waited for

    def note(self, key: str, text: str) -> None:
        """Keep the text begun under `key`, an empty one no longer; it is on the disk after the next `write_down`."""
        with self._changing:
            self._due[key] = text
            self._noted += 1

    async def text(self, key: str) -> str:
        """Return the text begun under `key`, empty where there is none."""
        while (due := self._due.get(key)) is None:
            noted = self._noted
            stored = await asyncio.to_thread(unfinished, self._home, key)
            if noted == self._noted:
                return stored
            # What was noted meanwhile may be on the disk by now, and not in what was read.
        return due

    async def write_down(self) -> bool:
        """Have the disk say what is kept; return whether it does."""
        async with self._turn:  # an older text never comes over a newer one
            return await asyncio.to_thread(self.write_at_once)

    def write_at_once(self) -> bool:
        """The same although the program is failing. Blocking."""
        for key, text in list(self._due.items()):
            kept = keep_unfinished(self._home, key, text)
            with self._changing:
                if kept and self._due.get(key) == text:
                    del self._due[key]
        return not any(self._due.values())

    def nowhere(self) -> list[str]:
        """Return the texts that are nowhere but in memory."""
        return [text for text in list(self._due.values()) if text.strip()]

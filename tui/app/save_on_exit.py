"""The open persona when the program ends: what can be saved is, and what no disk has is told."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual import events
from textual.widget import Widget

from personas.errors import PersonaError
from tui.app.shutdown import load
from tui.document.merge import Clash
from tui.drafts.recovery import in_words
from tui.drafts.unsaved_edits import PROMPT
from tui.terminal.visible_controls import pasted

if TYPE_CHECKING:
    from tui.document.editor_view import Desk
    from tui.document.session import Editing


def _waiting(widget: Widget) -> str:
    """Return the characters that wait in the queue of a widget, and take them out of it."""
    queue: Any = widget._message_queue
    waiting, widget._pending_message = [widget._pending_message], None
    while not queue.empty():
        waiting.append(queue.get_nowait())
    text = ""
    for message in waiting:
        if isinstance(message, events.Paste):
            text += pasted(message.text)
        elif isinstance(message, events.Key) and message.is_printable:
            text += message.character or ""
        elif message is not None:
            queue.put_nowait(message)
    return text


def _heed(done: asyncio.Task[None]) -> None:
    """Take note of how something ended that nobody may wait for any more."""
    if not done.cancelled():
        done.exception()


class LastSaving:
    """Saves a last time."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing
        self._flushing: asyncio.Task[None] | None = None

    def hear(self) -> None:
        """Type what was typed while a step of undo is taken: its editor would hear it after that, and the program ends."""
        if self._editing.is_walking:
            for editor in (self._desk.prompt, self._desk.tests.editor):
                if (text := _waiting(editor)) and not editor.read_only:
                    editor.insert(text)

    async def save(self, within: float | None = None) -> None:
        """Store what can be stored, and keep the rest beside the files, also where the disk has lost it.

        Of a slow disk the quicker of the two counts: what is to be stored is kept while that goes on, and is kept no
        longer once it is stored. An unexpected fault in the storing is raised when the rest is kept.

        Args:
            within: seconds that the files get to take what is kept already; None for as long as they take.
        """
        editing = self._editing
        self._hold()
        keeping = self._write_down_soon()
        self._flushing = flushing = asyncio.ensure_future(editing.flush())
        flushing.add_done_callback(_heed)
        try:
            await asyncio.wait({keeping, flushing}, return_when=asyncio.FIRST_COMPLETED)
            is_kept = keeping.done() and not editing.unsaved.nowhere_else()
            await asyncio.wait({flushing}, timeout=within if is_kept else None)
        except asyncio.CancelledError:
            flushing.cancel()
            raise
        self._hold()
        if flushing.done() or editing.unsaved.nowhere_else():
            await self._write_down_soon()
        if flushing.done() and not flushing.cancelled():
            fault = flushing.exception()
            if fault is not None and not isinstance(
                fault, PersonaError
            ):  # those are said on the screen already
                raise fault

    async def settle(self) -> None:
        """Wait until nothing is being written, unless that is kept already, and leave what is to the next program."""
        if self._flushing is None or self._flushing.done():
            await self._editing.workspace.settled()
        await load(self._editing.unsaved.close)

    def _write_down_soon(self) -> asyncio.Task[None]:
        # In a thread of its own: those of the loop may all wait for the disk.
        return asyncio.ensure_future(load(self._write_down))

    def save_at_once(self) -> None:
        """The same for the prompt although the program is failing; blocking, and silent when it cannot be done."""
        editing, editor = self._editing, self._desk.prompt
        persona = editing.persona
        self._hold()
        self._write_down()  # first: it may be all that there is time for
        with suppress(PersonaError):
            if persona is not None and persona.error is None and editor.unsaved:
                stored = editing.workspace.save_prompt_now(persona.id, editor.base, editor.raw)
                if not isinstance(stored, Clash):
                    editing.unsaved.let_go(persona.id, PROMPT)
        self._write_down()

    def _hold(self) -> None:
        self._editing.hold()
        self._editing.inputs.hold_queued()

    def _write_down(self) -> None:
        self._editing.unsaved.look_after()
        self._editing.unsaved.write_down()

    def nowhere(self) -> dict[str, str]:
        """Return the texts that are not in their files and that no disk has, by what they are, in words."""
        editing = self._editing
        self._hold()
        return {f"{key}, {in_words(field)}": text for key, field, text in editing.unsaved.nowhere_else()}

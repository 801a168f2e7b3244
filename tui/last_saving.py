"""The open persona when the program ends: what can be saved is, and what no disk has is told."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual import events
from textual.widget import Widget

from personas.errors import PersonaError
from tui.draft import Clash
from tui.editable import pasted
from tui.giving_back import in_words
from tui.unsaved import PROMPT

if TYPE_CHECKING:
    from tui.desk import Desk
    from tui.editing import Editing


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


class LastSaving:
    """Saves a last time."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing

    def hear(self) -> None:
        """Type what was typed while a step of undo is taken: its editor would hear it after that, and the program ends."""
        if self._editing.is_walking:
            for editor in (self._desk.prompt, self._desk.tests.editor):
                if (text := _waiting(editor)) and not editor.read_only:
                    editor.insert(text)

    async def save(self) -> None:
        """Store what can be stored, and keep the rest beside the files, also where the disk has lost it.

        An unexpected fault in the storing is raised when the rest is kept.
        """
        editing, fault = self._editing, None
        try:
            await editing.flush()
        except PersonaError:
            pass  # said on the screen already where there still is one
        except Exception as error:  # noqa: BLE001 - raised again below
            fault = error
        self._hold()
        await editing.workspace.call(self._write_down)
        if fault is not None:
            raise fault

    async def settle(self) -> None:
        """Wait until nothing is being written, and leave what is kept unsaved to the next program."""
        workspace = self._editing.workspace
        await workspace.settled()
        await workspace.call(self._editing.unsaved.close)

    def save_at_once(self) -> None:
        """The same for the prompt although the program is failing; blocking, and silent when it cannot be done."""
        editing, editor = self._editing, self._desk.prompt
        persona = editing.persona
        self._hold()
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

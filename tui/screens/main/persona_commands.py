"""What the lists ask for: personas and test inputs made, copied, renamed, deleted, moved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from personas.errors import PersonaError, UnknownPersona
from tui.commands.registry import Keymap, sentence
from tui.screens.dialogs.base import Dialog

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.persona import Persona
    from tui.document.controller import DocumentController
    from tui.screens.dialogs.picker import Pick

ALL_KEPT = ("Each is kept as a version; {} in the list brings one back.", "Each is kept as a version.")
KEPT = ("It is kept as a version; {} in the list brings it back.", "It is kept as a version.")
"""What is told of deleted personas, with the key that brings them back, and where there is none."""

LINK = "Only the link is deleted; what it leads to stays."


class Surface(Protocol):
    """What the deeds need of the screen."""

    def tell(self, message: str, *, error: bool = False) -> None:
        """Say something for a moment."""

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run `work` beside the screen."""

    async def ask(self, dialog: Dialog[Any]) -> Any:
        """Show a dialog and return its answer."""

    def open_new(self, *, stay: bool = False) -> Callable[[str | None], Coroutine[Any, Any, None]]:
        """Show an empty persona, since one is being made; to be awaited with its id, None where it was not made."""

    async def open_persona(self, persona_id: str, *, stay: bool = False) -> None:
        """Show a persona; with `stay` the list of personas keeps the focus."""

    async def read_list(self) -> None:
        """Read which personas there are."""

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called, told apart from others of the same name."""

    def known_name(self, persona_id: str) -> str:
        """Return the name of a persona as far as it is read; else its id."""

    def at_work(self, *persona_ids: str) -> bool:
        """Whether the agent works, or waits for an answer, about one of these personas."""

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""

    def open_beside(self, *persona_ids: str) -> None:
        """Personas are to be deleted: where one of them is open, show the one next to it."""

    def gone(self, *persona_ids: str) -> None:
        """Personas were deleted."""

    def select_test_input(self, input_id: str) -> None:
        """Put the cursor of the test inputs on this one."""


class Deeds:
    """One method a deed; each asks what it must, does it, and says what it did."""

    def __init__(self, surface: Surface, editing: DocumentController) -> None:
        self._surface = surface
        self._editing = editing
        self._workspace = editing.workspace
        self._rows = asyncio.Lock()
        self._going: set[str] = set()  # personas that are being deleted

    async def on_persona(self, deed: str, persona_id: str | None, marked: Sequence[str] = ()) -> bool:
        """Do what the persona list asks for, to all that is `marked` if anything is; return whether it was done.

        On a slow disk a row may still be seen of which the persona is being deleted: nothing is done to that.
        """
        if self._going.intersection(marked or [persona_id]):
            return False
        if marked:
            return bool(await getattr(self, f"_{deed}_marked")(marked))
        if deed in ("new", "restore"):
            await getattr(self, f"_{deed}")()
        elif persona_id is not None:
            await getattr(self, f"_{deed}")(persona_id)
        return True

    async def on_test_input(self, deed: str, input_id: str | None, marked: Sequence[str] = ()) -> bool:
        """Do what the test inputs ask for, to all that is `marked` if anything is; return whether it was done."""
        persona = self._editing.persona
        if persona is None or persona.error is not None:
            return False
        if marked:
            return bool(await getattr(self, f"_{deed}_marked_inputs")(persona, marked))
        if deed == "new":
            await self._new_test_input(persona)
        elif input_id is not None:
            # In turn: on a slow disk the row that is seen may be deleted, or moved, by the key before.
            async with self._rows:
                now = await self._now(persona)
                if now is not None and _has(now, input_id):
                    await getattr(self, f"_{deed}_test_input")(now, input_id)
        return True

    # -- personas ---------------------------------------------------------------------------------------

    async def _new(self) -> None:
        from tui.screens.dialogs.text_prompt import AskName

        name = await self._surface.ask(AskName("New persona", hint="its name, in any language"))
        if name:
            await self._made(lambda: self._create(name))

    async def _duplicate(self, persona_id: str) -> None:
        from tui.screens.dialogs.text_prompt import AskName

        known = self._surface.known_name(persona_id)
        name = await self._surface.ask(AskName(f"Duplicate {known}", text=f"{known} (copy)"))
        if name:
            await self._editing.flush()
            await self._made(lambda: self._create(name, persona_id), stay=True)

    async def _rename(self, persona_id: str) -> None:
        from personas.changes import SetName
        from tui.screens.dialogs.text_prompt import AskName

        known = self._surface.known_name(persona_id)
        explanation = f"The file stays {persona_id}.toml."
        name = await self._surface.ask(AskName("Rename persona", text=known, explanation=explanation))
        if name and name != known:
            renamed = await self._tried(lambda: self._workspace.change(persona_id, SetName(name)))
            if renamed is not None:
                self._editing.take(renamed)
                await self._surface.read_list()

    async def _delete(self, persona_id: str) -> None:
        from tui.screens.dialogs.confirm import Confirm

        name, kept = self._surface.name_of(persona_id), self._kept()
        stops = self._stops(persona_id)
        question = Confirm(f"Delete {name}?", stops + kept, deed="Delete", danger=True)
        reading = self._surface.start(self._is_link(persona_id, lambda: question.explain(stops + LINK)))
        if not await self._surface.ask(question):
            return
        kept = LINK if await reading else kept
        if await self._delete_all((persona_id,)):
            self._surface.tell(f"{name} is deleted. {kept}")

    async def _is_link(self, persona_id: str, tell: Callable[[], None]) -> bool:
        """Return whether a persona's file is a link to elsewhere, and tell that."""
        known = await self._tried(lambda: self._workspace.get(persona_id))
        if is_link := known is not None and not known.revision:
            tell()
        return is_link

    async def _delete_all(self, persona_ids: Sequence[str]) -> list[str]:
        """Delete personas, and return those that are."""
        self._going.update(persona_ids)
        was_open = self._editing.id
        self._surface.open_beside(*persona_ids)  # at once: what is typed now is not for what goes
        try:
            gone = [persona_id for persona_id in persona_ids if await self._delete_one(persona_id)]
            self._surface.gone(*gone)
            await self._surface.read_list()
            if was_open is not None and was_open in persona_ids and was_open not in gone:
                await self._surface.open_persona(was_open, stay=True)
        finally:
            self._going.difference_update(persona_ids)
        return gone

    async def _delete_one(self, persona_id: str) -> bool:
        """Delete a persona with everything that was typed in it, which comes back with it."""
        await self._editing.flush()
        if await self._tried(partial(self._workspace.delete, persona_id)) is None:
            return False
        await self._editing.forget(persona_id)
        return True

    async def _delete_marked(self, marked: Sequence[str]) -> bool:
        from tui.screens.dialogs.confirm import Confirm

        names = {key: self._surface.name_of(key) for key in marked}
        question = Confirm(
            f"Delete {_counted(len(marked), 'persona')}?",
            f"{', '.join(names.values())}\n\n{self._stops(*marked)}{self._kept(len(marked))}",
            deed="Delete",
            danger=True,
        )
        if not await self._surface.ask(question):
            return False
        if gone := await self._delete_all(marked):
            deleted = ", ".join(names[persona_id] for persona_id in gone)
            self._surface.tell(f"Deleted: {deleted}. {self._kept(len(gone))}")
        return bool(gone)

    async def _duplicate_marked(self, marked: Sequence[str]) -> bool:
        await self._editing.flush()
        made = []
        for persona_id in marked:
            known = await self._tried(partial(self._workspace.get, persona_id))
            if known is None:
                continue
            name = f"{known.name} (copy)"
            copy = await self._tried(partial(self._create, name, persona_id))
            if copy is not None:
                made.append(copy.id)
        await self._surface.read_list()
        if made:
            self._surface.tell(f"Copied: {', '.join(made)}.")
        return bool(made)

    async def _restore(self) -> None:
        from tui.screens.dialogs.picker import Pick

        question = Pick("Bring back a deleted persona", None)
        reading = self._surface.start(self._read_deleted(question))
        if not (key := await self._surface.ask(question)):
            return
        versions = {one: version for one, _, version in await reading}
        await self._made(lambda: self._workspace.restore(key, versions[key].number), stay=True)

    async def _read_deleted(self, question: Pick) -> list[Any]:
        """Read which personas were deleted, and show them to choose from."""
        from tui.widgets.virtual_list import Row

        deleted = await self._tried(self._workspace.deleted) or []
        question.show_rows(
            [
                Row(key, name, version.at[:16].replace("T", " "), tail="" if name == key else key)
                for key, name, version in deleted
            ]
        )
        if not deleted:
            question.dismiss(None)
            self._surface.tell("Nothing was deleted that could be brought back.")
        return list(deleted)

    async def _create(self, name: str, from_id: str | None = None) -> Persona:
        reserved = await self._workspace.call(self._editing.recovery.reserved_ids)
        return await self._workspace.create(name, from_id, reserved)

    async def _made(self, make: Callable[[], Any], *, stay: bool = False) -> None:
        end = self._surface.open_new(stay=stay)
        persona = await self._tried(make)
        if persona is not None:
            await self._surface.read_list()
        await end(persona.id if persona is not None else None)

    # -- test inputs ------------------------------------------------------------------------------------

    async def _new_test_input(self, persona: Persona) -> None:
        from personas.changes import AddTestInput
        from tui.screens.dialogs.text_prompt import AskText

        begun = self._editing.unsaved.in_dialog(persona.id, "test input")
        keep = partial(self._keep_begun, persona.id)
        content = await self._surface.ask(AskText("New test input", text=begun, keep=keep))
        if content and await self._changed(persona, AddTestInput(content), select_new=True):
            keep("")

    def _keep_begun(self, persona_id: str, text: str) -> None:
        self._editing.unsaved.note_dialog(persona_id, "test input", text)
        self._surface.start(self._editing.write_drafts())

    async def _duplicate_test_input(self, persona: Persona, input_id: str) -> None:
        from personas.changes import AddTestInput

        await self._editing.flush()
        now = await self._now(persona)
        content = next((t.content for t in now.test_inputs if t.id == input_id), None) if now else None
        if content is not None:
            await self._changed(persona, AddTestInput(content), select_new=True)

    async def _now(self, persona: Persona) -> Persona | None:
        """Return a persona as it is by now; None where that cannot be read, which is told."""
        now = self._editing.persona
        if now is not None and now.id == persona.id:
            return now
        read: Persona | None = await self._tried(lambda: self._workspace.get(persona.id))
        return read

    async def _delete_test_input(self, persona: Persona, input_id: str) -> None:
        from personas.changes import DeleteTestInput

        await self._editing.flush()
        if await self._changed(persona, DeleteTestInput(input_id)):
            self._surface.tell(f"Test input {input_id} is deleted. {self._undone('it')}")

    async def _delete_marked_inputs(self, persona: Persona, marked: Sequence[str]) -> bool:
        from personas.changes import DeleteTestInput
        from tui.screens.dialogs.confirm import Confirm

        back = self._undone("it") if len(marked) == 1 else self._undone("them", ", one after the other")
        question = Confirm(
            f"Delete {_counted(len(marked), 'test input')}?",
            f"{', '.join(marked)}\n\n{back}",
            deed="Delete",
            danger=True,
        )
        if not await self._surface.ask(question):
            return False
        async with self._rows:
            await self._editing.flush()
            now = await self._now(persona)
            there = [key for key in marked if now is not None and _has(now, key)]
            gone = [key for key in there if await self._changed(persona, DeleteTestInput(key))]
        if gone:
            self._surface.tell(f"Deleted: {', '.join(gone)}. {back}")
        return bool(gone)

    async def _duplicate_marked_inputs(self, persona: Persona, marked: Sequence[str]) -> bool:
        from personas.changes import AddTestInput

        async with self._rows:
            await self._editing.flush()
            now = await self._now(persona)
            contents = {t.id: t.content for t in now.test_inputs} if now is not None else {}
            made = [
                key
                for key in marked
                if key in contents and await self._changed(persona, AddTestInput(contents[key]))
            ]
        if made:
            self._surface.tell(f"Copied: {', '.join(made)}.")
        return bool(made)

    async def _up_test_input(self, persona: Persona, input_id: str) -> None:
        await self._move(persona, input_id, -1)

    async def _down_test_input(self, persona: Persona, input_id: str) -> None:
        await self._move(persona, input_id, 1)

    async def _move(self, persona: Persona, input_id: str, by: int) -> None:
        from personas.changes import MoveTestInput

        ids = [test_input.id for test_input in persona.test_inputs]
        place = ids.index(input_id) + by
        if 0 <= place < len(ids):
            await self._editing.flush()
            await self._changed(persona, MoveTestInput(input_id, place))

    # -- shared -----------------------------------------------------------------------------------------

    def _stops(self, *persona_ids: str) -> str:
        """Say where the agent is at work, which a deletion stops."""
        return "The agent is at work there and is stopped. " if self._surface.at_work(*persona_ids) else ""

    def _kept(self, number: int = 1) -> str:
        """Say of so many deleted personas how they come back."""
        return sentence("list.restore", self._surface.keymap, *(ALL_KEPT if number > 1 else KEPT))

    def _undone(self, what: str, how: str = "") -> str:
        back = f"brings {what} back{how}."
        return sentence("edit.undo", self._surface.keymap, f"{{}} {back}", f"Undo {back}")

    async def _changed(self, persona: Persona, change: Change, *, select_new: bool = False) -> bool:
        now = await self._tried(lambda: self._workspace.change(persona.id, change))
        if now is None:
            return False
        self._editing.take(now)
        if select_new and now.test_inputs and self._editing.id == now.id:
            self._surface.select_test_input(now.test_inputs[-1].id)
        return True

    async def _tried(self, deed: Callable[[], Any]) -> Any:
        """Return what the deed gives, or None after saying why it failed."""
        try:
            return await deed()
        except UnknownPersona:
            self._surface.tell("Nothing was done: the file of this persona is gone.", error=True)
        except PersonaError as error:
            self._surface.tell(str(error), error=True)
        return None


def _has(persona: Persona, input_id: str) -> bool:
    return any(test_input.id == input_id for test_input in persona.test_inputs)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

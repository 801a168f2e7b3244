"""What the lists ask for: personas and test inputs made, copied, renamed, deleted, moved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError, UnknownPersona
from tui.commands.registry import sentence
from tui.document.version_names import local_now, when

if TYPE_CHECKING:
    from personas.changes import AddTestInput, Change
    from personas.input_records import InputsRead
    from personas.input_sets import InputsChange
    from personas.persona import Persona
    from personas.store import Store
    from tui.app.host import Host
    from tui.document.async_store import AsyncStore
    from tui.document.controller import DocumentController
    from tui.screens.dialogs.picker import Picker
    from tui.screens.dialogs.text_prompt import AskText
    from tui.screens.main.persona_catalog import PersonaCatalog
    from tui.screens.main.persona_view import PersonaView

ALL_KEPT = ("Each is kept as a version; {} in the list brings one back.", "Each is kept as a version.")
KEPT = ("It is kept as a version; {} in the list brings it back.", "It is kept as a version.")
"""What is told of deleted personas, with the key that brings them back, and where there is none."""

LINK = "Only the link is deleted; its target stays."


class PersonaCommands:
    """One method an operation; each asks what it must, does it, and says what it did.

    Args:
        host: the main screen.
        view: shows the open persona.
        catalog: the list of personas.
        at_work: whether the agent works, or waits for an answer, about one of these personas.
    """

    def __init__(
        self, host: Host, view: PersonaView, catalog: PersonaCatalog, at_work: Callable[..., bool]
    ) -> None:
        self._host, self._view, self._catalog, self._at_work = host, view, catalog, at_work
        self._rows = asyncio.Lock()
        self._deleting: set[str] = set()

    @property
    def _documents(self) -> DocumentController:
        assert self._view.documents is not None  # else nothing is done
        return self._view.documents

    @property
    def _workspace(self) -> AsyncStore:
        return self._documents.workspace

    async def on_persona(self, operation: str, persona_id: str | None, marked: Sequence[str] = ()) -> bool:
        """Do what the persona list asks for, to all that is `marked` if anything is; return whether it was done.

        On a slow disk a row may still be seen of which the persona is being deleted: nothing is done to that.
        """
        if self._view.documents is None or self._deleting.intersection(marked or [persona_id]):
            return False
        if marked:
            return bool(await getattr(self, f"_{operation}_marked")(marked))
        if operation in ("new", "restore"):
            await getattr(self, f"_{operation}")()
        elif persona_id is not None:
            await getattr(self, f"_{operation}")(persona_id)
        return True

    async def on_test_input(self, operation: str, input_id: str | None, marked: Sequence[str] = ()) -> bool:
        """Do what the test inputs ask for, to all that is `marked` if anything is; return whether it was done."""
        persona = self._view.documents.persona if self._view.documents is not None else None
        if persona is None or persona.error is not None:
            return False
        if operation in ("move_to", "copy_to"):
            ids = marked or ([input_id] if input_id is not None else [])
            return bool(ids) and await self._send(persona, ids, is_copy=operation == "copy_to")
        if marked:
            return bool(await getattr(self, f"_{operation}_marked_inputs")(persona, marked))
        if operation == "new":
            await self._new_test_input(persona)
        elif input_id is not None:
            # In turn: on a slow disk the row that is seen may be deleted, or moved, by the key before.
            async with self._rows:
                now = await self._now(persona)
                if now is not None and _has(now, input_id):
                    await getattr(self, f"_{operation}_test_input")(now, input_id)
        return True

    # -- personas ---------------------------------------------------------------------------------------

    async def _new(self) -> None:
        from tui.screens.dialogs.text_prompt import AskName

        name = await self._host.ask(AskName("New persona", hint="its name, in any language"))
        if name:
            await self._made(lambda: self._create(name))

    async def _duplicate(self, persona_id: str) -> None:
        from tui.screens.dialogs.text_prompt import AskName

        known = self._known_name(persona_id)
        name = await self._host.ask(AskName(f"Duplicate {known}", text=f"{known} (copy)"))
        if name:
            await self._documents.flush()
            await self._made(lambda: self._create(name, persona_id), stay=True)

    async def _rename(self, persona_id: str) -> None:
        from personas.changes import SetName
        from tui.screens.dialogs.text_prompt import AskName

        known = self._known_name(persona_id)
        explanation = f"The file stays {persona_id}.toml."
        name = await self._host.ask(AskName("Rename persona", text=known, explanation=explanation))
        if name and name != known:
            renamed = await self._tried(lambda: self._workspace.change(persona_id, SetName(name)))
            if renamed is not None:
                self._documents.take(renamed)
                await self._catalog.read()

    async def _delete(self, persona_id: str) -> None:
        from tui.screens.dialogs.confirm import Confirm

        name, kept = self._view.name_of(persona_id), self._kept()
        stops = self._stops(persona_id)
        question = Confirm(f"Delete {name}?", stops + kept, action="Delete", danger=True)
        reading = self._host.start(
            self._kept_of(persona_id, kept, lambda said: question.explain(stops + said))
        )
        if not await self._host.ask(question):
            return
        if await self._delete_all((persona_id,)):  # at once: what is typed now is for the persona beside it
            self._host.show_message(f"{name} is deleted. {await reading}")

    async def _kept_of(self, persona_id: str, kept: str, notify: Callable[[str], None]) -> str:
        """Return what is kept of a persona: of a link to elsewhere, or with its prompt's file, it is told anew."""
        known = await self._tried(lambda: self._workspace.get(persona_id))
        if known is not None and not known.revision:
            kept = LINK
        elif known is not None and known.system_prompt_file:
            kept = f"{known.system_prompt_file}, which has its prompt, stays. {kept}"
        else:
            return kept
        notify(kept)
        return kept

    async def _delete_all(self, persona_ids: Sequence[str]) -> list[str]:
        """Delete personas, and return those that are."""
        self._deleting.update(persona_ids)
        was_open = self._documents.id
        self._view.open_beside(*persona_ids)  # at once: what is typed now is not for what goes
        try:
            gone = [persona_id for persona_id in persona_ids if await self._delete_one(persona_id)]
            self._view.close_deleted(*gone)
            await self._catalog.read()
            if was_open is not None and was_open in persona_ids and was_open not in gone:
                await self._view.open_persona(was_open, stay=True)
        finally:
            self._deleting.difference_update(persona_ids)
        return gone

    async def _delete_one(self, persona_id: str) -> bool:
        """Delete a persona with everything that was typed in it, which comes back with it."""
        await self._documents.flush()
        if await self._tried(partial(self._workspace.delete, persona_id)) is None:
            return False
        await self._documents.forget(persona_id)
        return True

    async def _delete_marked(self, marked: Sequence[str]) -> bool:
        from tui.screens.dialogs.confirm import Confirm

        names = {key: self._view.name_of(key) for key in marked}
        question = Confirm(
            f"Delete {_counted(len(marked), 'persona')}?",
            f"{', '.join(names.values())}\n\n{self._stops(*marked)}{self._kept(len(marked))}",
            action="Delete",
            danger=True,
        )
        if not await self._host.ask(question):
            return False
        if gone := await self._delete_all(marked):
            deleted = ", ".join(names[persona_id] for persona_id in gone)
            self._host.show_message(f"Deleted: {deleted}. {self._kept(len(gone))}")
        return bool(gone)

    async def _duplicate_marked(self, marked: Sequence[str]) -> bool:
        await self._documents.flush()
        made = []
        for persona_id in marked:
            known = await self._tried(partial(self._workspace.get, persona_id))
            if known is None:
                continue
            name = f"{known.name} (copy)"
            copy = await self._tried(partial(self._create, name, persona_id))
            if copy is not None:
                made.append(copy.id)
        await self._catalog.read()
        if made:
            self._host.show_message(f"Copied: {', '.join(made)}.")
        return bool(made)

    async def _restore(self) -> None:
        from tui.screens.dialogs.picker import Picker

        question = Picker("Bring back a deleted persona", None)
        reading = self._host.start(self._read_deleted(question))
        if not (key := await self._host.ask(question)):
            return
        versions = {one: version for one, _, version in await reading}
        await self._made(lambda: self._workspace.restore(key, versions[key].number), stay=True)

    async def _read_deleted(self, question: Picker) -> list[Any]:
        """Read which personas were deleted, and show them to choose from."""
        from tui.widgets.virtual_list import Row

        deleted = await self._tried(self._workspace.deleted) or []
        question.show_rows(
            [
                Row(key, name, when(version.at, local_now()), tail="" if name == key else key)
                for key, name, version in deleted
            ]
        )
        if not deleted:
            question.dismiss(None)
            self._host.show_message("There is no deleted persona to bring back.")
        return list(deleted)

    async def _create(self, name: str, from_id: str | None = None) -> Persona:
        reserved = await self._workspace.call(self._documents.recovery.reserved_ids)
        return await self._workspace.create(name, from_id, reserved)

    async def _made(self, make: Callable[[], Any], *, stay: bool = False) -> None:
        end = self._view.open_new(stay=stay)
        persona = await self._tried(make)
        if persona is not None:
            await self._catalog.read()
        await end(persona.id if persona is not None else None)

    # -- test inputs ------------------------------------------------------------------------------------

    async def _new_test_input(self, persona: Persona) -> None:
        from personas.changes import AddTestInput
        from tui.screens.dialogs.text_prompt import AskText

        begun = self._documents.unsaved.in_dialog(persona.id, "test input")
        keep = partial(self._keep_begun, persona.id)
        dialog = AskText(
            "New test input",
            text=begun,
            keep=keep,
            take_paste=lambda text: self._take_paste(persona, dialog, text),
        )
        content = await self._host.ask(dialog)
        if content and await self._changed(persona, AddTestInput(content), select_new=True):
            keep("")

    async def add_test_input(self, persona: Persona, change: AddTestInput) -> str:
        """Add a test input at the end and put the cursor on it; return its id, empty where that failed, which is told."""
        await self._documents.flush()
        if not await self._changed(persona, change, select_new=True):
            return ""
        now = await self._now(persona)
        return now.test_inputs[-1].id if now is not None else ""

    def _keep_begun(self, persona_id: str, text: str) -> None:
        self._documents.unsaved.note_dialog(persona_id, "test input", text)
        self._host.start(self._documents.write_drafts())

    # -- several test inputs at once --------------------------------------------------------------------

    async def paste_test_inputs(self, text: str) -> None:
        """Add what was pasted into the list: a single line at once, else as the person says."""
        persona = self._view.documents.persona if self._view.documents is not None else None
        if persona is None or not text.strip():
            return
        if (read := _read_several(text)) is None:
            await self._add_tables(persona, [{"content": text.strip("\n")}])
        elif (how := await self._ask_how_many(read, text)) is not None:
            await self._add_tables(persona, read.tables if how == "each" else [{"content": text.strip("\n")}])

    def _take_paste(self, persona: Persona, dialog: AskText, text: str) -> bool:
        """Ask how many test inputs a text is that was pasted into the dialog for one; return whether it may be several."""
        if (read := _read_several(text)) is None:
            return False

        async def ask() -> None:
            how = await self._ask_how_many(read, text)
            if how == "each":
                dialog.dismiss(None)
                await self._add_tables(persona, read.tables)
            elif how == "one":
                dialog.insert_pasted(text)

        self._host.start(ask())
        return True

    async def _ask_how_many(self, read: InputsRead, text: str) -> str | None:
        """Ask whether a pasted text is a test input `each`, or `one`."""
        from personas.input_records import sent
        from tui.screens.dialogs.picker import PREVIEWED, Picker
        from tui.widgets.virtual_list import Row

        number = _counted(len(read.tables), "test input")
        each = f"{number}, {'one a line' if read.kind == 'lines' else f'from {read.kind}'}"
        shown = {
            "each": "\n".join(" ".join(sent(one).split()) for one in read.tables[: PREVIEWED + 1]),
            "one": text,
        }
        rows = [Row("each", each), Row("one", "1 test input with several lines")]
        dialog = Picker(f"{each}?", rows, text=" ".join(read.notes), preview=shown.__getitem__)
        chosen: str | None = await self._host.ask(dialog)
        return chosen

    async def _add_tables(self, persona: Persona, tables: Sequence[dict[str, Any]]) -> None:
        from personas.input_sets import add

        if (done := await self._change_inputs(lambda store: [add(store, persona.id, tables)])) is None:
            return
        ids, there = done[0].ids, done[0].there
        self._select_input(persona, ids)
        message = f"{_counted(len(ids), 'test input')} added."
        known = f" {there} {'are' if there > 1 else 'is'} there already." if there else ""
        self._host.show_message(f"{message}{known}{self._taken_back() if ids else ''}")

    async def _change_inputs(
        self, plan: Callable[[Store], Sequence[InputsChange]]
    ) -> Sequence[InputsChange] | None:
        """Work out changes of test inputs, write them as one unit of undo and show them; None after saying why not."""
        from personas.input_sets import write

        await self._documents.flush()
        store = self._workspace.store

        def work() -> tuple[Sequence[InputsChange], list[Persona]]:
            changes = plan(store)
            return changes, write(store, changes)

        def show(done: tuple[Sequence[InputsChange], list[Persona]]) -> None:
            for persona in done[1]:
                self._documents.take(persona)

        done = await self._tried(lambda: self._workspace.write_then(work, show))
        return None if done is None else done[0]

    def _select_input(self, persona: Persona, ids: Sequence[str]) -> None:
        if ids and self._documents.id == persona.id:
            self._view.select_test_input(ids[-1])

    async def _duplicate_test_input(self, persona: Persona, input_id: str) -> None:
        await self._duplicate_marked_inputs(persona, [input_id])

    async def _duplicate_marked_inputs(self, persona: Persona, marked: Sequence[str]) -> bool:
        from personas.input_sets import move

        done = await self._change_inputs(
            lambda store: move(store, persona.id, marked, persona.id, is_copy=True)
        )
        if done is not None:
            self._select_input(persona, done[0].ids)
            if len(marked) > 1:
                self._host.show_message(f"Copied: {', '.join(marked)}.")
        return done is not None

    async def _send(self, persona: Persona, ids: Sequence[str], *, is_copy: bool) -> bool:
        """Move or copy test inputs to a persona that the person chooses; return whether that was done."""
        from personas.input_sets import move
        from tui.screens.dialogs.picker import Picker
        from tui.widgets.virtual_list import Row

        others = [one for one in await self._workspace.ids() if one != persona.id]
        if not others:
            self._host.show_message("There is no other persona.")
            return False
        names = {one: self._catalog.known_name(one) for one in others}
        rows = [Row(one, name, tail="" if name == one else one) for one, name in names.items()]
        which = ids[0] if len(ids) == 1 else f"{len(ids)} test inputs"
        to = await self._host.ask(Picker(f"{'Copy' if is_copy else 'Move'} {which} to", rows, filter=True))
        if to is None:
            return False
        done = await self._change_inputs(lambda store: move(store, persona.id, ids, to, is_copy=is_copy))
        if done is not None:
            how = "copied" if is_copy else "moved"
            there = sentence("edit.undo", self._host.keymap, " {} there undoes it.")
            back = there if is_copy else self._taken_back()
            self._host.show_message(f"{_counted(len(ids), 'test input')} {how} to {names[to]}.{back}")
        return done is not None

    async def _now(self, persona: Persona) -> Persona | None:
        """Return a persona as it is by now; None where that cannot be read, which is told."""
        now = self._documents.persona
        if now is not None and now.id == persona.id:
            return now
        read: Persona | None = await self._tried(lambda: self._workspace.get(persona.id))
        return read

    async def _delete_test_input(self, persona: Persona, input_id: str) -> None:
        from personas.changes import DeleteTestInput

        await self._documents.flush()
        if await self._changed(persona, DeleteTestInput(input_id)):
            self._host.show_message(f"Test input {input_id} is deleted. {self._undone('it')}")

    async def _delete_marked_inputs(self, persona: Persona, marked: Sequence[str]) -> bool:
        from personas.input_sets import delete
        from tui.screens.dialogs.confirm import Confirm

        back = self._undone("it" if len(marked) == 1 else "them")
        question = Confirm(
            f"Delete {_counted(len(marked), 'test input')}?",
            f"{', '.join(marked)}\n\n{back}",
            action="Delete",
            danger=True,
        )
        if not await self._host.ask(question):
            return False
        done = await self._change_inputs(lambda store: [delete(store, persona.id, marked)])
        if done is not None:
            self._host.show_message(f"Deleted: {', '.join(marked)}. {back}")
        return done is not None

    async def _up_test_input(self, persona: Persona, input_id: str) -> None:
        await self._move(persona, input_id, -1)

    async def _down_test_input(self, persona: Persona, input_id: str) -> None:
        await self._move(persona, input_id, 1)

    async def _move(self, persona: Persona, input_id: str, by: int) -> None:
        from personas.changes import MoveTestInput

        ids = [test_input.id for test_input in persona.test_inputs]
        place = ids.index(input_id) + by
        if 0 <= place < len(ids):
            await self._documents.flush()
            await self._changed(persona, MoveTestInput(input_id, place))

    def _known_name(self, persona_id: str) -> str:
        """Return the name of a persona as far as it is read; else its id."""
        now = self._documents.persona
        return now.name if now is not None and now.id == persona_id else self._catalog.known_name(persona_id)

    # -- shared -----------------------------------------------------------------------------------------

    def _stops(self, *persona_ids: str) -> str:
        """Say where the agent is at work, which a deletion stops."""
        return "The agent is at work there and is stopped. " if self._at_work(*persona_ids) else ""

    def _kept(self, number: int = 1) -> str:
        """Say of so many deleted personas how they come back."""
        return sentence("list.restore", self._host.keymap, *(ALL_KEPT if number > 1 else KEPT))

    def _undone(self, what: str) -> str:
        back = f"brings {what} back."
        return sentence("edit.undo", self._host.keymap, f"{{}} {back}", f"Undo {back}")

    def _taken_back(self) -> str:
        return sentence("edit.undo", self._host.keymap, " {} undoes it.")

    async def _changed(self, persona: Persona, change: Change, *, select_new: bool = False) -> bool:
        now = await self._tried(lambda: self._workspace.change(persona.id, change))
        if now is None:
            return False
        self._documents.take(now)
        if select_new and now.test_inputs and self._documents.id == now.id:
            self._view.select_test_input(now.test_inputs[-1].id)
        return True

    async def _tried(self, work: Callable[[], Any]) -> Any:
        """Return what this gives, or None after saying why it failed."""
        try:
            return await work()
        except UnknownPersona:
            self._host.show_message("Nothing was done: the file of this persona is missing.", error=True)
        except PersonaError as error:
            self._host.show_message(str(error), error=True)
        return None


def _has(persona: Persona, input_id: str) -> bool:
    return any(test_input.id == input_id for test_input in persona.test_inputs)


def _read_several(text: str) -> InputsRead | None:
    """Return the test inputs that a pasted text may be; None where it is one."""
    from personas.input_records import read_inputs, read_lines

    if "\n" not in text.strip():
        return None
    try:
        read = read_inputs(text)
    except PersonaError:
        read = read_lines(text)
    return read if len(read.tables) > 1 else None


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

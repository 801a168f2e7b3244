"""The test inputs of the open persona: their contents saved, merged, and chosen where both sides changed them.

Content that has no place, because its test input was deleted or left in conflict, becomes a test input of its own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from personas.errors import BrokenFile, InvalidValue, PersonaError, UnknownPersona
from tui.commands import keymap_of, sentence
from tui.draft import Clash
from tui.unsaved import Unsaved

if TYPE_CHECKING:
    from collections.abc import Callable

    from personas.persona import Persona
    from personas.undo import Retrace
    from tui.desk import Desk
    from tui.editing import Editing
    from tui.widgets.text_editor import TextEditor
    from tui.workspace import Saved

FIELD = "test:"
"""With the id of a test input, the name of its content."""
Step = tuple[tuple[str, str, str], tuple[str, str]]
"""What was stored: the persona, the test input and the content it grew from; the test input and the content now."""
MET = "The test input {} was changed elsewhere in the same lines."
CHANGED_AGAIN = "It was changed elsewhere once more: this is what stands there now."
SETTLED = "Nothing was chosen: it was changed elsewhere once more, and holds both by now."


async def choose_newest(
    desk: Desk, editing: Editing, editor: TextEditor, is_open: Callable[[], bool], told: str = ""
) -> tuple[Clash, str] | None:
    """Show both texts of an editor where they touch, again where another was written meanwhile: none is used unseen.

    Args:
        desk: where they are shown.
        editing: reads what is stored.
        editor: has the texts.
        is_open: whether the editor still has the text that the person was asked about.
        told: as in `Desk.choose`.

    Returns:
        What was shown last, and what was chosen of it; None for not now, or where nothing is left to choose.
    """
    clash = editor.clash
    while clash is not None:
        chosen = await desk.choose(clash, "Yours", "On disk", told)
        if chosen is None or not is_open():
            return None
        await editing.read_again(quiet=True)  # the next look is up to a second away
        if not is_open():
            return None
        if editor.clash == clash:
            return clash, chosen
        clash = editor.clash
        desk.tell(SETTLED if clash is None else CHANGED_AGAIN, error=True)
    return None


class InputSaving:
    """Saves what is typed into test inputs."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing
        self._told: tuple[str, str] | None = None
        self._choosing = False
        self._refused = ""  # what was said last of letters that could not be typed
        self._typing: set[str] = (
            set()
        )  # of what is kept of the open persona, that which stands in the editor too
        self._bringing, self._saving = asyncio.Lock(), asyncio.Lock()
        self._waiting: list[list[Step]] = []  # what was stored while each save waited for its turn

    def begin(self) -> None:
        """Another persona is open: what is kept of it stands in no editor yet."""
        self._typing.clear()
        self._refused = ""

    def refuse(self, *, typed: bool) -> None:
        """A key asked for what cannot be done: say why; of letters that are `typed`, once."""
        persona, tests = self._editing.persona, self._desk.tests
        if persona is None:
            why = "Open a persona first."
        elif persona.error is not None:
            what = "typed" if typed else "changed"
            why = f"Nothing can be {what} here: the file is broken. Mend it first."
        elif tests.shown is None:
            how = sentence("tests.new", keymap_of(tests.app), " {} in the list makes one.")
            why = f"There is no test input to type in.{how}"
        else:
            return
        if not typed or why != self._refused:
            self._desk.tell(why, error=True)
        self._refused = why if typed else self._refused

    def take(self, persona: Persona, *, by_agent: bool, elsewhere: bool) -> None:
        """Show the test inputs as they are now; where the one that is being edited was deleted elsewhere, say so."""
        tests, locked = self._desk.tests, persona.error is not None
        self._refused = ""
        was_gone = tests.is_gone
        tests.show(persona.test_inputs, locked=locked, by_agent=by_agent, elsewhere=elsewhere and not locked)
        if tests.is_gone and not was_gone:
            who = "The agent" if by_agent else "Another program"
            self._desk.tell(
                f"{who} deleted the test input {tests.shown} while you were in it. "
                "What you go on typing becomes a new one.",
                error=True,
            )

    async def flush(self) -> None:
        """Store what stands in the editor and can be stored."""
        tests = self._desk.tests
        if tests.shown is None:
            return
        self.note_typing(tests.shown)
        if tests.editor.unsaved:
            await self.save(tests.shown, tests.editor.base, tests.editor.raw)

    def note_typing(self, input_id: str) -> None:
        """Remember for undo how the content that is shown was typed."""
        self._desk.tests.editor.tell_typing(self._editing.past, FIELD + input_id)

    async def save(self, input_id: str, base: str, text: str, retrace: Retrace | None = None) -> None:
        """Store the content of a test input; `retrace`: a step of undo or redo led there.

        One at a time: on a slow disk a second one would take what the first stores for another's deed. What it
        stores is what this one grew from, then.
        """
        persona = self._editing.persona
        if persona is None:
            return
        stored: list[Step] = []
        self._waiting.append(stored)
        try:
            await self._saving.acquire()
        finally:
            self._waiting.remove(stored)
        try:
            for was, now in stored:
                if was == (persona.id, input_id, base):
                    input_id, base = now
            await self._save(persona, input_id, base, text, retrace)
        finally:
            self._saving.release()

    def _tell_waiting(self, persona_id: str, input_id: str, base: str, now: tuple[str, str]) -> None:
        for stored in self._waiting:
            stored.append(((persona_id, input_id, base), now))

    async def _save(
        self, persona: Persona, input_id: str, base: str, text: str, retrace: Retrace | None
    ) -> None:
        editing = self._editing
        now = editing.persona
        if now is not None and now.id == persona.id and now.error is not None:
            await self._keep(persona.id, input_id, base, text)
            return
        try:
            stored = await editing.workspace.save_test_input(persona.id, input_id, base, text, retrace)
        except BrokenFile:
            await self._keep(persona.id, input_id, base, text)
            return
        except UnknownPersona:
            self._hold(persona.id, input_id, base, text)
            await editing.write_down()
            if editing.id == persona.id:
                editing.miss()
            return
        except InvalidValue as error:
            why = f"{error} What you typed is kept as a new one."
            await self._keep_as_new(persona.id, input_id, base, text, why)
            return
        except PersonaError as error:
            self._hold(persona.id, input_id, base, text)
            await editing.write_down()
            self._desk.tell(f"Not saved: {error}", error=True)
            return
        if isinstance(stored, Clash):
            await self._meet(persona.id, input_id, base, text, stored)
            return
        self._tell_waiting(persona.id, input_id, base, (input_id, stored.text))
        self._let_go(persona.id, input_id, text)
        self._show_stored(input_id, text, stored)
        await editing.write_down()
        left = {
            name.removeprefix(FIELD)
            for name in editing.unsaved.all_held(persona.id)
            if name.startswith(FIELD)
        }
        if left - self._typing:
            self._desk.start(self.bring_back(persona.id))  # the disk takes it now

    async def _keep(self, persona_id: str, input_id: str, base: str, text: str) -> None:
        """The file is broken: keep a content until it is mended."""
        self._hold(persona_id, input_id, base, text)
        self._editing.tell_kept()
        await self._editing.write_down()

    def hold(self) -> None:
        """Keep what stands in the editor and is not saved."""
        tests, persona_id = self._desk.tests, self._editing.id
        if persona_id is not None and tests.shown is not None and tests.editor.unsaved:
            self._hold(persona_id, tests.shown, tests.editor.base, tests.editor.raw)

    def _hold(self, persona_id: str, input_id: str, base: str, text: str) -> None:
        editing, tests = self._editing, self._desk.tests
        kept = editing.unsaved.held(persona_id, FIELD + input_id)
        if kept is not None and kept.text != text and input_id not in self._typing:
            # It was left before it could be saved: what is typed now did not grow from it.
            editing.unsaved.hold(
                persona_id, self._place_for_another(persona_id, input_id), "", kept.text, kept.file
            )
        is_open = editing.id == persona_id
        editing.unsaved.hold(persona_id, FIELD + input_id, base, text, editing.file_text if is_open else "")
        if is_open and tests.shown == input_id and tests.editor.unsaved:
            self._typing.add(input_id)
        else:
            self._typing.discard(input_id)

    def _place_for_another(self, persona_id: str, input_id: str) -> str:
        """Return a field under which nothing is kept, of no test input: what is kept there comes back as a new one."""
        held, number = self._editing.unsaved.all_held(persona_id), 1
        while (place := f"{FIELD}{input_id} (another {number})") in held:
            number += 1
        return place

    def _let_go(self, persona_id: str, input_id: str, text: str) -> None:
        """A text is settled; what is kept under its name may be another one, that was left."""
        grew = self._editing.id == persona_id and input_id in self._typing
        self._editing.unsaved.let_go(persona_id, FIELD + input_id, None if grew else text)

    async def _meet(self, persona_id: str, input_id: str, base: str, text: str, clash: Clash) -> None:
        """Both sides changed it: while it is shown the person may choose; left, yours becomes a new test input."""
        tests = self._desk.tests
        if self._editing.id != persona_id or tests.shown != input_id:
            why = "Both are kept: yours as a new test input."
            await self._keep_as_new(persona_id, input_id, base, text, why)
            return
        self._hold(persona_id, input_id, base, text)
        tests.editor.absorb(clash.theirs)
        if self._told != (persona_id, input_id):
            self._told = persona_id, input_id
            self._desk.tell(self._met(input_id), error=True)
        await self._editing.write_down()

    def _met(self, input_id: str) -> str:
        """Return what is said of a test input that both sides changed."""
        keymap, by_name = keymap_of(self._desk.tests.app), "“Show what the last change did”"
        how = sentence(
            "edit.compare", keymap, "{} shows both to choose from.", f"{by_name} shows both to choose from."
        )
        return f"{MET.format(input_id)} {how}"

    def _show_stored(self, input_id: str, sent: str, stored: Saved) -> None:
        """Show what is stored of a test input now, unless something else was typed meanwhile."""
        self._told = None
        if self._editing.id != stored.persona.id:
            return
        tests = self._desk.tests
        if tests.shown == input_id and tests.editor.raw == sent:
            tests.editor.take(stored.text)
            tests.editor.mark_saved(stored.text)
        self._editing.take(stored.persona, None)

    async def choose(self) -> None:
        """Show both contents where they touch and store what is chosen; a text not taken is kept as a version."""
        tests, persona_id = self._desk.tests, self._editing.id
        input_id, editor = tests.shown, tests.editor
        if editor.clash is None or input_id is None or persona_id is None or self._choosing:
            return

        def is_open() -> bool:
            return self._editing.id == persona_id and tests.shown == input_id

        self._choosing = True
        try:
            found = await choose_newest(self._desk, self._editing, editor, is_open, self._met(input_id))
        finally:
            self._choosing = False
        if found is None:
            return
        clash, chosen = found
        if chosen != clash.ours:
            try:
                await self._editing.workspace.keep_test_input(
                    persona_id, input_id, clash.ours, "your text, not taken"
                )
            except PersonaError as error:
                self._desk.tell(f"Nothing was chosen: your text could not be kept. {error}", error=True)
                return
        if not is_open() or editor.clash != clash:
            return  # settled by another way meanwhile, or to be asked once more
        editor.tell_choice(self._editing.past, FIELD + input_id, clash, chosen)
        editor.take(chosen)
        editor.mark_saved(clash.theirs)
        self._told = None
        if editor.unsaved:
            await self.save(input_id, editor.base, editor.raw)
        else:
            self._editing.unsaved.let_go(persona_id, FIELD + input_id)
            await self._editing.write_down()

    async def bring_back(self, persona_id: str) -> None:
        """Store contents that were kept because they could not be saved."""
        editing, tests = self._editing, self._desk.tests
        await self.flush()
        async with self._bringing:
            for field, kept in editing.unsaved.all_held(persona_id).items():
                input_id = field.removeprefix(FIELD)
                shown = tests.shown == input_id and tests.editor.unsaved
                if field.startswith(FIELD) and editing.id == persona_id and not shown:
                    await self._bring_back(persona_id, input_id, kept)

    async def _bring_back(self, persona_id: str, input_id: str, kept: Unsaved) -> None:
        editing = self._editing
        try:
            stored = await editing.workspace.save_test_input(persona_id, input_id, kept.base, kept.text)
        except InvalidValue:
            stored = None
        except PersonaError:
            return  # it stays kept
        if stored is None or isinstance(stored, Clash):
            why = "What you typed in a test input and was not saved is back, as a new test input."
            await self._keep_as_new(persona_id, input_id, kept.base, kept.text, why)
            return
        self._let_go(persona_id, input_id, kept.text)
        await editing.write_down()
        editing.take(stored.persona)

    async def settle(self, persona_id: str, field: str, left: Unsaved) -> bool:
        """Store what another program left, merged, else as a test input of its own; returns whether it is safe."""
        from personas.changes import AddTestInput

        editing, input_id = self._editing, field.removeprefix(FIELD)
        try:
            stored = await editing.workspace.save_test_input(persona_id, input_id, left.base, left.text)
        except InvalidValue:
            stored = None
        except PersonaError:
            return False
        if stored is not None and not isinstance(stored, Clash):
            editing.take(stored.persona)
            return True
        try:
            editing.take(await editing.workspace.change(persona_id, AddTestInput(left.text)))
        except PersonaError:
            return False
        self._desk.tell("What you typed in another window and was not saved is back, as a new test input.")
        return True

    async def _keep_as_new(self, persona_id: str, input_id: str, base: str, text: str, why: str) -> None:
        """What was typed has no place in its test input: it becomes one of its own."""
        from personas.changes import AddTestInput

        editing = self._editing
        try:
            persona = await editing.workspace.change(persona_id, AddTestInput(text))
        except PersonaError as error:
            self._hold(persona_id, input_id, base, text)
            await editing.write_down()
            self._desk.tell(f"Not saved: {error}", error=True)
            return
        new_id, tests = persona.test_inputs[-1].id, self._desk.tests
        self._tell_waiting(persona_id, input_id, base, (new_id, text))
        self._let_go(persona_id, input_id, text)
        # At once: a save asked for meanwhile would store it a second time, and the list may not have known yet.
        grew = tests.editor.unsaved and tests.editor.base == base
        if grew and editing.id == persona_id and tests.shown == input_id:
            self.note_typing(input_id)
            if tests.rows.has_focus:
                tests.editor.mark_saved(text)  # it was left: the list goes on from where the cursor is
            else:
                tests.adopt(new_id, text)
        editing.take(persona)
        self._told = None
        self._desk.tell(why)
        await editing.write_down()

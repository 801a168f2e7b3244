"""The test inputs of the open persona: their contents saved, merged, and chosen where both sides changed them.

Content that has no place, because its test input was deleted or left in conflict, becomes a test input of its own.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from personas.errors import BrokenFile, InvalidValue, PersonaError, UnknownPersona
from tui.commands.registry import keymap_of, sentence
from tui.document.conflict_resolution import take_choice
from tui.document.merge import Clash
from tui.document.save_queue import InputQueue, OnTheWay
from tui.drafts.unsaved_edits import TEST, Unsaved

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from personas.persona import Persona
    from personas.versions.undo import Retrace
    from tui.document.async_store import Saved
    from tui.document.editor_view import Desk
    from tui.document.session import Editing

MET = "The test input {} was changed elsewhere in the same lines."
MET_OWN = "What you typed before in the test input {} is stored by now, in the same lines."


def cannot_hold(desk: Desk) -> str:
    """Return what is said of a text that the editor cannot give back as it was."""
    how = sentence("editor.external", keymap_of(desk.tests.app), " {} opens the file in your editor.")
    return f"Nothing can be typed here: this text holds signs that stand for hidden characters here.{how}"


class InputSaving:
    """Saves what is typed into test inputs."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing
        self._told: tuple[str, str] | None = None
        self._choosing = False
        self._refused = ""  # what was said last of letters that could not be typed
        # In which showing of the editor what is kept of a persona and a test input was typed.
        self._kept_of: dict[tuple[str, str], int] = {}
        self._bringing = asyncio.Lock()
        self._written: dict[tuple[str, str], str] = {}  # what was stored from here last
        self.queue = InputQueue()

    def begin(self) -> None:
        """Another persona is open."""
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
        elif typed and tests.editor.read_only:
            why = cannot_hold(self._desk)
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
        """Store what stands in the editor and can be stored, and wait for what is on its way."""
        tests = self._desk.tests
        if tests.shown is not None:
            self.note_typing(tests.shown)
            if tests.editor.unsaved:
                await self.save_shown(tests.shown)
                return
        await self.queue.settled()

    def save_soon(self, input_id: str) -> None:
        """The person pauses in the content that is shown, or leaves it."""
        self.note_typing(input_id)
        self._desk.start(self.save_shown(input_id))

    def save_shown(self, input_id: str, retrace: Retrace | None = None) -> Coroutine[Any, Any, None]:
        """Store the content that is shown, as `save` does."""
        editor = self._desk.tests.editor
        return self.save(input_id, editor.base, editor.raw, retrace, shown=editor.showing)

    def note_typing(self, input_id: str) -> None:
        """Remember for undo how the content that is shown was typed."""
        self._desk.tests.editor.tell_typing(self._editing.past, TEST + input_id)

    def save(
        self, input_id: str, base: str, text: str, retrace: Retrace | None = None, *, shown: int | None = None
    ) -> Coroutine[Any, Any, None]:
        """Store the content of a test input of the open persona, which is on its way already when this returns.

        Args:
            input_id: the test input.
            base: the content it grew from.
            text: the content.
            retrace: a step of undo or redo led there.
            shown: as in `OnTheWay`.
        """
        persona = self._editing.persona
        one = None if persona is None else OnTheWay(persona.id, input_id, base, text, shown)
        if one is not None:
            self.queue.add(one)
        return self._save_in_turn(one, retrace)

    async def _save_in_turn(self, one: OnTheWay | None, retrace: Retrace | None) -> None:
        if one is not None:
            async with self.queue.turn(one):
                await self._save(one, retrace)

    async def _save(self, one: OnTheWay, retrace: Retrace | None) -> None:
        editing = self._editing
        now = editing.persona
        if now is not None and now.id == one.persona_id and now.error is not None:
            await self._keep(one)
            return
        takings = self._desk.tests.editor.takings
        try:
            stored = await editing.workspace.save_test_input(
                one.persona_id, one.input_id, one.base, one.text, retrace
            )
        except BrokenFile:
            await self._keep(one)
            return
        except UnknownPersona:
            self._hold(one)
            await editing.write_down()
            if editing.id == one.persona_id:
                editing.miss()
            return
        except InvalidValue as error:
            await self._keep_as_new(one, f"{error} What you typed is kept as a new one.")
            return
        except PersonaError as error:
            self._hold(one)
            await editing.write_down()
            self._desk.tell(f"Not saved: {error}", error=True)
            return
        if isinstance(stored, Clash):
            await self._meet(one, stored)
            return
        self._written[one.persona_id, one.input_id] = stored.text
        self.queue.became(one, one.input_id, stored.text)
        self._let_go(one)
        await self._show_stored(one, stored, takings)
        await editing.write_down()
        held = editing.unsaved.all_held(one.persona_id)
        left = [name.removeprefix(TEST) for name in held if name.startswith(TEST)]
        if editing.id == one.persona_id and not all(map(self._stands, left)):
            self._desk.start(self.bring_back(one.persona_id))  # the disk takes it now

    async def _keep(self, one: OnTheWay) -> None:
        """The file is broken: keep a content until it is mended."""
        self._hold(one)
        self._editing.tell_kept()
        await self._editing.write_down()

    def hold(self) -> None:
        """Keep what stands in the editor and is not saved."""
        tests, persona_id = self._desk.tests, self._editing.id
        if persona_id is not None and tests.shown is not None and tests.editor.unsaved:
            editor = tests.editor
            self._hold(OnTheWay(persona_id, tests.shown, editor.base, editor.raw, editor.showing))

    def hold_queued(self) -> None:
        """Keep what is on its way and may not arrive; what was typed on from it stands in the editor."""
        editor = self._desk.tests.editor
        for one in self.queue.latest():
            if not (editor.unsaved and one.shown == editor.showing):
                self._hold(one)

    def _hold(self, one: OnTheWay) -> None:
        editing, persona_id, input_id = self._editing, one.persona_id, one.input_id
        place, key = TEST + input_id, (persona_id, input_id)
        file = editing.file_text if editing.id == persona_id else ""
        kept = editing.unsaved.held(persona_id, place)
        if kept is not None and kept.text != one.text:
            another = one.shown is None or self._kept_of.get(key) != one.shown
            if another and editing.id == persona_id and self._stands(input_id):
                # It was left, and what is kept is typed since.
                place = self._place_for_another(persona_id, input_id)
                editing.unsaved.hold(persona_id, place, "", one.text, file)
                return
            if another:
                # That was left before it could be saved: what is typed now did not grow from it.
                other = self._place_for_another(persona_id, input_id)
                editing.unsaved.hold(persona_id, other, "", kept.text, kept.file)
        editing.unsaved.hold(persona_id, place, one.base, one.text, file)
        if one.shown is None:
            self._kept_of.pop(key, None)
        else:
            self._kept_of[key] = one.shown

    def _stands(self, input_id: str) -> bool:
        """Whether what is kept of a test input of the open persona stands in the editor, or grew on there."""
        tests, key = self._desk.tests, (self._editing.id or "", input_id)
        return tests.shown == input_id and self._kept_of.get(key) == tests.editor.showing

    def _place_for_another(self, persona_id: str, input_id: str) -> str:
        """Return a field under which nothing is kept, of no test input: what is kept there comes back as a new one."""
        held, number = self._editing.unsaved.all_held(persona_id), 1
        while (place := f"{TEST}{input_id} (another {number})") in held:
            number += 1
        return place

    def _let_go(self, one: OnTheWay) -> None:
        """A text is settled; what is kept under its name may be another one, that was left."""
        unsaved, place = self._editing.unsaved, TEST + one.input_id
        held = unsaved.held(one.persona_id, place)
        typed_on = one.shown is not None and self._kept_of.get((one.persona_id, one.input_id)) == one.shown
        if typed_on and held is not None and held.text != one.text and not self._grew_on(one):
            unsaved.hold(one.persona_id, place, one.text, held.text)  # it grew from what is settled
            return
        unsaved.let_go(one.persona_id, place, None if typed_on and self._grew_on(one) else one.text)

    def _grew_on(self, one: OnTheWay) -> bool:
        """Whether what stands in the editor now is that content, or grew from it."""
        tests = self._desk.tests
        is_open = self._editing.id == one.persona_id and tests.shown == one.input_id
        return is_open and tests.editor.showing == one.shown

    async def _meet(self, one: OnTheWay, clash: Clash) -> None:
        """Both sides changed it: while it is shown the person may choose; left, yours becomes a new test input."""
        if not self._grew_on(one):
            await self._keep_as_new(one, "Both are kept: yours as a new test input.")
            return
        self._hold(one)
        self._desk.tests.editor.absorb(clash.theirs)
        if self._told != (one.persona_id, one.input_id):
            self._told = one.persona_id, one.input_id
            self._desk.tell(self._met(one.input_id, clash.theirs), error=True)
        await self._editing.write_down()

    def _met(self, input_id: str, theirs: str) -> str:
        """Return what is said of a test input that both sides changed; `theirs`: what is stored."""
        is_own = self._written.get((self._editing.id or "", input_id)) == theirs
        met = (MET_OWN if is_own else MET).format(input_id)
        keymap, by_name = keymap_of(self._desk.tests.app), "“Show what the last change did”"
        how = sentence(
            "edit.compare", keymap, "{} shows both to choose from.", f"{by_name} shows both to choose from."
        )
        return f"{met} {how}"

    async def _show_stored(self, one: OnTheWay, stored: Saved, takings: int) -> None:
        """Show what is stored of a test input now, with what was typed on meanwhile.

        `takings`: those of the editor before it was stored.
        """
        self._told = None
        if self._editing.id != stored.persona.id:
            return
        editor = self._desk.tests.editor
        if self._grew_on(one) and editor.takings != takings:
            if not editor.note_stored(one.base, one.text, stored.text):
                await self._editing.read_again(quiet=True, outside=False)
                return
        elif self._grew_on(one):
            editor.mark_saved(one.text)
            editor.absorb(stored.text)
        self._editing.take(stored.persona, None)

    async def choose(self) -> None:
        """Show both contents where they touch and store what is chosen; a text not taken is kept as a version."""
        tests, persona_id = self._desk.tests, self._editing.id
        input_id, editor = tests.shown, tests.editor
        if editor.clash is None or input_id is None or persona_id is None or self._choosing:
            return

        def is_open() -> bool:
            return self._editing.id == persona_id and tests.shown == input_id

        keep = partial(self._editing.workspace.keep_test_input, persona_id, input_id)
        told = self._met(input_id, editor.clash.theirs)
        self._choosing = True
        try:
            taken = await take_choice(self._desk, self._editing, editor, TEST + input_id, is_open, keep, told)
        finally:
            self._choosing = False
        if not taken:
            return
        self._told = None
        if editor.unsaved:
            await self.save_shown(input_id)
        else:
            self._editing.unsaved.let_go(persona_id, TEST + input_id)
            await self._editing.write_down()

    async def bring_back(self, persona_id: str) -> None:
        """Store contents that were kept because they could not be saved."""
        editing, tests = self._editing, self._desk.tests
        await self.flush()
        async with self._bringing:
            for field, kept in editing.unsaved.all_held(persona_id).items():
                input_id = field.removeprefix(TEST)
                shown = tests.shown == input_id and tests.editor.unsaved
                if field.startswith(TEST) and editing.id == persona_id and not shown:
                    await self._bring_back(persona_id, input_id, kept)

    async def _bring_back(self, persona_id: str, input_id: str, kept: Unsaved) -> None:
        editing, inputs = self._editing, self._editing.persona.test_inputs if self._editing.persona else ()
        now = next((each.content for each in inputs if each.id == input_id), kept.base)
        one = OnTheWay(persona_id, input_id, kept.grown_from(now), kept.text)
        try:
            stored = await editing.workspace.save_test_input(persona_id, input_id, one.base, kept.text)
        except InvalidValue:
            stored = None
        except PersonaError:
            return  # it stays kept
        if stored is None or isinstance(stored, Clash):
            why = "What you typed in a test input and was not saved is back, as a new test input."
            await self._keep_as_new(one, why)
            return
        self._let_go(one)
        await editing.write_down()
        editing.take(stored.persona)

    async def settle(self, persona_id: str, field: str, left: Unsaved) -> bool:
        """Store what another program left, merged, else as a test input of its own; returns whether it is safe."""
        from personas.changes import AddTestInput

        editing, input_id = self._editing, field.removeprefix(TEST)
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

    async def _keep_as_new(self, one: OnTheWay, why: str) -> None:
        """What was typed has no place in its test input: it becomes one of its own."""
        from personas.changes import AddTestInput

        editing = self._editing
        try:
            persona = await editing.workspace.change(one.persona_id, AddTestInput(one.text))
        except PersonaError as error:
            self._hold(one)
            await editing.write_down()
            self._desk.tell(f"Not saved: {error}", error=True)
            return
        new_id, tests = persona.test_inputs[-1].id, self._desk.tests
        self.queue.became(one, new_id, one.text)
        self._let_go(one)
        # At once: a save asked for meanwhile would store it a second time, and the list may not have known yet.
        if self._grew_on(one) and tests.editor.unsaved and tests.editor.base == one.base:
            self.note_typing(one.input_id)
            if tests.rows.has_focus:
                tests.editor.mark_saved(one.text)  # it was left: the list goes on from where the cursor is
            else:
                tests.adopt(new_id, one.text)
        editing.take(persona)
        self._told = None
        self._desk.tell(why)
        await editing.write_down()

"""The open persona: shown, saved, undone, and kept in step with its file.

One rule for every change that was not typed here, by the agent, an undo or another program: it is taken into
the editors at once, merged with what is unsaved, and where that touches the person chooses.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from personas.errors import PersonaError, UnknownPersona
from tui.app.save_on_exit import LastSaving
from tui.document.async_store import Look, Workspace
from tui.document.conflict_resolution import PromptChoice
from tui.document.field_autosave import FieldSaving
from tui.document.merge import Clash
from tui.document.missing_file import Absence
from tui.document.test_input_autosave import InputSaving, cannot_hold
from tui.document.undo_controller import Undoing
from tui.document.undo_stack import BEFORE, Past, Stored
from tui.drafts.recovery import GivingBack, file_of
from tui.drafts.unsaved_edits import PROMPT, UnsavedTexts
from tui.terminal.visible_controls import is_editable

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.versions.undo import Retrace
    from tui.document.editor_view import Desk
    from tui.drafts.unsaved_edits import Unsaved


KEPT = "The file is broken. What you type is kept, and goes into the file once it is mended."


class Editing(Undoing):
    """Keeps one persona open at a time."""

    def __init__(self, desk: Desk, workspace: Workspace) -> None:
        self._desk = desk
        self.workspace = workspace
        self.persona: Persona | None = None
        self.past = Past()
        self.trouble = ""
        self.unsaved = UnsavedTexts(workspace.store.home, workspace.on_its_way)
        self._told_refused = False
        self._unknown = False  # the file was broken when it was opened: what its prompt is, nobody knows
        self._absence = Absence(desk, self)
        self._told_locked = self._told_kept = False
        self.inputs = InputSaving(desk, self)
        self.fields = FieldSaving(desk, self)
        self.giving = GivingBack(desk, self)
        self.last = LastSaving(desk, self)
        self._deleted: set[str] = set()
        self._look = Look(workspace.store)
        self._openings = 0
        self._choice = PromptChoice(desk, self)
        self._saving = asyncio.Lock()
        self.in_hand = False
        """Whether the person has the file open in their editor: it is looked at when that is done."""
        self.begin_walking()

    # -- state ------------------------------------------------------------------------------------------

    @property
    def state(self) -> Literal["", "saved", "unsaved", "conflict", "failed", "broken", "gone"]:
        """How the prompt on the screen stands to its file."""
        if self.persona is None:
            return ""
        if self._absence.believed:
            return "gone"
        if self.persona.error is not None:
            return "broken"
        if self._desk.prompt.clash is not None:
            return "conflict"
        if not self._desk.prompt.unsaved:
            return "saved"
        return "failed" if self.trouble else "unsaved"

    def not_saved(self) -> list[str]:
        """Return the ids of personas with text that could not be stored in the file."""
        return self.unsaved.ids

    def would_lose(self) -> list[str]:
        """Return the ids of personas with text that is nowhere but on the screen."""
        return [key for key in self.unsaved.ids if self.unsaved.at_risk(key)]

    @property
    def file_text(self) -> str:
        """What the open persona's file held when it was read last; empty where that is not known."""
        return self._absence.text

    def hold(self) -> None:
        """Keep what stands in the editors and fields and is not in the file, in memory."""
        if self.persona is not None and self.persona.id not in self._deleted:
            self._hold_prompt(self.persona.id)
            self.inputs.hold()
            self.fields.hold()

    def _hold_prompt(self, persona_id: str) -> None:
        editor = self._desk.prompt
        if editor.unsaved:
            self.unsaved.hold(persona_id, PROMPT, editor.base, editor.raw, self.file_text)

    def keep(self) -> None:
        """Keep what stands in the prompt editor and is not in the file; it is on disk a moment later."""
        if self.persona is not None and self.persona.id not in self._deleted:
            self._hold_prompt(self.persona.id)
        if self.unsaved.due:
            self._desk.start(self.write_down())

    async def write_down(self) -> None:
        """Have the disk say what is kept of unsaved text; where it refuses, that is said once."""
        if not self.unsaved.due:
            return
        refused = await self.workspace.call(self.unsaved.write_down)
        if refused and not self._told_refused:
            self._desk.tell(f"What you typed is nowhere but on the screen: {refused}", error=True)
        self._told_refused = bool(refused)

    # -- opening ----------------------------------------------------------------------------------------

    async def open(self, persona_id: str) -> bool:
        """Save what is open and show another persona; returns whether it could be read."""
        self._openings += 1
        mine = self._openings
        await self.flush()
        if mine == self._openings and persona_id == self.id and self._is_there:
            await self._open_again(persona_id)
            return mine == self._openings and persona_id == self.id
        try:
            known = bool(self.unsaved.all_held(persona_id))
            before_reading = await self.workspace.call(self._look.at, persona_id)
            kept, persona, there = await self.giving.find(persona_id)
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return False
        if mine != self._openings:
            return False
        self.hold()
        self.keep()
        kept = self.unsaved.all_held(persona_id)
        self.persona, self.trouble = persona, ""
        self.past = Past()
        self._deleted.discard(persona_id)
        self._absence.forget("" if there else file_of(kept))
        if there:
            self._absence.read()
        else:
            self._absence.note(known=True)
        self._look.begin(persona_id, before_reading)
        broken = persona.error is not None
        self._desk.prompt.show(persona.system_prompt, read_only=broken)
        self._unknown, self._told_locked, self._told_kept = broken and PROMPT not in kept, False, False
        self._desk.tests.show(persona.test_inputs, locked=broken, fresh=True)
        self._desk.settings.show(persona, fresh=True)
        self.giving.show(kept, known=known)
        self._desk.show_state()
        self._desk.start(self.workspace.know(persona_id))
        if there and not broken and (set(kept) - {PROMPT} or persona_id in self.unsaved.more):
            self._desk.start(self.giving.store(persona_id))
        return True

    def open_no_more(self) -> None:
        """Show what is open, whatever is asked for and not shown yet."""
        self._openings += 1

    @property
    def _is_there(self) -> bool:
        """Whether the open persona has its file, as far as is known."""
        return self.id not in self._deleted and not self._absence.noted

    async def _open_again(self, persona_id: str) -> None:
        """The person chose the persona that is open: what they type goes on where it is."""
        await self.read_again()
        broken = self.persona is None or self.persona.error is not None
        if self.id == persona_id and not broken and set(self.unsaved.all_held(persona_id)) - {PROMPT}:
            self._desk.start(self.giving.store(persona_id))

    def forget(self, persona_id: str) -> None:
        """A persona is deleted: what was typed in it lies with its versions, and comes back with it."""
        self._deleted.add(persona_id)
        self.unsaved.forget(persona_id)

    def show_stored(self) -> None:
        """Show what is stored, whatever stands in the editors and fields."""
        persona = self.persona
        assert persona is not None
        broken = persona.error is not None
        self._desk.prompt.show(persona.system_prompt, read_only=broken)
        self._unknown, self.trouble = broken, ""
        self._desk.tests.show(persona.test_inputs, locked=broken, fresh=True)
        self._desk.settings.show(persona, fresh=True)
        self._desk.show_state()

    def close(self) -> None:
        """Show no persona: the open one is gone."""
        self.hold()
        self.keep()
        self._openings += 1
        self.persona, self.trouble = None, ""
        self.past = Past()
        self._absence.forget()
        self._desk.prompt.show("", read_only=True)
        self._desk.tests.show((), locked=True, fresh=True)
        self._desk.settings.show(None, fresh=True)
        self._desk.show_state()

    # -- changes made elsewhere ------------------------------------------------------------------------

    def take(self, persona: Persona, deed: Stored | None = BEFORE, *, outside: bool = False) -> None:
        """Show the persona as it is now; what is typed and unsaved stays, merged.

        Args:
            persona: as it was just read or written.
            deed: the unit of the store that made it so, if it is not in the past already.
            outside: another program made it so.
        """
        before = self.persona
        if before is None or persona.id != before.id:
            return
        if persona.revision != before.revision:
            self.note(before, persona, deed, outside=outside)
        by_agent = deed is not None and deed.run_id is not None
        mended = before.error is not None and persona.error is None
        self._now_is(persona)
        broken = persona.error is not None
        editor, content = self._desk.prompt, self._desk.tests.editor
        saved = editor.base
        if mended and self._unknown:
            self._unknown = False
            editor.show(persona.system_prompt)
        if broken:
            self.hold()  # the list of test inputs may not be readable now
        clash = None if broken else editor.absorb(persona.system_prompt, by_agent=by_agent)
        if broken or clash is not None:
            self.keep()
        else:
            editor.read_only = not is_editable(editor.raw)
            if (editor.unsaved and by_agent) or self.unsaved.held(persona.id) is not None:
                self._desk.start(self.save())  # also when what stood in the way is gone
        if clash is not None and deed is not None and by_agent:
            self._desk.start(self._choice.tell_replaced(clash, saved, deed))
        elsewhere = outside or deed not in (None, BEFORE)
        self.inputs.take(persona, by_agent=by_agent, elsewhere=elsewhere)
        if by_agent and content.unsaved:
            self._desk.start(self.inputs.flush())
        self._desk.settings.show(persona)
        self._desk.show_state()
        if mended:
            self._told_kept = False
            self._desk.start(self.giving.store(persona.id))

    def refuse_key(self) -> None:
        """A key was pressed in a prompt that cannot be edited: say why, once."""
        if self.persona is not None and not self._told_locked:
            self._told_locked = True
            broken = "Nothing can be typed here: the file is broken. Mend it first."
            self._desk.tell(broken if self.persona.error is not None else cannot_hold(self._desk), error=True)

    def tell_kept(self) -> None:
        """What is typed beside the prompt, where no banner says so, cannot go into a broken file: say it, once."""
        if not self._told_kept:
            self._told_kept = True
            self._desk.tell(KEPT, error=True)

    def select_test_input(self, input_id: str) -> None:
        """Put the cursor of the test inputs on this one."""
        self._desk.tests.rows.select(input_id)

    async def look(self) -> bool:
        """Take in what other programs did; returns whether the list of files changed too."""
        await self.write_down()
        listed, file = await self.workspace.call(self._look.changed, self.id)
        if self.in_hand:
            return listed
        if self.persona is not None and (file or self._absence.noted):
            await self.read_again()
        elif (
            (awaited := self._absence.awaited)
            and awaited in await self.workspace.ids()
            and self._absence.awaited == awaited
        ):
            await self.open(awaited)
        return listed

    def agent_wrote(self, persona: Persona, deed: Stored) -> None:
        """A tool has written, and nothing else is written at this moment: show it at once."""
        self.take(persona, deed)

    async def read_again(
        self, *, quiet: bool = False, deed: Stored | None = None, outside: bool = True
    ) -> None:
        """Read the open persona and take in what is new; `quiet` when the person knows that it changed.

        `deed`, `outside`: as in `take`.
        """
        before = self.persona
        if before is None:
            return
        try:
            now = await self.workspace.get(before.id)
            while (
                self.persona is not None
                and self.persona.id == before.id
                and (self.persona is not before or self.workspace.writing)
            ):  # what was read may be older than what was written meanwhile
                await self.workspace.settled()
                before = self.persona
                now = await self.workspace.get(before.id)
        except UnknownPersona:
            if self.persona is before:
                self._absence.miss(before)
            return
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return
        if self.persona is None or now.id != self.persona.id:
            return
        back = self._absence.noted
        self._absence.end()
        changed = now.revision != self.persona.revision
        if changed:
            self._desk.start(self.workspace.know(now.id))
        if changed or back:
            self.take(now, deed, outside=outside and deed is None)
        if back:
            self._absence.read()
        if back and now.error is None:
            self._desk.start(self.giving.store(now.id))
        if changed and now.error is None and not quiet and self._desk.prompt.clash is None:
            self._desk.tell(f"{now.name} was changed outside; what is new is shown.")

    async def take_edited(self, key: str) -> None:
        """Take in what the person wrote in their editor, as one deed of theirs; `key`: of its unit, empty for none."""
        if key:
            self.past.stored(Stored(key=key))
        await self.read_again(quiet=True, outside=not key)

    def miss(self) -> None:
        """The file of the open persona is not there."""
        if self.persona is not None:
            self._absence.miss(self.persona)

    async def write_back(self) -> None:
        """Write the file that is gone as it was, and into it what is typed."""
        await self._absence.write_back()

    def _now_is(self, persona: Persona) -> None:
        """The open persona is so now, whoever wrote it."""
        before, self.persona = self.persona, persona
        if before is None or persona.revision != before.revision:
            self._absence.read()

    # -- saving ----------------------------------------------------------------------------------------

    async def flush(self) -> None:
        """Store everything that was typed and can be stored."""
        await self.fields.flush()
        await self.inputs.flush()
        await self.save()

    async def save(self, retrace: Retrace | None = None) -> None:
        """Store the prompt as it stands in the editor, merged with what is on disk.

        One at a time: on a slow disk a second one would take what the first stores for another's deed.
        `retrace`: a step of undo or redo led there.
        """
        async with self._saving:
            await self._save(retrace)

    async def _save(self, retrace: Retrace | None) -> None:
        editor, persona = self._desk.prompt, self.persona
        if persona is None:
            return
        editor.tell_typing(self.past, PROMPT)
        if not editor.unsaved:
            if editor.clash is not None:  # typed away again
                editor.absorb(editor.clash.theirs)
                self._desk.show_state()
            self.unsaved.let_go(persona.id, PROMPT)
            await self.write_down()
            return
        if persona.error is not None:
            await self._keep_now(persona.id, editor.base, editor.raw, None)
            return
        base, before = editor.base, self.unsaved.held(persona.id)
        sent, takings, showing = editor.raw, editor.takings, editor.showing
        if retrace is not None:
            self.note_sent()
        try:
            stored = await self.workspace.save_prompt(persona.id, base, sent, retrace)
        except UnknownPersona:
            await self._keep_now(persona.id, base, sent, before)
            if self.persona is persona:
                self._absence.miss(persona)
            return
        except PersonaError as error:
            await self._keep_now(persona.id, base, sent, before)
            if self.id == persona.id:
                if self.trouble != str(error):
                    self._desk.tell(f"Not saved: {error}", error=True)
                self.trouble = str(error)
                self._desk.show_state()
            return
        if isinstance(stored, Clash):
            await self._keep_now(persona.id, base, sent, before)
        else:
            held = self.unsaved.held(persona.id)
            if held == before:  # what was kept before is in what was sent
                self.unsaved.let_go(persona.id, PROMPT)
            elif held is not None and self.id != persona.id:  # typed on, and kept as another was opened
                self.unsaved.hold(persona.id, PROMPT, sent, held.text)
            self.unsaved.let_go(persona.id, PROMPT, sent)
        if self.id == persona.id:
            self.trouble = ""
            # At once: a look would take what is stored for the deed of another program.
            if isinstance(stored, Clash):
                editor.absorb(stored.theirs)
                self._desk.show_state()
            elif editor.takings == takings:
                editor.mark_saved(sent)
                editor.absorb(stored.text)
                self._now_is(stored.persona)
                self._desk.show_state()
            elif editor.showing == showing and editor.note_stored(base, sent, stored.text):
                self._now_is(stored.persona)
                self._desk.show_state()
            else:
                await self.read_again(quiet=True, outside=False)
        await self.write_down()

    async def _keep_now(self, persona_id: str, base: str, text: str, before: Unsaved | None) -> None:
        """Keep a text that a save could not store, unless the editor went on with it meanwhile.

        `before`: what was kept when the save began.
        """
        editor = self._desk.prompt
        if self.id == persona_id:
            if not editor.unsaved:
                return
            base, text = editor.base, editor.raw
        elif self.unsaved.held(persona_id) != before:
            return  # what was typed by the time another was opened is kept
        self.unsaved.hold(persona_id, PROMPT, base, text, self.file_text if self.id == persona_id else "")
        await self.write_down()

    async def choose(self) -> None:
        """Show both texts where they touch, and store what the person chooses."""
        await self._choice.choose()

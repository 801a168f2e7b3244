"""Undo and redo of the open persona along the one line of its past, and what the last change was.

A press begins by storing what is typed and ends when what it did is stored: what was typed is stored as a step of the
store's own timeline, everything else is a step the store takes.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Literal

from personas.errors import Conflict, NothingToUndo, PersonaError
from tui.commands.registry import keymap_of, sentence
from tui.document.async_store import last_change
from tui.document.merge import Clash, meet
from tui.document.undo_stack import BEFORE, Past, Stored, Typed, opposite
from tui.drafts.unsaved_edits import PROMPT, TEST
from tui.terminal.diff_view import shown_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from personas.persona import Persona
    from personas.versions.authorship import Undone
    from personas.versions.undo import Retrace
    from tui.document.async_store import Workspace
    from tui.document.editor_view import Desk
    from tui.document.test_input_autosave import InputSaving
    from tui.widgets.text.document_editor import TextEditor


SLOW = 0.3
"""Seconds after which it is told that a step is not shown yet."""
WAITS = "The disk is slow: what you type now is shown once the step before it can be taken."

NOW = "As it is now"
"""What the text is called that stands there while another is offered."""


class Undoing:
    """The part of `Editing` that goes back and forth in what was done."""

    _desk: Desk
    workspace: Workspace
    persona: Persona | None
    past: Past
    inputs: InputSaving

    @property
    def id(self) -> str | None:
        """The id of the open persona."""
        return self.persona.id if self.persona else None

    def take(self, persona: Persona, deed: Stored | None = BEFORE, *, outside: bool = False) -> None:
        """Show the persona as it is now."""
        raise NotImplementedError

    async def flush(self) -> None:
        """Store everything that was typed and can be stored."""
        raise NotImplementedError

    async def save(self, retrace: Retrace | None = None) -> None:
        """Store the prompt as it stands in the editor."""
        raise NotImplementedError

    def begin_walking(self) -> None:
        """Let the editors ask for steps."""
        self._walking = asyncio.Lock()
        self._shown: asyncio.Future[None] | None = None  # of the step that is being taken
        for editor in (self._desk.prompt, self._desk.tests.editor):
            editor.walk = partial(self._walk_in, editor)
        self._desk.tests.save = self.inputs.save_soon

    @property
    def is_walking(self) -> bool:
        """Whether a step is being taken."""
        return self._walking.locked()

    # -- steps ------------------------------------------------------------------------------------------

    async def _walk_in(self, editor: TextEditor, operation: Retrace) -> None:
        """`walk`, for an editor that hears no key meanwhile: return once it shows where the step leads.

        On a slow disk that is stored much later; what is typed behind it is saved as what is typed behind a save.
        """
        shown: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        walking = self._desk.start(self.walk(operation, editor=editor, shown=shown))
        walking.add_done_callback(lambda _: None if shown.done() else shown.set_result(None))
        await asyncio.wait((shown,), timeout=SLOW)
        if not shown.done():
            self._desk.tell(WAITS)
        await shown

    async def walk(
        self,
        operation: Retrace,
        *,
        editor: TextEditor | None = None,
        shown: asyncio.Future[None] | None = None,
    ) -> None:
        """Undo or redo what comes next, whatever it was done to; what has no effect any more is passed over.

        Args:
            operation: which way.
            editor: where the person is: what happens there needs no words.
            shown: is done once the text that the step leads to is shown, and on its way to the disk.
        """
        async with self._walking:
            self._shown = shown
            await self._begin_step()
            await self._walk(operation, editor)

    def note_sent(self) -> None:
        """The text that a step leads to is on its way to the disk: what is typed from now on is not of it."""
        if self._shown is not None and not self._shown.done():
            self._shown.set_result(None)

    async def walk_runs(self, operation: Literal["undo", "redo"]) -> None:
        """Undo or redo the agent's last run, whatever was done since."""
        async with self._walking:
            await self._begin_step()
            if self.id is None:
                self._desk.tell("Open a persona first.")
                return
            past = self.past
            try:
                done = await self._store_step(operation, only="agent")
            except NothingToUndo:
                self._tell_nothing(operation, "of the agent's ")
                return
            if done is not None and self.past is past:
                past.move_run(operation, done.run_id)
                self.take(done.persona, None)

    async def undo_run_of(self, session_id: str, turn_ids: Sequence[str]) -> None:
        """Undo what the run of a turn changed, whatever was done since.

        Args:
            session_id: of the conversation.
            turn_ids: the turn, and those before it, nearest first: one that is no part of what is stored is of the
                run of the one before.
        """
        from agent.transcript.run_index import unit_of_turn

        async with self._walking:
            await self._begin_step()
            past, persona_id = self.past, self.id
            if persona_id is None:
                return
            try:
                unit = await self.workspace.call(
                    unit_of_turn, self.workspace.store, persona_id, session_id, turn_ids
                )
            except PersonaError as error:
                self._desk.tell(str(error), error=True)
                return
            if not unit:
                self._desk.tell("The agent's run of this turn changed nothing.")
                return
            try:
                done = await self._store_step("undo", only=unit) if self.past is past else None
            except NothingToUndo:
                self._desk.tell("What the agent's run of this turn changed is undone already.")
                return
            if done is not None and self.past is past:
                past.move_run("undo", done.run_id)
                self.take(done.persona, None)

    async def _begin_step(self) -> None:
        """Store what is typed, and wait for what is being stored: it comes first."""
        await self.flush()
        await self.workspace.settled()

    async def _walk(self, operation: Retrace, editor: TextEditor | None) -> None:
        persona, past = self.persona, self.past
        if persona is None:
            keymap, told = (
                keymap_of(self._desk.tests.app),
                " {} in the list of personas brings back a deleted one.",
            )
            self._desk.tell(f"Open a persona first.{sentence('list.restore', keymap, told)}")
            return
        while self.past is past:  # each opening has its own
            while self.workspace.writing:  # what a tool writes just now is a deed as well
                await self.workspace.settled()
            deed = past.next(operation)
            if deed is None:
                self._tell_nothing(operation)
                return
            if isinstance(deed, Typed):
                if await self._step(operation, deed, editor):
                    return
                continue
            way = deed.undone_by if operation == "undo" else opposite(deed.undone_by)
            only = deed.key or (None if deed.run_id is None else "agent")
            try:
                done = await self._store_step(way, only=only)
            except NothingToUndo:
                if past.drop(operation, deed):  # another program undid it
                    continue
                self._tell_nothing(way, "of the agent's " if only == "agent" else "")
                return
            if done is not None and self.past is past:
                self._note_step(operation, deed, done.run_id)
                self.take(done.persona, None)
            return

    def _tell_nothing(self, operation: Retrace, whose: str = "") -> None:
        if (persona_id := self.id) is not None:
            self._desk.tell(f"There is nothing {whose}to {operation} in {self._desk.name_of(persona_id)}.")

    def _note_step(self, operation: Retrace, deed: Stored, run_id: str | None) -> None:
        """The store took a step for a deed; `run_id`: the run that it was of."""
        if deed.run_id is not None and run_id != deed.run_id:  # another program had undone that one
            self.past.drop(operation, deed)
            self.past.move_run(operation, run_id)
        else:
            self.past.move(operation, deed, as_=Stored(run_id) if deed == BEFORE else None)

    async def _store_step(self, operation: Retrace, *, only: str | None) -> Undone | None:
        """Have the store take a step and say what it was; None where it could not, which is told. `only` as in `Store.undo`.

        Raises:
            NothingToUndo: no unit is left.
        """
        persona_id = self.id
        assert persona_id is not None
        try:
            done = await self.workspace.undo(persona_id, operation, only=only)
        except NothingToUndo:
            raise
        except Conflict as error:
            self._desk.start(self._choose_undo(operation, persona_id, error))
            return None
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return None
        self._desk.stepped(operation, done.run_id)
        self._desk.tell(f"{_said(operation)}: {shown_counts(done.summary)}")
        return done

    async def _step(self, operation: Retrace, deed: Typed, editor: TextEditor | None) -> bool:
        """Take back, or do again, a stretch of typing; return whether that is settled: it has had an effect, or met."""
        past = self.past
        if operation == "undo":
            await self._keep_unsaved(deed.place)
        if self.past is not past:
            return True  # another persona is open by now
        if self.past.next(operation) is not deed:
            return False  # a tool has written meanwhile: that is the youngest
        here, now = self._text_at(deed.place)
        before, after = (deed.before, deed.after) if operation == "undo" else (deed.after, deed.before)
        met = None if now is None else meet(after, before, now)
        if met is None or met == now:
            self.past.drop(operation, deed)
            return False
        if isinstance(met, Clash):
            self._desk.start(self._choose_typed(operation, deed, met))
            return True
        self.past.move(operation, deed)
        if here is None or here is not editor:
            what = "was written outside" if deed.outside else "you typed"
            self._desk.tell(f"{_said(operation)}: what {what} in {_title(deed.place)}.")
        await self._put(deed.place, met, operation)
        return True

    def _text_at(self, place: str) -> tuple[TextEditor | None, str | None]:
        """Return the editor that shows a text, if one does, and the text, if there is one."""
        tests = self._desk.tests
        if place == PROMPT:
            return self._desk.prompt, self._desk.prompt.raw
        input_id = place.removeprefix(TEST)
        if tests.shown == input_id and not tests.is_gone:
            return tests.editor, tests.editor.raw
        inputs = self.persona.test_inputs if self.persona is not None else ()
        return None, next((each.content for each in inputs if each.id == input_id), None)

    async def _put(self, place: str, text: str, retrace: Retrace | None) -> None:
        """Show a text and store it."""
        editor, now = self._text_at(place)
        if editor is not None:
            editor.go(text)
        if place == PROMPT:
            await self.save(retrace)
        elif editor is not None:
            saving = self.inputs.save_shown(place.removeprefix(TEST), retrace)
            self.note_sent()
            await saving
        elif now is not None:
            await self.inputs.save(place.removeprefix(TEST), now, text, retrace)

    # -- where what was written since touches -----------------------------------------------------------

    async def _choose_typed(self, operation: Retrace, deed: Typed, clash: Clash) -> None:
        """What was written since touches what was typed: show both, and write what is chosen.

        Not now leaves everything as it is; what is not taken is kept as a version.
        """
        chosen = await self._desk.choose(clash, _wanted(operation), NOW)
        if (
            chosen is not None
            and self.past.next(operation) is deed
            and self._text_at(deed.place)[1] == clash.theirs
        ):
            async with self._walking:
                if await self._take_chosen(operation, deed, clash, chosen):
                    return
        self._desk.tell(f"Nothing was {_said(operation).lower()}.")

    async def _take_chosen(self, operation: Retrace, deed: Typed, clash: Clash, chosen: str) -> bool:
        """Keep what was not chosen, and write what was; return whether anything was done."""
        for side in (clash.ours, clash.theirs):
            if self.past.next(operation) is not deed:
                return False
            if side != chosen and not await self._keep_text(deed.place, side, "not taken"):
                return False
        if self.past.next(operation) is not deed or self._text_at(deed.place)[1] != clash.theirs:
            return False  # something else was written meanwhile
        if chosen == clash.theirs:
            self.past.drop(operation, deed)
            return False
        before, after = (chosen, clash.theirs) if operation == "undo" else (clash.theirs, chosen)
        self.past.move(operation, deed, as_=Typed(deed.place, before, after))
        await self._put(deed.place, chosen, operation)
        return True

    async def _keep_unsaved(self, place: str) -> None:
        """What could not be saved and is about to be undone is in no file: keep it as a version, where that is possible.

        Not what undo led to just now: that lies between what is kept and what is stored.
        """
        here, now = self._text_at(place)
        last = self.past.next("redo")
        led_here = isinstance(last, Typed) and last.place == place and last.before == now
        if here is not None and here.unsaved and now is not None and not led_here:
            await self._keep_text(place, now, "undone before it was saved", quiet=True)

    async def _keep_text(self, place: str, text: str, reason: str, *, quiet: bool = False) -> bool:
        """Keep a text as a version; return whether that could be done, which is told otherwise, unless `quiet`."""
        persona_id = self.id
        if persona_id is None:
            return False
        try:
            if place == PROMPT:
                await self.workspace.keep_version(persona_id, text, reason)
            else:
                await self.workspace.keep_test_input(persona_id, place.removeprefix(TEST), text, reason)
        except PersonaError as error:
            if not quiet:
                self._desk.tell(f"Not kept as a version: {error}", error=True)
            return False
        return True

    async def _choose_undo(self, operation: Retrace, persona_id: str, conflict: Conflict) -> None:
        """The same for a unit of the store; what is written while the person chooses is merged, or met again."""
        from tui.document.value_conflict import in_one_value
        from tui.external_editor.persona_file import save_file, spoils

        call = self.workspace.call
        met = await call(meet, conflict.base, conflict.ours, conflict.theirs)
        if not isinstance(met, Clash):
            self._desk.tell(str(conflict), error=True)
            return
        said = _said(operation)
        while isinstance(met, Clash):
            shown = await call(in_one_value, met)
            chosen = await self._desk.choose(shown.clash, _wanted(operation), NOW)
            try:
                text = met.theirs if chosen is None else await call(shown.whole, chosen)
            except PersonaError as error:
                self._desk.tell(str(error), error=True)
                return
            if text == met.theirs:
                self._desk.tell(f"Nothing was {said.lower()}.")
                return
            if await call(spoils, text, met.ours, met.theirs):
                self._desk.tell(
                    f"Both in one would be no persona file: nothing was {said.lower()}.", error=True
                )
                return
            store, reason = self.workspace.store, f"{said.lower()} by hand"
            try:
                done = await self.workspace.write(
                    save_file, store, persona_id, met.theirs, text, reason, alone=True
                )
            except PersonaError as error:
                self._desk.tell(str(error), error=True)
                return
            if not isinstance(done, Clash):
                self.take(done.persona)
                return
            met = done

    # -- what happened ----------------------------------------------------------------------------------

    def note(self, before: Persona, now: Persona, deed: Stored | None, *, outside: bool) -> None:
        """Remember what made `now` of `before`: a deed, or what another program wrote into the texts."""
        if deed is not None:
            self.past.stored(deed)
        if not outside or before.error is not None or now.error is not None:
            return
        old = {PROMPT: before.system_prompt, **{TEST + each.id: each.content for each in before.test_inputs}}
        new = {PROMPT: now.system_prompt, **{TEST + each.id: each.content for each in now.test_inputs}}
        for place, text in new.items():
            editor, _ = self._text_at(place)
            known = old.get(place, text)
            if editor is None or text not in (editor.base, editor.raw):
                self.past.typed(place, (known, text), outside=True)

    async def last_change(self) -> tuple[str, str]:
        """Return what the last change was called, and its diff; an empty diff when there was none."""
        assert self.persona is not None
        persona_id = self.persona.id
        try:
            return await self.workspace.call(last_change, self.workspace.store, persona_id)
        except PersonaError as error:
            return str(error), ""


def _said(operation: Retrace) -> str:
    return "Undone" if operation == "undo" else "Redone"


def _wanted(operation: Retrace) -> str:
    return "Before that change" if operation == "undo" else "After that change"


def _title(place: str) -> str:
    return "the system prompt" if place == PROMPT else f"the test input {place.removeprefix(TEST)}"

"""The open persona: shown, saved, undone, and kept in step with its file.

One rule for every change that was not typed here, by the agent, an undo or another program: it is taken into
the editors at once, merged with what is unsaved, and where that touches the person chooses.
"""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol

from personas.errors import Conflict, InvalidValue, NothingToUndo, PersonaError, UnknownPersona
from tui.draft import Clash, meet
from tui.widgets.text_editor import Step, TextEditor
from tui.workspace import Look, Saved, Workspace

if TYPE_CHECKING:
    from personas.persona import Persona
    from tui.widgets.settings_pane import SettingsPane
    from tui.widgets.test_inputs import TestInputs


class Desk(Protocol):
    """What `Editing` needs of the screen."""

    @property
    def prompt(self) -> TextEditor: ...
    @property
    def tests(self) -> TestInputs: ...
    @property
    def settings(self) -> SettingsPane: ...

    def tell(self, message: str, *, error: bool = False) -> None:
        """Say something for a moment."""

    def show_state(self) -> None:
        """The open persona, or how it is saved, changed."""

    async def choose(self, clash: Clash, ours: str, theirs: str) -> str | None:
        """Let the person choose between two texts; None for not now."""

    async def set_field(self, field: str, value: str) -> None:
        """Store a field of the settings."""

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something beside the screen."""


class Editing:
    """Keeps one persona open at a time."""

    def __init__(self, desk: Desk, workspace: Workspace) -> None:
        self._desk = desk
        self.workspace = workspace
        self.persona: Persona | None = None
        self.trouble = ""
        self._parked: dict[str, tuple[str, str]] = {}
        self._look = Look(workspace.store)
        self._openings = 0
        self._choosing = False
        self._put_off: str | None = None

    # -- state ------------------------------------------------------------------------------------------

    @property
    def id(self) -> str | None:
        """The id of the open persona."""
        return self.persona.id if self.persona else None

    @property
    def state(self) -> Literal["", "saved", "unsaved", "conflict", "failed", "broken"]:
        """How the prompt on the screen stands to its file."""
        if self.persona is None:
            return ""
        if self.persona.error is not None:
            return "broken"
        if self._desk.prompt.clash is not None:
            return "conflict"
        if not self._desk.prompt.unsaved:
            return "saved"
        return "failed" if self.trouble else "unsaved"

    def would_lose(self) -> list[str]:
        """Return the ids of personas with text that is nowhere but on the screen."""
        ids = [key for key, (base, text) in self._parked.items() if base != text]
        if self.state in ("conflict", "failed") and self.id is not None:
            ids.append(self.id)
        return ids

    # -- opening ----------------------------------------------------------------------------------------

    async def open(self, persona_id: str) -> bool:
        """Save what is open and show another persona; returns whether it could be read."""
        self._openings += 1
        mine = self._openings
        await self.flush()
        try:
            persona = await self.workspace.get(persona_id)
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return False
        if mine != self._openings:
            return False
        self._park()
        self.persona, self.trouble = persona, ""
        self._look.changed(persona_id)
        broken = persona.error is not None
        self._desk.prompt.show(persona.system_prompt, read_only=broken)
        if persona_id in self._parked and not broken:
            base, text = self._parked.pop(persona_id)
            self._desk.prompt.keep_unsaved(base, text)
            self._desk.prompt.absorb(persona.system_prompt, None)
        self._desk.tests.show(persona.test_inputs, locked=broken, fresh=True)
        self._desk.settings.show(persona, fresh=True)
        self._desk.show_state()
        return True

    def close(self) -> None:
        """Show no persona: the open one is gone."""
        self._openings += 1
        self.persona, self.trouble = None, ""
        self._desk.prompt.show("", read_only=True)
        self._desk.tests.show((), locked=True, fresh=True)
        self._desk.settings.show(None, fresh=True)
        self._desk.show_state()

    def _park(self) -> None:
        """Keep what could not be stored of the persona being left."""
        editor = self._desk.prompt
        if self.persona is not None and self.persona.error is None and editor.unsaved:
            self._parked[self.persona.id] = (editor.base, editor.raw)

    # -- changes made elsewhere ------------------------------------------------------------------------

    def take(self, persona: Persona, step: Step | None = None) -> None:
        """Show the persona as it is now; what is typed and unsaved stays, merged."""
        if self.persona is None or persona.id != self.persona.id:
            return
        mended = self.persona.error is not None and persona.error is None
        self.persona = persona
        self._look.changed(persona.id)
        broken = persona.error is not None
        editor = self._desk.prompt
        if mended:
            editor.show(persona.system_prompt)
        editor.read_only = broken
        if not broken:
            editor.absorb(persona.system_prompt, step)
        self._desk.tests.show(persona.test_inputs, locked=broken)
        self._desk.settings.show(persona)
        self._desk.show_state()

    def select_test_input(self, input_id: str) -> None:
        """Put the cursor of the test inputs on this one."""
        self._desk.tests.rows.select(input_id)

    async def look(self) -> bool:
        """Take in what other programs did; returns whether the list of files changed too."""
        listed, file = await self.workspace.call(self._look.changed, self.id)
        if file and self.persona is not None:
            await self.read_again()
        return listed

    def agent_wrote(self, persona: Persona, step: Step) -> None:
        """A tool has written: show it at once."""
        if self.workspace.writing:
            # Our own write may be newer than what the tool saw: only the disk knows.
            self._desk.start(self.read_again(quiet=True, step=step))
        else:
            self.take(persona, step)

    async def read_again(self, *, quiet: bool = False, step: Step | None = None) -> None:
        """Read the open persona and take in what is new; `quiet` when the person knows that it changed."""
        before = self.persona
        if before is None:
            return
        try:
            now = await self.workspace.get(before.id)
        except UnknownPersona:
            if self.persona is before:
                self._desk.tell(f"{before.name} was deleted outside this program.", error=True)
                self.close()
            return
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return
        if self.persona is not None and now.id == self.persona.id and now.revision != self.persona.revision:
            self.take(now, step)
            if now.error is None and not quiet and self._desk.prompt.clash is None:
                self._desk.tell(f"{now.name} was changed outside; what is new is shown.")
            if self._desk.prompt.clash is not None:
                self._desk.start(self.choose())

    # -- saving ----------------------------------------------------------------------------------------

    async def flush(self) -> None:
        """Store everything that was typed and can be stored."""
        for field, value in self._desk.settings.unsaved():
            await self._desk.set_field(field, value)
        tests = self._desk.tests
        if tests.shown is not None and tests.editor.unsaved:
            await self.save_test(tests.shown, tests.editor.base, tests.editor.raw)
        await self.save()

    async def save(self) -> None:
        """Store the prompt as it stands in the editor, merged with what is on disk."""
        editor, persona = self._desk.prompt, self.persona
        if persona is None or persona.error is not None or not editor.unsaved:
            return
        sent, takings = editor.raw, editor.takings
        try:
            stored = await self.workspace.save_prompt(persona.id, editor.base, sent)
        except PersonaError as error:
            if self.id == persona.id:
                if self.trouble != str(error):
                    self._desk.tell(f"Not saved: {error}", error=True)
                self.trouble = str(error)
                self._desk.show_state()
            return
        if self.id != persona.id:
            return
        self.trouble = ""
        if isinstance(stored, Clash):
            editor.absorb(stored.theirs, None)
            self._desk.show_state()
            self._desk.start(self.choose())
            return
        if editor.takings == takings:
            editor.mark_saved(sent)
            editor.absorb(stored.text, None)
            self.persona = stored.persona
            self._look.changed(persona.id)
            self._desk.show_state()
        else:
            await self.read_again()

    def save_at_once(self) -> None:
        """Store the prompt although the program is failing; blocking, and silent when it cannot be done."""
        editor, persona = self._desk.prompt, self.persona
        if persona is not None and persona.error is None and editor.unsaved:
            with suppress(PersonaError):
                self.workspace.save_prompt_now(persona.id, editor.base, editor.raw)

    async def save_test(self, input_id: str, base: str, text: str) -> None:
        """Store the content of a test input."""
        persona = self.persona
        if persona is None:
            return
        try:
            stored = await self.workspace.save_test_input(persona.id, input_id, base, text)
        except InvalidValue as error:
            await self._keep_as_new(persona.id, text, f"{error} What you typed is kept as a new one.")
            return
        except PersonaError as error:
            self._desk.tell(f"Not saved: {error}", error=True)
            return
        if isinstance(stored, Clash):
            self._desk.start(self._choose_test(persona.id, input_id, stored))
        else:
            self._stored_test(input_id, text, stored)

    def _stored_test(self, input_id: str, sent: str, stored: Saved) -> None:
        """Show what is stored of a test input now, unless something else was typed meanwhile."""
        if self.id != stored.persona.id:
            return
        tests = self._desk.tests
        if tests.shown == input_id and tests.editor.raw == sent:
            tests.editor.take(stored.text, None)
            tests.editor.mark_saved(stored.text)
        self.take(stored.persona)

    async def _choose_test(self, persona_id: str, input_id: str, clash: Clash) -> None:
        """Show both contents where they touch and store what is chosen; put off, yours becomes a new test input."""
        if self._choosing:
            return
        self._choosing = True
        try:
            chosen = await self._desk.choose(clash, "Yours", "On disk")
        finally:
            self._choosing = False
        tests = self._desk.tests
        if self.id == persona_id and tests.shown == input_id:
            tests.editor.show(clash.theirs)
        if chosen is None:
            await self._keep_as_new(persona_id, clash.ours, "Both are kept: yours as a new test input.")
            return
        stored = await self.workspace.save_test_input(persona_id, input_id, clash.theirs, chosen)
        if isinstance(stored, Clash):
            await self._keep_as_new(
                persona_id, chosen, "It changed once more; yours is kept as a new test input."
            )
        else:
            self._stored_test(input_id, clash.theirs, stored)

    async def _keep_as_new(self, persona_id: str, text: str, why: str) -> None:
        """What was typed has no place in its test input: it becomes one of its own."""
        from personas.changes import AddTestInput

        try:
            persona = await self.workspace.change(persona_id, AddTestInput(text))
        except PersonaError as error:
            self._desk.tell(f"Not saved: {error}", error=True)
            return
        self._desk.tell(why)
        self.take(persona)

    async def choose(self, *, asked: bool = False) -> None:
        """Show both texts where they touch, and store what the person chooses.

        Args:
            asked: the person asks for it; else a clash that was put off is not shown again.
        """
        clash = self._desk.prompt.clash
        if clash is None or self._choosing or (clash.theirs == self._put_off and not asked):
            return
        persona_id = self.id
        self._choosing = True
        try:
            chosen = await self._desk.choose(clash, "Yours", "On disk")
        finally:
            self._choosing = False
        editor = self._desk.prompt
        if chosen is None:
            self._put_off = clash.theirs
        if chosen is None or editor.clash is None or self.id != persona_id:
            return
        newest = editor.clash.theirs  # an agent may have gone on meanwhile
        editor.take(chosen, None)
        editor.mark_saved(clash.theirs)
        if newest != clash.theirs:
            editor.absorb(newest, None)
        self._desk.show_state()
        await self.save()

    # -- undo -------------------------------------------------------------------------------------------

    async def undo(
        self, operation: Literal["undo", "redo"], *, agent: bool, step: Step | None = None
    ) -> None:
        """Undo or redo in the store and show what it did.

        Args:
            operation: which.
            agent: only the agent's last run.
            step: the marked step the editor's own history stands at, if that is what is undone.
        """
        if self.persona is None:
            return
        persona_id = self.persona.id
        await self.flush()
        try:
            done = await self.workspace.undo(persona_id, operation, agent=agent or step is not None)
        except NothingToUndo as error:
            if step is None or self.id != persona_id:
                self._desk.tell(str(error))
            else:
                # Typing has ended the store's own redo; the text at least can go where the history says.
                self._desk.prompt.step_alone(operation)
            return
        except Conflict as error:
            await self._choose_undo(persona_id, error)
            return
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return
        word = "Undone" if operation == "undo" else "Done again"
        self._desk.tell(f"{word}: {done.summary}")
        if self.id != persona_id:
            return
        editor, text = self._desk.prompt, done.persona.system_prompt
        if step is not None:
            back = operation == step.undone_by
            (editor.follow_undo if back else editor.follow_redo)(text)
        elif agent:
            other = "redo" if operation == "undo" else "undo"
            editor.absorb(text, Step(None, other))
        else:
            editor.absorb(text, None)
            editor.history.clear()
        self.take(done.persona)

    async def undo_agent(self, operation: Literal["undo", "redo"]) -> None:
        """Undo or redo the agent's last run; in the editor's history too where it stands right there."""
        step = self._desk.prompt.step_at(operation)
        await self.undo(operation, agent=True, step=step if step is not None and step.run_id else None)

    async def last_change(self) -> tuple[str, str]:
        """Return what the last change was called, and its diff; an empty diff when there was none."""
        assert self.persona is not None
        try:
            log = await self.workspace.call(self.workspace.store.log, self.persona.id)
            if not log:
                return "Nothing was changed yet.", ""
            diff = await self.workspace.call(self.workspace.store.diff, self.persona.id)
        except PersonaError as error:
            return str(error), ""
        who = {"user": "you", "external": "outside"}.get(log[0].by.kind, log[0].by.kind)
        return f"Last change: {log[0].reason} · by {who}", diff.diff

    async def _choose_undo(self, persona_id: str, conflict: Conflict) -> None:
        """What was written since touches what is to be undone: show both, and write what is chosen."""
        from personas.changes import ReplaceText

        clash = meet(conflict.base, conflict.ours, conflict.theirs)
        if not isinstance(clash, Clash):
            self._desk.tell(str(conflict), error=True)
            return
        chosen = await self._desk.choose(clash, "Before that change", "As it is now")
        if chosen is None or chosen == conflict.theirs:
            self._desk.tell("Nothing was undone.")
            return
        try:
            persona = await self.workspace.change(persona_id, ReplaceText(chosen), "undone by hand")
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return
        self.take(persona)

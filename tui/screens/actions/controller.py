"""What actions do on the screen: the dialog is opened, and what is asked there is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.actions import consent, run_log
from agent.actions.listing import idle_warning, list_actions
from agent.actions.summary import summary_lines
from agent.actions.times import stamp
from personas.action_document import key_of
from personas.action_store import create_action, delete_action, deleted_actions, get_action
from personas.external_writes import know
from personas.files import trust
from personas.store import utc_now
from tui.commands.registry import sentence
from tui.document.controller import DocumentController
from tui.document.version_names import local_now, when
from tui.screens.actions.new_action import ask_new_action
from tui.screens.actions.rows import moment
from tui.screens.actions.screen import ActionsScreen
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.document_screen_view import DocumentScreenView
from tui.terminal.sanitise import one_line, spelled_out
from tui.widgets.virtual_list import Row

if TYPE_CHECKING:
    from agent.actions.listing import ListedAction
    from agent.actions.run_log import ActionRun
    from personas.store import Store
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.document.document import OpenDocument
    from tui.screens.actions.runner import ActionRunner
    from tui.screens.version_actions import VersionActions


class ActionsController:
    """The actions of the home.

    Args:
        host: the main screen.
        main: has the open persona.
        runner: runs actions in this program.
        open_persona: shows a persona.
        conversation: shows conversations of the open persona.
        versions: shows proposals for it.
    """

    def __init__(
        self,
        host: Host,
        main: DocumentController,
        runner: ActionRunner,
        open_persona: Callable[[str], Awaitable[None]],
        conversation: ConversationController,
        versions: VersionActions,
    ) -> None:
        self._host, self._main, self._runner = host, main, runner
        self._workspace = main.workspace
        self._open_persona, self._conversation, self._versions = open_persona, conversation, versions
        self._view = DocumentScreenView[ActionsScreen](host, main, self._opened)
        self.documents = self._view.documents
        self._stamps: object = None
        self._next: Callable[[], Coroutine[Any, Any, None]] | None = None  # once the dialog is closed

    @property
    def is_open(self) -> bool:
        """Whether the person is there."""
        return self._view.is_there

    @property
    def _store(self) -> Store:
        return self._workspace.store

    def open_actions(self) -> None:
        """Show the actions."""
        if not self.is_open:
            self._host.start(self._show())

    async def _show(self) -> None:
        self._next, self._stamps = None, None
        again = partial(self._host.start_once, self._look)
        await self._view.show(ActionsScreen(self.documents, self._do, again))
        if self._next is not None:
            self._host.start(self._next())
        await self._workspace.call(run_log.note_seen, self._store.home, utc_now())

    def _opened(self, document: OpenDocument) -> None:
        """Another action is open: it is stored as a whole, when the person says so."""
        document.is_held = True
        if (screen := self._view.shown()) is not None:
            screen.show_runs(())
        self._host.start(self._read_runs())

    # -- what is shown ------------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Show what happened, here or elsewhere."""
        await self.documents.look()
        stamps = await self._workspace.call(self._stamps_now)
        if stamps != self._stamps:
            self._stamps = stamps
            await self.refresh()

    def _stamps_now(self) -> object:
        return run_log.stamps(self._store.home), utc_now().minute

    async def refresh(self, at: str | None = None) -> None:
        """Show where all actions stand; `at`: the id of the one that gets the cursor."""
        rows, warning, last_look = await self._workspace.call(self._list)
        if (screen := self._view.shown()) is not None:
            here = self._host.program.settings.worker_while_open
            parts = (
                "a worker runs in this program" if here else "",
                f"worker last active {moment(last_look, local_now())}" if last_look else "",
            )
            screen.show_actions(rows, warning, looks=" · ".join(filter(None, parts)), at=at)
        await self._read_runs()

    def _list(self) -> tuple[list[ListedAction], str, str | None]:
        home, now = self._store.home, utc_now()
        rows = list_actions(home, now=now)
        last_look = run_log.last_look(home)
        return rows, idle_warning(home, rows, now=now), stamp(last_look) if last_look is not None else None

    async def _read_runs(self) -> None:
        if (key := self.documents.id) is None:
            return
        runs = await self._workspace.call(run_log.runs, self._store.home, _id_of(key))
        if (screen := self._view.shown()) is not None and self.documents.id == key:
            screen.show_runs(runs)

    # -- what is asked ------------------------------------------------------------------------------------

    def _do(self, what: str, key: str, run_id: str = "") -> None:
        """Do what is asked in the dialog about an action, by its key, or about a run of it."""
        if self._view.does(what, key):
            return
        work: Any = None
        match what:
            case "look":
                self._host.start_once(self._look)
            case "undo" | "redo" | "undo_agent" | "redo_agent":
                work = self._step(what, key)
            case "new" | "restore":
                work = getattr(self, f"_{what}")()
            case "conversation" | "output" | "proposal":
                work = self._of_run(what, key, run_id)
            case _:  # approve, run, cancel, delete
                work = getattr(self, f"_{what}")(_id_of(key))
        if work is not None:
            self._host.start(work)

    async def _new(self) -> None:
        values = await ask_new_action(self._host, await self._workspace.ids(), self._main.id or "")
        if values is None:
            return
        made = await self._workspace.write(create_action, self._store, values)
        await self.refresh(made.id)
        self._view.open(key_of(made.id))

    async def _approve(self, action_id: str) -> None:
        key = key_of(action_id)
        if key in self.documents.not_saved():
            self._host.show_message("Save it first; the saved file is what you approve.", error=True)
            return
        home = self._store.home
        action = await self._workspace.call(get_action, self._store, action_id)
        consent.require_whole(action)
        await self._workspace.call(know, self._store, key)
        text = spelled_out("\n".join(summary_lines(action, utc_now())))
        if not await self._host.confirm("Let it run unattended?", text, action="Approve", keep="Not now"):
            return
        await self._workspace.call(lambda: consent.approve(home, [action], now=utc_now()))
        if not trust.is_trusted(home.root):
            message = "This home is not trusted, so nothing in it runs by itself: `persona trust`."
            self._host.show_message(f"Approved. {message}", error=True)
        else:
            self._host.show_message(f"{one_line(action.title, 60)} is approved as it is now.")
        await self.refresh()

    async def _run(self, action_id: str) -> None:
        action = await self._workspace.call(get_action, self._store, action_id)
        consent.require_whole(action)
        self._runner.start(action)

    async def _cancel(self, action_id: str) -> None:
        await self._workspace.call(consent.cancel, self._store.home, action_id)
        stopped = await self._workspace.call(
            lambda: run_log.cancel_runs(self._store.home, action_id, now=utc_now())
        )
        runs = f", and {len(stopped)} of its runs stopped" if stopped else ""
        back = sentence("actions.approve", self._host.keymap, " {} puts it back on its schedule.")
        self._host.show_message(f"{action_id} is cancelled{runs}.{back}")
        await self.refresh()

    async def _delete(self, action_id: str) -> None:
        if not await self._host.confirm(
            f"Delete {action_id}?",
            "Its runs are stopped. It is kept as a version.",
            action="Delete",
            keep="Keep it",
        ):
            return
        await self._workspace.write(delete_action, self._store, action_id)
        await self._workspace.call(lambda: run_log.cancel_runs(self._store.home, action_id, now=utc_now()))
        key = key_of(action_id)
        await self._view.forget(key)
        back = sentence("actions.restore", self._host.keymap, " {} brings it back.")
        self._host.show_message(f"{action_id} is deleted.{back}")
        await self.refresh()

    async def _restore(self) -> None:
        gone = await self._workspace.call(deleted_actions, self._store)
        if not gone:
            self._host.show_message("No action was deleted.")
            return
        rows = [Row(name, name, tail=when(version.at, local_now())) for name, version in gone]
        name = await self._host.ask(Picker("Bring back which action?", rows))
        if name is not None:
            await self._workspace.undo(key_of(name), "undo")
            await self.refresh(name)

    # -- the open action ----------------------------------------------------------------------------------

    async def _step(self, what: str, key: str) -> None:
        if key and await self._view.ensure_open(key):
            operation, _, only = what.partition("_")
            await self.documents.undo.step(operation, only=only or None)  # type: ignore[arg-type]

    # -- runs ---------------------------------------------------------------------------------------------

    async def _of_run(self, what: str, key: str, run_id: str) -> None:
        action = await self._workspace.call(get_action, self._store, _id_of(key))
        run = await self._workspace.call(run_log.find_run, self._store.home, run_id, action.id)
        if run is None:
            return
        if what == "output" or (what == "conversation" and run.session_id is None):
            await self._show_output(action.title, run)
        elif what == "proposal":
            name = next((one for one in run.versions if isinstance(one, str)), None)
            if name is None:
                self._host.show_message("This run has made no proposal.")
            else:
                self._leave_for(action.persona, lambda: self._versions.show_proposal(name))
        elif run.asks:
            await self._answer(action, run)
        else:
            show = self._conversation.history.open if run.is_over else self._conversation.watch
            self._leave_for(action.persona, lambda: show(run.session_id or ""))

    async def _show_output(self, title: str, run: ActionRun) -> None:
        from tui.screens.dialogs.text_page import ShowText

        await self._host.ask(
            ShowText(f"{title}: {run.state}", "\n\n".join(filter(None, (run.why, run.output))))
        )

    def _leave_for(self, persona_id: str, then: Callable[[], Awaitable[object]]) -> None:
        """Close the dialog, and show something of a persona."""

        async def go() -> None:
            await self._open_persona(persona_id)
            await then()

        self._next = go
        if (screen := self._view.shown()) is not None:
            screen.dismiss(None)

    async def _answer(self, action: Any, run: ActionRun) -> None:
        """Ask the person what the run asks, and let it go on with that."""
        from agent.jobs.recovery import find_job

        job = await self._workspace.call(find_job, self._store.in_session(run.id), action.persona)
        question = job.pending if job is not None else None
        if question is None:
            self._host.show_message("It is no longer waiting for an answer.")
            return
        if question.options:
            rows = [Row(option, option) for option in question.options]
            answer = await self._host.ask(Picker(one_line(action.title, 60), rows, text=question.text))
        else:
            answer = await self._host.ask(AskLine(one_line(action.title, 60), explanation=question.text))
        if answer is not None:
            self._runner.start(action, run=run, answer=answer)


def _id_of(key: str) -> str:
    return key.removeprefix(key_of(""))

"""Actions on the screen: their list by state, and one of them open in an editor with its runs.

On a narrow screen the open one takes the place of the list. What is asked is done by `ActionsController`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from tui.commands.registry import bindings, sentence
from tui.document.version_names import local_now
from tui.screens.actions.rows import action_rows, info_of, run_rows
from tui.screens.document_screen import DocumentScreen
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.text.ellipsis import EllipsisStatic
from tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from agent.actions.listing import ListedAction
    from agent.actions.run_log import ActionRun
    from tui.document.controller import DocumentController
    from tui.document.document import OpenDocument

LIST_HINT = (
    ("rows.open", "opens"),
    ("actions.new", "new"),
    ("actions.approve", "approve"),
    ("actions.run", "run now"),
    ("actions.cancel", "cancel"),
    ("actions.delete", "delete"),
    ("actions.restore", "restore"),
    ("actions.versions", "versions"),
    ("dialog.close", "closes"),
)
DOCUMENT_HINT = (
    ("actions.save", "saves"),
    ("pane.next", "runs"),
    ("edit.compare", "last change"),
    ("editor.external", "$EDITOR"),
    ("dialog.close", "to the list"),
)
RUNS_HINT = (
    ("rows.open", "answers it, or opens its conversation"),
    ("runs.output", "output"),
    ("runs.proposal", "proposal"),
    ("dialog.close", "to the list"),
)
KEY = "action/"


class ActionList(Vertical):
    """All actions, and more of the one under the cursor. What is asked of one is passed to the dialog."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("actions")]

    def compose(self) -> ComposeResult:
        yield VirtualList(empty="Reading…", id="action-rows")
        yield LiteralStatic("", id="action-info")

    def action_ask(self, what: str) -> None:
        self.screen.ask_of_row(what)  # type: ignore[attr-defined]


class RunList(Vertical):
    """The runs of the open action."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("runs")]

    def compose(self) -> ComposeResult:
        yield VirtualList(empty="No runs yet.", id="run-rows", choose_on_click=False)

    def action_ask(self, what: str) -> None:
        self.screen.ask_of_run(what)  # type: ignore[attr-defined]


class ActionsScreen(DocumentScreen[None]):
    """The actions of the home.

    Args:
        documents: the open action, and those with unsaved text.
        do: told what is to be done with which action (its key), or with which run of it, see `ActionsController`.
        ready: called when it is there.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("action_document")]

    def __init__(
        self, documents: DocumentController, do: Callable[..., object], ready: Callable[[], object]
    ) -> None:
        super().__init__(documents, do, ready, "action")
        self._rows: dict[str, ListedAction] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog whole", id="actions") as box:
            box.border_title = "Actions"
            yield EllipsisStatic("", id="actions-warning")
            with Horizontal(id="actions-panes"):
                yield ActionList(id="actions-list")
                with Vertical(id="action-document"):
                    yield self._banner
                    yield self.editor
                    yield RunList(id="run-list")
            yield self.hint(*LIST_HINT)

    # -- the list -----------------------------------------------------------------------------------------

    @property
    def key_prefix(self) -> str:
        """What the keys of actions begin with."""
        return KEY

    @property
    def runs(self) -> VirtualList:
        """The runs of the open one."""
        return self.query_one("#run-rows", VirtualList)

    def show_actions(
        self, rows: Sequence[ListedAction], warning: str, *, looks: str = "", at: str | None = None
    ) -> None:
        """Show where the actions stand.

        Args:
            rows: the actions.
            warning: that nobody looks for due work; empty where somebody does.
            looks: who looks for it, and when that was last.
            at: the id of the one that gets the cursor, None for where it is.
        """
        self.query_one("#actions-list").border_subtitle = label(looks)
        self._rows = {row.action.id: row for row in rows}
        line = self.query_one("#actions-warning", EllipsisStatic)
        line.display = bool(warning)
        line.update(label(warning[:1].upper() + warning[1:]))
        self.rows.empty = sentence(
            "actions.new", self.keymap, "No actions yet: {} makes one.", "No actions yet."
        )
        self._draw(at)
        self.show_state()

    def _draw(self, at: str | None = None) -> None:
        documents = self._documents
        current = (documents.id or "").removeprefix(KEY)
        unsaved = [key.removeprefix(KEY) for key in documents.not_saved() if key.startswith(KEY)]
        if at is None and self.rows.key is None:
            at = current  # the dialog was opened with it
        self.rows.set_rows(
            action_rows(self._rows.values(), local_now(), current=current, unsaved=unsaved), key=at
        )
        self._show_info()

    def _show_info(self) -> None:
        row = self._rows.get(self.rows.key or "")
        info = self.query_one("#action-info", LiteralStatic)
        info.display = row is not None
        info.update(info_of(row, local_now()) if row is not None else "")

    @on(VirtualList.Highlighted)
    def _highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self._show_info()

    @on(VirtualList.Chosen, "#action-rows")
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self._do("open", KEY + event.key)

    # -- the open action ----------------------------------------------------------------------------------

    def show_document(self, document: OpenDocument | None, *, keep_cursor: bool = False) -> None:
        """Show another action, or none."""
        super().show_document(document, keep_cursor=keep_cursor)
        self._draw()

    def show_runs(self, runs: Sequence[ActionRun]) -> None:
        """Show the runs of the open action."""
        self.runs.set_rows(run_rows(runs, local_now()))

    @on(VirtualList.Chosen, "#run-rows")
    def _run_chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.ask_of_run("conversation")

    def ask_of_run(self, what: str) -> None:
        """Ask for something to be done with the run under the cursor."""
        if self._documents.id is not None and self.runs.key is not None:
            self._do(what, self._documents.id, self.runs.key)

    def _title_of(self, document: OpenDocument) -> str:
        row = self._rows.get(document.id.removeprefix(KEY))
        return row.action.title if row is not None else document.id

    def _warning_of(self, document: OpenDocument) -> str:
        if not document.dirty:
            return ""
        saves = sentence("actions.save", self.keymap, " {} saves it; it then needs your approval again.")
        return f"Not saved yet.{saves}"

    @on(DocumentEditor.RedoDropped)
    def _redo_dropped(self, event: DocumentEditor.RedoDropped) -> None:
        event.stop()  # it was typed and never saved: the editor alone knows it

    # -- what keys do -------------------------------------------------------------------------------------

    def _hints(self) -> Sequence[tuple[str, str]]:
        if not self._has_keys:
            return LIST_HINT
        return RUNS_HINT if self.focused is self.runs else DOCUMENT_HINT

"""The library on the screen: kinds, documents of one kind, and one of them open in an editor with its fields.

On a narrow screen the open document takes the place of the lists. What is asked is done by
`LibraryController`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input

from personas.library.documents import KINDS, Kind
from personas.library_document import parse_key
from tui.commands.registry import bindings, sentence
from tui.commands.text_matching import words_of
from tui.document.library_slots import document_of, text_key
from tui.screens.dialogs.picker import Picker
from tui.screens.document_screen import DocumentScreen
from tui.screens.library.forms import DocumentForm, StageForm
from tui.screens.library.rows import CatalogEntry, document_rows, kind_rows
from tui.widgets.field_form import FieldForm
from tui.widgets.prompt_pane import estimate_tokens
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import Row, VirtualList

if TYPE_CHECKING:
    from tui.document.controller import DocumentController
    from tui.document.document import OpenDocument
    from tui.document.undo import Operation

LIST_HINT = (
    ("rows.open", "opens"),
    ("library.new", "new"),
    ("library.copy", "copy"),
    ("library.rename", "rename"),
    ("library.delete", "delete"),
    ("library.restore", "restore"),
    ("library.users", "used by"),
    ("library.versions", "versions"),
    ("library.filter", "filter"),
    ("edit.undo", "undo"),
    ("dialog.close", "closes"),
)
STAGES_HINT = (
    ("rows.open", "its fields"),
    ("stages.new", "new"),
    ("stages.rename", "rename"),
    ("stages.remove", "remove"),
)
SHARED_HINT = (("library.save", "saves"), ("library.check", "tries it"))
"""Of a document with several users."""
DOCUMENT_HINT = (
    ("edit.compare", "last change"),
    ("editor.external", "$EDITOR"),
    ("edit.undo", "undo"),
    ("dialog.close", "to the list"),
)


class DocumentList(Vertical):
    """The documents of one kind, with a filter. What is asked of one is passed to the dialog."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("library")]

    def compose(self) -> ComposeResult:
        yield VirtualList(empty="Reading…", id="library-rows")

    def action_ask(self, what: str) -> None:
        self.screen.ask_of_row(what)  # type: ignore[attr-defined]

    async def action_filter(self) -> None:
        if not self.query(LineInput):
            await self.mount(LineInput(hint="words, a type, #tag", id="library-filter"), before=0)
        self.query_one(LineInput).focus()


class StageList(Vertical):
    """The stages of the open arc, and the fields of the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("stages")]

    def __init__(self) -> None:
        super().__init__(id="library-stages")
        self.form = StageForm()
        self._document: OpenDocument | None = None

    def compose(self) -> ComposeResult:
        yield VirtualList(empty="No stages yet.", id="stage-rows", choose_on_click=False)
        yield self.form

    @property
    def rows(self) -> VirtualList:
        """The list itself."""
        return self.query_one(VirtualList)

    def show(self, document: OpenDocument | None, *, fresh: bool = False) -> None:
        """Show the stages of an arc; `fresh`: it is another one."""
        self._document = document
        read = document_of(document.persona) if document is not None else None
        stages = read.stages if read is not None else ()
        self.rows.set_rows(
            [
                Row(one.name, one.condition or one.description, head=one.name, tail=", ".join(one.parts))
                for one in stages
            ]
        )
        self._show_fields(fresh=fresh)

    def _show_fields(self, *, fresh: bool) -> None:
        stage = self.rows.key or ""
        fresh, self.form.stage = fresh or stage != self.form.stage, stage
        self.form.display = bool(stage)
        self.form.show(self._document, fresh=fresh)

    @on(VirtualList.Highlighted)
    def _moved(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self._show_fields(fresh=False)

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        if (field := self.form.focus_target) is not None:
            field.focus()

    def action_ask(self, what: str) -> None:
        if self.rows.key is not None or what == "new":
            self.screen.ask_of_stage(what, self.rows.key or "")  # type: ignore[attr-defined]


class LibraryScreen(DocumentScreen[str]):
    """The library; gives the id of a persona that is to be opened, or None.

    Args:
        documents: the open document of the library, and those with unsaved text.
        do: told what is to be done with which document (its key), or with a stage of it, see `LibraryController`.
        ready: called when it is there.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("library_document")]

    def __init__(
        self,
        documents: DocumentController,
        do: Callable[..., object],
        ready: Callable[[], object],
    ) -> None:
        super().__init__(documents, do, ready, "library")
        self.kind: Kind = "part"
        self._counts: dict[Kind, int] = {}
        self._entries: dict[Kind, dict[str, CatalogEntry]] = {kind: {} for kind in KINDS}
        self._users: Mapping[str, int] | None = None
        self._words: list[str] = []
        self._unsaved: list[str] = []
        self._forms: dict[Kind, DocumentForm] = {}
        self._stages = StageList()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog whole", id="library") as box:
            box.border_title = "Library"
            with Horizontal(id="library-panes"):
                with Vertical(id="library-kinds-pane"):
                    yield VirtualList(id="library-kinds")
                yield DocumentList(id="library-list")
                with Vertical(id="library-document"):
                    yield self._banner
                    yield self.editor
                    yield self._stages
            yield self.hint(*LIST_HINT)

    # -- the lists ----------------------------------------------------------------------------------------

    @property
    def key_prefix(self) -> str:
        """What the keys of documents of the kind that is shown begin with."""
        return f"{self.kind}/"

    @property
    def _kinds(self) -> VirtualList:
        return self.query_one("#library-kinds", VirtualList)

    def show_names(self, names: Mapping[Kind, Collection[str]]) -> None:
        """Show which documents there are, with what is known of them."""
        self._counts = {kind: len(names[kind]) for kind in KINDS}
        for kind in KINDS:
            known = self._entries[kind]
            self._entries[kind] = {name: known.get(name) or CatalogEntry(name) for name in names[kind]}
        self._draw_kinds()
        self._draw()

    def show_entries(self, kind: Kind, entries: Iterable[CatalogEntry]) -> None:
        """Show what was read of documents of a kind."""
        self._entries[kind].update({entry.name: entry for entry in entries})
        if kind == self.kind:
            self._draw()

    def show_users(self, users: Mapping[str, int]) -> None:
        """Show how many name each document, by key."""
        self._users = users
        self._draw()
        self.show_state()

    def show_kind(self, kind: Kind, name: str = "") -> None:
        """Show the documents of a kind, with the cursor on one."""
        self.kind = kind
        self._draw_kinds()
        self._draw(name or None)

    def _draw_kinds(self) -> None:
        self._kinds.set_rows(kind_rows({kind: self._counts.get(kind, 0) for kind in KINDS}), key=self.kind)

    def _draw(self, name: str | None = None) -> None:
        prefix = self.key_prefix
        users, current = self._users, (self._documents.id or "").removeprefix(prefix)
        if name is None and self.rows.key is None:
            name = current  # the dialog was opened with it
        self.rows.empty = "Nothing matches." if self._entries[self.kind] else f"No {self.kind} yet."
        self.rows.set_rows(
            document_rows(
                self._entries[self.kind].values(),
                self._words,
                users=None
                if users is None
                else {key.removeprefix(prefix): users[key] for key in users if key.startswith(prefix)},
                current=current,
                unsaved={key.removeprefix(prefix) for key in self._unsaved},
            ),
            key=name,
        )

    @on(VirtualList.Highlighted, "#library-kinds")
    def _kind_chosen(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        if event.key != self.kind:
            self.kind = event.key  # type: ignore[assignment]
            self._draw()
            self._do("kind", self.kind)

    @on(VirtualList.Chosen, "#library-kinds")
    def _kind_entered(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.set_focus(self.rows)

    @on(VirtualList.Highlighted)
    def _highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()

    @on(VirtualList.Chosen, "#library-rows")
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self._do("open", f"{self.kind}/{event.key}")

    @on(Input.Changed, "#library-filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._words = words_of(event.value)
        self._draw()

    @on(Input.Submitted, "#library-filter")
    def _filtered(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_focus(self.rows)

    # -- the open document --------------------------------------------------------------------------------

    def show_document(self, document: OpenDocument | None, *, keep_cursor: bool = False) -> None:
        """Show another document, or none: its text at once, its fields in a moment."""
        super().show_document(document, keep_cursor=keep_cursor)
        has_text = document is not None and bool(text_key(_kind_of(document)))
        self.editor.display, self._stages.display = has_text, document is not None and not has_text
        self._stages.show(document if self._stages.display else None, fresh=True)
        form = self._form_of(_kind_of(document)) if document is not None else None
        for one in self._forms.values():
            one.display = one is form
            one.show(document if one is form else None, fresh=True)
        self._draw()

    def _form_of(self, kind: Kind) -> DocumentForm:
        if kind not in self._forms:
            self._forms[kind] = DocumentForm(kind)
            self._pane.mount(self._forms[kind], after=self._banner)
        return self._forms[kind]

    def document_changed(self, document: OpenDocument) -> None:
        """The open document is another now: its slots show their texts themselves."""
        super().document_changed(document)
        if (form := self._forms.get(_kind_of(document))) is not None:
            form.show(document)
        if self._stages.display:
            self._stages.show(document)
        if (read := document_of(document.persona)) is not None:
            self.show_entries(read.kind, [CatalogEntry.of(read)])

    @property
    def _typed_into(self) -> Widget:
        return self.editor if self.editor.display else self._stages.rows

    def show_stage(self, name: str) -> None:
        """Put the cursor on a stage."""
        self._stages.rows.select(name)

    def ask_of_stage(self, what: str, stage: str) -> None:
        """Ask for something to be done with a stage of the open arc."""
        if self._documents.id is not None:
            self._do(f"{what}_stage", self._documents.id, stage)

    def show_state(self) -> None:
        """Show how the open document is saved, and what is wrong with it."""
        if (unsaved := self._documents.not_saved()) != self._unsaved:
            self._unsaved = unsaved
            self._draw()
        super().show_state()

    def _title_of(self, document: OpenDocument) -> str:
        return document.id.replace("/", " ")

    def _facts_of(self) -> tuple[str, ...]:
        text = self.editor.text
        return (f"~{estimate_tokens(text)} tokens",) if text else ()

    def _warning_of(self, document: OpenDocument) -> str:
        if held := self._held(document):
            return held
        read = document_of(document.persona)
        return "".join(f"{one[:1].upper()}{one[1:]}. " for one in read.warnings).strip() if read else ""

    def _held(self, document: OpenDocument) -> str:
        """Return how what is held back is stored, empty where nothing is."""
        if not (document.is_held and document.dirty):
            return ""
        keymap, count = self.keymap, (self._users or {}).get(document.id, 0)
        saves = sentence("library.save", keymap, " {} saves it.")
        tries = sentence("library.check", keymap, " {} tries it on the tests of all who use it.")
        return f"Not saved yet, since it has {count} user{'' if count == 1 else 's'}.{saves}{tries}"

    def _step(self, operation: Operation) -> None:
        """Undo or redo what is typed in the field that has the focus, else the last stored unit."""
        form = next((one for one in self.query(FieldForm) if one.focused_field), None)
        if form is None or not form.step(form.focused_field, operation):
            super()._step(operation)

    def action_cancel(self) -> None:
        """Go back from the document to the list, from the filter to all documents, from the list to the persona."""
        if not self._has_keys and (filters := self.query("#library-filter")):
            self.set_focus(self.rows)
            filters.remove()
            self._words = []
            self._draw()
        else:
            super().action_cancel()

    # -- editing ------------------------------------------------------------------------------------------

    @on(DocumentEditor.RedoDropped)
    def _redo_dropped(self, event: DocumentEditor.RedoDropped) -> None:
        event.stop()
        documents = self._documents
        if documents.id is not None:
            work = documents.workspace.keep_text(documents.id, event.editor.slot.id, event.text, "undone")
            documents.view.start(work)

    @on(FieldForm.FieldBlurred)
    def _field_left(self, event: FieldForm.FieldBlurred) -> None:
        event.stop()
        self._documents.saver.save_now(event.slot)

    @on(FieldForm.ChoiceRequested)
    def _choose_value(self, event: FieldForm.ChoiceRequested) -> None:
        event.stop()
        form = self._forms[self.kind]
        now = form.slot(event.field).text
        rows = [
            Row(value, value or "none", current=value == now) for value in ("", *form.choices[event.field])
        ]
        title = next(title for name, title, _ in form.fields if name == event.field)
        slot = form.slot(event.field)

        def chosen(value: str | None) -> None:
            if value is not None and value != slot.text:
                slot.take(value, slot.base)
                self._documents.saver.save_now(slot)

        self.app.push_screen(Picker(title, rows, at=now), chosen)

    # -- what keys do -------------------------------------------------------------------------------------

    def _hints(self) -> Sequence[tuple[str, str]]:
        if not self._has_keys:
            return LIST_HINT
        document = self._documents.document
        stages = STAGES_HINT if self.focused is self._stages.rows else ()
        shared = SHARED_HINT if document is not None and document.is_held else ()
        return *stages, *shared, *DOCUMENT_HINT


def _kind_of(document: OpenDocument) -> Kind:
    return parse_key(document.id)[0]

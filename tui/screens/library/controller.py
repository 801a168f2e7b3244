"""What the library does on the screen: the dialog is opened, and what is asked there is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from personas.changes import NAME_LIMIT, require_line
from personas.errors import InvalidValue
from personas.library.documents import CHOICES, FIELDS, Kind, is_name
from personas.library.folders import path_of
from personas.library_document import NOT_A_NAME, parse_key
from personas.library_store import InUse, LibraryStore, is_shared
from tui.commands.registry import sentence
from tui.document.controller import DocumentController
from tui.document.version_names import local_now, when
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.document_screen_view import DocumentScreenView
from tui.screens.library.catalog import LibraryCatalog
from tui.screens.library.screen import LibraryScreen
from tui.screens.library.trial import LibraryTrial
from tui.widgets.virtual_list import Row

if TYPE_CHECKING:
    from personas.library_store import User
    from personas.persona import Persona
    from tui.app.host import Host
    from tui.document.document import OpenDocument
    from tui.document.undo import Operation
    from tui.outputs.controller import OutputsController

T = TypeVar("T")
MOST_NAMED = 4
"""Users of a document that one sentence names."""


class LibraryController:
    """The library of the home.

    Args:
        host: the main screen.
        main: has the open persona.
        outputs: runs test inputs.
        open_persona: shows a persona.
    """

    def __init__(
        self,
        host: Host,
        main: DocumentController,
        outputs: OutputsController,
        open_persona: Callable[[str], Awaitable[None]],
    ) -> None:
        self._host, self._open_persona = host, open_persona
        self._main, self._workspace = main, main.workspace
        self._library = LibraryStore(main.workspace.store)
        self._kind: Kind = "part"
        self._view = DocumentScreenView[LibraryScreen](host, main, self._opened)
        self.documents = self._view.documents
        self.catalog = LibraryCatalog(main.workspace, self._view.shown, self._hold_all)
        self._trial = LibraryTrial(host, self.documents, outputs)

    def open_library(self, kind: Kind | None = None, name: str = "") -> None:
        """Show the library: the documents of a kind, or where it was left, and with a name that document in its editor."""
        if not self._view.is_there:
            self._host.start(self._show(kind or self._kind, name))
        else:
            self._go(kind or self._kind, name)

    async def _show(self, kind: Kind, name: str) -> None:
        screen = LibraryScreen(self.documents, self._do, lambda: self._begin(kind, name))
        persona_id = await self._view.show(screen)
        self._kind = screen.kind
        if persona_id is not None:
            await self._open_persona(persona_id)

    def _begin(self, kind: Kind, name: str) -> None:
        """The dialog is open."""
        self._go(kind, name)
        self._host.start(self.catalog.read())

    def _go(self, kind: Kind, name: str) -> None:
        if (screen := self._view.shown()) is not None:
            screen.show_kind(kind, name)
            if name and self._has_name(name):
                self._view.open(f"{kind}/{name}")

    def _has_name(self, name: str) -> bool:
        """Whether a listed file has a name that a document can have; else say that nothing can be done with it here."""
        if not is_name(name):
            self._host.show_message(
                f"{NOT_A_NAME.format(name)} Rename the file outside the program.", error=True
            )
        return is_name(name)

    # -- what several use -----------------------------------------------------------------------------------

    def _opened(self, document: OpenDocument) -> None:
        """Another document is open."""
        self._hold(document)
        self._host.start(self.catalog.count_users())

    def _hold_all(self) -> None:
        for document in list(self.documents.documents.values()):
            self._hold(document)

    def _hold(self, document: OpenDocument) -> None:
        """Hold back what is typed where several use it, and as long as nobody knows."""
        was_held, users = document.is_held, self.catalog.users
        document.is_held = users is None or is_shared(users, document.id)
        if was_held and not document.is_held:
            self.documents.saver.request_all(document)

    # -- what is asked ------------------------------------------------------------------------------------

    def _do(self, what: str, key: str, stage: str = "") -> None:
        """Do what is asked in the dialog about a document, by its key, or about a stage of the open one."""
        kind, _, name = key.partition("/")
        if name and not self._has_name(name):
            return
        if self._view.does(what, key):
            return
        work: Any = None
        match what:
            case "look":
                self._host.start_once(self._look)
            case "kind":
                work = self.catalog.read_kind(kind)  # type: ignore[arg-type]
            case "undo" | "redo":
                work = self._step(what, key)
            case "undo_agent" | "redo_agent":
                work = self._step(what.removesuffix("_agent"), key, only="agent")  # type: ignore[arg-type]
            case "check":
                work = self._check()
            case "new_stage":
                work = self._new_stage(name)
            case "rename_stage":
                work = self._rename_stage(name, stage)
            case "remove_stage":
                work = self._change_stages(self._library.remove_stage, name, stage)
            case "new" | "restore":
                work = getattr(self, f"_{what}")(kind)
            case _:  # copy, rename, delete, users
                work = getattr(self, f"_{what}")(kind, name)
        if work is not None:
            self._host.start(work)

    async def _look(self) -> None:
        """Take in what other programs did."""
        await self.documents.look()
        await self.catalog.look()

    async def _new(self, kind: Kind) -> None:
        name = await self._ask_name(f"Name of the new {kind}", kind)
        if name is None:
            return
        fields = {}
        for key in FIELDS[kind]:
            if key in CHOICES:
                rows = [Row(value, value) for value in CHOICES[key]]
                fields[key] = await self._host.ask(
                    Picker(f"{key.replace('_', ' ').capitalize()} of {name}", rows, filter=key == "type")
                )
                if fields[key] is None:
                    return
        await self._workspace.write(self._library.create, kind, name, fields)
        await self._show_made(kind, name)

    async def _ask_name(self, question: str, kind: Kind, text: str = "") -> str | None:
        def check(name: str) -> None:
            parse_key(f"{kind}/{name}")
            if name != text and name in self.catalog.names(kind):
                raise InvalidValue(f"There is already {'an' if kind == 'arc' else 'a'} {kind} called {name}.")

        hint = "lower-case letters, digits and hyphens"
        name: str | None = await self._host.ask(AskLine(question, text=text, hint=hint, check=check))
        return None if name == text else name

    async def _show_made(self, kind: Kind, name: str) -> None:
        await self.catalog.read()
        self._go(kind, name)

    async def _copy(self, kind: Kind, name: str) -> None:
        if new := await self._ask_name(f"Name of the copy of {name}", kind):
            await self._workspace.write(self._library.copy, kind, name, new)
            await self._show_made(kind, new)

    async def _rename(self, kind: Kind, name: str) -> None:
        key = f"{kind}/{name}"
        if key in self.documents.not_saved():
            self._host.show_message(f"Save {name} first; it has unsaved text.", error=True)
            return
        if (new := await self._ask_name(f"New name of {name}", kind, text=name)) is None:
            return
        await self.documents.flush()
        if was_open := self.documents.id == key:
            self.documents.close()
        users = await self._write_links(lambda: self._library.rename(kind, name, new))
        await self.catalog.read()
        if (screen := self._view.shown()) is not None:
            screen.show_kind(kind, new)
        if was_open:
            self.documents.open(f"{kind}/{new}")
        also = f", also for its {_users(len(users))}" if users else ""
        message = f"Renamed to {new}{also}."
        self._host.show_message(
            sentence("edit.undo", self._host.keymap, f"{message} {{}} undoes it.", message)
        )

    async def _write_links(self, change: Callable[[], T]) -> T:
        """Change links of personas, and show the open one as it is then at once: it was not changed outside."""
        main, store = self._main, self._workspace.store

        def write() -> tuple[T, Persona | None]:
            return change(), store.get(main.id) if main.id is not None else None

        def take(done: tuple[T, Persona | None]) -> None:
            if done[1] is not None:
                main.take(done[1])

        return (await self._workspace.write_then(write, take))[0]

    async def _delete(self, kind: Kind, name: str) -> None:
        if users := await self._workspace.call(self._library.users, kind, name):
            named = list(dict.fromkeys(user.key for user in users))
            more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
            self._host.show_message(
                f"Not deleted: {name} is used by {', '.join(named[:MOST_NAMED])}{more}.", error=True
            )
            return
        await self.documents.flush()
        try:
            await self._workspace.write(self._library.delete, kind, name)
        except InUse:
            text = "Other files lie beside its SKILL.md. They stay where they are."
            if not await self._host.confirm(f"Delete {name}?", text, action="Delete", keep="Keep it"):
                return
            await self._workspace.write(self._library.delete, kind, name, force=True)
        await self._forget(f"{kind}/{name}")
        kept = f"{name} is deleted. It is kept as a version"
        self._host.show_message(
            sentence("library.restore", self._host.keymap, f"{kept}; {{}} brings it back.", f"{kept}.")
        )

    async def _forget(self, key: str) -> None:
        """A document is gone, by what the person did."""
        await self._view.forget(key)
        await self.catalog.read()

    async def _restore(self, kind: Kind) -> None:
        gone = await self._workspace.call(self._library.deleted, kind)
        if not gone:
            self._host.show_message(f"No {kind} was deleted.")
            return
        rows = [Row(name, name, tail=when(version.at, local_now())) for name, version in gone]
        name = await self._host.ask(Picker(f"Bring back which {kind}?", rows))
        if name is not None:
            await self._workspace.write(self._library.bring_back, kind, name)
            await self._show_made(kind, name)

    async def _users(self, kind: Kind, name: str) -> None:
        users = await self._workspace.call(self._library.users, kind, name)
        if not users:
            self._host.show_message(f"Nothing uses the {kind} {name}.")
            return
        rows = [Row(str(at), _named(user), head=user.kind) for at, user in enumerate(users)]
        chosen = await self._host.ask(Picker(f"Who uses {name}", rows))
        if chosen is None or (screen := self._view.shown()) is None:
            return
        user = users[int(chosen)]
        if user.kind == "arc":
            self._go("arc", user.name)
        else:
            screen.dismiss(user.name)

    # -- the open document --------------------------------------------------------------------------------

    async def _step(self, operation: Operation, key: str, *, only: str | None = None) -> None:
        if not key:
            self._host.show_message("Open a document first.")
            return
        if not await self._view.ensure_open(key):
            return
        kind, name = parse_key(key)
        before = set(self.catalog.names(kind))
        await self.documents.undo.step(operation, only=only)
        if await self._workspace.call(path_of, self._workspace.store.home, kind, name) is None:
            await self._forget(key)  # what was undone had made it, or given it this name
            came = set(self.catalog.names(kind)) - before
            if len(came) == 1 and (screen := self._view.shown()) is not None:
                screen.show_kind(kind, now := came.pop())
                self.documents.open(f"{kind}/{now}")

    async def _check(self) -> None:
        if await self._trial.show():
            await self._view.save()

    async def _new_stage(self, arc: str) -> None:
        name = await self._host.ask(AskLine("Name of the new stage", check=_check_stage))
        if name:
            await self._change_stages(self._library.add_stage, arc, name)
            if (screen := self._view.shown()) is not None:
                screen.show_stage(name)

    async def _rename_stage(self, arc: str, stage: str) -> None:
        name = await self._host.ask(AskLine(f"New name of {stage}", text=stage, check=_check_stage))
        if name and name != stage:
            await self._change_stages(self._library.rename_stage, arc, stage, name)
            if (screen := self._view.shown()) is not None:
                screen.show_stage(name)

    async def _change_stages(self, change: Callable[..., object], *arguments: str) -> None:
        await self.documents.flush()
        await self._write_links(partial(change, *arguments))
        await self.documents.read_again(quiet=True, outside=False)


def _check_stage(name: str) -> None:
    require_line(name, "A stage's name", NAME_LIMIT)


def _users(number: int) -> str:
    return f"{number} user{'' if number == 1 else 's'}"


def _named(user: User) -> str:
    return f"{user.name} · stage {user.stage}" if user.stage else user.name

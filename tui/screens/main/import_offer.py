"""A file of another program that is dropped on the program, or whose path is pasted: the chat bar offers to import it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from personas.errors import PersonaError
from tui.commands.registry import sentence

if TYPE_CHECKING:
    from personas.importing import ImportedFile, ParsedImport
    from personas.store import Store
    from tui.app.host import Host
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.chat_bar import ChatBar


class ImportOffer:
    """Asks, and imports what the person wants.

    Args:
        host: the main screen.
        bar: the chat bar.
        view: opens what was imported.
    """

    def __init__(self, host: Host, bar: ChatBar, view: PersonaView) -> None:
        self._host, self._bar, self._view = host, bar, view

    async def offer(self, pasted: str) -> None:
        """Offer to import the file that a pasted text names; where it names none that a format fits, do nothing."""
        from tui.screens.dialogs.confirm import Confirm

        if (documents := self._view.documents) is None or not (paths := paths_in(pasted)):
            return
        workspace = documents.workspace
        try:
            read = await workspace.call(_read, workspace.store, paths)
        except PersonaError as error:
            self._host.show_message(f"{paths[0].name} cannot be imported: {error}")
            return
        if read is None:
            return
        found, would_be = read
        many = f"{len(would_be)} personas" if len(would_be) > 1 else would_be[0].id
        lines = [f"{found.format.label} ({found.format.name}), from {found.source}", *report_of(would_be)]
        question = Confirm(f"Import {many}?", "\n".join(lines), action="Import", keep="Leave it as text")
        if not await self._host.ask(question):
            return
        await documents.flush()
        done = await workspace.write(_import, workspace.store, found)
        self._bar.set_draft(self._bar.draft.replace(pasted.strip(), "", 1).strip())
        await self._view.open_persona(done[0].id)
        back = sentence("edit.undo", self._host.keymap, " {} outside of the editors undoes it.")
        self._host.show_message(f"Imported {many}.{back}")


def paths_in(text: str) -> list[Path]:
    """Return what path a pasted line may mean: as it is, as a shell reads it, or as a `file:` address. Pure but for `~`."""
    line = text.strip()
    if "\n" in line or "/" not in line or len(line) > 4_096:
        return []
    if line.startswith("file://"):
        return [Path(unquote(urlsplit(line).path))]
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation that does not end
        words = []
    found = []
    for one in dict.fromkeys([line, *(words if len(words) == 1 else [])]):
        try:
            found.append(Path(one).expanduser())
        except RuntimeError:  # no such user
            continue
    return found


def report_of(done: list[ImportedFile]) -> list[str]:
    """Return what comes in and what is lost, of several personas that of the first."""
    from personas.formats.types import report_lines

    lines = report_lines(done[0].report)
    return [*lines[:MOST], *([f"and {len(lines) - MOST} more"] if len(lines) > MOST else [])]


MOST = 8
"""Lines of a report that are shown."""


def _read(store: Store, paths: list[Path]) -> tuple[ParsedImport, list[ImportedFile]] | None:
    """Return what a file holds and what would come of it; None where no format fits. Blocking."""
    from personas.importing import Importer, read_path

    for path in paths:
        try:
            is_file = path.is_file()
        except (OSError, ValueError):  # a name that no file can have
            continue
        if is_file and (found := read_path(path)) is not None:
            return found, Importer(store, reserved=_reserved(store), is_trial=True).add(found)
    return None


def _import(store: Store, found: ParsedImport) -> list[ImportedFile]:
    from personas.importing import Importer

    return Importer(store, reserved=_reserved(store)).add(found)


def _reserved(store: Store) -> set[str]:
    from tui.drafts.unsaved_text import documents_with_drafts

    return set(documents_with_drafts(store.home))

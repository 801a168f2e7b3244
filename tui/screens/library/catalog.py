"""Which documents the library has, what its lists show of them, and who uses them; read in threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from personas.files.file_stamp import Stamp, stamp_of
from personas.library.documents import KINDS, Kind, is_name
from personas.library.folders import folder_of, names, read_all
from personas.library_store import LibraryStore, User
from tui.screens.library.rows import CatalogEntry

if TYPE_CHECKING:
    from personas.files.home import Home
    from tui.document.async_store import AsyncStore
    from tui.screens.library.screen import LibraryScreen


class LibraryCatalog:
    """Reads the library for its screen.

    Args:
        workspace: the store.
        screen: gives the screen, None where it is closed.
        counted: called when it is known who uses what.
    """

    def __init__(
        self,
        workspace: AsyncStore,
        screen: Callable[[], LibraryScreen | None],
        counted: Callable[[], None],
    ) -> None:
        self._workspace, self._screen, self._counted = workspace, screen, counted
        self._names: Mapping[Kind, Sequence[str]] = {}
        self._read: set[Kind] = set()
        self._stamps: list[Stamp | None] = []
        self.users: Mapping[str, list[User]] | None = None
        """Who names each document, by its key; None where that was never counted."""

    @property
    def _home(self) -> Home:
        return self._workspace.store.home

    def names(self, kind: Kind) -> Sequence[str]:
        """Return the names of the documents of a kind, as far as they are read."""
        return self._names.get(kind, ())

    async def read(self) -> None:
        """Show which documents there are, then what they are, then who uses them."""
        self._stamps = await self._workspace.call(_stamps, self._home)
        self._names = await self._workspace.call(_names, self._home)
        self._read.clear()
        if (screen := self._screen()) is not None:
            screen.show_names(self._names)
            await self.read_kind(screen.kind)
        await self.count_users()

    async def read_kind(self, kind: Kind) -> None:
        """Show what the documents of a kind are, unless that is done."""
        if kind in self._read or kind not in self._names:
            return
        self._read.add(kind)
        documents = await self._workspace.call(read_all, self._home, kind)
        if (screen := self._screen()) is not None:
            screen.show_entries(kind, map(CatalogEntry.of, documents))

    async def count_users(self) -> None:
        """Find out who uses what. Reads all personas."""
        self.users = await self._workspace.call(LibraryStore(self._workspace.store).all_users)
        if (screen := self._screen()) is not None:
            screen.show_users({key: len(users) for key, users in self.users.items()})
        self._counted()

    async def look(self) -> None:
        """Read again where documents came or went."""
        if await self._workspace.call(_stamps, self._home) != self._stamps:
            await self.read()


def _names(home: Home) -> dict[Kind, list[str]]:
    return {kind: [name for name in names(home, kind) if is_name(name)] for kind in KINDS}


def _stamps(home: Home) -> list[Stamp | None]:
    return [stamp_of(folder_of(home, kind)) for kind in KINDS]

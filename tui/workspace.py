"""The store as the screen uses it: blocking calls in threads, what is saved checked against what was seen.

Writes of one program take turns, so that a save, an undo and the agent's flush never meet half-way.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from personas.errors import Conflict, PersonaError
from tui.draft import Clash, meet

if TYPE_CHECKING:
    from personas.authorship import Undone, Version
    from personas.changes import Change
    from personas.persona import Persona
    from personas.store import Store

T = TypeVar("T")
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Saved:
    """A text is stored.

    Attributes:
        persona: the persona as it is now.
        text: the text that is stored, which holds other people's changes too.
    """

    persona: Persona
    text: str


class Workspace:
    """One store, used from one event loop."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._turn = asyncio.Lock()

    @property
    def writing(self) -> bool:
        """Whether a write of this program is under way."""
        return self._turn.locked()

    async def call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Run a blocking call of the store in a thread; what it raises is raised here."""
        return await asyncio.to_thread(function, *arguments, **named)

    async def write(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The same for a call that writes: one at a time, and finished even if the caller is cancelled."""
        async with self._turn:
            return await asyncio.shield(asyncio.to_thread(function, *arguments, **named))

    async def ids(self) -> list[str]:
        """Return the ids of all personas."""
        return await self.call(self.store.ids)

    async def get(self, persona_id: str) -> Persona:
        """Return one persona as it is on disk."""
        return await self.call(self.store.get, persona_id)

    async def save_prompt(self, persona_id: str, base: str, ours: str) -> Saved | Clash:
        """Store the prompt in the editor, merged with what changed on disk since `base`.

        Raises:
            PersonaError: the file is broken or gone, or the disk refuses.
        """
        return await self.write(self.save_prompt_now, persona_id, base, ours)

    def save_prompt_now(self, persona_id: str, base: str, ours: str) -> Saved | Clash:
        """The same, blocking."""
        from personas.changes import SetPrompt

        return self._save(persona_id, base, ours, lambda persona: persona.system_prompt, SetPrompt)

    async def save_test_input(self, persona_id: str, input_id: str, base: str, ours: str) -> Saved | Clash:
        """Store the content of a test input in the same way.

        Raises:
            PersonaError: as `save_prompt`; also when the test input was deleted meanwhile.
        """
        from personas.changes import UpdateTestInput
        from personas.errors import InvalidValue

        def content(persona: Persona) -> str:
            for test_input in persona.test_inputs:
                if test_input.id == input_id:
                    return test_input.content
            raise InvalidValue(f"The test input {input_id!r} was deleted meanwhile.")

        return await self.write(
            self._save, persona_id, base, ours, content, lambda text: UpdateTestInput(input_id, text)
        )

    def _save(
        self,
        persona_id: str,
        base: str,
        ours: str,
        read: Callable[[Persona], str],
        change: Callable[[str], Change],
    ) -> Saved | Clash:
        from personas.authorship import USER

        for _ in range(_TRIES):
            now = self.store.get(persona_id)
            met = meet(base, ours, read(now))
            if isinstance(met, Clash):
                return met
            if met == read(now):
                return Saved(now, met)
            try:
                return Saved(self.store.change(persona_id, change(met), revision=now.revision, by=USER), met)
            except Conflict:
                continue  # somebody wrote between our look and our change: look again
        raise PersonaError("The file changes faster than it can be saved; what you typed is kept here.")

    async def change(self, persona_id: str, change: Change, reason: str = "") -> Persona:
        """Apply a change the person made to a single value.

        Raises:
            PersonaError: see `Store.change`.
        """
        from personas.authorship import USER

        return await self.write(self.store.change, persona_id, change, revision=None, by=USER, reason=reason)

    async def undo(self, persona_id: str, operation: Literal["undo", "redo"], *, agent: bool) -> Undone:
        """Undo or redo a unit, or the agent's last run.

        Raises:
            NothingToUndo, Conflict, PersonaError: see `Store.undo`.
        """
        from personas.authorship import USER

        function = self.store.undo if operation == "undo" else self.store.redo
        return await self.write(function, persona_id, by=USER, only="agent" if agent else None)

    async def create(self, name: str, from_id: str | None = None) -> Persona:
        """Create a persona, or a copy of one."""
        from personas.authorship import USER

        return await self.write(self.store.create, name, from_id=from_id, by=USER)

    async def delete(self, persona_id: str) -> int:
        """Delete a persona; returns the version that keeps it."""
        from personas.authorship import USER

        return await self.write(self.store.delete, persona_id, by=USER)

    async def restore(self, persona_id: str, version: str | int) -> Persona:
        """Bring a version back, also that of a deleted persona."""
        from personas.authorship import USER

        return await self.write(self.store.restore, persona_id, version, by=USER)

    async def deleted(self) -> list[tuple[str, Version]]:
        """Return the personas that were deleted, each with its last version."""
        return await self.call(self._deleted)

    def _deleted(self) -> list[tuple[str, Version]]:
        present = set(self.store.ids())
        try:
            with os.scandir(self.store.home.root / "versions") as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            return []
        found = []
        for name in names:
            if name in present:
                continue
            try:
                log = self.store.log(name)
            except PersonaError:
                continue
            if log:
                found.append((name, log[0]))
        return found


class Look:
    """Notices what happens to the files from outside, by two cheap looks at the disk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder: tuple[int, ...] | None = None
        self._files: dict[str, tuple[int, ...] | None] = {}

    def changed(self, persona_id: str | None) -> tuple[bool, bool]:
        """Return whether the list of files may have changed, and whether this persona's file may have.

        The first look at a thing only remembers it.
        """
        folder = _signature(self._store.home.root / "personas")
        folder_changed = self._folder is not None and folder != self._folder
        self._folder = folder
        if persona_id is None:
            return folder_changed, False
        try:
            now = _signature(self._store.path(persona_id))
        except PersonaError:
            now = None
        known = persona_id in self._files
        file_changed = known and now != self._files[persona_id]
        self._files = {persona_id: now}
        return folder_changed, file_changed


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino

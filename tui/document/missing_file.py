"""The file of an open persona is not there: when that is believed, what it held last, and how it is written back.

Editors and version control take a file away for a moment and put another in its place.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from personas.errors import PersonaError, UnknownPersona
from personas.files.text_file import encode, replace_file, sha256
from personas.versions.version_store import VersionFolder
from tui.commands.registry import keymap_of, sentence
from tui.drafts.unsaved_edits import TEST

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.store import Store
    from tui.document.editor_view import Desk
    from tui.document.session import Editing

BELIEVED_AFTER = 2.0
"""Seconds for which a file that is not there may still come back."""
_BOM = "\ufeff"
clock = monotonic


class Absence:
    """Whether the file of the open persona is there, and what it held last."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing
        self._since: float | None = None
        self._text: str | None = None
        self._reads = 0
        self._told = False
        self.awaited = ""
        """The persona that was closed because its file went away."""

    @property
    def noted(self) -> bool:
        """Whether it was not there at the last look."""
        return self._since is not None

    @property
    def believed(self) -> bool:
        """Whether it is gone for good, as far as one can tell."""
        return self._since is not None and clock() - self._since >= BELIEVED_AFTER

    def note(self, *, known: bool = False) -> None:
        """It is not there; `known` where there is no need to wait."""
        if self._since is None or known:
            self._since = clock() - (BELIEVED_AFTER if known else 0)

    def end(self) -> None:
        """It is there."""
        self._since, self._told = None, False

    def read(self) -> None:
        """Have it remembered, here and with what is kept, what the file of the open persona holds now.

        Unless another is opened, or it is read anew, meanwhile.
        """
        persona = self._editing.persona
        assert persona is not None
        self._reads += 1
        self._desk.start(self._read(persona, self._reads))

    async def _read(self, persona: Persona, number: int) -> None:
        editing = self._editing
        text = await editing.workspace.call(text_of, editing.workspace.store, persona)
        if text is not None and number == self._reads:
            self._text = text
            editing.unsaved.renew(persona.id, text)
            await editing.write_down()

    @property
    def text(self) -> str:
        """What the file held when it was read last, empty where that is not known."""
        return self._text or ""

    def forget(self, text: str = "") -> None:
        """Another persona is open; `text` is what its file held, where that is known already."""
        self._text, self.awaited = text or None, ""
        self._reads += 1
        self.end()

    def miss(self, persona: Persona) -> None:
        """The file of the open persona is not there: wait a moment, then keep what is unsaved, or close."""
        editing = self._editing
        self.note()
        if not self.believed:
            return
        anew, self._told = not self._told, True
        if anew:
            editing.unsaved.doubt(persona.id)  # another program that deletes it takes what is kept along
        editing.hold()
        editing.keep()
        if editing.unsaved.all_held(persona.id) or editing.giving.throwing:
            self._desk.show_state()
            tests = self._desk.tests
            if anew and any(name.startswith(TEST) for name in editing.unsaved.all_held(persona.id)):
                how = sentence("edit.compare", keymap_of(tests.app), " {} offers to write the file back.")
                self._desk.tell(f"The file is gone. What you typed is kept.{how}", error=True)
            return
        self._desk.tell(f"{persona.name} was deleted outside this program.", error=True)
        editing.close()
        self.awaited = persona.id

    async def write_back(self) -> None:
        """Write the file that is gone as it was, and into it what is typed."""
        editing = self._editing
        persona = editing.persona
        if persona is None or not self.believed:
            return
        try:
            await editing.workspace.write(write_back, editing.workspace.store, persona, self.text)
        except PersonaError as error:
            self._desk.tell(str(error), error=True)
            return
        if editing.id != persona.id:
            return
        await editing.read_again(quiet=True, outside=False)
        await editing.save()


def text_of(store: Store, persona: Persona) -> str | None:
    """Return the text of a persona's file, a byte order mark included: as it is now, else as it was at its revision.

    None where it cannot be had. Blocking.
    """
    with suppress(PersonaError):
        try:
            text = store.text(persona.id)
        except UnknownPersona:  # it went away right after it was written
            return _decoded(VersionFolder(store.home, persona.id).find(persona.revision))
        return _BOM + text if persona.revision == sha256(encode(text, bom=True)) else text
    return None


def last_text(store: Store, persona_id: str, text: str) -> str:
    """Return what a file that is gone held last, whoever wrote it, a byte order mark included. Blocking.

    Args:
        store: where.
        persona_id: whose file.
        text: what it held when a program read it last, empty where that is not known. What the store knows of that
            came before what the store knows to be the last.
    """
    with suppress(PersonaError):
        versions = store.log(
            persona_id
        )  # it notices that the file is gone: what it held last is the newest one
        folder = VersionFolder(store.home, persona_id)
        sha = sha256(encode(text))
        known = (sha in (record.get("before"), record.get("after")) for record in folder.records())
        if versions and (not text or any(known)):
            return _decoded(folder.find(versions[0].sha)) or text
    return text


def _decoded(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def write_back(store: Store, persona: Persona, text: str) -> None:
    """Write the file again as it was: from its versions, else as it was read last, else with name and prompt.

    Where a file is there again, it stays as it is. Blocking.

    Args:
        store: where.
        persona: as it was.
        text: what its file held when it was read last, empty where that is not known.

    Raises:
        PersonaError: the disk refuses.
    """
    from personas.changes import SetName, SetPrompt
    from personas.versions.authorship import USER

    path = store.path(persona.id)
    if path.exists():
        return
    try:
        versions = store.log(persona.id)
    except UnknownPersona:  # nothing was ever changed in it
        versions = []
    same = [version for version in versions if version.sha == persona.revision]
    if same or (versions and not text):
        store.restore(persona.id, (same or versions)[0].number, by=USER)
        return
    text = text or SetPrompt(persona.system_prompt).apply(SetName(persona.name).apply(""))
    with suppress(FileExistsError):
        replace_file(path, encode(text), root=store.home.root, exclusive=True)

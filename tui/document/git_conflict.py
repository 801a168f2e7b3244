"""A conflict that git left in a file of the open document: the person chooses between its sides, place by place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personas.changes import ReplaceContent
from personas.conflict_marks import sides
from personas.errors import EditRefused, PersonaError
from personas.files.text_file import decode, encode, sha256
from personas.versions.authorship import USER
from personas.versions.merge import Hunk
from tui.document.merge import MergeConflict
from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.store import Store
    from tui.document.open_documents import OpenDocuments

RESOLVED = "merge conflict resolved"


@dataclass(frozen=True, slots=True)
class GitConflict:
    """The conflicts in one file of a document.

    Attributes:
        content: of the document.
        path: of the file.
        shown: what the person chooses from.
        names: what git calls the sides.
    """

    content: bytes
    path: Path
    shown: MergeConflict
    names: tuple[str, str]


async def resolve_git_conflict(controller: OpenDocuments) -> None:
    """Show both sides of the conflicts in a file, and write what the person chooses, as one version."""
    workspace, view, document_id = controller.workspace, controller.view, controller.id
    assert document_id is not None
    try:
        found = await workspace.call(read_conflict, workspace.store, document_id)
        if found is None or (chosen := await view.choose(found.shown, *found.names)) is None:
            return
        persona = await workspace.write(_write, workspace.store, document_id, found, chosen)
    except PersonaError as error:
        view.show_message(str(error), error=True)
        return
    if controller.id == document_id:
        controller.take(persona)


def read_conflict(store: Store, key: str) -> GitConflict | None:
    """Return the conflicts in the first file of a document that has some. Blocking."""
    file = store.file(key)
    content = file.read()
    for path, raw in file.unpack(content).items():
        text = decode(raw or b"").text
        if not (found := sides(text)):
            continue
        parts: list[str | Hunk] = []
        at = 0
        for one in found:
            line = text.count("\n", 0, one.start) + 1
            parts += [text[at : one.start], Hunk(line, one.base, one.ours, one.theirs)]
            at = one.end
        parts.append(text[at:])
        hunks = tuple(part for part in parts if isinstance(part, Hunk))
        ours, theirs = (one_line(name, 24) for name in found[0].names)
        return GitConflict(
            content,
            path,
            MergeConflict("", "", "", hunks, tuple(parts)),
            (ours or "ours", theirs or "theirs"),
        )
    return None


def _write(store: Store, key: str, conflict: GitConflict, text: str) -> Persona:
    file = store.file(key)
    files = file.unpack(conflict.content)
    files[conflict.path] = encode(text, bom=decode(files[conflict.path] or b"").bom)
    content = file.pack(files)
    if file.is_broken(content) and not sides(text):
        raise EditRefused(
            f"With these choices {conflict.path.name} would not be valid; nothing was written. Choose again, or fix it by hand."
        )
    change = ReplaceContent(content, summary=RESOLVED)
    return store.change(
        key, change, revision=sha256(conflict.content), by=USER, reason=RESOLVED, own_unit=True
    )

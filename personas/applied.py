"""What a change makes of the content of a document: which of its files it changes. Writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from personas.changes import EditPrompt, ReplaceContent, ReplaceText, SetPrompt
from personas.files.text_file import BOM, decode, encode, readable
from personas.toml.edit import set_value
from personas.toml.parse import parse

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.document import Document
    from personas.versions.authorship import Note

_PROMPT = ("system_prompt",)


def applied(document: Document, before: bytes, change: Change) -> tuple[bytes, Note]:
    """Return the content that a change leads to, and subject and summary of the change.

    Args:
        document: which one.
        before: its content.
        change: what to do.

    Raises:
        BrokenFile, EditRefused, InvalidValue: see `Change.apply`.
    """
    files = document.unpack(before)
    if isinstance(change, ReplaceContent):
        after = document.settled(before, change.content)
        old, new = document.text(before), document.text(after)
    elif isinstance(change, SetPrompt | EditPrompt) and (beside := document.beside(before)):
        if files.get(beside[0]) is None and (last := document.last_with(beside[0])) is not None:
            files[beside[0]] = last[1]  # what is typed goes into what it held last
        old, new = _apply_to_file(files, beside[0], change)
        after = document.pack(files)
    else:
        file = change.file if isinstance(change, ReplaceText) else None
        old, new = _apply(files, file or _place(document, files), change)
        after = document.settled(before, document.pack(files))
    return after, (change.subject, change.summarise(old, new))


def _place(document: Document, files: dict[Path, bytes | None]) -> Path:
    """Return the file that has the text of a document; of one that is not there yet, where it is to be."""
    new = document.paths[-1] if document.paths[-1].parent.is_dir() else document.path
    return next(
        (path for path in document.paths if files[path]), new
    )  # of several the last has its own folder


def _apply(files: dict[Path, bytes | None], path: Path, change: Change) -> tuple[str, str]:
    """Change a file; return its text before and after."""
    content = files[path] or b""
    bom = content.startswith(BOM)
    # Replacing the whole file is how a person fixes one that is not even UTF-8.
    old = readable(content) if isinstance(change, ReplaceText) else decode(content).text
    new = change.apply(old)
    files[path] = encode(new.removeprefix("\ufeff") if bom else new, bom=bom)
    return old, new


def _apply_to_file(files: dict[Path, bytes | None], path: Path, change: Change) -> tuple[str, str]:
    """Change the prompt that has a file of its own; return it before and after, each as a persona that has nothing else."""
    from personas.prompt_file import prompt_of, with_prompt

    old = set_value("", _PROMPT, prompt_of(files[path]))
    new = change.apply(old)
    if new != old:
        files[path] = with_prompt(files[path], parse(new)["system_prompt"], path.name)
    return old, new

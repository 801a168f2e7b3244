"""`persona edit`: the file in `$EDITOR`. The edited text is checked, and never lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from personas.errors import BrokenFile, PersonaError, StorageError
from personas.external_writes import know
from personas.files.text_file import read_regular
from personas.store import Store
from tui.cli.group import Invocation
from tui.cli.options import document_argument
from tui.cli.printing import print_text
from tui.cli.stderr import print_error
from tui.document.merge import MergeConflict
from tui.external_editor.persona_file import BY_HAND, save_file
from tui.external_editor.process import editor_command

_LONGEST_ID = 40
"""Characters of an id in the name of a draft."""


class EditFailed(PersonaError):
    """The editor failed or its text cannot be saved; the message says where the text is."""


@click.command()
@document_argument
@click.pass_obj
def edit(invocation: Invocation, persona_id: str) -> None:
    """Edit a persona's file in $VISUAL or $EDITOR.

    A broken file is opened too, to mend it.

    \b
    persona edit optimist
    EDITOR="code --wait" persona edit optimist
    """
    edit_document(invocation.store, persona_id)


def edit_document(store: Store, persona_id: str) -> None:
    """Let the person edit a persona's file, or a document of the library, and save it.

    Raises:
        PersonaError: that failed; the message says where the text is.
    """
    old = store.text(persona_id)
    know(store, persona_id)
    for left in earlier_drafts(store, persona_id):
        print_error(f"an earlier edit of {persona_id}, or one that is still open, left its text in {left}")
    draft = write_draft(store, persona_id, old)
    try:
        message = _edit(store, persona_id, old, draft)
    except PersonaError:  # says where the text is
        raise
    except BaseException as error:
        kept = f"your text is kept in {draft}" if _has_changes(draft, old) else ""
        if not kept:
            _remove(draft)
        if isinstance(error, OSError):
            raise EditFailed(f"{error.strerror or error}; {kept or 'nothing was changed'}") from error
        if kept:
            print_error(kept)
        raise
    print_text(message)


@contextmanager
def edit_text(store: Store, key: str, text: str) -> Iterator[str]:
    """Let the person edit a text, and give it to be stored; the draft of one that could not be is kept.

    Raises:
        PersonaError: that failed; the message says where the text is.
    """
    draft = write_draft(store, key, text)
    try:
        run_editor(draft)
        yield read_draft(draft)
    except PersonaError as error:
        if not _has_changes(draft, text):
            _remove(draft)
            raise
        raise EditFailed(f"{str(error).rstrip('.')}; your text is kept in {draft}") from None
    _remove(draft)


def _edit(store: Store, persona_id: str, old: str, draft: Path) -> str:
    """Have the draft edited and saved; return what to say of it.

    Raises:
        PersonaError: that failed; the message says where the text is.
    """
    try:
        run_editor(draft)
    except PersonaError as error:
        why = str(error).rstrip(".")
        if read_draft(draft) != old:
            raise EditFailed(f"{why}; your text is kept in {draft}") from None
        _remove(draft)
        raise EditFailed(f"{why}; nothing was changed") from None
    new = read_draft(draft)
    if new == old:
        _remove(draft)
        return "nothing changed"
    try:
        done = save_file(store, persona_id, old, new, BY_HAND)
    except PersonaError as error:
        # The text stays in the draft; the error says where.
        raise (
            type(error)(*_with_draft(error, draft))
            if type(error) is BrokenFile
            else EditFailed(f"{error} Your text is kept in {draft}")
        ) from None
    if isinstance(done, MergeConflict):
        raise EditFailed(
            f"{persona_id} was changed meanwhile in the same lines and stays as it is; your text is kept in {draft}"
        )
    _remove(draft)
    message = f"saved {persona_id}"
    if done.merged:
        message += ", merged with what was changed meanwhile"
    if done.persona.error is not None:
        from tui.cli.personas.manage import describe

        message += f", but it is broken: {describe(done.persona.error)}"
    return message


def _remove(draft: Path) -> None:
    with suppress(OSError):
        draft.unlink()


def _has_changes(draft: Path, old: str) -> bool:
    """Whether a draft differs from the file it was made from."""
    try:
        return _read(draft) != old
    except FileNotFoundError:
        return False
    except (PersonaError, UnicodeDecodeError):
        return True


def _with_draft(error: PersonaError, draft: Path) -> tuple[str, int | None, int | None]:
    assert isinstance(error, BrokenFile)
    return f"{error.message}; your text is kept in {draft}", error.line, error.column


def _draft_name(key: str) -> str:
    return key[:_LONGEST_ID].replace("/", "-")


def earlier_drafts(store: Store, persona_id: str) -> list[Path]:
    """Return the drafts of a persona that earlier edits left behind."""
    name = re.compile(rf"{re.escape(_draft_name(persona_id))}\.\w{{8}}\.toml")
    with suppress(OSError):
        return sorted(path for path in store.home.state.iterdir() if name.fullmatch(path.name))
    return []


def write_draft(store: Store, persona_id: str, text: str) -> Path:
    """Write `text` to a fresh file in the home's state folder and return its path.

    Raises:
        StorageError: the disk refused.
    """
    draft = None
    try:
        handle, name = tempfile.mkstemp(
            prefix=f"{_draft_name(persona_id)}.", suffix=".toml", dir=store.home.state
        )
        draft = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        if draft is not None:
            _remove(draft)  # cut short, it would be taken for an edit that somebody left
        raise StorageError(f"cannot write a draft in {store.home.state}: {error.strerror}") from None
    return draft


def read_draft(draft: Path) -> str:
    """Return what the editor left.

    Raises:
        EditFailed: the file is gone, is not UTF-8 or cannot be read.
    """
    try:
        return _read(draft)
    except FileNotFoundError:
        raise EditFailed("the editor removed its file; nothing was changed") from None
    except PersonaError as error:
        why = str(error).rstrip(".")
        raise EditFailed(f"what the editor wrote cannot be read ({why}); it is kept in {draft}") from None
    except UnicodeDecodeError:
        raise EditFailed(f"what the editor wrote is not UTF-8 text; it is kept in {draft}") from None


def _read(draft: Path) -> str:
    """Return the text of a draft; a pipe or device in its place is an error, not read."""
    return read_regular(draft, root=draft.parent).decode("utf-8-sig")


def run_editor(path: Path) -> None:
    """Run the person's editor on `path` and wait for it.

    Raises:
        PersonaError: there is none, or it ended with an error; the file is left as it is.
    """
    command = editor_command()
    try:
        done = subprocess.run([*command, str(path)], check=False)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise EditFailed(f"cannot run {command[0]}: {why}; set EDITOR to your editor") from None
    if done.returncode != 0:
        sys.stderr.flush()
        raise EditFailed(f"{command[0]} ended with exit code {done.returncode}")

"""`persona edit`: the file in `$EDITOR`. The edited text is checked, and never lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from personas.errors import PersonaError
from personas.store import Store
from tui.cli.group import Invocation
from tui.cli.options import document_argument
from tui.cli.printing import print_text
from tui.cli.stderr import print_error
from tui.document.merge import MergeConflict
from tui.document.store_merged import save_file
from tui.drafts.copies import copies_of, read_copy, remove_copy, remove_if_same, write_copy
from tui.external_editor.persona_file import BY_HAND, FileCopy, hand_out, unit_of
from tui.external_editor.process import editor_command


class EditFailed(PersonaError):
    """The editor failed or its text cannot be saved; the message says where the text is."""


@click.command()
@document_argument
@click.pass_obj
def edit(invocation: Invocation, persona_id: str) -> None:
    """Edit a persona's file in $VISUAL or $EDITOR.

    A broken file is opened too, to fix it.

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
    for left in copies_of(store.home.state, persona_id):
        print_error(f"an earlier edit of {persona_id}, or one that is still open, left its text in {left}")
    copies = hand_out(store, persona_id)
    try:
        message = _edit(store, persona_id, copies)
    except BaseException as error:
        kept = ", ".join(str(copy) for _, text, copy in copies if not remove_if_same(copy, text))
        told = f"your text is kept in {kept}" if kept else "nothing was changed"
        if isinstance(error, PersonaError | OSError):
            why = (isinstance(error, OSError) and error.strerror) or str(error).rstrip(".")
            raise EditFailed(f"{why}; {told}") from error
        if kept:
            print_error(told)
        raise
    print_text(message)


@contextmanager
def edit_text(store: Store, key: str, text: str) -> Iterator[str]:
    """Let the person edit a text, and give it to be stored; the draft of one that could not be is kept.

    Raises:
        PersonaError: that failed; the message says where the text is.
    """
    copy = write_copy(store.home.state, key, text)
    try:
        run_editor(copy)
        yield read_copy(copy)
    except PersonaError as error:
        if remove_if_same(copy, text):
            raise
        raise EditFailed(f"{str(error).rstrip('.')}; your text is kept in {copy}") from None
    remove_copy(copy)


def _edit(store: Store, persona_id: str, copies: list[FileCopy]) -> str:
    """Have the copies edited and saved; return what to say of it.

    Raises:
        PersonaError: that failed; what is not saved is in its copy.
    """
    run_editor(*(one.copy for one in copies))
    message, unit = "nothing changed", unit_of(copies)
    for file, old, copy in copies:
        if (new := read_copy(copy)) != old:
            done = save_file(store, persona_id, file, old, new, BY_HAND, unit)
            if isinstance(done, MergeConflict):
                raise EditFailed(f"{persona_id} was changed meanwhile in the same lines and stays as it is")
            message = f"saved {persona_id}"
            if done.merged:
                message += ", merged with what was changed meanwhile"
            if done.persona.error is not None:
                from tui.cli.personas.manage import describe

                message += f", but it is broken: {describe(done.persona.error)}"
        remove_copy(copy)
    return message


def run_editor(*paths: Path) -> None:
    """Run the person's editor on files and wait for it.

    Raises:
        PersonaError: there is none, or it ended with an error; the files are left as they are.
    """
    command = editor_command()
    try:
        done = subprocess.run([*command, *map(str, paths)], check=False)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise EditFailed(f"cannot run {command[0]}: {why}; set EDITOR to your editor") from None
    if done.returncode != 0:
        sys.stderr.flush()
        raise EditFailed(f"{command[0]} ended with exit code {done.returncode}")

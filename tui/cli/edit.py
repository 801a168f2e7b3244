"""`persona edit`: the file in `$EDITOR`. What comes back is checked, and never lost."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from personas.authorship import USER
from personas.changes import ReplaceText
from personas.errors import BrokenFile, PersonaError, StorageError
from personas.store import Store
from tui.cli.group import Invocation
from tui.cli.output import say


class EditorFailed(PersonaError):
    """The editor could not be run or gave up; nothing was changed."""


@click.command()
@click.argument("persona_id", metavar="ID")
@click.pass_obj
def edit(invocation: Invocation, persona_id: str) -> None:
    """Edit a persona's file in $VISUAL or $EDITOR; broken files too.

    \b
    persona edit optimist
    EDITOR="code --wait" persona edit optimist
    """
    store = invocation.store
    before = store.get(persona_id)
    old = store.text(persona_id)
    draft = write_draft(store, persona_id, old)
    try:
        run_editor(draft)
    except EditorFailed as error:
        if read_draft(draft) != old:
            raise EditorFailed(f"{error}; your text is kept in {draft}") from None
        draft.unlink()
        raise EditorFailed(f"{error}; nothing was changed") from None
    new = read_draft(draft)
    if new == old:
        draft.unlink()
        say("nothing changed")
        return
    try:
        persona = store.change(
            persona_id, ReplaceText(new), revision=before.revision, by=USER, reason="edited by hand"
        )
    except PersonaError as error:
        # What was written stays in the draft; the person is told where.
        raise (
            type(error)(*_with_draft(error, draft))
            if type(error) is BrokenFile
            else EditorFailed(f"{error} Your text is kept in {draft}")
        ) from None
    draft.unlink()
    if persona.error is not None:
        from tui.cli.personas import describe

        say(f"saved {persona_id}, but it is broken: {describe(persona.error)}")
    else:
        say(f"saved {persona_id}")


def _with_draft(error: PersonaError, draft: Path) -> tuple[str, int | None, int | None]:
    assert isinstance(error, BrokenFile)
    return f"{error.message}; your text is kept in {draft}", error.line, error.column


def write_draft(store: Store, persona_id: str, text: str) -> Path:
    """Write `text` to a fresh file in the home's state folder and return its path.

    Raises:
        StorageError: the disk refused.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f"{persona_id[:40]}.", suffix=".toml", dir=store.home.state)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise StorageError(f"cannot write a draft in {store.home.state}: {error.strerror}") from None
    return Path(name)


def read_draft(draft: Path) -> str:
    """Return what the editor left.

    Raises:
        EditorFailed: the file is gone or is not UTF-8.
    """
    try:
        return draft.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise EditorFailed("the editor removed its file; nothing was changed") from None
    except UnicodeDecodeError:
        raise EditorFailed(f"what the editor left is not UTF-8 text; it is kept in {draft}") from None


def run_editor(path: Path, env: Mapping[str, str] | None = None) -> None:
    """Run the person's editor on `path` and wait for it.

    Raises:
        EditorFailed: there is none, or it ended with an error; the file is left as it is.
    """
    env = os.environ if env is None else env
    named = env.get("VISUAL") or env.get("EDITOR") or "vi"
    try:
        command = shlex.split(named)
        done = subprocess.run([*command, str(path)], check=False)
    except ValueError:
        raise EditorFailed(f"cannot read the command in $EDITOR: {named}") from None
    except OSError as error:
        raise EditorFailed(f"cannot run {named}: {error.strerror}; set EDITOR to your editor") from None
    if done.returncode != 0:
        sys.stderr.flush()
        raise EditorFailed(f"{named} ended with exit code {done.returncode}")

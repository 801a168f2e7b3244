"""The person's own editor: the program steps aside, and what was written comes back."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from personas.errors import PersonaError

if TYPE_CHECKING:
    from tui.app import PersonaApp
    from tui.editing import Editing


def editor_command(env: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command of the person's editor.

    Raises:
        PersonaError: none is set and none of the usual ones is there.
    """
    import shutil

    for name in ("VISUAL", "EDITOR"):
        if command := env.get(name, "").strip():
            return shlex.split(command)
    for usual in ("nano", "vim", "vi"):
        if found := shutil.which(usual):
            return [found]
    raise PersonaError("No editor is set; name one in $EDITOR.")


def _edit(app: PersonaApp, path: Path) -> None:
    """Run the editor on a file with the screen put away.

    Raises:
        PersonaError: it could not be started or failed.
    """
    command = [*editor_command(), str(path)]
    try:
        with app.suspend():
            done = subprocess.run(command, check=False)
    except SuspendNotSupported:
        raise PersonaError("This terminal cannot be handed to another program.") from None
    except OSError as error:
        raise PersonaError(f"Cannot start {command[0]}: {error.strerror}.") from None
    finally:
        app.refresh(layout=True, repaint=True)
    if done.returncode != 0:
        raise PersonaError(f"{command[0]} ended with code {done.returncode}; nothing was taken over.")


async def edit_draft(app: PersonaApp, text: str) -> str | None:
    """Let the person write a text in their editor; None when it did not change."""
    with tempfile.TemporaryDirectory(prefix="persona-") as folder:
        path = Path(folder) / "message.md"
        path.write_bytes(text.encode("utf-8", "replace"))
        _edit(app, path)
        written = path.read_bytes().decode("utf-8", "replace").removesuffix("\n")
    return written if written != text else None


def edit_settings(app: PersonaApp, path: Path) -> None:
    """Let the person edit their settings file, which is made if need be.

    Raises:
        PersonaError: it cannot be made, or the editor failed.
    """
    if not path.exists():
        from tui.config import write_settings

        write_settings(path, {})
    _edit(app, path)


async def edit_file(app: PersonaApp, editing: Editing) -> None:
    """Let the person edit the open persona's file; what they wrote is taken in like any outside change."""
    persona = editing.persona
    if persona is None:
        return
    path = editing.workspace.store.path(persona.id)
    _edit(app, path)
    await editing.read_again(quiet=True)

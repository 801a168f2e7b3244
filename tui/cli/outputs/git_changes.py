"""Which personas differ from a git revision, with what they link. Nothing of the repository's configuration is run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from personas.errors import PersonaError, UnknownVersion
from personas.files.home import Home
from personas.folder import read_file
from personas.library.assembly import assemble
from personas.library.documents import is_name
from personas.library.folders import Library, files_of
from personas.persona import Persona

SECONDS = 30


class ChangedSince:
    """Compares files of a home with a revision of the repository it lies in.

    Args:
        home: the home.
        ref: a git revision.

    Raises:
        UnknownVersion: the repository has no such revision, or the home lies in none.
    """

    def __init__(self, home: Home, ref: str) -> None:
        self._home = home
        done = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if done.returncode != 0:
            raise UnknownVersion(f"git knows no revision {ref!r} in {home.root}")
        self._commit = done.stdout.decode("ascii", "replace").strip()

    def differs(self, persona: Persona) -> bool:
        """Return whether the persona's file, or a document it links, is another one than in the revision."""
        return any(self._file_differs(path) for path in self._files(persona))

    def _files(self, persona: Persona) -> Iterator[Path]:
        yield self._home.personas / f"{persona.id}.toml"
        if persona.system_prompt_file:
            yield self._home.root / persona.system_prompt_file
        if persona.is_linked:
            library = Library(self._home)
            assemble(persona, library)  # asks for all documents that are used
            for kind, name in library.asked:
                if is_name(name):
                    yield from files_of(self._home, kind, name)

    def _file_differs(self, path: Path) -> bool:
        name = path.relative_to(self._home.root).as_posix()
        then = self._git("cat-file", "blob", f"{self._commit}:./{name}")
        try:
            now = read_file(self._home, path)
        except FileNotFoundError:
            return then.returncode == 0
        return then.returncode != 0 or then.stdout.replace(b"\r\n", b"\n") != now.replace(b"\r\n", b"\n")

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
        try:
            return subprocess.run(
                command,
                cwd=self._home.root,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            raise PersonaError("git cannot be run; --changed needs it.") from None

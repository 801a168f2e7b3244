"""Which persona files differ from a git revision. Nothing of the repository's configuration is run."""

from __future__ import annotations

import subprocess

from personas.errors import PersonaError, UnknownVersion
from personas.files.home import Home
from personas.folder import read_file

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

    def differs(self, persona_id: str) -> bool:
        """Return whether the persona's file is another one than in the revision, or was not there."""
        then = self._git("cat-file", "blob", f"{self._commit}:./personas/{persona_id}.toml")
        if then.returncode != 0:
            return True
        now = read_file(self._home, self._home.personas / f"{persona_id}.toml")
        return then.stdout.replace(b"\r\n", b"\n") != now.replace(b"\r\n", b"\n")

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

"""Opening the store of the home that a command works in."""

from __future__ import annotations

import sys

from personas.files.home import Home, open_home
from personas.store import Store


def open_store(flag: str | None) -> Store:
    """Return the store of the home that `--home`, the environment or an earlier answer names.

    A current folder with personas in it that nobody was asked about is only mentioned, on stderr.
    """
    found = Home.find(flag)
    if found.offer is not None and sys.stderr.isatty():
        from tui.cli.stderr import print_error

        print_error(f"this folder holds personas; to use them: persona --home {found.offer} …")
    return Store(open_home(found.home.root))

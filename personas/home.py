"""Where things lie on disk: the home, its folders, and how a new one begins."""

from __future__ import annotations

from pathlib import Path


class Home:
    """The folder with everything."""

    def __init__(self, root: Path) -> None:
        self.root = root

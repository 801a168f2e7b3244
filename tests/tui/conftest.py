"""Places to run commands in: an offline home, disks that are full or read-only."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.support.waiting  # noqa: F401 - the pilot of every test here waits in this way
from tests.support.persona_agent import Backend, Workplace
from tui.app.emergency_save import find_saved_texts
from tui.document import debounce


@pytest.fixture(autouse=True)
def _no_text_of_another_test() -> Iterator[None]:
    """What a program could not save anywhere is told by each later one."""
    yield
    for left in find_saved_texts():
        left.unlink()


@pytest.fixture
def quick_typing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was typed is saved as soon as a test rests."""
    monkeypatch.setattr(debounce, "PAUSE", 0.02)


@pytest.fixture
def own_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program remembers of a home, as that it is trusted, is this test's alone."""
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config.toml"))


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A home with the examples, on the offline model."""
    return Workplace(tmp_path / "home", Backend("offline", {"PERSONA_MODEL": "offline"}, here=True))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 1 MB, mounted for the test."""
    mount = shutil.which("mount")
    folder = tmp_path / "disk"
    folder.mkdir()
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not made or made.returncode != 0:
        pytest.skip("a disk of its own needs the right to mount one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)

"""What is installed is what is here: a wheel holds every file of the packages, and the program in it works."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("personas", "agent", "tui")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a freshly built wheel, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def files(root: Path) -> set[str]:
    return {
        str(path.relative_to(root))
        for package in PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_every_file_of_the_packages_is_in_the_wheel_and_no_other(installed: Path) -> None:
    here = files(ROOT)
    assert {
        "tui/recording/demos/first-look.jsonl",
        "tui/screens/main/screen.tcss",
        "personas/examples/optimist.toml",
        "personas/examples/library/skills/review-api-change/SKILL.md",
    } <= here
    assert files(installed) == here
    assert {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")} == set(
        PACKAGES
    )


def test_the_installed_program_reads_its_examples_its_looks_and_its_recording(
    installed: Path, tmp_path: Path
) -> None:
    program = (
        "from tui.recording.demo_app import DemoApp; from tui.settings.schema import Settings; from pathlib import Path; import tui\n"
        f"app = DemoApp(Path({str(tmp_path / 'demo')!r}), Settings())\n"
        "print(tui.__file__, app.recording.persona_id, app.get_default_screen().DEFAULT_CSS.count('MainScreen'))\n"
        "print(app._open().ids())\n"
    )
    env = {**os.environ, "PYTHONPATH": str(installed), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    first, ids = done.stdout.splitlines()
    assert first == f"{installed / 'tui' / '__init__.py'} optimist 1"
    assert "optimist" in ids

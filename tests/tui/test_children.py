"""What an editor's script has begun ends with it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tui.external_editor.process_tree import descendants
from tui.external_editor.suspend import Lending


def test_all_that_descend_from_a_process_are_found(tmp_path: Path) -> None:
    for pid, name, parent in [(7, "a", 1), (8, "b) S 1 (", 7), (9, "c", 8), (10, "d", 1), (11, "e", 11)]:
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} 0", encoding="utf-8")
    (tmp_path / "12").mkdir()
    (tmp_path / "13").mkdir()
    (tmp_path / "13" / "stat").write_text("", encoding="utf-8")
    assert descendants(7, tmp_path) == [8, 9]
    assert descendants(11, tmp_path) == descendants(12, tmp_path) == descendants(1, tmp_path / "none") == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell of processes")
async def test_the_editor_that_a_script_began_is_told_to_end_too() -> None:
    script = f"{sys.executable} -c 'import sys, time; print(1, flush=True); time.sleep(1000)'; true"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the inner one is at work
        lending = Lending()
        lending._process = process
        lending.ask_to_end(signal.SIGTERM)
        assert process.stdout.read() == b""  # nobody has the pipe any more

"""Text that no home took when a program ended: each start and the doctor say where it is until it is dealt with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.models.offline import OfflineModel
from tests.support.program import make_store, program
from tests.support.settings import preferences
from tui.app.emergency_save import find_saved_texts, write_texts
from tui.cli.program.doctor import _left_over


async def test_a_file_with_text_that_no_home_took_is_named_until_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert list(_left_over()) == []
    path = write_texts({"one, the draft": "words"})
    assert path is not None and find_saved_texts() == [path]
    assert [found.subject for found in _left_over() if str(path) in found.message] == ["unsaved text"]
    store = make_store(tmp_path)
    async with program(store, model=OfflineModel(), preferences=preferences(tmp_path, None)) as p:
        await p.notified(f"Unsaved text is in {path}; copy what you need, then delete the file")
        path.unlink()
        p.app.clear_notifications()
        await p.main.show_left_texts()
        assert p.messages == []
    assert list(_left_over()) == []


def test_a_full_disk_leaves_no_empty_file_that_a_later_start_would_name(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(small_disk))
    path = write_texts({"one, the draft": "x" * 2_000_000})
    assert path is not None and find_saved_texts() == []
    shutil.rmtree(path.parent)

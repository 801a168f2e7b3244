"""Pictures of the screen, compared with the ones that were looked at; `--snapshot-update` takes them anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.support.hostile import forbidden_in
from tests.support.screen_svg import rows_of
from tui.chat import activity
from tui.chat import activity_line as tasking
from tui.chat import labels as running_note
from tui.widgets import test_input_list
from tui.widgets.text import document_editor

Check = Callable[[Mapping[str, str]], None]


class PictureExtension(SingleFileSnapshotExtension):
    """One SVG file for each picture."""

    _file_extension = "svg"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_options: Any) -> str:
        return str(data)


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine or this moment is seen: no settings of colours, no ages and durations, no light that fades."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS", "COLORTERM", "SSH_CONNECTION", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(document_editor, "FRESH", 600.0)
    monkeypatch.setattr(test_input_list, "FRESH", 600.0)
    monkeypatch.setattr(running_note, "age", lambda _seconds: "just now")
    monkeypatch.setattr(activity, "duration", lambda _seconds: "0 s")
    monkeypatch.setattr(tasking, "activity_line", _timeless(tasking.activity_line))


def _timeless(activity_line: Callable[..., str]) -> Callable[..., str]:
    """What is done at this moment depends on it; that somebody is waited for does not."""
    return lambda activity, task, *when: (
        activity_line(activity, task, *when) if task is not None and task.is_waiting else "writing"
    )


@pytest.fixture
def looks_as_before(snapshot: SnapshotAssertion, tmp_path: Path) -> Check:
    """Compare pictures, by name, with the stored ones; say in words where they differ, for all of them at once."""
    stored = snapshot.use_extension(PictureExtension)

    def check(pictures: Mapping[str, str]) -> None:
        told = []
        for name, picture in pictures.items():
            rows = rows_of(picture)
            assert forbidden_in("\n".join(rows)) == [], name
            if picture == stored(name=name):
                continue
            path = tmp_path / f"{name}.svg"
            path.write_text(picture, encoding="utf-8")
            before = rows_of(str(stored.executions[max(stored.executions)].recalled_data or ""))
            different = [
                f"row {number}\n  was {was!r}\n  now {now!r}"
                for number, (was, now) in enumerate(zip_longest(before, rows, fillvalue=""))
                if was != now
            ]
            told += [
                f"{name} looks different; now: {path}",
                *(different or ["the text is the same, the colours are not"]),
            ]
        if told:
            raise AssertionError("\n".join(told))

    return check

"""The README's picture is of the program as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.picture import PICTURE, take
from tests.screen_svg import rows_of
from tui.widgets import text_editor


async def test_the_picture_is_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_editor, "FRESH", text_editor.FRESH)  # taking the picture sets it
    picture = await take(tmp_path)
    stored = PICTURE.read_text(encoding="utf-8")
    assert rows_of(picture) == rows_of(stored), "python -m tests.picture takes it anew"
    assert picture == stored, "the colours differ; python -m tests.picture takes it anew"


def test_the_picture_loads_nothing() -> None:
    stored = PICTURE.read_text(encoding="utf-8")
    assert set(re.findall(r"\w+://[^\"' ]*", stored)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|<image|<script|href", stored)

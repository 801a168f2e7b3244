"""The README's picture is of the program as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.picture import PICTURE, take
from tests.support.screen_svg import rows_of
from tui.widgets.text import document_editor


def without_thumbs(picture: str) -> list[str]:
    """The picture's rows without the ends of scrollbar thumbs: an eighth of a row depends on when the panel grew."""
    return [row.translate(dict.fromkeys(map(ord, "▁▂▃▄▅▆▇█"), " ")) for row in rows_of(picture)]


async def test_the_picture_is_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_editor, "FRESH", document_editor.FRESH)  # taking the picture sets it
    picture = await take(tmp_path)
    stored = PICTURE.read_text(encoding="utf-8")
    assert without_thumbs(picture) == without_thumbs(stored), "python -m tests.picture takes it anew"


def test_the_picture_loads_nothing() -> None:
    stored = PICTURE.read_text(encoding="utf-8")
    assert set(re.findall(r"\w+://[^\"' ]*", stored)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|<image|<script|href", stored)

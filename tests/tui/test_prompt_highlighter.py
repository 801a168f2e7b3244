"""The colours of a prompt: the same however a line is cut into rows, and looked for once for all of them."""

from __future__ import annotations

import pytest
from rich.style import Style
from rich.text import Text

from tui.widgets.text.prompt_highlighter import LONGEST, parts_of, style_row

STYLES = {
    part: Style(color=f"color({number})")
    for number, part in enumerate(("heading", "mark", "macro", "code", "strong"), 1)
}
LINES = [
    "# A heading with **strong words** in it",
    "- a list with `code` and {{user}} and <tag one='2'>",
    "plain",
    "",
    "12) " + "some **bold** words and {{user}} here " * 200,
]


def styles(line: str, width: int) -> list[Style | None]:
    """The style of each character of a line that is drawn in rows of `width`."""
    found: list[Style | None] = []
    for start in range(0, len(line), width):
        row = line[start : start + width]
        shown = Text(row)
        style_row(shown, line, start, start + len(row), STYLES.__getitem__)
        per: list[Style | None] = [None] * len(row)
        for span in shown.spans:
            for place in range(span.start, span.end):
                per[place] = span.style  # type: ignore[assignment]
        found += per
    return found


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("width", [1, 7, 40, 119])
def test_a_line_has_the_colours_it_has_in_one_row(line: str, width: int) -> None:
    whole = styles(line, len(line) or 1)
    assert styles(line, width) == whole
    assert not line or (line == "plain") == (set(whole) == {None})


def test_what_is_far_behind_in_a_line_is_plain() -> None:
    assert set(styles(LINES[-1], 80)[LONGEST:]) == {None}
    assert set(styles("# " + "x" * LONGEST * 2, 80)) == {STYLES["heading"], None}


def test_the_parts_of_a_line_are_looked_for_once_for_all_its_rows() -> None:
    parts_of.cache_clear()
    styles(LINES[-1], 40)
    assert parts_of.cache_info().misses == 1

"""Whatever is cut since it has no room ends in an ellipsis."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.segment import Segment
from textual.strip import Strip

from tests.support.program import make_store, program
from tests.support.screen import drawn
from tests.tui.test_app_dialogs import settle
from tui.document.merge import MergeConflict, merge_texts
from tui.screens.dialogs.conflict import ConflictDialog
from tui.terminal.sanitise import shortened
from tui.widgets.text.ellipsis import EllipsisStatic, with_ellipsis

LONG = " ".join(f"word{number}" for number in range(200))


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("abcdef", "abcd…"),
        ("ab    ", "ab…  "),
        ("日本語", "日本…"),
        ("日本語a", "日本…"),
        ("a日本語", "a日 …"),
        ("", "…    "),
    ],
)
def test_the_ellipsis_stands_behind_the_last_word_within_the_row(text: str, row: str) -> None:
    strip = with_ellipsis(Strip([Segment(text)]), 5)
    assert (strip.text, strip.cell_length) == (row, 5)


async def test_a_field_of_the_settings_that_has_no_room_for_its_text_says_so(tmp_path: Path) -> None:
    file = f'name = "One"\ndescription = "{LONG}"\nsystem_prompt = "x"\n'
    async with program(make_store(tmp_path, {"one": file}), size=(110, 30)) as p:
        field = p.main.settings.field("description")
        await p.until(lambda: field.raw == LONG and field.size.width)
        row = field.render_line(0).text
        assert row.endswith("…") and len(row) == field.size.width and LONG.startswith(row[:-1])
        assert "…" not in p.main.settings.field("name").render_line(0).text
        field.focus()
        await p.until(lambda: field.has_focus)
        await p.press("end")
        assert "word199" in field.render_line(0).text


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_what_it_was_is_cut_with_a_sign_where_two_texts_met(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    clash = merge_texts(f"{LONG}\n", "mine\n", "theirs\n")
    assert isinstance(clash, MergeConflict)
    async with program(make_store(tmp_path), size=size) as p:
        p.main.start(p.main.ask(ConflictDialog(clash)))
        dialog = await p.dialog(ConflictDialog)
        await settle(p)
        where = dialog.query_one("#conflict-where", EllipsisStatic)
        assert where.render_line(where.size.height - 1).text.rstrip().endswith("…")
        assert "it was: word0 word1" in drawn(dialog)


async def test_a_banner_that_is_longer_than_its_rows_says_so(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(60, 15)) as p:
        pane = p.main.prompt.parent
        banner = p.main.prompt_pane.banner
        for text, cut in ((LONG, True), ("short", False)):
            pane.show_state("One", "broken", text)  # type: ignore[union-attr]
            await p.until(lambda: banner.size.height == (4 if cut else 1))  # noqa: B023
            last = banner.render_line(banner.size.height - 1).text.rstrip()
            assert last.endswith("…") is cut


async def test_what_is_told_at_length_ends_with_a_sign(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        p.app.show_message("x" * 600)
        await p.until(lambda: p.messages == ["x" * 499 + "…"])
    assert shortened("ab", 2) == "ab" and shortened("abc", 2) == "a…"

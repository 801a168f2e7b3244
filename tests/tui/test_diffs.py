"""A diff that people agree to by what they see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.style import Style
from textual.visual import RenderOptions, Visual

from personas.versions.merge import unified_diff
from tests.support.hostile import ESCAPES
from tui.terminal.diff_view import changed_words, close_context, diff_lines
from tui.terminal.sanitise import sanitise
from tui.widgets.conversation.diff_parts import diff_parts
from tui.widgets.conversation.lines import Glyphs
from tui.widgets.text.diff_wrap import CountedText, DiffText


def test_nothing_that_changes_is_left_out() -> None:
    hidden = "+You are.\x9dSECRET: obey.\x9c\u202e\u200b\x1b]0;t\x07"

    (line,) = diff_lines(hidden)

    assert line == "+You are.<U+009D>SECRET: obey.<U+009C><U+202E><U+200B><U+001B>]0;t<U+0007>"


@pytest.mark.parametrize("ending", ["\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_an_added_line_cannot_pose_as_an_old_or_a_removed_one(ending: str) -> None:
    diff = f"@@ -1 +1 @@\n-old\n+new{ending} as before{ending}-gone\n"

    assert [line[:1] for line in diff_lines(diff)] == ["@", "-", "+", ""]


def test_the_line_ends_of_a_file_from_windows_are_no_change() -> None:
    assert diff_lines("--- a\n+++ b\n@@ -1 +1 @@\n-old\r\n+new\r\n", names=True) == [
        "--- a",
        "+++ b",
        "@@ -1 +1 @@",
        "-old",
        "+new",
        "",
    ]
    assert "+new<U+000D>" in diff_lines("@@ -1 +1 @@\n-old\n+new\r\n")


def test_changed_lines_that_look_like_file_lines_stay() -> None:
    assert diff_lines("@@ -1 +1 @@\n--- a\n+++ b") == ["@@ -1 +1 @@", "--- a", "+++ b"]


@given(st.text(st.sampled_from([*"ab +-\n\r\t", *"".join(ESCAPES.values())]), max_size=60))
def test_whatever_it_holds_it_is_harmless(diff: str) -> None:
    lines = diff_lines(diff, names=True)

    assert [sanitise(line) for line in lines] == lines
    assert len(lines) == diff.count("\n") + 1


def test_every_place_that_shows_a_diff_spells_it_out() -> None:
    diff = "@@ -1 +1 @@\n-a\n+a\u200b\u2028 b\n"
    parts = [line.text for part in diff_parts(diff) for line in part.draw(80)]

    assert "+a<U+200B><U+2028> b" in str(DiffText(diff))
    assert any("+a<U+200B><U+2028> b" in line for line in parts)


def rows(visual: Visual, width: int) -> list[str]:
    """What stands in each row on the screen, without colours."""
    strips = visual.render_strips(width, None, Style(), RenderOptions(lambda style: Style(), {}))
    assert len(strips) == visual.get_height({}, width)
    assert all(strip.cell_length <= width for strip in strips)
    return [strip.text for strip in strips]


def test_a_row_that_goes_on_with_a_line_cannot_pose_as_another_line() -> None:
    diff = "@@ -1,2 +1,2 @@\n same\n-old -minus and +plus\n+" + "ab" * 10

    panel = [line for part in diff_parts(diff, Glyphs(ascii_only=True)) for line in part.draw(15)]

    assert rows(DiffText(diff), 13) == [
        *("@@ -1,2 +1,2", "│@@"),
        " same",
        *("-old -minus", "│and +plus"),
        *("+abababababa", "│babababab"),
        "",
    ]
    assert [line.text[2:].replace("|", "│") for line in panel] == rows(DiffText(diff), 13)[:-1]
    copied = "".join(line.text[line.lead :] + line.join for line in panel)
    assert copied == f"{diff}\n"


@given(st.lists(st.text("+- ab界", max_size=30), max_size=4), st.integers(8, 40))
def test_the_first_column_of_a_diff_holds_the_sign_of_each_line_once(texts: list[str], width: int) -> None:
    lines = [f"{'+-'[place % 2]}x{text}" for place, text in enumerate(texts)]

    shown = rows(DiffText("\n".join(lines)), width)
    panel = [line.text for part in diff_parts("\n".join(lines)) for line in part.draw(width)]

    for found in (shown, [line[2:] for line in panel]):
        assert "".join(row[:1] for row in found).replace("│", "") == "".join(line[0] for line in lines)
        whole = "".join(row[1:] for row in found).replace(" ", "")
        assert whole == "".join(line[1:] for line in lines).replace(" ", "")


@given(st.text("ab c", max_size=40), st.integers(8, 30))
def test_counts_behind_a_title_stay_in_one_row(text: str, width: int) -> None:
    (counted,) = [row for row in rows(CountedText(text, "+1 −1", "and more"), width) if "1" in row]

    assert counted.endswith("+1 −1")


@given(st.lists(st.sampled_from("abc"), max_size=14), st.lists(st.sampled_from("abc"), max_size=14))
def test_the_headings_of_a_diff_with_less_context_fit_their_lines(old: list[str], new: list[str]) -> None:
    texts = ["".join(f"{line}\n" for line in lines) for lines in (old, new)]
    lines = close_context(unified_diff(*texts)).split("\n")
    sides = [text.split("\n") for text in texts]
    at = [0, 0]
    for line in lines[: -1 if lines[-1] == "" else None]:
        if line.startswith("@"):
            starts = [part[1:].split(",") for part in line.split(" ")[1:3]]
            at = [int(start) - (rest != ["0"]) for start, *rest in starts]
            continue
        for side, sign in enumerate("-+"):
            if line[0] in (" ", sign):
                assert sides[side][at[side]] == line[1:]
                at[side] += 1


def test_of_lines_in_the_place_of_others_only_the_words_that_changed_are_marked() -> None:
    lines = ["@@ -1 +1,2 @@", "-You are kind and brief.", "+You are warm and brief.", "+More"]
    marked = {
        number: [lines[number][a:b] for a, b in spans] for number, spans in changed_words(lines).items()
    }
    assert marked == {1: ["kind"], 2: ["warm"], 3: ["More"]}
    assert changed_words(["+all", "+new", " same", "-gone"]) == {}


def test_a_heading_keeps_its_title() -> None:
    diff = "@@ -1,4 +1,4 @@ system prompt\n a\n b\n c\n-d\n+e\n"
    assert close_context(diff) == "@@ -3,2 +3,2 @@ system prompt\n c\n-d\n+e\n"


def test_what_is_left_out_between_two_changes_is_seen_to_be() -> None:
    old = "".join(f"{number}\n" for number in range(1, 9))
    diff = unified_diff(old, old.replace("2\n", "two\n").replace("7\n", "seven\n"))
    assert close_context(diff).split("\n") == [
        *("@@ -1,3 +1,3 @@", " 1", "-2", "+two", " 3", "@@ -6,3 +6,3 @@", " 6", "-7", "+seven", " 8")
    ]


def test_a_missing_line_end_is_told_in_plain_words_on_the_screen() -> None:
    diff = unified_diff("a", "a\n")
    assert diff_lines(diff.rstrip("\n")) == ["@@ -1 +1 @@", "-a", "(no line end at the end)", "+a"]

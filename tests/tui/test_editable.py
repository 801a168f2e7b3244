"""Text in an editor: reversible, and free of anything a terminal would obey."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personas.lines import changed_regions, split_lines
from personas.versions import merge
from tests.support.examples import examples
from tui.document.merge import Choice, MergeConflict, changed_lines, merge_texts, moved, resolve
from tui.terminal.sanitise import sanitise
from tui.terminal.visible_controls import from_shown, is_editable, pasted, to_shown, with_signs
from tui.widgets.text.edits import smallest_edit

texts = st.text(st.characters(exclude_categories=["Cs"])).filter(is_editable)
nasty = st.text(st.sampled_from("a\n\t \x00\x07\x1b\r\x7f\x85\x9b\u2028\u202e\u200b\ufeff\U000e0041日é"))
lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=6).map("".join)


@given(st.one_of(texts, nasty))
@settings(max_examples=examples(20))
def test_what_is_shown_comes_back_unchanged(text: str) -> None:
    assert is_editable(text)
    assert from_shown(to_shown(text)) == text


@given(st.one_of(texts, nasty))
@settings(max_examples=examples(20))
def test_nothing_shown_needs_the_sanitiser_any_more(text: str) -> None:
    shown = to_shown(text)
    assert len(shown) == len(text)
    assert sanitise(shown) == shown
    assert len(with_signs(shown)) == len(shown)


def test_every_character_the_sanitiser_takes_away_has_a_stand_in() -> None:
    for code in [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)]:
        character = chr(code)
        if sanitise(character) != character:
            assert to_shown(character) != character, hex(code)


def test_a_text_that_holds_stand_ins_is_not_editable() -> None:
    assert not is_editable("a\U0010f001")
    assert is_editable("a\U0010ffff")


def test_a_paste_has_line_feeds_only() -> None:
    assert pasted("a\r\nb\rc\nd") == "a\nb\nc\nd"
    assert from_shown(pasted("\x1b[31m")) == "\x1b[31m"


@given(lines, lines, lines)
@settings(max_examples=examples(25))
def test_two_sides_meet_in_one_text_or_in_places_that_can_be_chosen(
    base: str, ours: str, theirs: str
) -> None:
    met = merge_texts(base, ours, theirs)
    if isinstance(met, MergeConflict):
        count = len(met.hunks)
        assert count
        assert resolve(met, ["ours"] * count) is not None
        both = resolve(met, ["both"] * count)
        for hunk in met.hunks:
            if len(met.hunks) == 1:
                assert hunk.ours in both or hunk.theirs in both
    else:
        assert merge_texts(base, theirs, ours) == met


def _edited(mark: str) -> st.SearchStrategy[list[str]]:
    """What a side makes of ten lines: each as it is, gone, written anew or below a new one; some end in no newline."""
    steps = st.lists(
        st.sampled_from(["keep", "keep", "keep", "drop", "write", "add"]), min_size=10, max_size=10
    )
    end = st.sampled_from([[], [f"{mark} end\n"], [f"{mark} end"]])
    return st.builds(
        lambda done, last: (
            [
                line
                for number, step in enumerate(done)
                for line in {
                    "keep": [f"{number}\n"],
                    "drop": [],
                    "write": [f"{mark} {number}\n"],
                    "add": [f"{mark} {number}\n", f"{number}\n"],
                }[step]
            ]
            + last
        ),
        steps,
        end,
    )


@given(
    _edited("O"),
    _edited("T"),
    st.lists(st.sampled_from(["ours", "theirs", "both"]), min_size=11, max_size=11),
)
@settings(max_examples=examples(30))
def test_each_place_holds_what_was_chosen_and_nothing_else_is_dropped(
    ours: list[str], theirs: list[str], choices: list[Choice]
) -> None:
    base = "".join(f"{number}\n" for number in range(10))
    met = merge_texts(base, "".join(ours), "".join(theirs))
    if not isinstance(met, MergeConflict):
        return
    choices = choices[: len(met.hunks)]
    left_out = set[str]()
    for hunk, choice in zip(met.hunks, choices, strict=True):
        left_out |= set({"ours": hunk.theirs, "theirs": hunk.ours, "both": ""}[choice].splitlines())
    written = {line.strip() for line in ours + theirs if line[0] in "OT"}
    result = split_lines(resolve(met, choices))
    kept = [line.strip() for line in result if line[0] in "OT"]
    assert sorted(kept) == sorted(written - left_out)


def test_choosing_keeps_what_touches_nothing() -> None:
    base = "a\nb\nc\nd\ne\n"
    clash = merge_texts(base, "A\nb\nC1\nd\ne\n", "a\nb\nC2\nd\nE\n")
    assert isinstance(clash, MergeConflict)
    assert resolve(clash, ["ours"]) == "A\nb\nC1\nd\nE\n"
    assert resolve(clash, ["theirs"]) == "A\nb\nC2\nd\nE\n"
    assert resolve(clash, ["both"]) == "A\nb\nC1\nC2\nd\nE\n"


def test_places_that_lie_close_are_chosen_one_by_one_too() -> None:
    clash = merge_texts("b\nb\nb\na\n", "O\nb\nb\nb\n", "T\nb\nU\nb\n")
    assert isinstance(clash, MergeConflict)
    both = resolve(clash, ["both"] * len(clash.hunks))
    assert all(f"{word}\n" in both for word in "OTU")
    clash = merge_texts("a\na\na\nc\na\na\nc\n", "a\na\nc\na\na\nO\nP", "a\na\na\nc\na\nc\nT")
    assert isinstance(clash, MergeConflict)
    both = resolve(clash, ["both"] * len(clash.hunks))
    assert set("OPT") <= set(both.split("\n"))


def test_each_place_is_chosen_by_itself() -> None:
    base = "a\nb\nc\nd\ne\n"
    clash = merge_texts(base, "A1\nb\nc\nd\nE1\n", "A2\nb\nc\nd\nE2\n")
    assert isinstance(clash, MergeConflict)
    assert resolve(clash, ["ours", "theirs"]) == "A1\nb\nc\nd\nE2\n"
    assert resolve(clash, ["theirs", "both"]) == "A2\nb\nc\nd\nE1\nE2\n"


def test_many_places_cost_no_more_looks_at_the_whole_text_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def numbered(word: str) -> str:
        return "".join(f"{word if i % 4 == 0 else 'line'} {i}\n" for i in range(80))

    looks = []
    clash = merge_texts(numbered("line"), numbered("mine"), numbered("theirs"))
    assert isinstance(clash, MergeConflict) and len(clash.hunks) == 20
    monkeypatch.setattr(merge, "changed_regions", lambda *texts: looks.append(1) or changed_regions(*texts))
    assert resolve(clash, ["theirs"] * 20) == numbered("theirs")
    assert len(looks) == 2  # one for each side


def test_changed_lines_are_named_and_a_removal_names_what_follows() -> None:
    assert changed_lines("a\nb\nc\n", "a\nB\nc\n") == [1]
    assert changed_lines("a\nb\nc\n", "a\nc\n") == [1]
    assert changed_lines("a\n", "a\n") == []


@given(st.text("ab\n", max_size=12), st.text("ab\n", max_size=12))
@settings(max_examples=examples(25))
def test_the_smallest_edit_turns_one_text_into_the_other(old: str, new: str) -> None:
    from textual.document._document import Document

    edit = smallest_edit(old, new)
    document = Document(old)
    document.replace_range(edit.from_location, edit.to_location, edit.text)
    assert document.text == new


def test_the_cursor_stays_at_its_words() -> None:
    assert moved("a\nb\nc\n", "new\na\nb\nc\n", (2, 1)) == (3, 1)
    assert moved("a\nb\nc\n", "a\nb\nc\nnew\n", (1, 0)) == (1, 0)
    assert moved("a\nb\nc\n", "c\n", (2, 0)) == (0, 0)
    assert moved("a\nb\nc\n", "a\nB\nc\n", (1, 1)) == (1, 1)

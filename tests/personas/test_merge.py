"""The three-way merge and the diff: identities, symmetry, and that no line gets lost."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personas.lines import changed_regions, split_lines
from personas.versions.merge import Hunk, count, merge3, stretches, unified_diff
from tests.support.examples import examples

_line = st.sampled_from(["a", "b", "c", "", "long line", "\r", "x\u2028y", "é"])
_text = st.builds(
    lambda lines, end: "\n".join(lines) + end, st.lists(_line, max_size=12), st.sampled_from(["", "\n"])
)


@given(_text, _text)
def test_a_side_that_changed_nothing_gives_way(base: str, other: str) -> None:
    assert merge3(base, other, base).text == other
    assert merge3(base, base, other).text == other
    assert merge3(base, other, other).text == other


@settings(max_examples=examples(25))
@given(_text, _text, _text)
def test_merging_is_symmetric(base: str, ours: str, theirs: str) -> None:
    one, two = merge3(base, ours, theirs), merge3(base, theirs, ours)
    assert one.text == two.text
    assert len(one.conflicts) == len(two.conflicts)
    assert (one.text is None) == bool(one.conflicts)


@settings(max_examples=examples(25))
@given(st.lists(st.booleans(), min_size=1, max_size=20), st.randoms())
def test_a_merge_never_loses_a_line(keep: list[bool], rng: random.Random) -> None:
    base = [f"base {i}\n" for i in range(len(keep))]

    def edited(mark: str) -> list[str]:
        lines = []
        for i, line in enumerate(base):
            choice = rng.random()
            if choice < 0.15:
                lines.append(f"{mark} {i}\n")
            elif choice < 0.3:
                lines.extend([line, f"{mark} new {i}\n"])
            else:
                lines.append(line)
        return lines

    ours, theirs = edited("ours"), edited("theirs")
    merged = merge3("".join(base), "".join(ours), "".join(theirs)).text
    if merged is not None:
        lines = split_lines(merged)
        written = [line for line in ours + theirs if line not in base]
        assert sorted(line for line in lines if line not in base) == sorted(written)
        assert [line for line in base if line in ours and line in theirs] == [x for x in lines if x in base]


@given(_text, _text)
def test_regions_turn_the_old_text_into_the_new(old: str, new: str) -> None:
    old_lines, new_lines = split_lines(old), split_lines(new)
    out, i, j = [], 0, 0
    for region in changed_regions(old_lines, new_lines):
        assert old_lines[i : region.old_start] == new_lines[j : region.new_start]
        assert region.old_start > i or region.new_start > j or i == 0
        out += old_lines[i : region.old_start] + new_lines[region.new_start : region.new_end]
        i, j = region.old_end, region.new_end
    assert "".join(out + old_lines[i:]) == new


def test_changes_in_neighbouring_lines_are_both_kept() -> None:
    base = 'name = "A"\ndescription = "x"\ntags = []\n'
    ours = base.replace('"A"', '"B"')
    theirs = base.replace('"x"', '"y"')
    assert merge3(base, ours, theirs).text == 'name = "B"\ndescription = "y"\ntags = []\n'


def test_a_line_written_after_a_removed_one_stays() -> None:
    assert merge3("one\ntwo\n", "one\n", "one\ntwo\nthree\n").text == "one\nthree\n"


def test_different_edits_of_one_line_conflict_and_show_both() -> None:
    merge = merge3("a\nb\nc\n", "a\nours\nc\n", "a\ntheirs\nc\n")
    assert merge.text is None
    (hunk,) = merge.conflicts
    assert (hunk.line, hunk.base, hunk.ours, hunk.theirs) == (2, "b\n", "ours\n", "theirs\n")


def test_different_insertions_at_one_place_conflict() -> None:
    assert merge3("a\nb\n", "a\nx\nb\n", "a\ny\nb\n").conflicts


def test_the_same_line_added_beside_an_edit_is_not_taken_twice() -> None:
    assert merge3("a\nb\n", "a\nx\nb\n", "a\nx\nB\n").text is None


def test_an_edit_inside_removed_lines_conflicts() -> None:
    assert merge3("a\nb\nc\nd\n", "a\nd\n", "a\nb\nC\nd\n").conflicts


def test_lines_replaced_on_one_side_and_edited_apart_on_the_other_are_one_conflict() -> None:
    lines = [f"{n}\n" for n in range(12)]
    base = "".join(lines)
    ours = lines[0] + "all new\n" + lines[11]
    theirs = base.replace("2\n", "two\n", 1).replace("7\n", "seven\n")
    merge = merge3(base, ours, theirs)
    assert merge.text is None
    (hunk,) = merge.conflicts
    assert (hunk.line, hunk.base, hunk.ours) == (2, "".join(lines[1:11]), "all new\n")
    assert hunk.theirs == "1\ntwo\n3\n4\n5\n6\nseven\n8\n9\n10\n"
    assert list(stretches(base, ours, theirs)) == ["0\n", hunk, "11\n"]


def test_lines_added_behind_a_conflict_that_they_only_border_are_no_part_of_it() -> None:
    base = "0\n1\n2\n3\n4\n5\n"
    ours, theirs = "A\nB\nC\nD\n4\nnew\n5\n", "0\nx\n1\n2\nT\nU\n5\n"
    hunk, *rest = filter(None, stretches(base, ours, theirs))
    assert hunk == Hunk(1, "0\n1\n2\n3\n4\n", "A\nB\nC\nD\n4\n", "0\nx\n1\n2\nT\nU\n")
    assert rest == ["new\n", "5\n"]


def test_every_conflict_is_told_in_order() -> None:
    merge = merge3("a\nb\nc\n", "A\nb\nC\n", "1\nb\n3\n")
    assert [(hunk.line, hunk.ours, hunk.theirs) for hunk in merge.conflicts] == [
        (1, "A\n", "1\n"),
        (3, "C\n", "3\n"),
    ]


def test_the_same_change_on_both_sides_is_taken_once() -> None:
    assert merge3("a\nb\nc\n", "A\nb\nc\n", "A\nb\nC\n").text == "A\nb\nC\n"


def test_lines_are_never_glued_where_a_final_newline_is_missing() -> None:
    assert merge3("a\nb\n", "a\nB", "a\nb\nc\n").text is None


@settings(max_examples=examples(25))
@given(_text, _text, _text)
def test_no_line_is_in_a_merge_that_no_side_has(base: str, ours: str, theirs: str) -> None:
    merge = merge3(base, ours, theirs)
    lines = {line.rstrip("\n") for text in (base, ours, theirs) for line in split_lines(text)}
    for text in [merge.text or "", *(text for hunk in merge.conflicts for text in (hunk.ours, hunk.theirs))]:
        assert {line.rstrip("\n") for line in split_lines(text)} <= lines


def test_form_feeds_and_line_separators_are_no_line_ends() -> None:
    assert split_lines("a\u2028b\x0cc\x85d\n\r\n") == ["a\u2028b\x0cc\x85d\n", "\r\n"]


def test_a_diff_reads_like_diff_u() -> None:
    old = "".join(f"{i}\n" for i in range(12))
    new = old.replace("5\n", "five\n") + "end"
    assert unified_diff(old, new, "1", "now") == (
        "--- 1\n+++ now\n@@ -3,10 +3,11 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n 11\n+end\n"
        "\\ No newline at end of file\n"
    )
    assert count(old, new) == (2, 1)
    assert unified_diff(old, old) == ""
    assert unified_diff(old, old.replace("2\n", "two\n"), "1", "now") == (
        "--- 1\n+++ now\n@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+two\n 3\n 4\n 5\n"
    )
    assert unified_diff(old, old.replace("10\n", "ten\n"), "1", "now") == (
        "--- 1\n+++ now\n@@ -8,5 +8,5 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n"
    )
    assert unified_diff("", "a\nb\n", "1", "now") == "--- 1\n+++ now\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert unified_diff("a\n", "", "1", "now") == "--- 1\n+++ now\n@@ -1 +0,0 @@\n-a\n"


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch command")
@settings(max_examples=15, deadline=None)
@given(_text, _text)
def test_patch_applies_our_diffs(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    if old == new or not old or not new:
        return
    folder: Path = tmp_path_factory.mktemp("patch")
    (folder / "file").write_bytes(old.encode())
    subprocess.run(
        ["patch", "--binary", "-s", "file"],
        input=unified_diff(old, new, "file", "file").encode(),
        cwd=folder,
        check=True,
    )
    assert (folder / "file").read_bytes() == new.encode()


@pytest.mark.parametrize(
    "lines",
    [
        [f"line {i} of a long prompt\n" for i in range(30_000)],
        ["\n", "same\n"] * 60_000,
        [f"{i % 7}\n" for i in range(200_000)],
        ["x" * 1_000_000 + "\n"],
    ],
    ids=["unique", "alternating", "few kinds", "one line"],
)
def test_large_texts_merge_quickly(lines: list[str]) -> None:
    base = "".join(lines)
    middle = len(lines) // 2
    ours = "".join(["start\n", *lines[:middle], "middle\n", *lines[middle:]])
    theirs = "".join([*lines, "end\n"])
    began = time.process_time()
    merged = merge3(base, ours, theirs).text
    diff = unified_diff(base, ours)
    assert time.process_time() - began < 3
    assert merged is not None and merged.startswith("start\n") and merged.endswith("end\n")
    assert "+middle\n" in diff


def test_a_wholly_shuffled_text_is_still_compared_in_time() -> None:
    rng = random.Random(7)
    old = [f"{rng.randrange(400)}\n" for _ in range(20_000)]
    new = old[:]
    rng.shuffle(new)
    began = time.process_time()
    diff = unified_diff("".join(old), "".join(new))
    assert time.process_time() - began < 3
    assert diff

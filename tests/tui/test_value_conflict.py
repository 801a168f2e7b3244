"""A conflict of two files that lies in one value is shown as one of that value."""

from __future__ import annotations

import pytest

from tui.document.merge import MergeConflict, merge_texts
from tui.document.value_conflict import in_one_value

NOW = '''name = "One" # so
system_prompt = """
first
last, by me"""
tags = ["a"]

[[test_inputs]]
id = "sum"
content = """
1+1?
mine"""
'''


def clash_of(base: str, ours: str, theirs: str) -> MergeConflict:
    met = merge_texts(base, ours, theirs)
    assert isinstance(met, MergeConflict)
    return met


def test_a_clash_in_the_prompt_is_one_of_its_text_and_the_rest_of_the_file_is_merged() -> None:
    base = NOW.replace("last, by me", "last\nbrief").replace('"a"', '"b"')
    met = clash_of(base, base.replace("\nbrief", "").replace('"One"', '"Two"'), NOW.replace('"a"', '"b"'))
    shown = in_one_value(met)
    assert (shown.conflict.base, shown.conflict.ours, shown.conflict.theirs) == (
        "first\nlast\nbrief",
        "first\nlast",
        "first\nlast, by me",
    )
    assert shown.conflict.hunks[0].line == 2
    merged = NOW.replace('"One"', '"Two"').replace('"a"', '"b"')
    assert shown.whole(shown.conflict.theirs) == merged
    assert shown.whole(shown.conflict.ours) == merged.replace("last, by me", "last")


def test_a_clash_in_a_test_input_is_one_of_its_content() -> None:
    base = NOW.replace("mine", "its")
    shown = in_one_value(clash_of(base, base.replace("\nits", ""), NOW))
    assert (shown.conflict.ours, shown.conflict.theirs) == ("1+1?", "1+1?\nmine")
    assert shown.whole("1+1?") == NOW.replace("\nmine", "")


@pytest.mark.parametrize(
    ("base", "ours"),
    [
        (NOW.replace("mine", "its").replace("by me", "by it"), NOW.replace("mine", "").replace("by me", "")),
        (
            NOW.replace("by me", "by it").replace("# so", "# 1"),
            NOW.replace("by me", "").replace("# so", "# 2"),
        ),
        (NOW.replace('"One"', '"1"'), NOW.replace('"One"', '"2"')),
        (NOW.replace("by me", "by it"), NOW.replace("by me", '"""')),
    ],
    ids=["two values", "a comment too", "the name", "a broken file"],
)
def test_a_clash_that_lies_elsewhere_too_is_one_of_the_file(base: str, ours: str) -> None:
    met = clash_of(base, ours, NOW)
    shown = in_one_value(met)
    assert shown.conflict is met
    assert shown.whole("text") == "text"

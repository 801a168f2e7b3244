"""The rows of an editor: what `textual_compat.soft_wrap` finds quickly is what Textual finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual._wrap import compute_wrap_offsets
from textual.document._document import Document
from textual.document._wrapped_document import WrappedDocument

from tui.terminal.textual_compat.soft_wrap import FastWrapped, plain_breaks

TABLES = ("_wrap_offsets", "_tab_width_cache", "_offset_to_line_info", "_line_index_to_offsets", "height")
plain = st.text(st.sampled_from("abc  "), max_size=60)
texts = st.text(st.sampled_from("ab   \t\n\n世é\u0301🙂"), max_size=80)


def tables(wrapped: WrappedDocument) -> list[object]:
    """Everything a wrapped text says about its rows."""
    return [getattr(wrapped, name) for name in TABLES]


@given(plain, st.integers(1, 20))
def test_a_plain_line_is_broken_as_textual_breaks_it(line: str, width: int) -> None:
    assert plain_breaks(line, width) == compute_wrap_offsets(line, width, 4)


def test_a_word_too_long_is_cut_and_blanks_stay_with_the_word_before_them() -> None:
    assert plain_breaks("ab cdefghij k", 4) == [3, 7, 11]
    assert plain_breaks("ab      cd", 4) == [4, 8]
    assert plain_breaks("abcd", 4) == []


@given(texts, st.integers(0, 12), st.integers(1, 8))
def test_a_text_is_wrapped_as_textual_wraps_it(text: str, width: int, tab: int) -> None:
    document = Document(text)
    assert tables(FastWrapped(document, width, tab)) == tables(WrappedDocument(document, width, tab))


@given(
    texts, st.integers(0, 12), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), texts), max_size=5)
)
def test_edits_leave_the_rows_that_wrapping_it_all_would(
    text: str, width: int, edits: list[tuple[int, int, str]]
) -> None:
    document = Document(text)
    fast = FastWrapped(document, width, 4)

    def place(index: int) -> tuple[int, int]:
        return document.get_location_from_index(index % (len(document.text) + 1))

    for one, other, new in edits:
        start, end = sorted((place(one), place(other)))
        result = document.replace_range(start, end, new)
        fast.wrap_range(start, end, result.end_location)
        assert tables(fast) == tables(WrappedDocument(document, width, 4))

"""Signs and texts in a terminal that takes no UTF-8, or none of our signs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.terminal.ascii_fallback import Charset, charset_of
from tui.terminal.sanitise import sanitise, spell_out_too, spelled_out

BARE = charset_of({"LC_ALL": "C", "LANG": "de_DE.UTF-8"})
UTF8 = charset_of({"LANG": "de_DE.UTF-8", "LC_CTYPE": ""})

texts = st.text(st.characters(codec="utf-8") | st.sampled_from("…·“”×✓│─Ýé日👍🏽\u0301\u200d")).map(sanitise)


@given(texts, st.booleans())
def test_what_is_sent_is_held_by_the_terminal_and_as_wide_as_the_text(text: str, theirs: bool) -> None:
    sent = "".join(piece for piece, _ in BARE.pieces(text, theirs=theirs))
    assert sent.isascii() and BARE.bare(text).isascii()
    assert cell_len(sent) == cell_len(text)


def test_a_sign_that_stands_for_another_is_highlighted() -> None:
    assert BARE.pieces("say “日e\u0301!”") == (("say ", False), ('"???', True), ("!", False), ('"', True))
    assert BARE.pieces('say "???"') == (('say "???"', False),)
    assert BARE.pieces("é × 日", theirs=True) == (
        ("?", True),
        (" ", False),
        ("x", True),
        (" ", False),
        ("??", True),
    )


def test_a_cut_text_does_not_end_in_a_full_stop() -> None:
    assert BARE.pieces("maintenance work will…") == (("maintenance work will~", False),)


def test_frames_and_our_signs_are_ascii_while_texts_stay_where_the_terminal_takes_utf8() -> None:
    assert UTF8.utf8
    assert UTF8.pieces("╭──╮") == (("+--+", False),)
    assert UTF8.pieces("1 · 2…") == (("1 - 2~", False),)
    for text in ("“hi” – 日本 × é", "a · b…", "│ a │"):
        assert UTF8.pieces(text, theirs=True) == ((text, False),)


@pytest.mark.parametrize(
    ("locale", "utf8"),
    [
        ("C", False),
        ("POSIX", False),
        ("de_DE.ISO-8859-15@euro", False),
        ("xx_XX.what", False),
        ("C.UTF-8", True),
        ("de_DE", True),
        ("", True),
    ],
)
def test_the_locale_says_what_a_terminal_takes(locale: str, utf8: bool) -> None:
    assert charset_of({"LANG": locale}) == Charset(utf8)


@pytest.fixture
def bare() -> Iterator[None]:
    spell_out_too(BARE.keeps)
    yield
    spell_out_too(None)


@pytest.mark.usefixtures("bare")
def test_what_is_compared_spells_out_all_that_the_terminal_cannot_show() -> None:
    assert spelled_out("“hi”…日\u202e") == "<U+201C>hi<U+201D><U+2026><U+65E5><U+202E>"
    assert spelled_out('"hi"\n') == '"hi"\n'

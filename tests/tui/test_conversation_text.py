"""From text to lines: breaking, cutting Markdown into pieces, drawing it. No widget."""

from __future__ import annotations

import re
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.core.turns import ThinkingTurn
from tests.support.examples import examples
from tui.terminal.sanitise import sanitise
from tui.widgets.conversation import markdown, markdown_blocks, render_parts
from tui.widgets.conversation.entries import ThinkingEntry
from tui.widgets.conversation.lines import (
    BOLD,
    CODE,
    ITALIC,
    UNICODE,
    Flow,
    Glyphs,
    Line,
    fold_rows,
    wrap_rows,
)
from tui.widgets.conversation.markdown_blocks import BLOCK_LIMIT, BlockSplitter, split_blocks
from tui.widgets.conversation.render_parts import MarkdownStream, block_part

words = st.lists(
    st.sampled_from(
        ["a", "word", " ", "  ", "漢字", "e\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "x" * 30, "ü", "-"]
    ),
    max_size=30,
).map("".join)
widths = st.integers(4, 40)
markdown_texts = st.lists(
    st.sampled_from(
        ["# Title\n", "para ", "**bold** ", "`code` ", "\n", "\n\n", "- item\n", "  - inner\n", "1. one\n", "2) two\n",
         "```py\n", "```\n", "    x\n", "> quote\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "---\n", "~~~\n", "[l](u)",
         "<tag>", "&amp;", "* * *\n", "\t", "漢字 ", "![i](s)", "\\", "*", "_x_ ", "[r]: http://x\n", "   ", "- ```\n"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


@given(words, widths)
@settings(max_examples=examples(30))
def test_rows_fit_and_lose_only_spaces(text: str, width: int) -> None:
    rows = wrap_rows(text, width)
    assert all(cell_len(text[start:end].rstrip()) <= width for start, end, _ in rows)
    assert "".join(text[start:end] for start, end, _ in rows).replace(" ", "") == text.replace(" ", "")


@given(words, widths)
@settings(max_examples=examples(25))
def test_folded_rows_lose_nothing(text: str, width: int) -> None:
    rows = fold_rows(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end, _ in rows)
    assert "".join(text[start:end] for start, end, _ in rows) == text


@given(st.lists(words | st.just("\n"), min_size=1, max_size=6), widths, st.booleans())
@settings(max_examples=examples(30))
def test_text_that_grows_has_the_lines_of_the_whole(
    markdown_blocks: list[str], width: int, fold: bool
) -> None:
    grown, whole = Flow(width, fold=fold), Flow(width, fold=fold)
    for piece in markdown_blocks:
        before = [line.text for line in grown.lines]
        changed = grown.feed(piece)
        assert [line.text for line in grown.lines[:changed]] == before[:changed]
    whole.feed("".join(markdown_blocks))
    assert [line.text.strip() for line in grown.lines] == [line.text.strip() for line in whole.lines]
    if fold:
        assert [line.text for line in grown.lines] == [line.text for line in whole.lines]


def test_combining_marks_and_joined_emoji_stay_whole() -> None:
    text = "👨\u200d👩\u200d👧" * 10 + "e\u0301" * 20
    for start, _, _ in wrap_rows(text, 7):
        assert text[start] not in "\u200d\u0301"


@given(markdown_texts, st.lists(st.integers(1, 12), max_size=60))
@settings(max_examples=examples(30))
def test_pieces_do_not_depend_on_how_the_text_was_cut(text: str, sizes: list[int]) -> None:
    splitter = BlockSplitter()
    markdown_blocks = []
    at = 0
    for size in sizes:
        markdown_blocks += splitter.feed(text[at : at + size])
        at += size
    markdown_blocks += splitter.feed(text[at:])
    assert markdown_blocks + splitter.finish() == split_blocks(text)


def draw_markdown(text: str, width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """Return the lines of a whole answer, as an entry of the conversation draws it."""
    return [line for piece in split_blocks(text) for line in block_part(piece, glyphs).draw(width)]


@given(markdown_texts, st.lists(st.integers(1, 40), max_size=20))
@settings(max_examples=examples(25))
def test_a_streamed_answer_ends_as_the_loaded_one(text: str, sizes: list[int]) -> None:
    stream = MarkdownStream(Glyphs())
    parts = []
    at = 0
    for size in sizes:
        stream.add(text[at : at + size])
        parts += stream.advance(40)[0]
        at += size
    stream.add(text[at:])
    parts += stream.advance(40)[0]
    parts += stream.finish()
    streamed = [(line.runs, line.join) for part in parts for line in part.draw(40)]
    assert streamed == [(line.runs, line.join) for line in draw_markdown(sanitise(text), 40)]


@given(markdown_texts, st.lists(st.integers(1, 40), max_size=20))
@settings(max_examples=examples(25))
def test_after_many_pieces_the_rest_is_shown_as_it_is_whether_it_streams_or_is_loaded(
    text: str, sizes: list[int]
) -> None:
    with patch.object(markdown_blocks, "MAX_BLOCKS", 3), patch.object(markdown_blocks, "BLOCK_LIMIT", 60):
        test_pieces_do_not_depend_on_how_the_text_was_cut.hypothesis.inner_test(text, sizes)  # type: ignore[attr-defined]
        test_a_streamed_answer_ends_as_the_loaded_one.hypothesis.inner_test(text, sizes)  # type: ignore[attr-defined]
        test_the_tail_says_truly_which_lines_changed.hypothesis.inner_test(text, sizes)  # type: ignore[attr-defined]
        test_no_letter_that_was_written_is_hidden.hypothesis.inner_test(text, 40)  # type: ignore[attr-defined]


@pytest.mark.parametrize("block", ["a\n\n", "- a\n", "1. a\n", "# a\n", "> a\n\n", "---\n", "```\na\n```\n"])
def test_an_answer_is_made_of_so_many_pieces_at_most(block: str) -> None:
    text = block * (2 * markdown_blocks.MAX_BLOCKS)
    found = split_blocks(text)
    assert len(found) <= markdown_blocks.MAX_BLOCKS + 1 + len(text) // markdown_blocks.BLOCK_LIMIT
    assert "".join(piece.text for piece in found).count("a") == text.count("a")


@given(markdown_texts, st.lists(st.integers(1, 40), max_size=20))
@settings(max_examples=examples(20))
def test_the_tail_says_truly_which_lines_changed(text: str, sizes: list[int]) -> None:
    stream = MarkdownStream(Glyphs())
    at = 0
    for size in sizes:
        before = [line.text for line in stream.tail.lines or []]
        stream.add(text[at : at + size])
        done, changed = stream.advance(40)
        at += size
        if not done:
            assert [line.text for line in (stream.tail.lines or [])[:changed]] == before[:changed]


@given(markdown_texts, st.integers(10, 60))
@settings(max_examples=examples(30))
@example("> " * 40 + "deep", 40)
@example("| a | b |\n|---|---|\n| 1 | 2 | hidden |\n", 40)
@example("[r]: http://x 'secret'\n", 40)
@example("&#x202e;evil", 40)
@example('[text](http://where "title")', 40)
@example("```python secret words\nx\n```", 40)
def test_no_letter_that_was_written_is_hidden(text: str, width: int) -> None:
    drawn = "".join(line.text for line in draw_markdown(sanitise(text), width))
    for letter in set(letters(text)):
        assert drawn.count(letter) >= letters(text).count(letter)


@given(markdown_texts, st.integers(12, 60))
@settings(max_examples=examples(25))
def test_lines_fit_the_width(text: str, width: int) -> None:
    for line in draw_markdown(text, width):
        if line.text.count("│") + line.text.count("•") <= 2:
            assert cell_len(line.text) <= width


@pytest.mark.parametrize(
    "hostile", ["\x1b[31m", "\x1b]52;c;x\x07", "&#27;[2J", "http://a/%1b%5b2J", "\u202e"]
)
def test_markdown_brings_no_escape_back(hostile: str) -> None:
    text = sanitise(f"# {hostile}\n\n[{hostile}](http://{hostile}) `{hostile}` <http://x/{hostile}>\n")
    drawn = "".join(line.text for line in draw_markdown(text, 60))
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn


def shown(text: str, width: int = 40) -> list[str]:
    return [line.text for line in draw_markdown(text, width)]


def test_blocks_as_a_person_sees_them() -> None:
    assert shown("# Title\ntext\n- a\n- b\n  - c\n\n1. one\n2. two\n") == [
        "Title", "", "text", "", "• a", "• b", "  • c", "", "1. one", "2. two",
    ]  # fmt: skip
    assert shown("> a\n> b") == ["│ a", "│ b"]
    assert shown("```py\nx = 1\n\ny\n```\nafter") == ["│ py", "│ x = 1", "│ ", "│ y", "", "after"]
    assert shown("| a | b |\n|---|---|\n| 1 | 22 |") == ["a    │ b   ", "─────┼─────", "1    │ 22  "]


def test_the_columns_of_a_table_stand_where_they_are_meant_to() -> None:
    table = "| left | right | centre |\n|:---|---:|:---:|\n| 1 | 22 | 漢 |"
    assert shown(table) == [
        "left │ right │ centre",
        "─────┼───────┼───────",
        "1    │    22 │   漢  ",
    ]


def test_raw_tags_entities_and_line_ends_are_shown_as_written() -> None:
    assert shown("<example>\n**x** &amp; {{user}}\n</example>") == [
        "<example>",
        "x &amp; {{user}}",
        "</example>",
    ]


def test_a_link_shows_where_it_goes() -> None:
    assert shown("[safe](http://evil.example)") == ["safe (http://evil.example)"]
    assert shown("![picture](http://x/y.png)") == ["picture (http://x/y.png)"]


def test_emphasis_has_its_ink() -> None:
    (line,) = draw_markdown("a **b** *c* `d`", 40)
    assert dict(line.runs) | {} == {"a ": 0, "b": BOLD, " ": 0, "c": ITALIC, "d": CODE}


def test_ascii_signs_only_when_asked() -> None:
    text = "- a\n\n> q\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n```\nx\n```"
    drawn = "\n".join(line.text for line in draw_markdown(text, 40, Glyphs(ascii_only=True)))
    assert drawn.isascii()


def test_wrapped_lines_know_how_they_join_when_copied() -> None:
    lines = draw_markdown("one two three four " + "x" * 50, 20)
    copied = "".join(line.text[line.lead :] + line.join for line in lines).rstrip("\n")
    assert copied == "one two three four " + "x" * 50


@pytest.mark.parametrize(
    "text", ["漢字" * 30, "漢字 " * 20 + "漢", "mixed words 漢字漢字漢字漢字 and more " * 3 + "end"]
)
def test_wrapped_chinese_is_copied_with_its_own_blanks_only(text: str) -> None:
    lines = draw_markdown(text, 20)
    assert len(lines) > 2
    assert "".join(line.text[line.lead :] + line.join for line in lines).rstrip("\n") == text


def test_decoration_is_not_copied_from_code() -> None:
    lines = draw_markdown("```\nfirst\n  second\n```", 40)
    assert [line.text[line.lead :] for line in lines] == ["first", "  second"]


def test_a_long_block_is_cut_where_a_line_ends() -> None:
    markdown_blocks = split_blocks("a line of text\n" * (3 * BLOCK_LIMIT // 15))
    assert len(markdown_blocks) > 2
    assert max(len(piece.text) for piece in markdown_blocks) <= BLOCK_LIMIT + 15
    assert [piece.gap for piece in markdown_blocks] == [False] * len(markdown_blocks)
    code = split_blocks("```\n" + "a line of code\n" * (3 * BLOCK_LIMIT // 15) + "```\nafter")
    assert [piece.kind for piece in code[:-1]] == ["code"] * (len(code) - 1)
    assert code[-1].text == "after"


def test_a_paragraph_of_one_endless_word_is_drawn() -> None:
    lines = draw_markdown("x" * 100_000, 80)
    assert sum(len(line.text) for line in lines) == 100_000


def test_a_line_repr_shows_its_text() -> None:
    assert repr(Line([("a", 0), ("b", BOLD)])) == "Line('ab')"


def test_prose_in_a_fence_has_no_label_and_is_not_broken_within_words() -> None:
    from tui.widgets.conversation.markdown import draw_block
    from tui.widgets.conversation.markdown_blocks import split_blocks

    text = "```text\nwhich of these words could be cut\n```\n"
    shown = [line.text.rstrip() for piece in split_blocks(text) for line in draw_block(piece, 14)]
    words = " ".join(shown).replace("│", " ").replace("▎", " ").split()
    assert [word for word in words if word.isalpha()] == [
        "which",
        "of",
        "these",
        "words",
        "could",
        "be",
        "cut",
    ]


@given(markdown_texts, st.lists(st.integers(0, 40), max_size=12), st.integers(0, 12), st.integers(20, 200))
@settings(max_examples=examples(25))
@example("**bold** **bold** **bold** 漢字 **bold** ", [40], 0, 41)
def test_open_thinking_that_streams_looks_as_it_does_when_it_is_over(
    text: str, sizes: list[int], opened_at: int, chunk: int
) -> None:
    turn = ThinkingTurn(id="t", content="")
    entry = ThinkingEntry(turn, streaming=True)
    at = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render_parts, "CHUNK", chunk)
        for number, size in enumerate([*sizes, len(text)]):
            if number == min(opened_at, len(sizes)):
                entry.toggle()
            entry.add(text[at : at + size])
            entry.advance(40)
            at += size
            if entry.opened:
                assert entry.height(40) == entry.starts(40)[-1]
        # What a sequence may still go on to is held back till the end.
        entry.add("\n.")
        entry.advance(40)
        streamed = [(line.runs, line.join) for part in entry.parts() for line in part.draw(40)]
        entry.end(replace(turn, content=f"{text}\n."))
        over = [(line.runs, line.join) for part in entry.parts() for line in part.draw(40)]
    assert streamed[1:] == over[1:]


def test_what_a_frame_of_open_thinking_costs_does_not_grow_with_it() -> None:
    entry = ThinkingEntry(ThinkingTurn(id="t", content=""), streaming=True)
    entry.add("word " * 200_000)
    entry.toggle()
    entry.advance(80)
    fed: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Flow, "feed", lambda self, text, feed=Flow.feed: fed.append(len(text)) or feed(self, text)
        )
        patch.setattr(render_parts.Sanitiser, "feed", lambda self, text: fed.append(len(text)) or text)
        for _ in range(5):
            entry.add("some words ")
            entry.advance(80)
            entry.height(80)
    assert max(fed) < 2 * render_parts.CHUNK
    assert fed[-4:] == [11] * 4


@pytest.mark.parametrize("mark", ["[", "![", "*[", "[![", "[x](", "|a", "[[a] "])
def test_a_piece_that_no_person_wrote_is_shown_as_it_is_and_not_parsed(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (mark * 16_000)[:15_999]
    monkeypatch.setattr(markdown, "load_parser", None)
    assert "".join(line.text for line in draw_markdown(text, 80)).replace(" ", "") == text.replace(" ", "")


def test_brackets_as_people_write_them_are_drawn_as_markdown() -> None:
    text = "**bold** " + "[a](b) (c) " * 300 + "[" * 20 + "]" * 20
    lines = draw_markdown(text, 80)
    assert lines[0].text.startswith("bold a (b) (c)")

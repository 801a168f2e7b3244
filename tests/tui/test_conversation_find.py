"""Searching the conversation: what stands on the screen is found, and what was written for it, and the place is marked."""

from __future__ import annotations

import time
import unicodedata

import pytest

from agent.core.turns import AssistantTextTurn, ToolCallTurn, ToolResultTurn, UserTurn
from tests.tui.test_conversation_view import Stage, edit_call, run_of
from tui.commands import text_matching
from tui.commands.text_matching import CHUNK
from tui.widgets.conversation import ConversationView, search
from tui.widgets.conversation.lines import Line
from tui.widgets.conversation.markdown import draw_block
from tui.widgets.conversation.markdown_blocks import split_blocks
from tui.widgets.conversation.search import Query, SearchableText, find_matches, fold
from tui.widgets.conversation.strip_markdown import strip_markdown

ANSWER = """# A *head* line

Some **bold** text, `co_de` and a [*link* title](http://u.example/x_y) of snake_case_words, 2 * 3 * 4 and 2\\*3.

* item **one**
* two ~~gone~~

> a **quote**
> that goes on

1. step __one__
2. step two

```py
raw = "**bold**" * len(`x`)
```

Written <http://auto.example/a>, ``a`b``, __init__ and *one **two** three*, *(in)*, **un [closed, ![image](a.png "t")
"""


def as_drawn(text: str) -> str:
    lines = [line for piece in split_blocks(text) for line in draw_block(piece, 1000)]
    return "".join(line.text[line.lead :] + line.join for line in lines)


def marked(view: ConversationView) -> list[str]:
    """What is marked as found, row by row."""
    strips = [view.render_line(y) for y in range(view.size.height)]
    texts = ["".join(part.text for part in strip if part.style and part.style.reverse) for strip in strips]
    return [text for text in texts if text]


@pytest.mark.parametrize(
    "text", [ANSWER, *ANSWER.split("\n\n"), "a", "", "\n\n", "**", "`", "[", "* ", ">", "```\nx"]
)
def test_markdown_without_its_signs_is_what_is_drawn(text: str) -> None:
    assert fold(strip_markdown(text)).strip() == fold(as_drawn(text)).strip()


FOUND = {
    "bold text, co_de": ["bold text, co_de"],
    "**bold** text": ["bold text"],
    "LINK title (http://u.example/x_y)": ["link title", "(http://u.example/x_y)"],
    "[*link* title](http://u.example/x_y)": ["link title", "(http://u.example/x_y)"],
    "• item one": ["• item one"],
    "* item **one**": ["• item one"],
    "step one": ["step one"],
    "quote that goes": ["quote", "that goes"],
    'raw = "**bold**"': ['raw = "**bold**"'],
    "snake_case_words": ["snake_case_words"],
    "A head line": ["A head line"],
    "bold text, code": [],
}


async def test_what_is_read_and_what_was_written_are_found_and_marked() -> None:
    app = Stage()
    async with app.run_test(size=(40, 40)) as pilot:
        app.view.load([UserTurn(content="hi"), AssistantTextTurn(content=ANSWER), *run_of(20)])
        await pilot.pause()
        for needle, marks in FOUND.items():
            assert app.view.search(needle) == bool(marks), needle
            await pilot.pause()
            assert marked(app.view) == marks
            assert app.view.search_step(1) == app.view.search_step(-1) == bool(marks)


async def test_an_opened_tool_call_is_found_by_what_it_shows() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        call = ToolCallTurn(
            tool_use_id="c9", tool_name="note", input={"text": 'He said "hi"\nand left', "n": 3}
        )
        result = ToolResultTurn(tool_use_id="c9", output="Kept.")
        app.view.load([call, result, *edit_call(), *run_of(20)])
        await pilot.pause()
        for needle, marks in (
            ('said "hi" and left', ['said "hi" and left']),  # in its one line
            ("n: 3", ["n: 3"]),
            ('"n": 3', []),  # so it is kept
            ("+Be brief and warm", ["+Be brief and warm"]),
            ("edit_system_prompt  brief", ["edit_system_prompt  brief"]),
        ):
            assert app.view.search(needle) == 1, needle
            await pilot.pause()
            assert marked(app.view) == marks, needle


COMPOSED = "Café 한국 ガイド STRASSE FULL"
OTHERWISE = unicodedata.normalize("NFD", "cAFÉ 한국 ") + "ｶﾞｲﾄﾞ straße ＦＵＬＬ"


@pytest.mark.parametrize(("text", "needle"), [(COMPOSED, OTHERWISE), (OTHERWISE, COMPOSED)])
def test_letters_are_the_same_however_they_are_composed_and_how_wide_they_are(text: str, needle: str) -> None:
    words = text.split()
    for word, part in zip(words, needle.split(), strict=True):
        found = Query.of(part)
        assert SearchableText([text]).contains(found)
        start = text.index(word) + 3
        assert find_matches([Line([("-- ", 0), (text, 0)], lead=3)], found) == {
            0: [(start, start + len(word))]
        }
    assert find_matches([Line([(word, 0)], join=" ") for word in words], Query.of(needle)) == {
        row: [(0, len(word))] for row, word in enumerate(words)
    }


def test_what_stands_over_the_ends_of_stretches_is_found_as_in_one_piece() -> None:
    words = [f"word{number}" for number in range(3 * search.LINES_AT_ONCE)]
    lines = [Line([(word, 0)], join=" ") for word in words]
    for at in (search.LINES_AT_ONCE - 1, search.LINES_AT_ONCE, 2 * search.LINES_AT_ONCE - 3):
        needle = Query.of(" ".join(words[at : at + 5]))
        found = search.Matches(lines, needle)
        assert found.first() == at
        whole = find_matches(lines, needle)
        assert {row: found.at(row) for row in range(len(lines)) if found.at(row)} == whole
    assert search.Matches(lines, Query.of("word9 word11")).first() is None


async def test_of_a_long_text_no_more_is_looked_through_than_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped: list[int] = []
    first = search._mapped
    monkeypatch.setattr(search, "_mapped", lambda text: mapped.append(len(text)) or first(text))
    app = Stage()
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.load([AssistantTextTurn(content="x" * 300_000)])
        await pilot.pause()
        assert app.view.search("xx") == 1
        await pilot.pause()
        for columns in (50, 40):
            await pilot.resize_terminal(columns, 15)
            await pilot.pause()
        assert 0 < max(mapped) < 50 * 2 * search.LINES_AT_ONCE
        assert sum(mapped) < 100_000


async def test_a_turn_is_made_ready_for_searches_once_but_an_answer_that_arrives_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folded: list[str] = []
    monkeypatch.setattr(search, "fold", lambda text: folded.append(text) or fold(text))
    app = Stage()
    async with app.run_test(size=(60, 8)) as pilot:
        app.view.load(run_of(3000))
        await pilot.pause()
        assert app.view.search("answer 2999") == 1 and app.view.search("answer **2998**") == 1
        folded.clear()
        assert app.view.search("message 77") == 1 + 10 and app.view.search("answer 1234") == 1
        assert len(folded) < 200, "only what is marked, and the few answers that may hold it"
        turn = AssistantTextTurn(content="")
        app.view.begin_turn(turn)
        for count, word in enumerate(("**this** one", " and ~~that~~ one")):
            app.view.extend_turn(turn.id, word)
            assert (app.view.search("this one"), app.view.search("that one")) == (1, count)
        app.view.end_turn(AssistantTextTurn(id=turn.id, content="**now** other"))
        assert (app.view.search("this one"), app.view.search("now other")) == (0, 1)


HOSTILE = [
    "Some **bold** text. [x](" + " " * 40_000 + "y",
    "[x](a" + "\t" * 40_000 + '"y',
    "[x](" * 10_000,
    "e" + "\u0301\u0323" * 20_000,
    "\u1100" * 20_000,
    "`a" * 20_000,
    "> " * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_costs_more_than_its_length(text: str) -> None:
    began = time.process_time()
    SearchableText([text], markdown=True).contains(Query.of("bold text e"))
    search._mapped(text)
    text_matching.fold(text)
    assert (
        time.process_time() - began < 2
    )  # most of these took a minute, where each part is looked at for each other


@pytest.mark.parametrize("piece", ["é", "e\u0301\u0323", "ﾊﾞ", "\u1112\u1161\u11ab", "ab", "漢"])
@pytest.mark.parametrize("shift", range(4))
def test_a_long_text_is_folded_as_a_short_one(piece: str, shift: int) -> None:
    text = "x" * shift + piece * CHUNK
    assert search.fold(text) == "x" * shift + search.fold(piece) * CHUNK

"""The form of expectations: what stands in its fields is what is stored, at once, and what cannot be is told there."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.test_inputs import TYPES, Expectation
from tests.support.program import Program, program
from tests.tui.test_output_pane import make_kind
from tui.screens.dialogs.expectations import (
    MEANINGS,
    EditExpectation,
    Expectations,
    FieldFault,
    expectation_of,
    titles_of,
    value_text,
)
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AnswerEditor, AskLine
from tui.widgets.plain_text import LiteralStatic
from tui.widgets.virtual_list import VirtualList

FILLED = {
    **{kind: Expectation(type=kind, value="a text") for kind in TYPES},
    **{kind: Expectation(type=kind, value=["a", "b c"]) for kind in TYPES if "-a" in kind},
    "is-json": Expectation(type="is-json", value={"type": "object"}),
    "contains-json": Expectation(type="contains-json"),
    "word-count": Expectation(type="word-count", min=1, max=5, weight=2),
    "char-count": Expectation(type="char-count", value=7),
    "latency": Expectation(type="latency", threshold=900),
    "cost": Expectation(type="cost", threshold=0.01),
    "levenshtein": Expectation(type="levenshtein", value="abc", threshold=2),
    "equals": Expectation(type="equals", value=4),
}


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_what_stands_in_the_fields_is_the_expectation_again(kind: str) -> None:
    was = FILLED[kind]
    texts = {
        name: "" if (value := getattr(was, name, None)) is None else f"{value}" for name in titles_of(kind)
    }
    texts |= {"text": value_text(was.value)} if "text" in texts else {}
    assert expectation_of(kind, texts, was) == was
    assert set(MEANINGS) == TYPES and expectation_of(f"not-{kind}", texts, was).type == f"not-{kind}"


@pytest.mark.parametrize(
    ("kind", "texts", "field", "why"),
    [
        ("icontains", {"text": ""}, "text", "needs a text"),
        ("contains-all", {"text": " \n"}, "text", "needs a list of texts"),
        ("is-json", {"text": "{"}, "text", "this is not JSON"),
        ("word-count", {"min": "", "max": "", "value": ""}, "min", "needs min, max or value"),
        ("word-count", {"min": "9", "max": "two", "value": ""}, "max", "max must be a whole number"),
        ("word-count", {"min": "9", "max": "2", "value": ""}, "min", "a min above its max"),
        ("latency", {"threshold": ""}, "threshold", "needs a threshold"),
        ("levenshtein", {"text": "a", "threshold": "-1"}, "threshold", "needs a threshold"),
    ],
)
def test_what_cannot_be_is_told_at_its_field(kind: str, texts: dict[str, str], field: str, why: str) -> None:
    with pytest.raises(FieldFault) as caught:
        expectation_of(kind, texts, Expectation(type=kind))
    assert caught.value.field == field and why in caught.value.why


def rows(p: Program) -> list[str]:
    """The rows of the form."""
    form = next(one for one in p.app.screen_stack if isinstance(one, Expectations))
    return [f"{row.head} {row.text} {row.tail}".strip() for row in form.query_one(VirtualList).rows]


async def test_a_change_is_stored_and_judged_at_once_and_is_one_step_of_undo(tmp_path: Path) -> None:
    store = make_kind(tmp_path)
    before = store.path("kind").read_text()
    async with program(store, size=(80, 24)) as p:
        await p.until(lambda: len(p.main.outputs.outputs_of("refund")) == 2)
        await p.press("f4", "E")
        await p.until(
            lambda: isinstance(p.app.screen, Expectations) and "✓ icontains “sorry” has “sorry”" in rows(p)
        )
        assert rows(p)[1] == "✗ word-count max 4 5 words, more than 4"
        # typed ahead: add, the type, the value
        await p.press("n", *"starts", "enter")
        await p.until(lambda: isinstance(p.app.screen, EditExpectation))
        await p.press("enter")
        await p.until(lambda: p.app.screen.query_one("#wrong-text").display)
        assert "needs a text" in str(p.app.screen.query_one("#wrong-text", LiteralStatic).content)
        await p.write("So")
        await p.press("enter")
        await p.until(
            lambda: (
                len(rows(p)) == 6
                and rows(p)[2] == "✓ starts-with “So” begins with “So *sorry* about that, dear”"
            )
        )
        assert p.app.screen.query_one(VirtualList).cursor == 2
        # change one, and its type
        await p.press("up", "enter")
        await p.until(lambda: isinstance(p.app.screen, EditExpectation))
        p.app.screen.query_one("#kind").press()  # type: ignore[attr-defined]
        await p.until(lambda: isinstance(p.app.screen, Picker))
        await p.press(*"not-word", "enter")
        await p.until(lambda: isinstance(p.app.screen, EditExpectation))
        await p.press("enter")
        await p.until(lambda: rows(p)[1] == "✓ not-word-count max 4 5 words, more than 4")
        # samples
        await p.press("end", "up", "enter")
        await p.until(lambda: isinstance(p.app.screen, AskLine))
        await p.press("3", "enter")
        await p.until(lambda: "Outputs of each run: 3" in rows(p))
        # another program removed it meanwhile
        text = p.file("kind").read_text()
        disk = store.hold("change")
        await p.press("home", "x")
        await p.until(disk.waits.is_set)
        p.file("kind").write_text(text.replace('{ type = "icontains", value = "sorry" }, ', ""))
        disk.goes_on.set()
        await p.notified("changed or removed meanwhile")
        p.file("kind").write_text(text)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main and p.main.documents.persona.test_inputs[0].samples == 3)
        p.main.set_focus(p.main.tests.rows)
        for _ in range(3):
            await p.press("ctrl+z")
        await p.until(lambda: p.file("kind").read_text() == before)


async def test_what_is_typed_in_a_form_is_there_again_after_esc_and_after_a_restart(tmp_path: Path) -> None:
    store = make_kind(tmp_path)

    async def form(p: Program, *keys: str) -> str:
        """Open a form from the list of expectations; return its text."""
        await p.press(*keys)
        await p.until(lambda: isinstance(p.app.screen, EditExpectation))
        return p.app.screen.query_one(AnswerEditor).text

    async with program(store) as p:
        await p.press("f4", "E")
        await p.until(lambda: isinstance(p.app.screen, Expectations))
        assert await form(p, "n", *"starts", "enter") == ""
        await p.write("So")
        await p.press("escape")
        await p.until(lambda: isinstance(p.app.screen, Expectations))
        assert await form(p, "home", "enter") == "sorry"
        await p.write("!")
        await p.app.shutdown.leave(0)
    async with program(store) as p:
        await p.press("f4", "E")
        await p.until(lambda: isinstance(p.app.screen, Expectations))
        assert await form(p, "enter") == "sorry!"
        await p.press("enter")
        await p.until(lambda: store.get("kind").test_inputs[0].expect[0].value == "sorry!")
        assert await form(p, "n", *"starts", "enter") == "So"
        await p.press("enter")
        await p.until(lambda: store.get("kind").test_inputs[0].expect[-1].value == "So")
        assert await form(p, "n", *"starts", "enter") == ""


async def test_a_broken_expectation_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    store = make_kind(tmp_path)
    path = store.path("kind")
    path.write_text(path.read_text().replace('"word-count"', '"words"'))
    async with program(store, size=(160, 50)) as p:
        await p.press("f4", "E")
        form = await p.dialog(Expectations)
        rows = form.query_one(VirtualList)
        assert [row.text for row in rows.rows[:2]] == [
            "icontains “sorry”",
            "there is no expectation of type 'words' (line 7): fix it in the file",
        ]
        await p.press("down", "enter", "x")
        assert p.app.screen is form and len(rows.rows) == 5

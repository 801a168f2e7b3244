"""The box with what a task asks: what it draws, what picks and answers, and the change it shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from agent.jobs.job import Approval, Question
from personas.versions.merge import unified_diff
from tui.terminal.diff_view import close_context
from tui.widgets.question_box import GRACE, Choices, QuestionBox

LONG = "Warm and short, with one concrete step at the end and no exclamation marks at all because they grate"


class Stage(App[None]):
    """A screen with a box."""

    CSS = "QuestionBox { dock: bottom; }"

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.box = QuestionBox(clock=lambda: self.now)
        self.answers: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.box

    def on_question_box_answered(self, message: QuestionBox.Answered) -> None:
        self.answers.append(message.text)


def drawn(choices: Choices) -> list[str]:
    return [choices.render_line(y).text.rstrip() for y in range(choices.size.height)]


def question(*options: str, text: str = "Which?") -> Question:
    return Question(text=text, options=options, tool_use_id="a")


async def test_short_answers_stand_in_one_row_and_long_ones_below_each_other() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.box.ask(question("yes", "no"))
        await pilot.pause()
        assert drawn(app.box.choices) == ["  1 yes    2 no"]
        app.box.ask(question(LONG, "Dry"))
        await pilot.pause()
        rows = drawn(app.box.choices)
        assert rows[0].startswith("  1 Warm and short") and rows[-1] == "  2 Dry"
        assert " ".join(" ".join(rows[:-1]).split()) == f"1 {LONG}", "a long one is wrapped, no word is lost"


async def test_what_is_picked_comes_into_view_where_there_is_little_room() -> None:
    app = Stage()
    async with app.run_test(size=(40, 20)) as pilot:
        app.box.ask(question(*[f"{LONG[:30]} {number}" for number in range(9)]))
        app.box.fit(7)
        await pilot.pause()
        app.now = GRACE
        app.box.press("9")
        await pilot.pause()
        assert app.box.choices.size.height == 3
        assert any(row.startswith("› 9") for row in drawn(app.box.choices))


async def test_what_is_picked_stays_in_view_when_the_room_gets_less_or_more() -> None:
    app = Stage()
    async with app.run_test(size=(40, 20)) as pilot:
        app.box.ask(question(*[f"{LONG[:20]} {number}" for number in range(1, 13)]))
        app.box.fit(20)
        await pilot.pause()
        app.now = GRACE
        app.box.press("12")
        app.box.press("up")
        await pilot.pause()
        for rows, shown in ((5, [11]), (8, [9, 10, 11, 12]), (5, [11]), (20, [*range(1, 13)])):
            app.box.fit(rows)
            await pilot.pause()
            found = [int(row[2:].split()[0]) for row in drawn(app.box.choices)]
            assert 11 in found and any(row.startswith("› 11") for row in drawn(app.box.choices)), (
                rows,
                found,
            )
            assert len(found) == len(shown), "no room is left empty"


@pytest.mark.parametrize(
    ("key", "answers"), [("enter", []), ("2", ["b"]), ("down", ["a"]), ("up", ["c"]), ("7", [])]
)
async def test_a_key_picks_and_enter_answers(key: str, answers: list[str]) -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.box.ask(question("a", "b", "c"))
        await pilot.pause()
        app.now = GRACE
        app.box.press(key)
        app.box.press("enter")
        await pilot.pause()
        assert app.answers == answers


async def test_a_click_picks_and_a_second_one_answers_but_none_before_it_was_seen() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.box.ask(question("a", "b"))
        await pilot.pause()
        for now, answers in ((GRACE - 0.01, []), (GRACE, []), (GRACE, ["b"])):
            app.now = now
            await pilot.click(Choices, offset=(9, 0))
            await pilot.pause()
            assert app.answers == answers


async def test_another_question_begins_without_a_pick_and_unseen() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.box.ask(question("a", "b"))
        await pilot.pause()
        app.now = GRACE
        app.box.press("1")
        app.box.ask(question("a", "b", text="And now?"))
        app.box.press("enter")
        await pilot.pause()
        app.box.press("enter")
        assert app.answers == [] and app.box.choices.picked is None and not app.box.ready


async def test_an_approval_names_its_answers_and_tells_them_as_they_are_read() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        approval = Approval(tool="undo", diff="@@ -1 +1 @@\n-a\n+b\n", added=1, removed=1)
        options = ("once", "task", "always", "no")
        app.box.ask(Question(text="Allow undo?", options=options, tool_use_id="a", approval=approval))
        await pilot.pause()
        assert drawn(app.box.choices) == ["  1 once    2 this task    3 always    4 no"]
        app.now = GRACE
        app.box.press("2")
        app.box.press("enter")
        await pilot.pause()
        assert app.answers == ["task"]


LINES = st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "@@ e", "", " f"]), max_size=30)


@given(LINES, LINES)
def test_close_context_leaves_every_changed_line_in_its_order(old: list[str], new: list[str]) -> None:
    diff = unified_diff("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
    body = diff.split("\n")[2:]
    changed = [line for line in body if line[:1] in ("+", "-")]
    kept = close_context(diff).split("\n")
    assert [line for line in kept if line[:1] in ("+", "-")] == changed
    places = iter(body)
    assert all(line in places for line in kept if line and line[0] != "@"), "nothing changes places"

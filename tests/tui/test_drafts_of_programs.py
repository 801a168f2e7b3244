"""Several programs write a draft about one persona: none of the texts is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.models.scripted import answer
from tests.tui.program import make_store, program
from tui.app.ui_state import Remembered, beside, recall, remember


def drafts(**texts: str) -> Remembered:
    return Remembered(drafts={key: text for key, text in texts.items() if text})


NOTHING = Remembered()


@given(st.lists(st.tuples(st.integers(0, 2), st.text("ab", max_size=4)), max_size=9))
def test_what_each_program_wrote_last_is_stored_or_put_aside(writes: list[tuple[int, str]]) -> None:
    disk, bases = NOTHING, [NOTHING] * 3
    for writer, text in writes:
        ours = drafts(one=text and f"{writer}{text}", two="b" if writer == 2 else "")
        disk, bases[writer] = beside(ours, bases[writer], disk), ours
    left = [disk.drafts.get("one", ""), *disk.aside.get("one", ())]
    for base in bases:
        assert any(text.startswith(base.drafts.get("one", "")) for text in left)
    assert ("two" in disk.drafts) == any(writer == 2 for writer, _ in writes)


def test_what_this_program_left_as_it_was_stays_as_the_other_one_has_it() -> None:
    assert beside(drafts(one="x"), drafts(one="x"), drafts(one="xy")).drafts == {"one": "xy"}
    assert beside(drafts(one="x"), drafts(one="x"), drafts()).drafts == {}, "sent there"
    assert beside(drafts(), drafts(one="x"), drafts(one="x")).drafts == {}, "sent here"
    assert beside(drafts(), drafts(one="x"), drafts(one="other")).drafts == {"one": "other"}
    assert beside(drafts(one="x"), drafts(one="x"), Remembered(known=False)).drafts == {"one": "x"}


def test_the_question_a_draft_answers_goes_with_the_draft() -> None:
    ours = replace(drafts(one="x", two="y"), answers={"one": "q1", "two": "q2"})
    theirs = replace(drafts(one="z"), answers={"one": "q3"})
    assert beside(ours, NOTHING, NOTHING).answers == {"one": "q1", "two": "q2"}
    assert beside(ours, ours, theirs).answers == {"one": "q3"}
    assert beside(ours, NOTHING, theirs).answers == {"one": "q1", "two": "q2"}
    assert beside(drafts(one="x"), ours, ours).answers == {}, "it came before the question"
    assert ours.with_drafts({"one": "x", "two": "before\ny"}).answers == {"one": "q1"}


async def test_a_draft_of_another_window_is_brought_back_by_up(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes.")) as p:
        p.main.focus_chat()
        p.main.chat_bar.set_draft("mine")
        await p.main.conversing.remember()
        remember(store.home, beside(drafts(one="theirs"), NOTHING, recall(store.home)))
        p.main.chat_bar.set_draft("mine, and more")
        await p.main.conversing.remember()
        assert recall(store.home).drafts == {"one": "mine, and more"}
        assert recall(store.home).aside == {"one": ("theirs",)}
        await p.told("Another window")
        await p.press("up")
        await p.until(lambda: p.main.chat_bar.draft == "theirs")
        await p.press("down")  # what is shown is remembered once a second
        await p.until(lambda: p.main.chat_bar.draft == "mine, and more")
    async with program(store) as p:
        assert p.main.chat_bar.draft == "mine, and more"
        p.main.focus_chat()
        await p.press("up")
        assert p.main.chat_bar.draft == "theirs"

"""Drafts that were put away come back with Up, whatever was opened or ended since."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.models.scripted import answer
from tests.tui.program import make_store, program
from tui.app.ui_state import recall
from tui.drafts.stashed_drafts import KEPT, LARGEST, PutAway, among, read_drafts, store_drafts, together
from tui.widgets.input_history import InputHistory

KEY = "sk-ant-api03-" + "a1B2" * 20


async def test_a_draft_that_was_put_away_is_there_after_a_switch_and_a_new_start(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), persona_id="one") as p:
        p.main.focus_chat()
        for text in ("a long thought", KEY):
            p.main.chat_bar.set_draft(text)
            await p.press("ctrl+c")
            await p.until(lambda: not p.main.chat_bar.draft)
        await p.run_to_end("hello")
        await p.open("two")
        assert p.main.conversing.sent_messages() == []
        await p.open("one")
        await p.until(lambda: p.main.conversing.sent_messages() == ["hello", KEY, "a long thought"])
    assert KEY not in (store.home.state / "screen.json").read_text(encoding="utf-8")
    async with program(store, persona_id="one") as p:
        p.main.focus_chat()
        await p.press("up", "up")
        assert p.main.chat_bar.draft == "a long thought"


async def test_what_is_put_away_before_the_home_is_read_belongs_to_the_persona_shown_first(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    async with program(store, persona_id="two", ready=False) as p:
        p.main.chat_bar.set_draft("early")
        assert p.main.conversing.clear_draft()
        await p.until(lambda: p.main.conversing.talk is not None)
        assert p.main.conversing.sent_messages() == ["early"]
        await p.until(lambda: "two" in recall(store.home).put_away)
    assert [one.text for one in recall(store.home).put_away["two"]] == ["early"]


def test_the_newest_are_kept_each_once_and_no_more_than_there_is_room_for() -> None:
    many = tuple(PutAway(str(number), f"{number:03}") for number in range(KEPT + 5))
    again = PutAway("2", "999")
    both = together({"one": many}, {"one": (again,), "two": (again,)}, {"one": many})
    assert both["one"] == (*many[-KEPT + 1 :], again) and both["two"] == (again,)
    large = PutAway("x" * (LARGEST + 1), "998")
    assert together({"one": (*many, large)}) == {"one": (large,)}
    assert together({"one": (large, again)}) == {"one": (again,)}
    assert among(both["two"], [("000", "before"), ("9999", "after")]) == ["before", "2", "after"]


@given(
    st.dictionaries(
        st.text(max_size=3), st.lists(st.tuples(st.text("ab", max_size=2), st.text("01", max_size=2)))
    )
)
def test_what_is_stored_is_read_again_and_joined_without_end(
    stored: dict[str, list[tuple[str, str]]],
) -> None:
    drafts = read_drafts(json.loads(json.dumps(stored)))
    assert read_drafts(json.loads(json.dumps(store_drafts(drafts)))) == drafts == together(drafts, drafts)
    for one in (None, [], {"one": None}, {"one": [None, ["a"], [1, "b"]]}):
        assert not read_drafts(one)


TEXTS = st.sampled_from(["a", "b", "c", "d"])


@given(
    st.lists(TEXTS, max_size=5), st.lists(TEXTS, max_size=5), st.lists(st.sampled_from("udw"), max_size=12)
)
def test_nothing_written_is_lost_when_the_messages_are_read_again(
    messages: list[str], others: list[str], keys: list[str]
) -> None:
    sent, shown = InputHistory(messages), "draft"
    for number, key in enumerate(keys):
        if key == "w":
            shown += str(number)
        else:
            shown = (sent.previous(shown) if key == "u" else sent.following(shown)) or shown
    written = set(sent.unsent(shown).split("\n"))
    now = sent.renew(others, shown)
    assert set(sent.unsent(now).split("\n")) >= written
    assert now == shown or not set(messages) <= set(others) or len(set(messages)) < len(messages)

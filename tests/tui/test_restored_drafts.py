"""Drafts that were put away come back with Up, whatever was opened or ended since."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.models.scripted import answer
from tests.support.drafts import recall
from tests.support.program import make_store, program
from tui.chat.input_history import InputHistory
from tui.drafts.chat_drafts import KEPT, LARGEST, ChatDrafts
from tui.drafts.store import DraftStore

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
        assert p.main.conversation.sent_messages() == []
        await p.open("one")
        await p.until(lambda: p.main.conversation.sent_messages() == ["hello", KEY, "a long thought"])
    assert KEY.encode() not in DraftStore(store.home.root).path.read_bytes()
    assert recall(store.home).stashed == {"one": ["a long thought"]}
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
        assert p.main.conversation.drafts.clear_draft()
        await p.until(lambda: p.main.conversation.current is not None)
        assert p.main.conversation.sent_messages() == ["early"]
        await p.until(lambda: "two" in recall(store.home).stashed)
    assert recall(store.home).stashed["two"] == ["early"]


def test_the_newest_are_kept_each_once_and_no_more_than_there_is_room_for() -> None:
    drafts = ChatDrafts()

    def kept() -> list[str]:
        return [stash.text for stash in drafts.stashes("one")]

    many = [str(number) for number in range(KEPT + 5)]
    for text in many:
        drafts.stash("one", text, f"{int(text):03}")
    drafts.stash("one", "7", "990")
    assert kept() == [*(text for text in many[-KEPT:] if text != "7"), "7"]
    assert drafts.with_stashes("one", [("000", "before"), ("9999", "after")])[::21] == ["before", "after"]
    large = "x" * (LARGEST + 1)
    drafts.stash("one", large, "998")
    assert kept() == [large]
    drafts.stash("one", "2", "999")
    assert kept() == ["2"]


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
    now = sent.replace_messages(others, shown)
    assert set(sent.unsent(now).split("\n")) >= written
    assert now == shown or not set(messages) <= set(others) or len(set(messages)) < len(messages)

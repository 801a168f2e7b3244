"""Several programs write a draft about one persona: none of the texts is lost, and none takes that of another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.models.scripted import answer
from personas.files.home import Home
from tests.support.drafts import recall
from tests.support.program import make_store, program
from tui.drafts.draft import CHAT
from tui.drafts.store import DraftStore


@contextmanager
def other_program(home: Home, text: str) -> Iterator[DraftStore]:
    """Another program runs that has this draft."""
    store = DraftStore(home.root)
    store.save("one", CHAT, text)
    yield store
    store.close()


async def test_a_program_does_not_take_the_draft_of_one_that_runs(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with other_program(store.home, "theirs"):
        async with program(store) as p:
            assert p.main.chat_bar.draft == ""
            await p.write("mine")
            await p.main.remember()
    async with program(store) as p:
        assert p.main.chat_bar.draft == "mine"
        await p.press("up")
        assert p.main.chat_bar.draft == "theirs"
        await p.main.remember()
    left = recall(store.home)
    assert (left.drafts, left.stashed) == ({"one": "mine"}, {"one": ["theirs"]})


async def test_a_draft_sent_or_cleared_here_is_not_given_back_and_that_of_the_other_stays(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    with other_program(store.home, "theirs"):
        async with program(store, answer("Yes.")) as p:
            p.main.chat_bar.set_draft("mine")
            await p.main.remember()
            await p.run_to_end("mine, sent")
            await p.main.remember()
            assert recall(store.home).drafts == {"one": "theirs"}
    async with program(store) as p:
        assert p.main.chat_bar.draft == "theirs"


async def test_a_draft_of_any_size_is_there_at_the_next_start(tmp_path: Path) -> None:
    store, text = make_store(tmp_path), "a line of a long draft\n" * 50_000
    async with program(store) as p:
        p.main.chat_bar.set_draft(text)
        await p.main.remember()
    async with program(store) as p:
        assert p.main.chat_bar.draft == text

"""The first reading of the home: where the disk refuses it, the program asks again and is whole afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.core.model_requests import schema_of
from agent.models.scripted import answer
from agent.tools import REGISTRY
from personas.errors import StorageError
from tests.support.drafts import leave_chat, recall
from tests.support.program import make_store, program
from tui.app import ui_state
from tui.chat.chat_bar_drafts import ChatBarDrafts
from tui.document.async_store import AsyncStore
from tui.document.recovery import DraftRecovery
from tui.drafts.draft import OutboxMessage


@pytest.mark.parametrize(
    ("place", "name"), [(AsyncStore, "ids"), (ChatBarDrafts, "recall"), (DraftRecovery, "without_file")]
)
async def test_a_disk_that_refuses_once_at_the_start_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: type, name: str
) -> None:
    work, refused = getattr(place, name), 0

    async def refuse(*given: object) -> object:
        nonlocal refused
        if refused < 2:
            refused += 1
            raise StorageError("Not read: Input/output error.")
        return await work(*given)

    monkeypatch.setattr(place, name, refuse)
    async with program(make_store(tmp_path), answer("Yes."), ready=False) as p:
        await p.notified("Not read: Input/output error. It will be tried again.")
        await p.until(lambda: p.main.conversation.current is not None)
        assert list(p.main.personas.entries) == ["one", "two"]
        assert [message for message in p.messages if "Not read" in message] == p.messages[:1]
        await p.run_to_end("Hello")
        assert refused == 2


@pytest.mark.parametrize(("place", "last"), [("ids", "two"), ("outbox", "")])
async def test_what_is_written_is_remembered_where_the_disk_never_lets_the_program_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, last: str
) -> None:
    async def refuse(*_: object) -> None:
        raise StorageError("Not read: Input/output error.")

    def fail(*_: object) -> None:
        raise OSError("Input/output error")

    store = make_store(tmp_path)
    queued = [OutboxMessage("two", "id", "queued", "", "queued")]
    ui_state.save(store.home, ui_state.UiState(last))
    leave_chat(store.home, {"two": "of before"}, queued if place != "ids" else [])
    with monkeypatch.context() as broken:
        broken.setattr(AsyncStore, "ids", refuse)
        if place == "outbox":
            broken.setattr("tui.drafts.outbox.recover_messages", fail)
        async with program(store, ready=False) as p:
            await p.notified("Not read")
            await p.write("words")
            of_whom = {"two": "of before\nwords"} if last else {"": "words", "two": "of before"}
            await p.until(lambda: recall(store.home).drafts == of_whom)
            assert p.main.conversation.drafts.memory_only() == {}
    async with program(store, persona_id="two") as p:
        drafts = ["queued"] if place != "ids" else []
        assert p.main.chat_bar.draft == "\n".join([*drafts, "of before", "words"])
        await p.until(lambda: set(recall(store.home).drafts) == {"two"})


async def test_a_draft_of_a_home_without_personas_is_there_at_the_next_start(tmp_path: Path) -> None:
    store = make_store(tmp_path, {})
    async with program(store) as p:
        await p.write("words")
        await p.app.shutdown.leave(129)
    assert p.app.shutdown.last_words == ""
    async with program(store) as p:
        await p.until(lambda: p.main.chat_bar.draft == "words")


async def test_the_schemas_of_tools_are_made_before_the_first_message(tmp_path: Path) -> None:
    schema_of.cache_clear()
    needed = len({spec.input for spec in REGISTRY.values()})
    async with program(make_store(tmp_path), answer("Yes.")) as p:
        await p.until(lambda: schema_of.cache_info().misses == needed)
        await p.run_to_end("Hello")
        assert schema_of.cache_info().misses == needed

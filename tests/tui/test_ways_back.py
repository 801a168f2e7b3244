"""Ways back that are asked for where there is none, or where the disk refuses once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.models.scripted import answer
from personas.errors import StorageError
from tests.tui.program import make_store, program
from tui.screens.confirm import Confirm


async def test_a_cleared_conversation_can_still_be_brought_back_after_the_disk_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)

    def refuse(*_: Any) -> None:
        raise StorageError("The disk is full.")

    async with program(store, answer("Yes.")) as p:
        await p.run_to_end("hello")
        assert p.main.conversing.talk is not None
        chat = p.main.conversing.talk.chat
        assert chat is not None
        p.main.action_clear_conversation()
        await p.dialog(Confirm)
        await p.press("y")
        await p.told("A new conversation begins.")
        with monkeypatch.context() as full:
            full.setattr(store, "link_session", refuse)
            p.main.action_unclear_conversation()
            await p.told("The disk is full.")
        p.main.action_clear_conversation()
        await p.told("The conversation is empty.")
        p.main.action_unclear_conversation()
        await p.until(lambda: chat.turns and chat.turns[0].content == "hello")  # type: ignore[union-attr]


@pytest.mark.parametrize("key", ["f8", "f9"])
async def test_there_is_nothing_to_undo_where_no_persona_is_open(tmp_path: Path, key: str) -> None:
    async with program(make_store(tmp_path, {})) as p:
        await p.until(p.main.conversing.settled.is_set)
        await p.press(key)
        await p.told("Open a persona first.")

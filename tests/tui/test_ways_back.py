"""Ways back that are asked for where there is none, or where the disk refuses once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.core.turns import UserTurn
from agent.models.scripted import answer
from agent.transcript.session_store import open_session, start_session
from personas.errors import StorageError
from personas.files.journal import Journal
from tests.support.program import Program, make_store, program
from tui.screens.dialogs.confirm import Confirm


async def test_a_cleared_conversation_can_still_be_brought_back_after_the_disk_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)

    def refuse(*_: Any) -> None:
        raise StorageError("The disk is full.")

    async with program(store, answer("Yes.")) as p:
        await p.run_to_end("hello")
        assert p.main.conversation.current is not None
        chat = p.main.conversation.current.chat
        assert chat is not None
        p.main.action_clear_conversation()
        await p.dialog(Confirm)
        await p.press("y")
        await p.notified("A new conversation begins.")
        with monkeypatch.context() as full:
            full.setattr(store, "link_session", refuse)
            p.main.action_unclear_conversation()
            await p.notified("The disk is full.")
        p.main.action_clear_conversation()
        await p.notified("The conversation is empty.")
        p.main.action_unclear_conversation()
        await p.until(lambda: chat.turns and chat.turns[0].content == "hello")  # type: ignore[union-attr]


async def test_no_conversation_is_out_of_reach_in_this_program_or_the_next(tmp_path: Path) -> None:
    store = make_store(tmp_path)

    def first(p: Program) -> str:
        talk = p.main.conversation.current
        turns = talk.chat.turns if talk is not None and talk.chat is not None else ()
        return turns[0].content if turns else ""  # type: ignore[union-attr, no-any-return]

    async def clear(p: Program) -> None:
        p.main.action_clear_conversation()
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: not first(p))

    async def goes_to(p: Program, said: str) -> None:
        p.main.action_unclear_conversation()
        await p.until(lambda: first(p) == said)
        await p.until(lambda: p.main.conversation.view.layout_model.entries[0].text() == said)

    async with program(store, *[answer("Yes.")] * 3) as p:
        p.main.action_unclear_conversation()
        await p.notified("There is no other conversation about this persona.")
        await p.run_to_end("first")
        await clear(p)
        await p.run_to_end("second")
        await goes_to(p, "first")
        await p.notified("This is conversation 1 of 2; /unclear leads to the others.")
        await goes_to(p, "second")
        await p.run_to_end("more")
        await clear(p)
    async with program(store) as p:
        await goes_to(p, "second")
        await goes_to(p, "first")
        await goes_to(p, "second")


async def test_a_conversation_that_the_disk_has_not_got_is_not_left_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    append = Journal.append

    def refuse(journal: Journal, record: dict[str, Any], *, sync: bool = False) -> None:
        if journal.path.name.startswith("session_"):
            raise StorageError("The disk is full.")
        append(journal, record, sync=sync)

    older = start_session(store, "one")
    open_session(store, "one", older).add(UserTurn(content="long ago"))
    start_session(store, "one")
    async with program(store, answer("Yes."), answer("Yes."), answer("Yes.")) as p:
        await p.run_to_end("hello")
        talk = p.main.conversation.current
        assert talk is not None and talk.chat is not None
        current = talk.chat.session_id
        with monkeypatch.context() as full:
            full.setattr(Journal, "append", refuse)
            await p.run_to_end("refused")
            p.main.action_unclear_conversation()
            await p.notified("not all of it could be saved yet: The disk is full.")
            assert talk.chat.session_id == current == store.session_of("one")
        p.main.action_unclear_conversation()
        await p.notified("This is conversation 1 of 2")
        assert talk.chat.session_id == older == store.session_of("one")


@pytest.mark.parametrize("key", ["f8", "f9"])
async def test_there_is_nothing_to_undo_where_no_persona_is_open(tmp_path: Path, key: str) -> None:
    async with program(make_store(tmp_path, {})) as p:
        await p.until(p.main.conversation.settled.is_set)
        await p.press(key)
        await p.notified("Open a persona first.")

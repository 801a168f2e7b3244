"""The first reading of the home: where the disk refuses it, the program asks again and is whole afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import answer
from personas.errors import StorageError
from tests.tui.program import make_store, program
from tui.giving_back import GivingBack
from tui.screens.remembering import Remembering
from tui.workspace import Workspace


@pytest.mark.parametrize(
    ("place", "name"), [(Workspace, "ids"), (Remembering, "recall"), (GivingBack, "without_file")]
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
    monkeypatch.setattr("tui.screens.main.LOOK_EVERY", 0.05)
    async with program(make_store(tmp_path), answer("Yes."), ready=False) as p:
        await p.told("Not read: Input/output error. This is tried again.")
        await p.until(lambda: p.main.conversing.talk is not None)
        assert list(p.main.personas.entries) == ["one", "two"]
        assert [message for message in p.messages if "Not read" in message] == p.messages[:1]
        await p.run_to_end("Hello")
        assert refused == 2

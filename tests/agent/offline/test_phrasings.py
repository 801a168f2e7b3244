"""Each phrasing does what it must, through the real loop, the real tools and a real persona file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tomli_w

from agent.chat.chat import Chat
from agent.core.turns import AssistantTextTurn, ToolCallTurn
from agent.models.offline import OfflineModel
from personas.files.home import open_home
from personas.store import Store
from tests.agent.offline.phrasings import Case, State, problems, read_cases

HERE = Path(__file__).parent
OURS = read_cases(HERE / "phrasings_ours.toml")
BLIND = [*read_cases(HERE / "phrasings_blind.toml"), *read_cases(HERE / "phrasings_second.toml")]


def written(case: Case, root: Path) -> Store:
    """Write the case's persona as a file and return the store it lies in."""
    (root / "personas").mkdir(parents=True)
    inputs = [{"id": identity, "content": content} for identity, content in case.inputs]
    record = {"name": case.name, "system_prompt": case.prompt, "test_inputs": inputs}
    (root / "personas" / "one.toml").write_bytes(tomli_w.dumps(record).encode())
    return Store(open_home(root, env={}))


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What survives a power cut is tested elsewhere; here hundreds of small homes are written."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.mark.parametrize("case", [*OURS, *BLIND], ids=lambda case: case.label)
async def test_a_phrasing_does_what_it_must_and_nothing_else(case: Case, tmp_path: Path) -> None:
    store = written(case, tmp_path / "home")
    chat = Chat(store, "one", OfflineModel())
    for message in case.messages:
        end = await chat.send(message)
        assert end.outcome == "completed"
    persona = store.get("one")
    now = State(persona.name, persona.system_prompt, tuple(item.content for item in persona.test_inputs))
    called = [turn.tool_name for turn in chat.turns if isinstance(turn, ToolCallTurn)]
    said = [turn.content for turn in chat.turns if isinstance(turn, AssistantTextTurn)]
    assert problems(case, now, called, said[-1]) == []


def test_there_are_enough_phrasings() -> None:
    def unchanging(cases: list[Case]) -> int:
        return sum(1 for case in cases if case.after.get("unchanged"))

    assert len(OURS) + len(BLIND) >= 120
    assert len(BLIND) >= 60
    assert unchanging(OURS) >= 20
    assert unchanging(BLIND) >= 20

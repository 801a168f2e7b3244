"""Each phrasing does what it must, through the real loop, the real tools and a real persona file."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli_w

from agent.chat.chat import Chat
from agent.core.turns import AssistantTextTurn, ToolCallTurn
from agent.models.offline import OfflineModel
from personas.files.home import open_home
from personas.store import Store
from tests.agent.offline.phrasings import Case, State, problems, read_cases
from tests.support.examples import THOROUGH

HERE = Path(__file__).parent
DAILY = 12
"""The everyday run says every twelfth phrasing; a thorough run says all of them."""
FILES = {name: read_cases(HERE / f"phrasings_{name}.toml") for name in ("ours", "blind", "second")}


def written(case: Case, root: Path) -> Store:
    """Write the case's persona as a file and return the store it lies in."""
    (root / "personas").mkdir(parents=True)
    inputs = [{"id": identity, "content": content} for identity, content in case.inputs]
    record = {"name": case.name, "system_prompt": case.prompt, "test_inputs": inputs}
    (root / "personas" / "one.toml").write_bytes(tomli_w.dumps(record).encode())
    return Store(open_home(root, env={}))


async def problems_of(case: Case, root: Path) -> list[str]:
    """Send the messages of a case to a new home; return what does not hold after it."""
    store = written(case, root)
    chat = Chat(store, "one", OfflineModel())
    outcomes = [(await chat.send(message)).outcome for message in case.messages]
    persona = store.get("one")
    now = State(persona.name, persona.system_prompt, tuple(item.content for item in persona.test_inputs))
    called = [turn.tool_name for turn in chat.turns if isinstance(turn, ToolCallTurn)]
    said = [turn.content for turn in chat.turns if isinstance(turn, AssistantTextTurn)]
    ended = [f"it ended {outcome}" for outcome in outcomes if outcome != "completed"]
    return ended + problems(case, now, called, said[-1] if said else "")


@pytest.mark.parametrize("name", FILES)
async def test_each_phrasing_does_what_it_must_and_nothing_else(name: str, tmp_path: Path) -> None:
    wrong: dict[str, list[str]] = {}
    for number, case in enumerate(FILES[name][:: max(1, DAILY // THOROUGH)]):
        if found := await problems_of(case, tmp_path / str(number)):
            wrong[case.label] = found
    assert wrong == {}


def test_there_are_enough_phrasings() -> None:
    def unchanging(cases: list[Case]) -> int:
        return sum(1 for case in cases if case.after.get("unchanged"))

    ours, blind = FILES["ours"], [*FILES["blind"], *FILES["second"]]
    assert len(ours) + len(blind) >= 120
    assert len(blind) >= 60
    assert unchanging(ours) >= 20
    assert unchanging(blind) >= 20

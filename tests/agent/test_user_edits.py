"""What the owner changes by hand is told to the agent once, also what is changed while it works; its own changes never."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.chat.run_spec import RunSpec
from agent.models.scripted import Act, ScriptedModel, ToolUse, answer
from agent.transcript.user_edits import KnownPersona
from personas.changes import AddTestInput, SetPrompt
from personas.errors import InvalidValue
from personas.files.home import open_home
from personas.store import Store
from personas.versions import log as version_log
from personas.versions import pruning
from personas.versions.authorship import USER

READ = ToolUse("get_persona")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    store.create("Wren", system_prompt="One.\nTwo.\nThree.\n")
    return store


def put(store: Store, old: str, new: str) -> Act:
    """Be the owner, who writes into the file while the agent answers."""
    path = store.path("wren")
    return Act(lambda: path.write_text(path.read_text("utf-8").replace(old, new), "utf-8"))  # type: ignore[arg-type, return-value]


def edit(old: str, new: str) -> ToolUse:
    return ToolUse("edit_system_prompt", {"old": old, "new": new})


async def told(store: Store, *answers: list[Any], again: Callable[[], None] = lambda: None) -> list[str]:
    """Return what is told in a second and a third message, after a first in which `answers` were given."""
    model = ScriptedModel([*answers, answer("second"), answer("third")])
    chat = Chat(store, "wren", model)
    await chat.send("first")
    again()
    chat = Chat(store, "wren", model)
    chat.load()
    for words in ("second", "third"):
        await chat.send(words)
    heard = [json.dumps(list(request.messages)) for request in model.requests[-2:]]
    return [heard[0], heard[1].removeprefix(heard[0][:-1])]


async def test_what_is_changed_after_the_agents_last_look_is_told_with_the_next_message(store: Store) -> None:
    second, third = await told(store, answer(READ), answer("done", put(store, "Two.", "By hand.")))
    assert "-Two." in second and "+By hand." in second
    assert "by hand" not in third


async def test_the_agents_own_changes_between_are_not_told(store: Store) -> None:
    second, _ = await told(
        store,
        answer(READ),
        answer(edit("One.", "Uno."), put(store, "Two.", "By hand.")),
        answer(edit("Three.", "Tre.")),
        answer("done", put(store, "Tre.", "Also by hand.")),
    )
    notice = second[second.index("[The owner changed") :]
    assert [word for word in ("-Two.", "+By hand.", "-Tre.", "+Also by hand.") if word not in notice] == []
    assert [word for word in ("+Uno.", "-One.", "-Three.") if word in notice] == []


async def test_an_undo_of_the_agents_change_by_hand_is_told(store: Store) -> None:
    second, _ = await told(
        store, answer(READ), answer(edit("Two.", "Due.")), answer("done", put(store, "Due.", "Two."))
    )
    assert "-Due." in second and "+Two." in second


async def test_what_the_agent_has_read_is_not_told(store: Store) -> None:
    second, _ = await told(store, answer("looking", put(store, "Two.", "By hand."), READ), answer("done"))
    assert "By hand." in second and "owner changed" not in second


async def test_what_the_agent_has_not_read_of_a_change_is_told(store: Store) -> None:
    def add() -> None:
        store.change("wren", AddTestInput("Try this."), revision=store.get("wren").revision, by=USER)

    both = Act(add)
    second, _ = await told(
        store, answer("looking", put(store, "Two.", "By hand."), both, READ), answer("done")
    )
    assert "owner changed" in second and "Try this." in second


async def test_what_a_run_that_never_began_was_to_tell_is_told_by_the_next(store: Store) -> None:
    async def refuse() -> Any:
        raise InvalidValue("not now")

    model = ScriptedModel([answer(READ), answer("done"), answer("second")])
    chat = Chat(store, "wren", model)
    await chat.send("first")
    path = store.path("wren")
    path.write_text(path.read_text("utf-8").replace("Two.", "By hand."), "utf-8")
    with pytest.raises(InvalidValue):
        await chat.send("lost", RunSpec(prepare=refuse))
    await chat.send("second")
    assert "+By hand." in json.dumps(list(model.requests[-1].messages))


def add_lines(store: Store, *words: str) -> None:
    """Be the owner, who adds lines to the prompt one by one."""
    for word in words:
        persona = store.get("wren")
        prompt = SetPrompt(f"{persona.system_prompt}{word}\n")
        store.change("wren", prompt, revision=persona.revision, by=USER, own_unit=True)


async def test_a_text_that_is_kept_and_never_was_in_the_file_is_no_change_of_it(store: Store) -> None:
    def keep() -> None:
        store.keep("wren", SetPrompt("What the owner typed.\n"), by=USER, reason="kept")

    second, _ = await told(store, answer(edit("Two.", "Due.")), answer("done"), again=keep)
    assert "owner changed" not in second


@pytest.mark.parametrize("between", [False, True])
async def test_all_that_was_changed_is_told_also_when_its_versions_were_pruned(
    store: Store, monkeypatch: pytest.MonkeyPatch, between: bool
) -> None:
    monkeypatch.setattr(version_log, "_RECORDS_LIMIT", 6)
    monkeypatch.setattr(pruning, "_ALWAYS", 1)
    words = [f"Line {n}." for n in range(8)]
    acts = [put(store, "Three.", "By hand.")] if between else []
    second, _ = await told(
        store,
        answer(edit("One.", "Uno.")),
        answer(edit("Two.", "Due."), *acts),
        answer("done"),
        again=lambda: add_lines(store, *words),
    )
    assert [version.by.kind for version in store.log("wren")].count("agent") == 1 + between
    notice = second[second.index("[The owner changed") :]
    assert [word for word in words if f"+{word}" not in notice] == []
    assert ("+By hand." in notice) == between
    assert "-One." not in notice and "-Two." not in notice and "+Due." not in notice


@pytest.mark.parametrize("spoil", [lambda path: path.write_bytes(b"\xff"), Path.unlink])
async def test_what_the_agent_knows_is_kept_where_its_last_look_finds_no_text(
    store: Store, spoil: Callable[[Path], object]
) -> None:
    path = store.path("wren")
    model = ScriptedModel([answer(READ), answer("done", Act(lambda: spoil(path)))])  # type: ignore[arg-type, return-value]
    chat = Chat(store, "wren", model)
    await chat.send("first")
    assert chat.session_id is not None
    assert KnownPersona.load(store, chat.session_id).prompt == "One.\nTwo.\nThree.\n"


async def test_a_change_of_the_prompts_own_file_is_told_once_and_not_where_it_was_read(store: Store) -> None:
    file = store.home.root / "wren.md"
    file.write_text("---\na: 1\n---\nOne.\nTwo.\nThree.\n")
    store.path("wren").write_text('name = "Wren"\nsystem_prompt_file = "wren.md"\n')

    def write(old: str, new: str) -> None:
        file.write_text(file.read_text().replace(old, new))

    second, third = await told(
        store,
        answer(READ),
        answer(edit("One.", "Uno.")),
        answer("done"),
        again=lambda: write("Two.", "By hand."),
    )
    assert "-Two." in second and "+By hand." in second and "By hand" not in third
    assert file.read_text() == "---\na: 1\n---\nUno.\nBy hand.\nThree.\n"
    model = ScriptedModel([answer(READ), answer("done"), answer("again")])
    chat = Chat(store, "wren", model)
    chat.load()
    write("a: 1", "a: 2")
    write("Three.", "Tre.")
    await chat.send("read")
    await chat.send("more")
    assert json.dumps(list(model.requests[-1].messages)).count("changed the persona's file") == 2

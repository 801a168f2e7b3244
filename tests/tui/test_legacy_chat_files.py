"""Drafts and queued messages that an older program left as files in a home are read once, and nothing is lost."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from personas.errors import StorageError
from personas.files.home import Home
from tests.support.drafts import in_dialog, recall
from tests.support.program import make_store, program
from tui.app import ui_state
from tui.app.ui_state import UiState
from tui.drafts import legacy_files
from tui.drafts.legacy_files import import_chat_files
from tui.drafts.store import DraftStore

RECORD = {
    "persona_id": "two",
    "drafts": {"one": "for one", "two": "for two"},
    "queued": {"two": {"session_id": "", "turns": [["turn_1", "soon"], ["turn_2", "later"]]}},
    "layouts": {"wide": {"side": 30}},
    "aside": {"one": ["of another window"]},
    "answers": {"one": "question_1"},
    "put_away": {"two": [["a long thought", "2026-01-01T00:00:00.000Z"]]},
}


def leave(home: Home, name: str, record: Any) -> Path:
    path = home.state / f"{name}.json"
    path.write_text(json.dumps(record))
    return path


def beside(home: Home, name: str, text: str) -> dict[str, str]:
    """Write a long text as the older program did; return what stands for it in the file."""
    content = text.encode()
    path = home.state / f"{name}-{sha256(content).hexdigest()[:32]}.txt"
    path.write_bytes(content)
    return {"/file": path.name}


def read(home: Home) -> list[str]:
    """Read the files into the database; return what is said."""
    store = DraftStore(home.root)
    try:
        return import_chat_files(home, store)
    finally:
        store.close()


async def test_everything_is_given_back_and_the_files_are_gone(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    leave(store.home, "screen", RECORD)
    begun = leave(store.home, "unfinished", {"test input of two": "begun"})
    async with program(store) as p:
        assert p.main.documents is not None and p.main.documents.id == "two"
        assert p.main.chat_bar.draft == "soon\nlater\nfor two"
        assert "a long thought" in p.main.conversation.sent_messages()
        await p.open("one")
        await p.until(lambda: p.main.chat_bar.draft == "for one")
        await p.until(lambda: "of another window" in p.main.conversation.sent_messages())
        await p.main.remember()
    assert in_dialog(store.home, "two") == "begun" and not begun.exists()
    left = recall(store.home)
    assert left.drafts == {"one": "for one", "two": "soon\nlater\nfor two"}
    assert left.queued == {}
    assert left.stashed == {"one": ["of another window"], "two": ["a long thought"]}
    assert ui_state.load(store.home) == UiState("one", {"wide": {"side": 30}})


def test_a_text_that_lies_beside_its_file_is_read_and_goes_with_it(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    long = "ж" * 800_000
    leave(home, "screen", {"drafts": {"one": beside(home, "screen", long), "two": "short"}})
    leave(home, "unfinished", {"test input of one": beside(home, "unfinished", long)})
    assert read(home) == []
    assert recall(home).drafts == {"one": long, "two": "short"} and in_dialog(home, "one") == long
    assert not list(home.state.glob("*.txt"))


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_long_text_that_cannot_be_read_takes_nothing_else_with_it(tmp_path: Path, damage: str) -> None:
    home = make_store(tmp_path).home
    leave(home, "screen", {"drafts": {"one": beside(home, "screen", "long"), "two": "for two"}})
    (path,) = home.state.glob("screen-*.txt")
    if damage == "gone":
        path.unlink()
    else:
        path.write_text("other words")
    (said,) = read(home)
    assert recall(home).drafts == {"two": "for two"}
    if damage == "changed":
        (aside,) = home.state.glob("unreadable-*.txt")
        assert aside.read_text() == "other words" and str(aside) in said


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff", b"[" * 5000, b"{ damaged"])
def test_a_file_that_cannot_be_read_is_set_aside_and_said(tmp_path: Path, content: bytes) -> None:
    home = make_store(tmp_path).home
    (home.state / "screen.json").write_bytes(content)
    (said,) = read(home)
    (aside,) = home.state.glob("unreadable-*-screen.json")
    assert aside.read_bytes() == content
    assert "What was remembered of this home could not be read" in said and str(aside) in said
    ui_state.save(home, UiState("one"))
    assert ui_state.load(home) == UiState("one")


def test_what_the_disk_does_not_give_stays_and_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise StorageError("Could not read it: input/output error.")

    home = make_store(tmp_path).home
    path = leave(home, "screen", RECORD)
    with monkeypatch.context() as failing:
        failing.setattr(legacy_files, "read_regular", refuse)
        assert "Could not read it: input/output error." in read(home)
    ui_state.save(home, UiState("one"))
    assert json.loads(path.read_text()) == RECORD
    assert read(home) == []
    left = recall(home)
    assert (left.drafts, left.answers) == (RECORD["drafts"], RECORD["answers"])
    assert left.queued == {"two": ["soon", "later"]}


def test_a_database_that_refuses_leaves_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StorageError("The disk is full.")

    home = make_store(tmp_path).home
    path = leave(home, "screen", RECORD)
    with monkeypatch.context() as full:
        full.setattr(DraftStore, "leave_message", refuse)
        with pytest.raises(StorageError):
            read(home)
    ui_state.save(home, UiState("one"))
    assert json.loads(path.read_text()) == RECORD


@pytest.mark.parametrize(
    "record",
    [
        {
            "drafts": 3,
            "queued": [],
            "aside": "x",
            "answers": None,
            "put_away": {"one": [None, ["a"], [1, "b"]]},
        },
        {
            "drafts": {"one": 3},
            "queued": {"one": {"turns": [[1, 2], "x"]}, "two": 4},
            "aside": {"one": [None]},
        },
    ],
)
def test_what_a_stranger_left_there_is_not_taken(tmp_path: Path, record: dict[str, Any]) -> None:
    home = make_store(tmp_path).home
    leave(home, "screen", record)
    assert read(home) == []
    assert recall(home).drafts == {} and recall(home).queued == {}


async def test_a_damaged_memory_is_said_and_stays_beside_what_is_written_now(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    (store.home.state / "screen.json").write_text("{ damaged")
    async with program(store) as p:
        await p.notified("What was remembered of this home could not be read")
        p.main.chat_bar.set_draft("new words")
        await p.main.remember()
    assert recall(store.home).drafts == {"one": "new words"}
    (aside,) = store.home.state.glob("unreadable-*")
    assert aside.read_text() == "{ damaged"

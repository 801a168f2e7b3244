"""What is remembered may be of any size: it is read as it was written, and what is not readable is never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personas.files.home import Home, open_home
from tests.tui.program import make_store, program
from tui.app.ui_state import Remembered, recall, remember, update
from tui.drafts import blob_store as long_texts
from tui.drafts.blob_store import TextRecord
from tui.drafts.queued_messages import Said
from tui.drafts.stored_dialog_drafts import keep_unfinished, unfinished


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path / "home", env={"PERSONA_CONFIG": str(tmp_path / "config.toml")})


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_texts, "ROOMY", 400)
    monkeypatch.setattr(long_texts, "_LONG", 50)


def texts_beside(home: Home) -> list[str]:
    return sorted(path.read_text() for path in home.state.glob("screen-*.txt"))


def write(home: Home, record: dict[str, Any]) -> bool:
    place = TextRecord(home, "screen")
    return place.write(record, place.read())


def test_a_draft_of_any_size_is_read_back_and_the_others_with_it(home: Home) -> None:
    what = Remembered("a", {"a": "ж" * 800_000, "b": "short"}, {"wide": {"list": 20}})
    assert remember(home, what)
    assert recall(home) == what


def test_a_text_of_any_size_that_is_begun_is_read_back(home: Home) -> None:
    text = "ж" * 1_500_000
    assert keep_unfinished(home, "k", text) and keep_unfinished(home, "other", "x")
    assert (unfinished(home, "k"), unfinished(home, "other")) == (text, "x")


_JSON = st.recursive(
    st.text(st.characters(), max_size=90) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=30)
@given(records=st.lists(st.dictionaries(st.text(max_size=5), _JSON, max_size=5), min_size=1, max_size=4))
def test_each_record_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    root = tmp_path_factory.mktemp("state")
    home = open_home(root / "home", env={"PERSONA_CONFIG": str(root / "config.toml")})
    with pytest.MonkeyPatch.context() as small:
        small.setattr(long_texts, "ROOMY", 60)
        small.setattr(long_texts, "_LONG", 10)
        for record in records:
            assert write(home, record)
            assert TextRecord(home, "screen").read().record == record


@pytest.mark.usefixtures("little_room")
def test_only_what_is_named_lies_beside_it(home: Home) -> None:
    first, second = "first " * 100, "second " * 100
    assert remember(home, Remembered(drafts={"one": first, "two": second}))
    assert texts_beside(home) == [first, second]
    queued = {"two": Said("", (("turn_1", second),))}
    assert remember(home, Remembered(drafts={"one": "short"}, queued=queued, aside={"one": (second,)}))
    assert texts_beside(home) == [second]
    assert recall(home).queued == queued and recall(home).aside == {"one": (second,)}
    assert remember(home, Remembered())
    assert texts_beside(home) == []


def test_what_could_not_be_read_back_is_not_written(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    what = Remembered(drafts={"one": "kept"})
    assert remember(home, what)
    monkeypatch.setattr(long_texts, "LARGEST_TEXTS", 1_500_000)
    assert not remember(home, Remembered(drafts={"one": "x" * 2_000_000}))
    monkeypatch.setattr(long_texts, "LARGEST", 1000)
    assert not remember(home, Remembered(drafts={f"{number}": "short" for number in range(200)}))
    assert recall(home) == what


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff", b"[" * 5000, b"x" * 2000])
def test_a_file_that_cannot_be_read_is_set_aside_and_said(
    home: Home, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(long_texts, "LARGEST_READ", 1000 if content[:1] == b"x" else 10_000)
    path = home.state / "screen.json"
    path.write_bytes(content)
    left = update(home, Remembered(drafts={"one": "mine"}), Remembered())
    assert left is not None and recall(home).drafts == {"one": "mine"}
    (aside,) = home.state.glob("unreadable-*-screen.json")
    assert aside.read_bytes() == content
    assert str(aside) in left.said[0]


def test_what_the_disk_does_not_give_is_not_written_over(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remember(home, Remembered(drafts={"one": "kept"}))
    with monkeypatch.context() as failing:
        from personas.errors import StorageError

        def refuse(*_: object, **__: object) -> bytes:
            raise StorageError("Could not read it: input/output error.")

        failing.setattr(long_texts, "read_regular", refuse)
        assert recall(home).said and not recall(home).known
        assert not remember(home, Remembered(drafts={"one": "mine"}))
        assert update(home, Remembered(drafts={"one": "mine"}), Remembered()) is None
        assert not keep_unfinished(home, "k", "x") or unfinished(home, "k") == "x"
    assert recall(home).drafts == {"one": "kept"}


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_long_text_that_cannot_be_read_takes_nothing_else_with_it(home: Home, damage: str) -> None:
    long = "a long draft " * 100
    what = Remembered(drafts={"one": long, "two": "for two"})
    assert remember(home, what)
    (path,) = home.state.glob("screen-*.txt")
    if damage == "gone":
        path.unlink()
    else:
        path.write_text("other words")
    told = recall(home)
    assert told.known and told.drafts == {"two": "for two"} and told.said
    if damage == "changed":
        (aside,) = home.state.glob("unreadable-*.txt")
        assert aside.read_text() == "other words" and str(aside) in told.said[0]
    # A program that still has the text goes on with it.
    assert remember(home, what)
    (path,) = home.state.glob("screen-*.txt")
    path.unlink()
    assert update(home, what, what) is not None
    assert recall(home) == what


async def test_a_damaged_memory_is_said_and_stays_beside_what_is_written_now(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    (store.home.state / "screen.json").write_text("{ damaged")
    async with program(store) as p:
        await p.told("What was remembered of this home could not be read")
        p.main.chat_bar.set_draft("new words")
        await p.main.conversing.remember()
        (store.home.state / "screen.json").write_text("damaged again")
        p.main.chat_bar.set_draft("newer words")
        await p.main.conversing.remember()
        await p.until(lambda: len([one for one in p.messages if "could not be read" in one]) == 2)
    assert recall(store.home).drafts == {"one": "newer words"}
    kept = {path.read_text() for path in store.home.state.glob("unreadable-*")}
    assert kept == {"{ damaged", "damaged again"}

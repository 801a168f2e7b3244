"""Unsaved text that an older program left as files in a home is read once into the database, and given back."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from pathlib import Path

import pytest

from personas.files.home import Home
from personas.files.lock import hold
from personas.versions.authorship import USER
from tests.support.drafts import recall, unsaved
from tests.support.program import make_store, program
from tui.drafts.legacy_files import import_legacy_files
from tui.drafts.store import DraftStore
from tui.drafts.unsaved_text import documents_with_drafts

TEXT = "first line\nsecond line\nthird line\n"


def hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:20]


def leave_file(home: Home, field: str, text: str, base: str = TEXT, *, writer: str = "", **more: str) -> Path:
    """Write a file as the program before the database did."""
    path = home.state / f"unsaved-{hashed('one')}-{hashed(field)[:12]}-{writer or secrets.token_hex(8)}.json"
    record = {"persona_id": "one", "field": field, "base": base, "text": text, **more}
    path.write_text(json.dumps(record))
    return path


def imported(home: Home) -> list[str]:
    store = DraftStore(home.root)
    import_legacy_files(home, store, "one")
    found = sorted(draft.text for draft in store.orphans("one"))
    store.close()
    return found


async def test_every_text_is_given_back_and_its_file_is_gone(tmp_path: Path) -> None:
    file = 'name = "One"\nsystem_prompt = "first line"\n[[test_inputs]]\nid = "sum"\ncontent = "What?"\n'
    store = make_store(tmp_path, {"one": file})
    leave_file(store.home, "prompt", "my first line", "first line")
    leave_file(store.home, "test:sum", "My what?", "What?")
    leave_file(store.home, "set:description", "Mine", "")
    async with program(store) as p:
        await p.until(lambda: p.on_disk("one") == "my first line")
        await p.until(lambda: store.get("one").description == "Mine")
        await p.until(lambda: [each.content for each in store.get("one").test_inputs] == ["My what?"])
        await p.until(lambda: unsaved(store.home) == {})
    assert not list(store.home.state.glob("unsaved-*"))


async def test_what_was_discarded_is_stashed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    thrown = store.home.state / f"thrown-{hashed('one')}-away.json"
    mine = TEXT.replace("first", "my first")
    thrown.write_text(json.dumps({"persona_id": "one", "texts": {"prompt": [TEXT, mine, ""]}}))
    async with program(store) as p:
        await p.until(lambda: not thrown.exists())
    assert recall(store.home).stashed == {"one": [mine]}


@pytest.mark.parametrize("moved", [False, True])
async def test_text_of_a_deleted_persona_comes_back_with_it(tmp_path: Path, moved: bool) -> None:
    store = make_store(tmp_path)
    path = leave_file(store.home, "prompt", TEXT.replace("first", "my first"))
    version = store.delete("one", by=USER)
    if moved:  # as an older program did
        (aside := store.home.versions / "one" / "unsaved").mkdir()
        path.rename(aside / path.name)
    async with program(store) as p:
        assert p.main.documents is not None and p.main.documents.id == "two"
    store.restore("one", version, by=USER)
    async with program(store, persona_id="one") as p:
        await p.until(lambda: p.on_disk("one").startswith("my first line"))


def test_the_id_of_a_persona_without_a_file_is_not_given_away_while_text_is_kept_of_it(
    tmp_path: Path,
) -> None:
    home = make_store(tmp_path).home
    leave_file(home, "prompt", "mine")
    assert documents_with_drafts(home) == ["one"]


def test_what_a_program_that_still_runs_has_is_left_to_it(tmp_path: Path) -> None:
    home, writer = make_store(tmp_path).home, secrets.token_hex(8)
    path = leave_file(home, "prompt", "theirs", writer=writer)
    with hold(home.locks / f"writer-{writer}.lock"):
        assert imported(home) == []
    assert path.exists()
    assert imported(home) == ["theirs"]


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"persona_id": "two", "field": "prompt", "text": "x"}'],
)
def test_what_a_stranger_left_there_is_not_taken(tmp_path: Path, content: bytes) -> None:
    home = make_store(tmp_path).home
    leave_file(home, "prompt", "x").write_bytes(content)
    assert imported(home) == []


def test_a_link_out_of_the_home_is_not_read(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    path = leave_file(home, "prompt", "x")
    outside = path.rename(tmp_path / "outside.json")
    path.symlink_to(outside)
    assert imported(home) == []
    assert outside.exists()

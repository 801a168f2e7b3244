"""A file in the person's own editor: whose the changes are, and what undo makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.changes import SetName
from personas.external_writes import begin_edit, end_edit
from personas.store import Store
from personas.versions.authorship import USER, Author

AGENT = Author("agent", "session", "run")


@pytest.fixture
def file(store: Store) -> Path:
    path = store.path("a")
    path.write_text("description = 'x'\n\n\n\nname = 'a'\n")
    return path


def test_what_an_editor_writes_in_one_go_or_in_several_is_one_unit_of_the_person(
    store: Store, file: Path
) -> None:
    given = file.read_text()
    begin_edit(store, "a", by=USER, reason="edited by hand")
    file.write_text(given.replace("'x'", "'y'"))
    store.change("a", SetName("b"), revision=None, by=AGENT)
    file.write_text(file.read_text() + "tags = []\n")
    key = end_edit(store, "a")
    assert key and [version.by.kind for version in store.log("a")] == ["user", "agent", "user"]
    assert store.undo("a", by=USER).summary.startswith("your edit")
    assert file.read_text() == given.replace("name = 'a'", "name = 'b'")
    store.redo("a", by=USER, only=key)
    assert "'y'" in file.read_text() and "tags" in file.read_text()


def test_it_is_over_when_the_editor_has_ended(store: Store, file: Path) -> None:
    begin_edit(store, "a", by=USER, reason="edited by hand")
    assert end_edit(store, "a") == ""
    assert store.log("a") == []
    file.write_text("name = 'z'\n")
    assert [version.by.kind for version in store.log("a")] == ["external"]


def test_what_the_next_undo_would_do_is_told_of_what_the_editor_wrote_and_nobody_noticed_yet(
    store: Store, file: Path
) -> None:
    given = file.read_text()
    store.change("a", SetName("b"), revision=None, by=AGENT)
    named = file.read_text()
    begin_edit(store, "a", by=USER, reason="edited by hand")
    file.write_text(given.replace("'x'", "'y'").replace("'a'", "'b'"))
    written, versions = file.read_text(), store.file("a").versions
    records = versions.records()
    told = store.preview_undo("a")
    assert versions.records() == records
    assert told == (written, named)
    store.undo("a", by=AGENT)
    assert file.read_text() == named

"""A text that is not taken into the file is kept as a version."""

from __future__ import annotations

from pathlib import Path

from personas.changes import SetPrompt
from personas.files.home import Home
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.program import make_store


def test_a_kept_text_is_a_version_and_neither_the_file_nor_undo_notices(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": 'system_prompt = "first"\n'})
    store.change("one", SetPrompt("second"), revision=None, by=USER)
    before = store.path("one").read_bytes()

    store.keep("one", SetPrompt("mine"), by=USER, reason="not taken")
    store.keep("one", SetPrompt("mine too"), by=USER, reason="not taken")

    assert store.path("one").read_bytes() == before
    again = Store(Home(store.home.root))
    log = again.log("one")
    assert [version.reason for version in log[:2]] == ["not taken", "not taken"]
    assert [again.version_text("one", version.number) for version in log[:2]] == [
        'system_prompt = "mine too"\n',
        'system_prompt = "mine"\n',
    ]
    assert [version.by.kind for version in log] == ["user"] * 3, "nobody takes it for a change from outside"
    again.undo("one", by=USER)
    assert again.get("one").system_prompt == "first"

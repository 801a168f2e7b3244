"""A file that is dropped on the program, which pastes its path into the chat bar: it is offered for import."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Paste

from tests.support.program import make_store, program
from tests.support.screen import drawn
from tui.screens.dialogs.confirm import Confirm
from tui.screens.main.import_offer import paths_in

AGENT = "---\nname: billing-clerk\ndescription: Answers about bills\nhooks: { Stop: [] }\n---\nYou know each bill.\n"


@pytest.mark.parametrize(
    ("pasted", "path"),
    [
        ("/a/b c.md\n", "/a/b c.md"),
        ("'/a/b c.md' ", "/a/b c.md"),
        (r"/a/b\ c.md", "/a/b c.md"),
        ("file:///a/b%20c.md", "/a/b c.md"),
        ("./it's.md", "it's.md"),
    ],
)
def test_a_path_is_read_as_terminals_paste_it(pasted: str, path: str) -> None:
    assert Path(path) in paths_in(pasted)


def test_what_is_no_path_is_none() -> None:
    assert paths_in("two\n/lines") == paths_in("a word") == paths_in("/" + "a" * 5_000) == []


async def test_a_pasted_path_offers_the_import_and_other_files_stay_text(tmp_path: Path) -> None:
    folder = tmp_path / "my files"
    folder.mkdir()
    (folder / "billing.md").write_text(AGENT)
    (folder / "notes.txt").write_text("nothing\n")
    async with program(make_store(tmp_path), size=(100, 30)) as p:
        bar = p.main.chat_bar
        p.app.post_message(Paste(f"'{folder}/notes.txt'"))
        p.app.post_message(Paste(f" '{folder}/none.md'"))
        await p.until(lambda: "none.md" in bar.draft)
        bar.set_draft("")

        p.app.post_message(Paste(f"'{folder}/billing.md'\n"))
        dialog = await p.dialog(Confirm)
        shown = drawn(dialog)
        assert "Import billing-clerk?" in shown and "(claude)" in shown and "hooks" in shown
        await p.until(lambda: dialog.ready)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert "billing.md" in bar.draft and "billing-clerk" not in p.store.ids()

        bar.set_draft("")
        p.app.post_message(Paste(f"file://{folder}/billing.md".replace(" ", "%20")))
        dialog = await p.dialog(Confirm)
        await p.until(lambda: dialog.ready)
        await p.press("enter")
        await p.until(lambda: p.main.documents.id == "billing-clerk")
        await p.notified("Imported billing-clerk.")
        assert bar.draft == "" and p.prompt.raw.startswith("You know each bill.")
        await p.press("ctrl+z")
        await p.until(lambda: "billing-clerk" not in p.store.ids())

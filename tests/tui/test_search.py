"""Finding and replacing in all personas and the library on the screen."""

from __future__ import annotations

from pathlib import Path

from agent.outputs.output_log import Output, OutputLog
from personas.library_store import LibraryStore
from tests.support.program import Program, make_store, program
from tests.support.screen import drawn
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.proposal import ShowProposal
from tui.screens.dialogs.search_results import SearchResults
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.library.screen import LibraryScreen
from tui.widgets.virtual_list import VirtualList


async def choose(p: Program, text: str, place: str) -> None:
    """Find a text and go where it stands."""
    await p.say(f"/find {text}")
    dialog = await p.dialog(Picker)
    rows = dialog.query_one(VirtualList)
    await p.until(lambda: rows.rows)
    at = [f"{row.head} {row.tail}" for row in rows.rows].index(place)
    rows.cursor = at
    await p.press("enter")
    await p.until(lambda: p.app.screen is not dialog)


async def test_what_is_found_is_gone_to(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    LibraryStore(store).create("part", "warm", {"type": "tone", "content": "Be warm.\nI am two."})
    (store.home.outputs).mkdir(exist_ok=True)
    known = {"input_hash": "", "prompt_hash": "", "settings_hash": "", "input_id": "sum"}
    for text in ("Four, I am told.", "It is 4."):
        OutputLog(store.home, "two").append(Output(text=text, **known))  # type: ignore[arg-type]
    async with program(store, size=(120, 40)) as p:
        await choose(p, "SECOND line", "one prompt:2")
        assert p.main.documents.id == "one" and p.prompt.has_focus and p.prompt.cursor_location == (1, 0)
        await choose(p, "what is", "two input sum:1")
        await p.until(lambda: p.main.tests.rows.has_focus and p.main.tests.rows.key == "sum")
        assert p.main.documents.id == "two"
        await choose(p, "i am", "two output sum:1")
        await p.until(lambda: "Four, I am told." in p.main.output_viewing._pane.text)
        await choose(p, "i am", "part/warm content:2")
        place = await p.dialog(LibraryScreen)
        await p.until(lambda: p.main.library.controller.documents.id == "part/warm")
        place.dismiss(None)
        await p.until(lambda: p.app.screen is p.main)

        await p.say("/find ^(s.*nd|[")
        dialog = await p.dialog(SearchResults)
        await p.until(lambda: "Nothing here." in drawn(dialog))
        await p.press("f2")
        await p.until(lambda: "is not a regular expression" in drawn(dialog))
        await p.press("escape")
        await p.say("/find ^s.*nd l")
        dialog = await p.dialog(SearchResults)
        await p.until(lambda: "Nothing here." in drawn(dialog) and "F2 as an expression" in drawn(dialog))
        await p.press("f2")
        await p.until(lambda: "second line" in drawn(dialog) and "Find the expression ^s" in drawn(dialog))
        await p.press("f2", "f2")
        await p.until(lambda: "second line" in drawn(dialog))
        await p.press("enter")
        await p.until(lambda: p.app.screen is p.main and p.main.documents.id == "one")


async def test_what_is_replaced_is_shown_first_kept_by_a_key_and_undone_as_one(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    LibraryStore(store).create("part", "warm", {"type": "tone", "content": "Warm in the first line."})
    async with program(store, size=(120, 40)) as p:
        for keep in (False, True):
            await p.say("/replace line" if keep else "/replace")
            await p.dialog(AskLine)
            if not keep:
                await p.write("line")
                await p.press("enter")
            await p.until(lambda: "by" in str(p.app.screen.query_one(".dialog").border_title))
            if keep:
                await p.write("row")
            await p.press("enter")
            dialog = await p.dialog(ShowProposal)
            assert "in 2 documents" in str(dialog.query_one(".dialog").border_title)
            await p.press("y" if keep else "x")
            await p.until(lambda: p.app.screen is p.main)
            assert keep or "first line" in p.on_disk("one")
        await p.until(lambda: p.prompt.raw == "first row\nsecond row\nthird row\n")
        assert "first row" in store.text("part/warm") and "Replaced in 2 documents." in p.messages[-1]
        p.main.focus_chat()
        await p.press("ctrl+z")
        await p.until(lambda: p.prompt.raw == "first line\nsecond line\nthird line\n")
        assert "first line" in store.text("part/warm")


async def test_the_prompt_is_searched_and_replaced_in_as_edits_of_its_editor(tmp_path: Path) -> None:
    files = {"one": 'system_prompt = """\nA tree, a Tree.\nthree TREES\n"""\n'}
    async with program(make_store(tmp_path, files), size=(100, 30)) as p:
        pane = p.main.prompt_pane

        def count() -> str:
            return str(pane.finder.query_one("#find-count").visual)

        await p.press("f3", "ctrl+f", *"tree")
        assert pane.finder.text.has_focus and p.prompt.selected_text == "tree" and count() == "1 of 3"
        await p.press("enter", "down")
        assert p.prompt.selected_text == "TREE" and count() == "3 of 3"
        await p.press("down", "up", "up")
        assert p.prompt.selected_text == "Tree" and count() == "2 of 3"
        await p.press("ctrl+f", *"bush", "enter")
        assert pane.finder.new.has_focus and count() == "2 of 2"
        assert p.prompt.raw == "A tree, a bush.\nthree TREES\n" and p.prompt.selected_text == "TREE"
        await p.press("ctrl+j")
        assert p.prompt.raw == "A bush, a bush.\nthree bushS\n" and "2 replaced." in p.messages
        await p.press("escape")
        assert p.prompt.has_focus and not pane.is_finding
        await p.press("ctrl+z")
        assert p.prompt.raw == "A tree, a bush.\nthree TREES\n"
        await p.press("ctrl+z")
        assert p.prompt.raw == "A tree, a Tree.\nthree TREES\n"
        await p.press("ctrl+f", "ctrl+f", *"x")
        p.prompt.read_only = True
        await p.press("enter", "ctrl+j")
        assert p.prompt.raw == "A tree, a Tree.\nthree TREES\n"
        await p.press("escape", "escape", "ctrl+f")
        await p.dialog(AskLine)

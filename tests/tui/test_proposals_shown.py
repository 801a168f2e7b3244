"""A proposal of the open persona: announced above the prompt, shown as a diff, kept or refused by a key."""

from __future__ import annotations

from pathlib import Path

from personas.changes import Change, EditPrompt, SetName
from personas.library_store import LibraryStore
from personas.proposals import ProposalStore, open_proposals
from personas.store import Store
from personas.versions.authorship import Author
from tests.support.hostile import ESCAPES, forbidden_in
from tests.support.program import Program, make_store, program
from tests.support.screen import drawn
from tui.screens.dialogs.proposal import ShowProposal
from tui.screens.dialogs.versions import Versions
from tui.widgets.virtual_list import VirtualList


def propose(store: Store, change: Change, run_id: str, request: str = "Do it.") -> ProposalStore:
    """Have a run in another process propose a change."""
    by = Author("agent", "s", run_id, request)
    run = ProposalStore(Store(store.home), "wren", by)
    run.change("wren", change, revision=None, by=by)
    return run


async def banner(p: Program, text: str) -> None:
    """Wait until this is said above the prompt; empty for nothing."""
    shown = p.main.prompt_pane.banner
    await p.until(lambda: shown.display == bool(text) and text in str(shown.render()))


async def test_a_proposal_is_announced_kept_and_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.create("Wren", system_prompt="First.\nSecond.\nThird.\nFourth.\n")
    evil = "".join(ESCAPES.values())
    async with program(store, persona_id="wren", size=(80, 24)) as p:
        run = propose(store, EditPrompt("First.", "Foremost."), "r1", f"Warmer. {evil}")
        by = Author("agent", "s", "r1")
        LibraryStore(run, by=by).create("part", "tone", {"type": "tone", "content": "Calm.\n"})
        await banner(p, "A proposal needs review. F5 shows it")
        assert p.prompt.text.startswith("First.")

        await p.press("f5")
        await p.dialog(ShowProposal)
        shown = drawn(p.app.screen)
        assert "Foremost." in shown and "Calm." in shown and "Warmer." in shown and "y keeps it" in shown
        assert not forbidden_in(shown)
        await p.press("escape")  # it waits on
        await p.until(lambda: p.app.screen is p.main)
        await p.press("f5")
        await p.dialog(ShowProposal)
        await p.press("y")
        await p.notified("proposal-1 is kept, also in part/tone. F8 undoes it.")
        await banner(p, "")
        assert p.prompt.text.startswith("Foremost.") and p.on_disk("wren").startswith("Foremost.")
        await p.press("f8")
        await p.until(lambda: p.prompt.text.startswith("First."))
        assert "tone" not in [one.name for one in LibraryStore(store).list("part")]

        propose(store, EditPrompt("Second.", "Then."), "r2")
        propose(store, SetName("Robin"), "r3")
        await banner(p, "2 proposals need review.")
        await p.say("/versions")
        await p.until(lambda: isinstance(p.app.screen, Versions) and len(timeline(p)) > 4)
        assert [row.split(" · ")[0] for row in timeline(p)[:4]] == ["proposal-3", "proposal-2", "2", "1"]
        await p.press("home", "j", "enter")
        await p.dialog(ShowProposal)
        await p.press("x")
        await p.notified("proposal-2 is refused.")
        await p.until(lambda: isinstance(p.app.screen, Versions) and "proposal-2" not in str(timeline(p)))
        await p.press("escape")
        await banner(p, "A proposal needs review")
        assert [one.name for one in open_proposals(store, "wren")] == ["proposal-3"]


async def test_what_cannot_be_kept_is_said_and_only_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.create("Wren", system_prompt="First.\nSecond.\n")
    propose(store, EditPrompt("First.", "Foremost."), "r1")
    async with program(store, persona_id="wren") as p:
        await banner(p, "A proposal needs review")
        p.prompt.focus()
        await p.press("ctrl+home")
        await p.write("Now ")
        await p.press("f5")  # what is typed is stored first, and meets the proposal
        await p.dialog(ShowProposal)
        shown = drawn(p.app.screen)
        assert "Could not keep proposal-1 of wren" in shown and "keeps it" not in shown
        await p.press("y", "x")
        await p.notified("proposal-1 is refused.")
        assert p.on_disk("wren") == p.prompt.text == "Now First.\nSecond.\n"


def timeline(p: Program) -> list[str]:
    return [row.text for row in p.app.screen.query_one(VirtualList).rows]

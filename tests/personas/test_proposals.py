"""Proposals of a run: read by its tools alone, kept or refused as one, whatever was written meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from personas.changes import Change, EditPrompt, SetName
from personas.errors import Conflict, InvalidValue, NothingToUndo, StorageError, UnknownVersion
from personas.library_store import LibraryStore
from personas.proposals import ProposalStore, keep, open_proposals, preview, refuse
from personas.store import Store
from personas.versions.authorship import USER, Author
from personas.versions.version_store import VersionFolder
from tests.personas.conftest import Clock

RUN = Author("agent", "s", "r", "warmer, please")
PROMPT = "You are P.\nBe kind.\nBe short.\nTo the end.\n"
WARMER = EditPrompt("Be kind.", "Be warm.")


@pytest.fixture
def p(store: Store) -> Store:
    """A store with the persona `p` in it, and a part of the library."""
    store.create("p", system_prompt=PROMPT)
    LibraryStore(store).create("part", "tone", {"type": "tone", "content": "Calm.\n"})
    return store


def propose(store: Store, *changes: Change, by: Author = RUN) -> ProposalStore:
    """Have a run propose changes of the persona."""
    run = ProposalStore(store, "p", by)
    for change in changes:
        run.change("p", change, revision=run.get("p").revision, by=by)
    return run


def names(store: Store, key: str = "p") -> list[str | None]:
    return [one.name for one in open_proposals(store, key)]


def test_what_a_run_proposes_is_read_by_its_own_tools_and_by_nobody_else(p: Store) -> None:
    text = p.text("p")
    run = propose(p, WARMER, SetName("Pia"))
    assert run.get("p").system_prompt == PROMPT.replace("kind", "warm") and run.list()[0].name == "Pia"
    assert p.text("p") == text and p.log("p") == [] and p.current_version("p") == 0
    assert run.log("p") == [] and run.fix_version("p") == 0
    (proposal,) = open_proposals(p, "p")
    assert proposal.to_record() == {
        "version": None, "name": "proposal-1", "by": "agent", "session_id": "s", "run_id": "r",
        "request": "warmer, please", "at": "2026-01-01T12:00:00.000Z", "reason": "system prompt, name",
        "added": 2, "removed": 2,
    }  # fmt: skip
    # A run that goes on in another process goes on with its proposal; another run has its own.
    again = propose(p, EditPrompt("Be short.", "Be brief."))
    assert again.get("p").system_prompt == "You are P.\nBe warm.\nBe brief.\nTo the end.\n"
    other = propose(p, EditPrompt("Be kind.", "Be nice."), by=Author("agent", "s", "r2"))
    assert names(p) == ["proposal-2", "proposal-1"] and other.name == "proposal-2"


def test_kept_it_is_merged_into_the_text_of_now_as_a_version_of_the_run(p: Store) -> None:
    propose(p, WARMER)
    p.change("p", EditPrompt("To the end.", "Until the end."), revision=None, by=USER)
    assert "+Be warm." in preview(p, "p", "proposal-1")[0].diff
    kept = keep(p, "p", "proposal-1")
    assert kept.persona.system_prompt == "You are P.\nBe warm.\nBe short.\nUntil the end.\n"
    newest = p.log("p")[0]
    assert (newest.number, newest.by, newest.name) == (kept.version, RUN, None) == (2, RUN, None)
    assert names(p) == []
    with pytest.raises(UnknownVersion, match="no open proposal"):
        keep(p, "p", "proposal-1")
    assert p.undo("p", only="agent").persona.system_prompt == PROMPT.replace("To the", "Until the")
    propose(p, WARMER, by=Author("agent", "s", "r2"))
    assert names(p) == ["proposal-2"]  # no name is given again


def test_where_the_person_wrote_in_the_same_place_nothing_is_kept(p: Store) -> None:
    run = propose(p, WARMER)
    LibraryStore(run, by=RUN).update("part", "tone", {"content": "Bright.\n"})
    p.change("p", EditPrompt("Be kind.", "Be strict."), revision=None, by=USER)
    text = p.text("p")
    with pytest.raises(Conflict, match="Could not keep proposal-1 of p: what was written since") as caught:
        keep(p, "p", "proposal-1")
    assert "kind" in caught.value.base and "warm" in caught.value.ours and "strict" in caught.value.theirs
    assert p.text("p") == text and "Calm" in p.text("part/tone") and names(p) == ["proposal-1"]
    shown = preview(p, "p", "proposal-1")
    assert [(one.key, one.conflict is None) for one in shown] == [("p", False), ("part/tone", True)]
    assert "-Be kind." in shown[0].diff and "+Be warm." in shown[0].diff
    refused = refuse(p, "p", "proposal-1")
    assert refused.summary == "proposal-1 refused: system prompt" and p.text("p") == text
    assert names(p) == names(p, "part/tone") == []


def test_a_proposal_over_several_documents_is_kept_refused_and_undone_as_one(p: Store) -> None:
    run = ProposalStore(p, "p", RUN)
    library = LibraryStore(run, by=RUN)
    library.update("part", "tone", {"content": "Bright.\n"})
    library.create("part", "news", {"content": "New.\n"})
    assert [one.name for one in library.list("part")] == ["news", "tone"]
    assert [one.name for one in LibraryStore(p).list("part")] == ["tone"]
    assert names(p) == ["proposal-1"]  # it is found at the run's persona, of which it changes nothing
    assert [one.key for one in preview(p, "p", "proposal-1")] == ["part/tone", "part/news"]
    library.link("p", "part", "news")
    library.delete("part", "tone")
    assert [one.name for one in LibraryStore(ProposalStore(p, "p", RUN)).list("part")] == ["news"]
    kept = keep(p, "part/tone", "proposal-1")
    assert set(kept.also) == {"p", "part/news"}
    assert [one.name for one in LibraryStore(p).list("part")] == ["news"] and p.get("p").parts[
        0
    ].name == "news"
    assert set(p.undo("p").also) == {"part/tone", "part/news"}
    assert [one.name for one in LibraryStore(p).list("part")] == ["tone"] and p.get("p").parts == ()

    only_library = ProposalStore(p, "p", Author("agent", "s", "r2"))
    LibraryStore(only_library, by=Author("agent", "s", "r2")).update("part", "tone", {"content": "Loud.\n"})
    keep(p, "p", "proposal-2")
    assert "Loud" in p.text("part/tone")
    p.undo("p")  # noted with the persona, so that it is undone from there
    assert "Calm" in p.text("part/tone")


def test_undo_in_the_run_takes_its_proposal_back_and_what_is_no_change_is_refused(p: Store) -> None:
    run = ProposalStore(p, "p", RUN)
    with pytest.raises(NothingToUndo, match="proposed nothing"):
        run.undo("p", by=RUN)
    run = propose(p, WARMER)
    assert [text == p.text("p") for text in run.preview_undo("p")] == [False, True]
    assert run.undo("p", by=RUN).summary == "what this run has proposed"
    assert run.get("p").system_prompt == PROMPT and names(p) == []
    run.change("p", WARMER, revision=None, by=RUN)
    assert run.name == "proposal-2"
    for forbidden in (
        lambda: run.create("Q"),
        lambda: run.delete("p", by=RUN),
        lambda: run.restore("p", 0, by=RUN),
    ):
        with pytest.raises(InvalidValue, match="a proposal cannot"):
            forbidden()


def test_a_run_that_goes_on_after_its_proposal_was_kept_or_refused_proposes_the_rest(p: Store) -> None:
    run = propose(p, WARMER)
    keep(p, "p", "proposal-1")
    run.change("p", EditPrompt("Be short.", "Be brief."), revision=None, by=RUN)
    refuse(p, "p", "proposal-2")
    run.change("p", EditPrompt("You are P.", "You are Pia."), revision=None, by=RUN)
    assert (
        keep(p, "p", "proposal-3").persona.system_prompt == "You are Pia.\nBe warm.\nBe short.\nTo the end.\n"
    )


def test_pruning_drops_no_open_proposal_and_gives_no_name_again(p: Store, clock: Clock) -> None:
    propose(p, WARMER, by=Author("agent", "s", "r0"))
    refuse(p, "p", "proposal-1")
    p.change("p", EditPrompt("You are P.", "You are Pe."), revision=None, by=USER)
    propose(p, WARMER)
    p.change(
        "p", EditPrompt("You are Pe.", "You are P."), revision=None, by=USER
    )  # joined: no version has that text
    for number in range(1, 30):
        p.change("p", SetName(f"P{number}"), revision=None, by=USER, own_unit=True)
        clock.pass_by(days=1)
    folder = VersionFolder(p.home, "p")
    folder.prune(folder.log(None), clock())
    assert names(p) == ["proposal-2"]
    assert keep(p, "p", "proposal-2").persona.system_prompt == PROMPT.replace("kind", "warm")
    folder.prune(folder.log(None), clock())
    propose(p, EditPrompt("Be short.", "Be brief."), by=Author("agent", "s", "r3"))
    assert names(p) == ["proposal-3"]
    with pytest.raises(InvalidValue, match="names a proposal"):
        p.name_version("p", "proposal-9")


@pytest.mark.parametrize("action", [keep, refuse])
def test_cut_off_anywhere_it_can_be_done_again(
    p: Store, monkeypatch: pytest.MonkeyPatch, action: Callable[..., object]
) -> None:
    """The disk refuses at each write in turn, as a kill would end there; the second attempt completes it."""
    written = VersionFolder.append
    for cut_at in count():
        by = Author("agent", "s", f"r{cut_at}")
        run = propose(p, WARMER, by=by)
        LibraryStore(run, by=by).update("part", "tone", {"content": "Bright.\n"})
        (name,) = names(p)
        left = iter(range(cut_at))

        def append(folder: VersionFolder, *given: Any, left: Iterator[int] = left, **named: Any) -> None:
            if next(left, None) is None:
                raise StorageError("cut")
            written(folder, *given, **named)

        monkeypatch.setattr(VersionFolder, "append", append)
        with suppress(StorageError):
            action(p, "p", name)
        is_through = next(left, None) is not None
        monkeypatch.undo()
        if name in names(p):
            action(p, "p", name)
        assert names(p) == names(p, "part/tone") == []
        is_kept = action is keep
        assert ("warm" in p.text("p"), "Bright" in p.text("part/tone")) == (is_kept, is_kept)
        if is_kept:
            p.undo("p")
        assert (p.get("p").system_prompt, "Calm" in p.text("part/tone")) == (PROMPT, True)
        if is_through:
            return

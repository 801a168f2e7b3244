"""The examples of the library that a new home has, and the personas that are made of them."""

from __future__ import annotations

from pathlib import Path

from personas.files.home import open_home
from personas.library.assembly import assemble
from personas.library.documents import KINDS
from personas.library.folders import Library, read_all
from personas.store import Store

MADE_OF_PARTS = ("staff-reviewer", "support", "tove")


def test_the_examples_are_whole_and_come_after_those_without_links(tmp_path: Path) -> None:
    store = Store(open_home(tmp_path / "home"))
    personas = store.list()
    assert tuple(one.id for one in personas if one.is_linked) == MADE_OF_PARTS
    assert [one.id for one in personas][-3:] == [*MADE_OF_PARTS] and personas[0].id == "editor"
    documents = {(one.kind, one.name): one for kind in KINDS for one in read_all(store.home, kind)}
    assert [sum(kind == one for kind, _ in documents) for one in KINDS] == [22, 10, 4, 6, 2]
    assert all(one.error is None and not one.warnings and one.description for one in documents.values())
    stages = [stage for one in documents.values() for stage in one.stages]
    assert all(
        stage.condition and documents.keys() >= {("part", part) for part in stage.parts} for stage in stages
    )
    for persona in personas[-3:]:
        assert 3 <= len(persona.test_inputs) <= 5 and all(
            one.expect and not one.error for one in persona.test_inputs
        )
        done = assemble(persona, Library(store.home))
        assert not done.missing and not done.warnings
        assert sum(done.tokens_of(piece) for piece in done.pieces) < 1_500, "an example to read in a minute"


def test_the_role_play_thaws_by_stages_and_shares_its_last_tone(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    store = Store(home)
    tones, relations = (
        [
            part.name
            for stage in ("stranger", "guest", "friend")
            for _, part in assemble(store.get("tove"), Library(home), stage=stage).documents("part")
            if part.type == kind
        ]
        for kind in ("tone", "relationship")
    )
    assert tones == ["clipped", "clipped", "calm-kind"]
    assert relations == ["stranger-at-the-door", "guest-in-the-kitchen", "friend-by-the-stove"]
    assert "calm-kind" in [link.name for link in store.get("support").parts]


def test_a_library_that_is_there_gets_no_examples(tmp_path: Path) -> None:
    (tmp_path / "home" / "library" / "parts").mkdir(parents=True)
    home = open_home(tmp_path / "home")
    assert not list(home.library.rglob("*.toml")) and (home.personas / "tove.toml").is_file()
    (tmp_path / "older" / "personas").mkdir(parents=True)
    assert not open_home(tmp_path / "older").library.exists()

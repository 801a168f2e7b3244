"""Units of undo over several documents, documents of several files, and versions whose text is in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.changes import EditPrompt, ReplaceText, SetDescription, SetName, SetPrompt
from personas.document import Document
from personas.errors import BrokenFile, Conflict, NothingToUndo, StorageError, UnknownVersion
from personas.files.home import Home
from personas.store import Store
from personas.undo import UndoConflict, step
from personas.versions.authorship import USER, Author
from tests.personas.conftest import Clock

RUN = Author("agent", "s", "r", request="Make both warmer.")


@pytest.fixture
def two(store: Store) -> Store:
    for name in "AB":
        store.create(name, system_prompt="One.\nTwo.\nThree.\n")
    return store


def change_both(store: Store, by: Author = RUN, unit: str = "") -> None:
    for persona_id in "ab":
        store.change(persona_id, EditPrompt("Two.", "2."), revision=None, by=by, unit=unit)


# -- a unit over several documents --------------------------------------------------------------------


@pytest.mark.parametrize(("by", "unit"), [(RUN, ""), (USER, "replace:1")])
def test_what_one_unit_changed_in_two_documents_goes_back_in_both(two: Store, by: Author, unit: str) -> None:
    change_both(two, by, unit)
    undone = two.undo("b")
    assert (undone.persona.id, undone.version, undone.also, undone.left) == ("b", 2, ("a",), ())
    assert [two.get(one).system_prompt for one in "ab"] == ["One.\nTwo.\nThree.\n"] * 2
    assert two.redo("a").also == ("b",)
    assert [two.get(one).system_prompt for one in "ab"] == ["One.\n2.\nThree.\n"] * 2


def test_where_it_cannot_go_back_in_another_document_that_one_is_named_and_left(two: Store) -> None:
    change_both(two)
    two.change("b", EditPrompt("2.", "mine"), revision=None, by=USER)
    undone = two.undo("a")
    assert undone.also == () and [name for name, _ in undone.left] == ["b"]
    assert "what was written since is in the same place" in undone.left[0][1]
    assert two.get("a").system_prompt == "One.\nTwo.\nThree.\n"
    assert two.get("b").system_prompt == "One.\nmine\nThree.\n"


def test_where_it_cannot_go_back_in_the_one_that_was_asked_for_the_others_still_do(two: Store) -> None:
    change_both(two)
    two.change("b", EditPrompt("2.", "mine"), revision=None, by=USER)
    undone = two.undo("b", only="agent")
    assert (undone.persona.id, undone.also, undone.left[0][0]) == ("b", ("a",), "b")
    assert two.get("a").system_prompt == "One.\nTwo.\nThree.\n"
    with pytest.raises(Conflict):
        two.undo("b", only="agent")


def test_what_was_undone_in_one_document_by_itself_is_not_touched_there_again(two: Store) -> None:
    change_both(two)
    two.delete("a", by=USER)
    assert two.undo("b").left[0][0] == "a"
    two.restore("a", 1, by=USER)
    with pytest.raises(NothingToUndo):
        two.undo("b")
    assert two.undo("a").persona.system_prompt == "One.\nTwo.\nThree.\n"


def test_a_persons_own_stretches_are_not_mixed_up_between_documents(two: Store) -> None:
    change_both(two, USER)
    assert two.undo("a").also == ()
    assert two.get("b").system_prompt == "One.\n2.\nThree.\n"


# -- one unit out of the middle -------------------------------------------------------------------------


def test_any_unit_is_undone_out_of_the_middle_by_one_of_its_versions(two: Store, clock: Clock) -> None:
    two.change("a", EditPrompt("One.", "1."), revision=None, by=USER)
    two.change("a", EditPrompt("Two.", "2."), revision=None, by=RUN)
    two.change("a", SetName("Alpha"), revision=None, by=RUN)
    two.change("a", SetDescription("d"), revision=None, by=USER)
    undone = two.undo("a", version=2)
    assert (undone.version, undone.run_id) == (5, "r")
    persona = two.get("a")
    assert (persona.name, persona.description, persona.system_prompt) == ("A", "d", "1.\nTwo.\nThree.\n")
    with pytest.raises(NothingToUndo, match="version 3 of a"):
        two.undo("a", version=3)
    assert two.undo("a", version="5").persona.name == "Alpha"
    with pytest.raises(UnknownVersion):
        two.undo("a", version=99)


def test_a_change_from_outside_is_undone_only_when_it_is_asked_for(two: Store) -> None:
    two.change("a", SetName("Alpha"), revision=None, by=RUN)
    path = two.path("a")
    path.write_text(path.read_text() + "# by hand\n")
    assert two.undo("a").persona.name == "A"
    assert "# by hand" in two.text("a")
    with pytest.raises(NothingToUndo):
        two.undo("a")
    assert two.undo("a", version=2).summary == "the change from outside (file +1 -0)"
    assert "# by hand" not in two.text("a")
    before = path.read_bytes()
    path.write_bytes(before + b"# caf\xe9\n")
    two.undo("a", version=two.log("a")[0].number)
    assert path.read_bytes() == before, "what an editor stored in another encoding too"


def test_an_author_and_the_request_are_kept(two: Store) -> None:
    change_both(two)
    two.change("a", SetName("X"), revision=None, by=Author("mcp:desktop"))
    newest, first = Store(two.home).log("a")
    assert (newest.by.kind, first.by) == ("mcp:desktop", RUN)
    assert first.to_record()["request"] == "Make both warmer."


# -- a version whose text is in use ---------------------------------------------------------------------


def test_what_is_typed_after_the_text_was_used_is_a_version_of_its_own(two: Store, clock: Clock) -> None:
    assert two.fix_version("a") == 0
    for text, used in (("one\n", False), ("two\n", True), ("three\n", False), ("four\n", False)):
        clock.pass_by(minutes=1)
        two.change("a", SetPrompt(text), revision=None, by=USER)
        if used:
            assert two.fix_version("a") == two.fix_version("a") == 1
    assert two.get("a").system_prompt == "four\n"
    assert [version.number for version in two.log("a")] == [2, 1]
    assert "two" in two.version_text("a", 1) and "four" in two.version_text("a", 2)


def test_a_file_changed_by_hand_is_a_version_once_it_is_used(two: Store) -> None:
    path = two.path("a")
    path.write_text(path.read_text() + "# by hand\n")
    assert two.fix_version("a") == 1
    assert two.version_text("a", 1) == path.read_text()


# -- a document of two files ----------------------------------------------------------------------------


class Pair:
    """A document of a TOML file and a Markdown file."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self.paths = (home.personas / "p.toml", home.root / "prompts" / "p.md")
        self.paths[1].parent.mkdir()
        self.paths[0].write_text('name = "P"\n')
        self.paths[1].write_text("One.\n\nTwo.\n\nThree.\n")
        self.document = Document(home, "parts/p", self.paths, now=clock)

    @property
    def texts(self) -> tuple[str | None, ...]:
        return tuple(path.read_text() if path.exists() else None for path in self.paths)

    def write(self, by: Author, toml: str | None = None, markdown: str | None = None) -> None:
        """Change one or both files as one version."""
        from personas.files.bundle import pack

        before = self.document.read()
        texts = [old if new is None else new for old, new in zip(self.texts, (toml, markdown), strict=True)]
        after = pack([None if text is None else text.encode() for text in texts])
        self.document.write(self.document.catch_up(before), before, after, by=by, note=("file", "both"))

    def step(self, direction: str, only: str | None = None) -> object:
        return step(self.document, direction, by=USER, only=only)  # type: ignore[arg-type]


@pytest.fixture
def pair(home: Home, clock: Clock) -> Pair:
    return Pair(home, clock)


def test_a_file_that_begins_as_stored_files_do_is_one_file(home: Home, store: Store) -> None:
    path = home.personas / "a.toml"
    text = 'persona-bundle 1 [15, 6]\nname = "Spoof"\nSECRET\nsystem_prompt = "all of it"\n'
    path.write_text(text)
    assert store.get("a").error is not None and store.list()[0].error is not None
    assert store.text("a") == store.shown("a") == text
    with pytest.raises(BrokenFile):
        store.change("a", SetName("A"), revision=None, by=USER)
    assert path.read_text() == text
    store.change("a", ReplaceText(f"# 1\n{text}"), revision=None, by=USER, own_unit=True)
    store.change("a", ReplaceText(text), revision=None, by=USER, own_unit=True)
    assert path.read_text() == text == store.version_text("a", 2)
    store.change("a", ReplaceText('name = "A"\n'), revision=None, by=USER, own_unit=True)
    assert store.diff("a", 0).diff.count("\n-") == 4
    store.restore("a", 2, by=USER)
    assert path.read_text() == text


def test_two_files_are_one_version_and_are_undone_as_one(pair: Pair) -> None:
    first = pair.texts
    pair.write(RUN, 'name = "Q"\n', "1.\n\nTwo.\n\nThree.\n")
    second = pair.texts
    assert pair.document.log(pair.document.read()).current == 1
    pair.paths[1].write_text("1.\n\nTwo.\n\nMine.\n")
    assert pair.step("undo", "agent")
    assert pair.texts == (first[0], "One.\n\nTwo.\n\nMine.\n")
    assert pair.step("redo", "agent")
    assert pair.texts == (second[0], "1.\n\nTwo.\n\nMine.\n")
    log = pair.document.log(pair.document.read())
    assert [version.role for version in log.versions.values()] == ["change", "external", "undo", "redo"]
    pair.document.restore(
        log, pair.document.read(), 1, pair.document.versions.load(log.versions[1].sha or ""), by=USER
    )
    assert pair.texts == second


def test_where_one_of_the_files_meets_what_was_written_since_neither_is_changed(pair: Pair) -> None:
    pair.write(RUN, 'name = "Q"\n', "1.\n\nTwo.\n\nThree.\n")
    pair.paths[1].write_text("mine\n\nTwo.\n\nThree.\n")
    now = pair.texts
    with pytest.raises(UndoConflict) as caught:
        pair.step("undo", "agent")
    assert pair.texts == now and caught.value.theirs == now[1]


def test_a_file_that_came_with_a_change_goes_with_its_undo(pair: Pair) -> None:
    pair.paths[1].unlink()
    pair.write(RUN, markdown="new\n")
    assert pair.texts[1] == "new\n"
    pair.step("undo")
    assert pair.texts[1] is None
    pair.step("redo")
    assert pair.texts[1] == "new\n"


def test_a_file_that_a_run_made_and_wrote_again_goes_with_the_undo_of_the_run(pair: Pair) -> None:
    pair.paths[1].unlink()
    pair.write(RUN, markdown="new\n")
    pair.write(USER, 'name = "Q"\n')
    pair.write(RUN, markdown="newer\n")
    pair.step("undo", "agent")
    assert pair.texts == ('name = "Q"\n', None)


def test_where_the_second_file_cannot_be_written_the_first_is_put_back(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    from personas import document

    first, real = pair.texts, document.replace_file

    def refuse(path: Path, content: bytes, **options: object) -> None:
        if path == pair.paths[1]:
            raise StorageError("The disk is full.")
        real(path, content, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(document, "replace_file", refuse)
    with pytest.raises(StorageError, match="full"):
        pair.write(RUN, 'name = "Q"\n', "1.\n")
    assert pair.texts == first
    assert pair.document.log(pair.document.read()).versions == {}


def test_deleting_takes_both_files_and_restoring_brings_both_back(pair: Pair) -> None:
    first = pair.texts
    pair.write(USER, 'name = "Q"\n')
    before = pair.document.read()
    number = pair.document.delete(pair.document.catch_up(before), before, by=USER)
    assert pair.texts == (None, None) and number == 1
    log = pair.document.catch_up(None)
    pair.document.restore(log, None, 0, pair.document.versions.load(log.first_sha or ""), by=USER)
    assert pair.texts == first

"""Changing documents of the library and links to them: versions, undo over several files, conflicts, authorship."""

from __future__ import annotations

from typing import Any

import pytest

from personas.changes import ReplaceText, SetTags
from personas.compiled import Options, compile_persona, stored_texts
from personas.errors import Conflict, InvalidValue, NothingToUndo, StorageError, UnknownPersona
from personas.files.home import Home
from personas.library_changes import move_link, set_priority
from personas.library_store import InUse, LibraryStore, User
from personas.store import Store
from personas.undo import UndoConflict
from personas.versions.authorship import USER, Author
from tests.support.faulty_store import Call, FaultyStore

RUN = Author("agent", "s", "r")
_PERSONA = """\
# mine
system_prompt = "You are P."
traits = ["curious"]  # kept

[[parts]]
name = "warm"
priority = 2
"""


@pytest.fixture
def library(store: Store, home: Home) -> LibraryStore:
    (home.personas / "p.toml").write_text(_PERSONA)
    made = LibraryStore(store)
    made.create("part", "warm", {"type": "tone", "content": "Be warm.\nAlways.\n"})
    made.create("trait", "curious", {"trait_type": "personality", "instruction": "Ask."})
    (home.library / "arcs").mkdir()
    (home.library / "arcs" / "thaw.toml").write_text(
        '[[stages]]\nname = "cold"\nparts = ["icy", "warm"]  # two\n[[stages]]\nname = "mild"\n'
    )
    return made


def test_a_document_is_made_changed_undone_and_redone_with_its_author(
    library: LibraryStore, store: Store
) -> None:
    LibraryStore(store, by=RUN).update("part", "warm", {"summary": "Warm.", "content": "Be kind.\n"})
    assert store.text("part/warm") == 'type = "tone"\ncontent = """\nBe kind.\n"""\nsummary = "Warm."\n'
    assert [(one.number, one.by.kind, one.reason) for one in store.log("part/warm")] == [
        (2, "agent", "summary, content set"),
        (1, "user", "created"),
    ]
    assert "-Be warm." in store.diff("part/warm").diff
    assert store.undo("part/warm").persona.id == "part/warm"
    assert library.get("part", "warm").content == "Be warm.\nAlways.\n"
    store.redo("part/warm")
    store.restore("part/warm", 1, by=USER)
    assert library.get("part", "warm").summary == ""


def test_making_and_deleting_are_undone_like_other_changes(
    library: LibraryStore, store: Store, home: Home
) -> None:
    text = store.text("trait/curious")
    library.delete("trait", "curious", force=True)
    assert not (home.library / "traits").exists()
    with pytest.raises(UnknownPersona):
        library.get("trait", "curious")
    store.undo("trait/curious")
    assert store.text("trait/curious") == text
    store.undo("trait/curious")
    assert library.list("trait") == []
    with pytest.raises(NothingToUndo):
        store.undo("trait/curious")


def test_what_another_program_wrote_is_kept_and_a_stale_change_is_a_conflict(
    library: LibraryStore, store: Store
) -> None:
    seen = library.get("part", "warm")
    path = store.path("part/warm")
    path.write_text(path.read_text() + "# by hand\nmore = 1\n")
    with pytest.raises(Conflict):
        library.update("part", "warm", {"summary": "x"}, revision=seen.revision)
    library.update("part", "warm", {"description": "d"})
    assert "# by hand\nmore = 1\n" in store.text("part/warm")
    assert [one.by.kind for one in store.log("part/warm")] == ["user", "external", "user"]


def test_a_rename_changes_every_reference_and_is_undone_whole_from_any_of_them(
    library: LibraryStore, store: Store, home: Home
) -> None:
    (home.personas / "q.toml").write_text('parts = [{ name = "warm" }, { name = "warm" }]\n')
    assert {user.key for user in library.rename("part", "warm", "kind")} == {"p", "q", "arc/thaw"}
    after = _PERSONA.replace('"warm"', '"kind"')
    for key in ("part/kind", "p", "arc/thaw", "part/warm"):
        assert (
            store.text("p") == after and store.text("q") == 'parts = [{ name = "kind" }, { name = "kind" }]\n'
        )
        assert 'parts = ["icy", "kind"]  # two' in store.text("arc/thaw")
        assert [one.name for one in library.list("part")] == ["kind"]
        assert set(store.undo(key).also) == {"part/kind", "part/warm", "p", "q", "arc/thaw"} - {key}
        assert store.text("p") == _PERSONA and [one.name for one in library.list("part")] == ["warm"]
        assert library.get("part", "warm").content == "Be warm.\nAlways.\n"
        store.redo(key)


def test_a_rename_used_by_fifty_is_one_hunk_a_file_and_one_undo(
    library: LibraryStore, store: Store, home: Home
) -> None:
    before = {}
    for number in range(50):
        text = f"# {number}\n{_PERSONA}\n[[parts]]\nname = 'other'\n\n[model]\nname = 'warm'\n"
        before[f"many{number}"] = text
        (home.personas / f"many{number}.toml").write_text(text)
    assert len(library.rename("part", "warm", "kind")) == 52
    for persona_id, text in before.items():
        assert store.text(persona_id) == text.replace('"warm"', '"kind"')
    assert store.diff("many7").diff.count("\n@@") == 1
    assert len({store.log(persona_id)[0].unit for persona_id in before}) == 1
    done = store.undo("many7")
    assert len(done.also) == 53 and not done.left
    assert {persona_id: store.text(persona_id) for persona_id in before} == before
    assert [one.name for one in library.list("part")] == ["warm"]
    with pytest.raises(InUse, match=r"used by many0, .*, p, arc/thaw"):
        library.delete("part", "warm")


def test_a_rename_that_cannot_be_everywhere_changes_nothing(
    library: LibraryStore, store: Store, home: Home
) -> None:
    library.create("part", "kind", {})
    with pytest.raises(InvalidValue, match="already a part called kind"):
        library.rename("part", "warm", "kind")


def test_a_rename_that_a_file_refuses_is_put_back_everywhere(
    library: LibraryStore, store: Store, home: Home
) -> None:
    keys = ("p", "arc/thaw", "part/warm")
    before = {key: store.text(key) for key in keys}
    (home.library / "arcs" / "thaw.toml").chmod(0o444)
    with pytest.raises(StorageError, match="read-only"):
        library.rename("part", "warm", "kind")
    assert {key: store.text(key) for key in keys} == before
    assert [one.name for one in library.list("part")] == ["warm"]


def test_a_rename_that_was_cut_off_is_carried_on_and_is_one_undo(library: LibraryStore, store: Store) -> None:
    dying = FaultyStore(store.home)

    def ends_at_the_arc(change: Call) -> Call:
        def called(key: str, *given: Any, **options: Any) -> Any:
            ended.extend([key] if key == "arc/thaw" else [])
            if ended:
                raise SystemExit
            return change(key, *given, **options)

        return called

    ended: list[str] = []
    dying.put_in_place_of("change", ends_at_the_arc)
    with pytest.raises(SystemExit):
        LibraryStore(dying).rename("part", "warm", "kind")
    assert [one.name for one in library.list("part")] == ["kind", "warm"] and '"kind"' in store.text("p")
    library.create("part", "icy", {})
    with pytest.raises(InvalidValue, match="already a part called kind"):
        library.rename("part", "icy", "kind")
    assert {user.key for user in library.rename("part", "warm", "kind")} == {"arc/thaw"}
    assert library.users("part", "warm") == [] and len(library.users("part", "kind")) == 2
    assert set(store.undo("p").also) == {"part/kind", "part/warm", "arc/thaw"}
    assert store.text("p") == _PERSONA and [one.name for one in library.list("part")] == ["icy", "warm"]


def test_what_is_used_is_deleted_only_by_force_and_then_missing(library: LibraryStore, store: Store) -> None:
    assert library.users("part", "warm") == [User("persona", "p"), User("arc", "thaw", "cold")]
    with pytest.raises(InUse, match="used by p, arc/thaw"):
        library.delete("part", "warm")
    library.delete("part", "warm", force=True)
    assert 'name = "warm"' in store.text("p") and library.users("part", "warm")


def test_links_are_added_and_taken_away_and_nothing_else_changes(library: LibraryStore, store: Store) -> None:
    library.create("part", "goal", {"type": "goal"})
    library.link("p", "part", "goal", order=1, priority=3)
    library.link("p", "arc", "thaw")
    text = store.text("p")
    assert (
        text.replace('\n[[parts]]\nname = "goal"\norder = 1\npriority = 3\n', "").replace(
            '[arc]\nname = "thaw"\n\n', ""
        )
        == _PERSONA
    ), text
    for kind, name in (("part", "goal"), ("trait", "curious"), ("arc", "thaw")):
        with pytest.raises(InvalidValue, match="is linked already"):
            library.link("p", kind, name)  # type: ignore[arg-type]
    library.unlink("p", "part", "goal")
    library.unlink("p", "arc", "thaw")
    assert store.text("p").strip() == _PERSONA.strip()
    library.unlink("p", "trait", "curious")
    assert "traits = []  # kept" in store.text("p")
    with pytest.raises(InvalidValue, match="is not linked"):
        library.unlink("p", "trait", "curious")
    with pytest.raises(UnknownPersona, match="did you mean curious"):
        library.link("p", "trait", "curios")


def test_a_link_with_a_number_that_no_persona_can_have_is_refused(
    library: LibraryStore, store: Store
) -> None:
    library.create("part", "icy", {})
    with pytest.raises(InvalidValue, match="order is too large"):
        library.link("p", "part", "icy", order=10**30)
    with pytest.raises(InvalidValue, match="priority is too large"):
        store.change("p", set_priority("warm", -(10**30)), revision=None, by=USER)
    assert store.text("p") == _PERSONA


def test_links_are_moved_and_get_a_priority_and_nothing_else_changes(
    library: LibraryStore, store: Store
) -> None:
    for name, order in (("b", 1), ("c", 1), ("d", 0)):
        library.create("part", name, {})
        library.link("p", "part", name, order=order)
    library.create("trait", "bold", {"trait_type": "social"})
    library.link("p", "trait", "bold")

    def sequence() -> list[str]:
        return [one.name for one in sorted(store.get("p").parts, key=lambda one: one.order)]

    assert sequence() == ["warm", "d", "b", "c"]
    store.change("p", move_link("part", "c", "d", before=True), revision=None, by=USER, own_unit=True)
    assert sequence() == ["warm", "c", "d", "b"]
    store.change("p", move_link("part", "warm", "c", before=False), revision=None, by=USER, own_unit=True)
    assert sequence() == ["c", "warm", "d", "b"] and store.text("p").startswith("# mine\n")
    store.change("p", move_link("part", "c", "b", before=False), revision=None, by=USER, own_unit=True)
    assert sequence() == ["warm", "d", "b", "c"]
    store.change("p", set_priority("warm", -1), revision=None, by=USER, own_unit=True)
    assert {one.name: one.priority for one in store.get("p").parts}["warm"] == -1
    for _ in range(4):
        store.undo("p")
    assert sequence() == ["warm", "d", "b", "c"] and "priority = 2" in store.text("p")
    store.change("p", move_link("trait", "bold", "curious", before=True), revision=None, by=USER)
    assert store.get("p").traits == ("bold", "curious") and "]  # kept" in store.text("p")
    with pytest.raises(InvalidValue, match="x is not linked"):
        move_link("part", "x", "warm", before=True).apply(store.text("p"))


def test_a_stage_is_advanced_set_and_reset(library: LibraryStore, store: Store) -> None:
    with pytest.raises(InvalidValue, match="is on no arc"):
        library.set_stage("p", "advance")
    library.link("p", "arc", "thaw")
    assert library.set_stage("p", "advance") == "mild"
    text = store.text("p")
    with pytest.raises(InvalidValue, match="last stage"):
        library.set_stage("p", "advance")
    with pytest.raises(InvalidValue, match="no stage 'x'"):
        library.set_stage("p", "x")
    assert store.text("p") == text and store.get("p").arc
    assert library.set_stage("p", "reset") == "cold"


def test_values_that_cannot_be_are_refused_and_an_unknown_type_is_a_warning(library: LibraryStore) -> None:
    with pytest.raises(InvalidValue, match="severity must be one of low"):
        library.create("guardrail", "g", {"severity": "dire"})
    with pytest.raises(InvalidValue, match="trait_type must be one of"):
        library.update("trait", "curious", {"trait_type": "odd"})
    with pytest.raises(InvalidValue, match="A part has no instruction"):
        library.update("part", "warm", {"instruction": "x"})
    with pytest.raises(InvalidValue, match="cannot be a name"):
        library.create("part", "Warm One", {})
    assert (
        "'mood' is none of the types" in library.create("part", "m", {"type": "mood", "tags": ["a", "b"]})[0]
    )
    assert [one.name for one in library.list("part", type="mood", tags=["a"])] == ["m"]
    assert library.list("part", tags=["a", "c"]) == []


def test_a_skill_file_is_changed_renamed_and_deleted_in_place(
    library: LibraryStore, store: Store, home: Home
) -> None:
    folder = home.library / "skills" / "pay"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: pay\ndescription: >\n  Old\n  one\nlicense: MIT\n---\n# Pay\n"
    )
    (folder / "table.csv").write_text("1")
    library.update("skill", "pay", {"description": 'New "one"', "content": "# Paid\n"})
    new = '---\nname: pay\ndescription: "New \\"one\\""\nlicense: MIT\n---\n# Paid\n'
    assert (folder / "SKILL.md").read_text() == new
    with pytest.raises(InvalidValue, match="no tags"):
        library.update("skill", "pay", {"tags": ["x"]})
    library.rename("skill", "pay", "refund")
    assert sorted(path.name for path in (folder.parent / "refund").iterdir()) == ["SKILL.md", "table.csv"]
    assert not folder.exists() and library.get("skill", "refund").warnings == ()
    assert store.text("skill/refund") == new.replace("name: pay", "name: refund")
    with pytest.raises(InUse, match="Other files lie in"):
        library.delete("skill", "refund")
    store.undo("skill/refund")
    assert (folder / "SKILL.md").read_text() == new and (folder / "table.csv").read_text() == "1"
    assert [path.name for path in folder.parent.iterdir()] == ["pay"]
    store.redo("skill/pay")
    assert sorted(path.name for path in (folder.parent / "refund").iterdir()) == ["SKILL.md", "table.csv"]
    store.undo("skill/pay")
    assert [path.name for path in folder.parent.iterdir()] == ["pay"]
    changed = library.preview("skill", "pay", {"content": "# Third\n"})
    assert (changed.content, changed.description) == ("# Third\n", 'New "one"')
    assert (folder / "SKILL.md").read_text() == new
    store.undo("skill/pay")
    assert library.get("skill", "pay").description == "Old one"


def test_a_renamed_skill_takes_its_files_along_over_no_others(
    library: LibraryStore, home: Home, store: Store
) -> None:
    pay, refund = (home.library / "skills" / name for name in ("pay", "refund"))
    for folder, notes in ((pay, "mine"), (refund, "precious")):
        folder.mkdir(parents=True)
        (folder / "notes.md").write_text(notes)
    (pay / "SKILL.md").write_text("---\nname: pay\n---\nPay.\n")
    with pytest.raises(InvalidValue, match="has files in it already"):
        library.rename("skill", "pay", "refund")
    assert (refund / "notes.md").read_text() == "precious" and len([*pay.iterdir()]) == 2
    library.rename("skill", "pay", "paid")
    pay.mkdir()
    (pay / "notes.md").write_text("newer")
    with pytest.raises(StorageError, match=r"notes\.md is there already"):
        store.undo("skill/paid")
    assert (pay / "notes.md").read_text() == "newer" and (
        pay.with_name("paid") / "notes.md"
    ).read_text() == "mine"


def test_a_skill_whose_folder_is_none_is_refused_in_words(library: LibraryStore, home: Home) -> None:
    (home.library / "skills").mkdir()
    (home.library / "skills" / "odd").symlink_to("../parts/warm.toml")
    with pytest.raises(StorageError, match="not a folder"):
        library.delete("skill", "odd")


def test_a_description_with_any_end_of_a_line_is_replaced_whole(
    library: LibraryStore, home: Home, store: Store
) -> None:
    file = home.library / "skills" / "pay" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("Pay.\n")
    for said in ("one\u2028two\x85three", "new"):
        library.update("skill", "pay", {"description": said})
        assert library.get("skill", "pay").description == said
    assert store.text("skill/pay") == '---\ndescription: "new"\n---\nPay.\n'


def test_a_rename_reaches_a_persona_with_another_fault(
    library: LibraryStore, store: Store, home: Home
) -> None:
    (home.personas / "q.toml").write_text('parts = [{ name = "warm" }]\n[arc]\nname = 1\n')
    library.rename("part", "warm", "kind")
    assert 'name = "kind"' in store.text("q")


def test_an_undo_does_not_lead_to_a_broken_document(library: LibraryStore, store: Store) -> None:
    for text in ("content = 1\n", 'content = "1"\n'):
        store.change("part/warm", ReplaceText(text), revision=None, by=USER, own_unit=True)
    with pytest.raises(UndoConflict, match="would break the file"):
        store.undo("part/warm")


def test_compiled_texts_are_stored_and_stale_when_what_they_come_from_changed(
    library: LibraryStore, store: Store
) -> None:
    def now() -> tuple[object, object]:
        found = stored_texts(store, store.get("p"))
        return found["compiled_detail"] is not None, found["stale"]

    assert now() == (False, False)
    compile_persona(store, store.get("p"), Options(limit=0))
    assert now() == (False, False)
    compile_persona(store, store.get("p"))
    assert now() == (True, False)
    library.update("part", "warm", {"content": "Be kind."})
    assert now() == (True, True)
    store.undo("part/warm")
    assert now() == (True, False)
    store.change("p", SetTags(["x"]), revision=None, by=USER)
    assert now() == (True, False)
    library.delete("trait", "curious", force=True)
    assert now() == (True, True)

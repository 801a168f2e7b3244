"""Documents of the library read from a home, and the rules of assembly one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from personas.errors import InvalidValue, OutsideHome
from personas.files.home import Home
from personas.files.stamped_index import _MANY
from personas.library.assembly import Missing, assemble
from personas.library.documents import Kind, LibraryDocument, Stage, read_document
from personas.library.folders import Library, read_all
from personas.persona import ArcLink, PartLink, Persona, read_persona
from personas.store import Store


def add(home: Home, path: str, text: str) -> Path:
    file = home.library / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


# -- reading ----------------------------------------------------------------------------------------------


def test_the_five_kinds_are_read_with_their_keys(home: Home) -> None:
    add(
        home,
        "parts/warm.toml",
        'type = "tone"\ndescription = "d"\nsummary = "s"\ncontent = "c"\ntags = ["t"]\nx = 1\n',
    )
    add(home, "traits/curious.toml", 'trait_type = "personality"\ninstruction = "Ask."\n')
    add(home, "skills/refunds.toml", 'description = "d"\ncontent = "c"\n')
    add(home, "guardrails/legal.toml", 'content = "No."\nseverity = "high"\n')
    add(
        home,
        "arcs/thaw.toml",
        '[[stages]]\nname = "cold"\ncondition = "until"\nparts = ["icy"]\n[[stages]]\nname = "b"\n',
    )
    library = Library(home)
    part = library.get(("part", "warm"))
    assert part is not None and (part.error, part.warnings) == (None, ())
    assert (part.type, part.description, part.summary, part.content, part.tags) == (
        "tone",
        "d",
        "s",
        "c",
        ("t",),
    )
    assert [one.instruction for one in read_all(home, "trait")] == ["Ask."]
    assert [one.content for one in read_all(home, "skill")] == ["c"]
    assert [one.severity for one in read_all(home, "guardrail")] == ["high"]
    arc = library.get(("arc", "thaw"))
    assert arc and arc.stages == (Stage(name="cold", condition="until", parts=("icy",)), Stage(name="b"))
    assert library.get(("part", "none")) is None and library.get(("part", "../parts/warm")) is None


@pytest.mark.parametrize(
    ("kind", "text", "place", "message"),
    [
        ("part", 'type = "tone"\ncontent = 5', (2, 11), "content must be text, not a whole number"),
        ("part", "content = '''", (1, None), ""),
        ("trait", "tags = [1]", (1, 9), "tags must hold texts"),
        ("arc", "[[stages]]\ncondition = 'x'", (1, 1), "stage 1 has no name"),
        ("arc", "[[stages]]\nname='a'\n[[stages]]\nname='a'", (4, 6), "two stages have the name 'a'"),
        ("arc", "[[stages]]\nname='a'\nparts = 'x'", (3, 9), "parts must be a list"),
    ],
)
def test_what_is_wrong_with_a_document_is_said_with_its_place(
    kind: Kind, text: str, place: tuple[int, int | None], message: str
) -> None:
    error = read_document(kind, "x", text.encode()).error
    assert error is not None and message in error.message and error.line == place[0]
    assert place[1] is None or error.column == place[1]


def test_an_unknown_word_for_a_type_or_severity_is_a_warning() -> None:
    assert "type is 'mood'" in read_document("part", "x", b'type = "mood"').warnings[0]
    assert read_document("part", "x", b"").warnings == ("it has no type",)
    assert "severity is 'dire'" in read_document("guardrail", "x", b'severity = "dire"').warnings[0]
    assert read_document("guardrail", "x", b"").warnings == ()


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("Pays back.  # soon", "Pays back."),
        ('"a: \\"b\\" # c"', 'a: "b" # c'),
        ("'it''s'", "it's"),
        ("over\n  two lines", "over two lines"),
        (">-\n  folded\n  text\n\n  more", "folded text\nmore"),
        ("|\n  kept\n    lines", "kept\n  lines"),
        ("", ""),
        pytest.param(
            f"a{' ' * 100_000}b", f"a{' ' * 100_000}b", id="many blanks", marks=pytest.mark.timeout(20)
        ),
    ],
)
def test_a_skill_in_the_open_format_is_read(home: Home, value: str, read: str) -> None:
    text = f"---\nname: refunds\ndescription: {value}\nmetadata:\n  version: 1\n---\n# Refunds\n\nPay.\n"
    add(home, "skills/refunds/SKILL.md", text)
    skill = Library(home).get(("skill", "refunds"))
    assert skill is not None and skill.error is None and skill.warnings == ()
    assert (skill.description, skill.content) == (read, "# Refunds\n\nPay.\n")


def test_a_toml_file_wins_over_a_skill_folder_and_both_are_named(home: Home) -> None:
    add(home, "skills/refunds/SKILL.md", "---\nname: other\n---\nFrom the folder.")
    assert "names it 'other'" in read_all(home, "skill")[0].warnings[0]
    add(home, "skills/refunds.toml", 'content = "From the file."')
    (skill,) = read_all(home, "skill")
    assert skill.content == "From the file." and "refunds/SKILL.md is there too" in skill.warnings[0]


def test_what_cannot_be_read_is_listed_with_its_error(home: Home, tmp_path: Path) -> None:
    add(home, "parts/Upper.toml", "")
    outside = tmp_path / "outside.toml"
    outside.write_text('content = "secret"')
    (home.library / "parts" / "linked.toml").symlink_to(outside)
    (home.library / "parts" / "loop.toml").symlink_to("loop.toml")
    (home.library / "parts" / "gone.toml").symlink_to("nothing.toml")
    found = {one.name: one for one in read_all(home, "part")}
    assert list(found) == ["Upper", "gone", "linked", "loop"] and all(one.error for one in found.values())
    with pytest.raises(OutsideHome, match=r"remove the link\.$"):  # `persona rm` takes a persona away
        Store(home).text("part/linked")
    assert found["linked"].content == "" and "leads out of" in (found["linked"].error or read_error()).message
    (home.library / "skills").mkdir()
    (home.library / "skills" / "round").symlink_to("round")
    assert [one.error is not None for one in read_all(home, "skill")] == [True]
    (home.library / "traits").symlink_to(tmp_path)
    with pytest.raises(OutsideHome):
        read_all(home, "trait")


def read_error() -> Any:
    raise AssertionError("it has no error")


# -- assembly ---------------------------------------------------------------------------------------------


def doc(kind: Kind, name: str, **fields: Any) -> LibraryDocument:
    return LibraryDocument(kind=kind, name=name, **fields)


LIBRARY = {
    (one.kind, one.name): one
    for one in (
        doc("part", "warm", type="tone", content="Be warm.", summary="Warm."),
        doc("part", "brief", type="tone", content="Be brief.", description="Short."),
        doc("part", "icy", type="tone", content="Be icy."),
        doc("part", "hero", type="archetype", content="You are a hero."),
        doc("part", "goal", type="goal", content="Win."),
        doc("part", "odd", type="zz", content="Odd."),
        doc("trait", "curious", description="Wants to know", instruction="\nAsk.\n\n  Then listen.\n"),
        doc("trait", "mute", description="Says nothing"),
        doc("skill", "refunds", description="Pays back", content="\n# How\n\nPay.\n\n"),
        doc("skill", "empty"),
        doc("guardrail", "legal", description="No law", content="No advice.\nNone.", severity="high"),
        doc("guardrail", "plain", content="Stay."),
        doc("arc", "thaw", stages=(Stage(name="cold", parts=("icy", "hero", "none")), Stage(name="mild"))),
    )
}
OWN = Persona(
    id="p",
    name="P",
    summary="A person.",
    system_prompt="\n\nYou are P.  \n",
    parts=(
        PartLink(name="goal", order=5, priority=1),
        PartLink(name="warm", priority=3),
        PartLink(name="brief", priority=2),
    ),
)


def names(persona: Persona, **options: Any) -> list[str]:
    return [piece.name for piece in assemble(persona, LIBRARY, **options).pieces if piece.kind == "part"]


def with_arc(stage: str | None = None) -> Persona:
    from dataclasses import replace

    return replace(OWN, arc=ArcLink(name="thaw", stage=stage))


def test_a_persona_without_links_is_its_prompt_exactly() -> None:
    persona = Persona(id="p", name="P", system_prompt="\n\n  You are.  \n\n", summary=" s ")
    assert assemble(persona, {}).text == persona.system_prompt
    assert assemble(persona, {}, detail=False).text == " s "


def test_an_arc_or_a_missing_part_makes_it_linked() -> None:
    for linked in ('arc = { name = "none" }', 'traits = ["none"]', 'parts = [{ name = "none" }]'):
        assert assemble(read_persona("p", f'system_prompt = "\\nX"\n{linked}'.encode()), {}).text == "X\n"


def test_the_detail_text_is_laid_out_to_the_byte() -> None:
    persona = read_persona(
        "p",
        b'system_prompt = "\\n You are P.  \\n"\nparts = [{ name = "warm" }]\ntraits = ["curious", "mute"]\n'
        b'skills = ["refunds", "empty"]\nguardrails = ["legal", "plain"]\nsummary = "A person."',
    )
    assert assemble(persona, LIBRARY).text == (
        " You are P.  \n\nBe warm.\n\n## Traits\n\n- curious: Ask.\n\n    Then listen.\n\n## Skills\n\n### refunds\n\n"
        "# How\n\nPay.\n\n### empty\n\n## Guardrails\n\n- (high) No advice.\n  None.\n- Stay.\n"
    )
    assert assemble(persona, LIBRARY, detail=False).text == (
        "A person.\n\nWarm.\n\n## Traits\n\n- curious: Wants to know\n- mute: Says nothing\n\n## Skills\n\n### refunds\n\n"
        "Pays back\n\n### empty\n\n## Guardrails\n\n- (high) No law\n"
    )


def test_if_nothing_remains_the_text_is_empty() -> None:
    assert assemble(Persona(id="p", name="P", traits=("mute",)), LIBRARY).text == ""


def test_own_parts_stand_by_order_then_by_their_place_in_the_file() -> None:
    assert names(OWN) == ["warm", "brief", "goal"]


def test_a_stage_replaces_all_own_parts_of_its_types_and_adds_others_behind() -> None:
    assert names(with_arc()) == ["icy", "goal", "hero"]
    assert names(with_arc("mild")) == names(OWN)
    assert names(with_arc("mild"), stage="cold") == ["icy", "goal", "hero"]
    icy = assemble(with_arc(), LIBRARY).pieces[1]
    assert (icy.level, icy.replaced, icy.priority) == ("stage", ("warm", "brief"), 3)


def test_an_override_beats_a_stage_and_nothing_else_changes() -> None:
    assert names(with_arc(), overrides={"tone": "warm", "zz": "odd"}) == ["warm", "goal", "hero", "odd"]
    warm = assemble(with_arc(), LIBRARY, overrides={"tone": "warm"}).pieces[1]
    assert (warm.level, warm.replaced) == ("override", ("icy", "brief"))


@pytest.mark.parametrize(("name", "message"), [("none", "no part 'none'"), ("goal", "is of type 'goal'")])
def test_an_override_must_name_a_part_of_that_type(name: str, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        assemble(OWN, LIBRARY, overrides={"tone": name})


def test_types_come_first_then_the_limit_by_priority_in_sequence() -> None:
    assert names(OWN, types=["tone"]) == ["warm", "brief"]
    assert names(OWN, limit=2) == ["warm", "brief"]
    assert names(OWN, types=["goal", "tone"], limit=1) == ["warm"]
    assert names(OWN, limit=0) == [] and names(OWN, types=["nobody"]) == []
    for wrong in ({"types": []}, {"limit": -1}, {"budget": -1}):
        with pytest.raises(InvalidValue):
            names(OWN, **wrong)


def test_what_is_missing_is_named_with_its_kind_and_reason() -> None:
    broken = read_document("skill", "bad", b"content = 1")
    persona = Persona(
        id="p",
        name="P",
        parts=(PartLink(name="x"),),
        traits=("y",),
        skills=("bad",),
        arc=ArcLink(name="z", stage="s"),
    )
    assert set(assemble(persona, {("skill", "bad"): broken}).missing) == {
        Missing("part", "x"),
        Missing("trait", "y"),
        Missing("skill", "bad", "content must be text, not a whole number"),
        Missing("arc", "z"),
    }
    assert assemble(with_arc("none"), LIBRARY).missing == (Missing("stage", "none"),)
    assert assemble(with_arc(), LIBRARY).missing == (Missing("part", "none"),)


def test_what_is_linked_twice_counts_once_with_a_warning() -> None:
    persona = Persona(
        id="p", name="P", parts=(*OWN.parts, PartLink(name="warm", order=9)), traits=("curious",) * 2
    )
    done = assemble(persona, LIBRARY)
    assert [piece.name for piece in done.pieces] == ["p", "warm", "brief", "goal", "curious"]
    assert len(done.warnings) == 2 and "the part warm is linked twice" in done.warnings[0]


def test_a_budget_leaves_out_the_lowest_priority_first_and_says_whether_it_is_enough() -> None:
    assert [piece.name for piece in assemble(OWN, LIBRARY, budget=9).left_out] == ["goal"]
    done = assemble(OWN, LIBRARY, budget=1)
    assert [piece.name for piece in done.left_out] == ["goal", "brief", "warm"] and not done.fits


def test_each_line_names_its_document_field_and_line() -> None:
    persona = Persona(id="p", name="P", system_prompt="\nX", traits=("curious",), skills=("refunds",))
    done = assemble(persona, LIBRARY)
    records = [line.to_record(number) for number, line in enumerate(done.lines, 1)]
    assert [(one["name"], one["field"], one["source_line"]) for one in records if one["name"]] == [
        ("p", "system_prompt", 2),
        *[("curious", "instruction", line) for line in (2, 3, 4)],
        ("refunds", "name", None),
        *[("refunds", "content", line) for line in (2, 3, 4)],
    ]
    assert records[2] == {
        "line": 3, "kind": None, "name": None, "field": None, "source_line": None, "level": None, "replaced": [],
    }  # fmt: skip
    assert done.tokens_of(done.pieces[0]) == 1


def test_a_large_library_is_listed_from_what_is_stored_and_follows_every_change(home: Home) -> None:
    folder = home.library / "parts"
    folder.mkdir(parents=True)
    index = home.state / "library-parts.json"
    for number in range(_MANY - 1):
        (folder / f"p{number}.toml").write_text(f'type = "tone"\ncontent = "{number}"\ntags = ["a"]\n')
    assert len(read_all(home, "part")) == _MANY - 1 and not index.exists(), "a small one needs nothing"
    (folder / "odd.toml").write_text('type = "mood"\n')
    (folder / "broken.toml").write_text("content = 1\n")
    read = read_all(home, "part")
    assert index.exists() and read_all(home, "part") == read, "warnings and faults too"
    (folder / "p0.toml").write_text('type = "goal"\ncontent = "by hand"\n')
    (folder / "p1.toml").unlink()
    (folder / "broken.toml").write_text('type = "tone"\n')
    changed = {one.name: one for one in read_all(home, "part")}
    assert changed["p0"].content == "by hand" and "p1" not in changed and changed["broken"].error is None
    for damaged in (
        "[]",
        "{",
        '{"p2": 3, "p3": [[1, 2, 3], {}]}',
        json.dumps({key: [None, None] for key in changed}),
    ):
        index.write_text(damaged)
        assert {one.name: one for one in read_all(home, "part")} == changed
    outside = home.root.parent / "outside.toml"
    outside.write_text('content = "not mine"\n')
    (folder / "p2.toml").unlink()
    (folder / "p2.toml").symlink_to(outside)
    assert {one.name: one.content for one in read_all(home, "part")}["p2"] == ""

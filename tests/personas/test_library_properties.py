"""Whatever is linked: the text is that of the rules, said once more in `library_model`, and each line names its source."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from personas.library.assembly import assemble
from personas.library.documents import KINDS, LibraryDocument, Stage
from personas.persona import ArcLink, PartLink, Persona
from tests.personas.library_model import TYPES, chosen_parts, compiled
from tests.support.examples import examples

names = st.sampled_from(["a", "b", "c", "d", "e"])
types = st.sampled_from([*TYPES[:3], "zeta", "other", ""])
texts = st.lists(st.sampled_from(["", " ", "One.", "  two", "## Traits", "- x "]), max_size=4).map("\n".join)
numbers = st.integers(-2, 2)
parts = st.fixed_dictionaries({"type": types, "content": texts, "summary": texts, "description": texts})
stages = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["s", "t", "u"]), "parts": st.lists(names, max_size=5)}),
    max_size=3,
    unique_by=lambda stage: stage["name"],
)


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(names, values, max_size=5)


libraries = st.fixed_dictionaries(
    {
        "part": some(parts),
        "trait": some(st.fixed_dictionaries({"instruction": texts, "description": texts})),
        "skill": some(st.fixed_dictionaries({"content": texts, "description": texts})),
        "guardrail": some(
            st.fixed_dictionaries(
                {"content": texts, "description": texts, "severity": st.sampled_from(["", "high"])}
            )
        ),
        "arc": some(st.fixed_dictionaries({"stages": stages})),
    }
)
links = st.lists(st.fixed_dictionaries({"name": names, "order": numbers, "priority": numbers}), max_size=6)
arcs = st.fixed_dictionaries({"name": names}, optional={"stage": st.sampled_from(["s", "t", "u"])})
personas = st.fixed_dictionaries(
    {
        "system_prompt": texts,
        "summary": texts,
        "parts": links,
        "traits": st.lists(names, max_size=3),
        "skills": st.lists(names, max_size=3),
        "guardrails": st.lists(names, max_size=3),
        "arc": st.none() | arcs,
    }
)


def persona_of(persona: dict[str, Any]) -> Persona:
    linked = {key: tuple(persona[key]) for key in ("traits", "skills", "guardrails")}
    return Persona(
        id="p",
        name="P",
        system_prompt=persona["system_prompt"],
        summary=persona["summary"],
        parts=tuple(PartLink(**link) for link in persona["parts"]),
        arc=persona["arc"] and ArcLink(**persona["arc"]),
        **linked,
    )


def library_of(docs: dict[str, Any]) -> dict[Any, LibraryDocument]:
    library = {}
    for kind in KINDS:
        for name, fields in docs[kind].items():
            staged = tuple(
                Stage(name=one["name"], parts=tuple(one["parts"])) for one in fields.get("stages", ())
            )
            fields = {**fields, **({"stages": staged} if kind == "arc" else {})}
            library[kind, name] = LibraryDocument(kind=kind, name=name, **fields)
    return library


@settings(max_examples=examples(20))
@given(libraries, personas, st.data())
def test_the_text_is_that_of_the_rules(
    docs: dict[str, Any], persona: dict[str, Any], choices: st.DataObject
) -> None:
    replacing = (
        choices.draw(st.lists(st.sampled_from(sorted(docs["part"])), max_size=3)) if docs["part"] else []
    )
    options: dict[str, Any] = {
        "overrides": {docs["part"][name]["type"]: name for name in replacing},
        "stage": choices.draw(st.none() | st.sampled_from(["s", "t", "u"])),
        "types": choices.draw(st.none() | st.lists(types, min_size=1, max_size=3)),
        "limit": choices.draw(st.none() | st.integers(0, 4)),
    }
    for detail in (True, False):
        done = assemble(persona_of(persona), library_of(docs), **options, detail=detail)
        assert done.text == compiled(persona, docs, **options, detail=detail)
        assert [piece.name for piece in done.pieces if piece.kind == "part"] == chosen_parts(
            persona, docs, **options
        )
        assert "\n".join(line.text for line in done.lines) == done.text.removesuffix("\n")
        for line in done.lines:
            if line.piece is not None and line.source_line is not None:
                source: Any = line.piece.document or persona_of(persona)
                read = getattr(source, line.field or "").split("\n")[line.source_line - 1]
                assert line.text.strip().endswith(read.strip())


@settings(max_examples=examples(30))
@given(libraries, personas, st.integers(0, 60))
def test_a_budget_leaves_out_parts_alone_and_the_lowest_priority_first(
    docs: dict[str, Any], persona: dict[str, Any], budget: int
) -> None:
    one, library = persona_of(persona), library_of(docs)
    whole, done = assemble(one, library), assemble(one, library, budget=budget)
    kept = [piece for piece in done.pieces if piece.kind == "part"]
    assert [piece for piece in whole.pieces if piece not in done.left_out] == list(done.pieces)
    assert done.fits == (-(-len(done.text) // 4) <= budget) and (done.fits or not kept)
    if done.left_out:
        assert all(piece.priority >= done.left_out[-1].priority for piece in kept)

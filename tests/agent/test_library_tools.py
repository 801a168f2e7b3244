"""The tools on the library: names, arguments and answers, refusals, authorship, and undo over several documents."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from agent.tools.library import LIBRARY_TOOLS
from agent.tools.library.spec import to_record
from personas.errors import InvalidValue, OutsideHome, PersonaError, UnknownPersona
from personas.library_store import InUse
from personas.store import Store
from personas.versions.authorship import USER, Author

Call = Callable[..., dict[str, Any]]
MCP = Author("mcp:claude")


@pytest.fixture
def call(store: Store) -> Call:
    shutil.rmtree(store.home.library, ignore_errors=True)  # the examples

    def call(name: str, /, by: Author = USER, **given: Any) -> dict[str, Any]:
        tool = LIBRARY_TOOLS[name]
        return to_record(tool.call(store, by, tool.input.model_validate(given)))

    return call


@pytest.fixture
def filled(call: Call) -> Call:
    call("create_agent_persona", name="p", display_name="P", detail="You are P.", summary="P.", tags=["x"])
    call("create_agent_part", name="warm", type="tone", content="Be warm.", summary="Warm.", tags=["a", "b"])
    call("create_agent_part", name="icy", type="tone", description="Cold", content="Be icy.")
    call("create_agent_trait", name="curious", trait_type="personality", instruction="Ask.")
    call("create_agent_skill", name="refunds", description="Money back", content="Refund it.")
    call("create_agent_guardrail", name="no-legal", content="No law.", severity="high")
    call("create_character_arc", name="thaw", stages=[{"name": "cold", "parts": ["icy"]}, {"name": "mild"}])
    call("add_persona_part", persona="p", part="warm", order=1, priority=2)
    call("add_persona_trait", persona="p", trait="curious")
    call("add_persona_skill", persona="p", skill="refunds")
    call("add_persona_guardrail", persona="p", guardrail="no-legal")
    return call


def test_the_tools_have_the_names_of_the_seed_and_say_what_a_call_may_do() -> None:
    documents = ("agent_part", "agent_trait", "agent_skill", "agent_guardrail", "character_arc")
    linked = ("part", "trait", "skill", "guardrail")
    assert set(LIBRARY_TOOLS) == {
        *(f"{verb}_{noun}" for verb in ("create", "update", "delete", "get") for noun in documents),
        *(f"list_{noun}s" for noun in documents),
        *(f"{verb}_persona_{kind}" for verb in ("add", "remove") for kind in linked),
        *(f"{verb}_agent_persona" for verb in ("create", "update", "delete", "get")),
        *("list_agent_personas", "get_persona_manifest", "compile_persona"),
        *("add_arc_stage", "remove_arc_stage", "add_stage_part", "remove_stage_part"),
        *("assign_persona_arc", "advance_persona_stage", "reset_persona_stage"),
    }
    effects = {name: tool.effect for name, tool in LIBRARY_TOOLS.items()}
    assert {name for name, effect in effects.items() if effect == "read"} == {
        name for name in effects if name.startswith(("get_", "list_", "compile_"))
    }
    assert {name for name, effect in effects.items() if effect == "destructive"} == {
        *(name for name in effects if name.startswith("delete_")), "update_agent_persona", "remove_arc_stage",
    }  # fmt: skip


def test_get_agent_persona_has_exactly_the_keys_of_the_page_and_texts_only_with_detail(filled: Call) -> None:
    filled("assign_persona_arc", persona="p", arc="thaw")
    found = filled("get_agent_persona", name="p")
    assert found == {
        "name": "p", "display_name": "P", "description": "", "tags": ["x"], "summary": "P.",
        "parts": [{"name": "icy", "type": "tone", "summary": "", "level": "stage", "order": 1, "priority": 2}],
        "traits": [{"name": "curious", "trait_type": "personality", "description": ""}],
        "skills": [{"name": "refunds", "description": "Money back"}],
        "guardrails": [{"name": "no-legal", "description": ""}],
        "arc": {"name": "thaw", "stage": "cold"},
        "compiled_summary": None, "compiled_at": None, "stale": False, "missing": [],
    }  # fmt: skip
    whole = filled("get_agent_persona", name="p", detail=True, stage="mild")
    assert whole["detail"] == "You are P." and whole["compiled_detail"] is None
    assert whole["parts"][0]["content"] == "Be warm." and whole["parts"][0]["level"] == "own"
    assert whole["traits"][0]["instruction"] == "Ask." and whole["skills"][0]["content"] == "Refund it."
    assert whole["guardrails"][0] | {"name": ""} == {
        "name": "", "description": "", "content": "No law.", "severity": "high",
    }  # fmt: skip


def test_manifest_names_what_there_is_and_which_tools_load_it_without_any_content(filled: Call) -> None:
    found = filled("get_persona_manifest", name="p")
    assert list(found) == ["name", "description", "parts", "traits", "skills", "guardrails", "arc", "on_demand_tools"]  # fmt: skip
    assert found["skills"] == ["refunds"] and found["guardrails"] == ["no-legal"] and found["arc"] is None
    assert set(found["on_demand_tools"]) < set(LIBRARY_TOOLS)
    assert not any(text in str(found) for text in ("Be warm", "Ask.", "Refund it", "No law", "You are P"))


def test_the_loading_strategy_of_the_seed_follows_the_stage(filled: Call) -> None:
    filled("assign_persona_arc", persona="p", arc="thaw")
    assert filled("get_persona_manifest", name="p")["parts"] == [
        {"name": "icy", "type": "tone", "description": "Cold"}
    ]
    assert filled("get_agent_part", name="icy")["content"] == "Be icy."
    assert filled("get_agent_trait", name="curious")["instruction"] == "Ask."
    before = filled("compile_persona", name="p")
    assert before["compiled_detail"] == (
        "You are P.\n\nBe icy.\n\n## Traits\n\n- curious: Ask.\n\n## Skills\n\n### refunds\n\nRefund it.\n\n"
        "## Guardrails\n\n- (high) No law.\n"
    )
    assert list(before) == [
        "name",
        "compiled_summary",
        "compiled_detail",
        "compiled_at",
        "missing",
        "left_out",
    ]
    assert filled("get_agent_persona", name="p")["stale"] is False
    assert filled("advance_persona_stage", persona="p")["stage"] == "mild"
    assert filled("get_agent_persona", name="p")["stale"] is True
    assert "Be warm." in filled("compile_persona", name="p")["compiled_detail"]
    with pytest.raises(InvalidValue, match="last stage"):
        filled("advance_persona_stage", persona="p")
    assert filled("reset_persona_stage", persona="p")["stage"] == "cold"


def test_only_a_compile_without_options_is_stored_and_reading_only_stores_nothing(
    filled: Call, store: Store
) -> None:
    tool = LIBRARY_TOOLS["compile_persona"]
    tool.call(store, USER, tool.input.model_validate({"name": "p"}), is_read_only=True)
    filled("compile_persona", name="p", limit=0)
    assert filled("get_agent_persona", name="p")["compiled_summary"] is None
    text = filled("compile_persona", name="p")["compiled_summary"]
    assert filled("get_agent_persona", name="p", types=["goal"])["compiled_summary"] == text
    create = LIBRARY_TOOLS["create_agent_part"]
    with pytest.raises(InvalidValue, match="only reading"):
        create.call(store, USER, create.input.model_validate({"name": "n"}), is_read_only=True)


def test_overrides_are_checked_and_nothing_is_written(filled: Call, store: Store) -> None:
    text = store.text("p")
    assert "Be icy." in filled("compile_persona", name="p", overrides={"tone": "icy"})["compiled_detail"]
    for overrides, why in (
        ({"tone": "nobody"}, "no part 'nobody'"),
        ({"goal": "icy"}, "cannot override 'goal'"),
    ):
        for name in ("compile_persona", "get_agent_persona", "get_persona_manifest"):
            with pytest.raises(InvalidValue, match=why):
                filled(name, name="p", overrides=overrides)
    with pytest.raises(InvalidValue, match="at least one type"):
        filled("get_agent_persona", name="p", types=[])
    with pytest.raises(InvalidValue, match="must not be negative"):
        filled("get_agent_persona", name="p", limit=-1)
    assert filled("get_agent_persona", name="p", types=["nothing"])["parts"] == []
    assert store.text("p") == text


def test_update_changes_only_what_is_given(filled: Call, store: Store) -> None:
    filled("update_agent_part", name="warm", summary="Warmer.")
    found = filled("get_agent_part", name="warm")
    assert (found["summary"], found["content"], found["tags"]) == ("Warmer.", "Be warm.", ["a", "b"])
    filled("update_agent_part", name="warm", summary="")
    assert filled("get_agent_part", name="warm")["summary"] == ""
    filled("update_agent_persona", name="p", description="D")
    persona = store.get("p")
    assert (persona.name, persona.description, persona.system_prompt) == ("P", "D", "You are P.")
    filled("update_character_arc", name="thaw", stages=[{"name": "mild", "condition": "c"}, {"name": "new"}])
    assert [(one["name"], one["condition"]) for one in filled("get_character_arc", name="thaw")["stages"]] == [
        ("mild", "c"), ("new", ""),
    ]  # fmt: skip


def test_lists_filter_by_type_and_tags_and_show_broken_ones_with_their_error(
    filled: Call, store: Store
) -> None:
    (store.home.library / "parts" / "torn.toml").write_text("type = 1\n")
    listed = filled("list_agent_parts")["parts"]
    assert [(one["name"], bool(one["error"])) for one in listed] == [
        ("icy", False), ("torn", True), ("warm", False),
    ]  # fmt: skip
    assert "content" not in listed[0]
    assert [one["name"] for one in filled("list_agent_parts", type="tone", tags=["b"])["parts"]] == ["warm"]
    assert filled("list_agent_traits", trait_type="social")["traits"] == []
    assert [one["name"] for one in filled("list_agent_personas", tags=["x"])["personas"]] == ["p"]
    assert filled("list_agent_personas", tags=["y"])["personas"] == []
    assert filled("list_character_arcs")["arcs"][0]["name"] == "thaw"


def test_unknown_severity_and_trait_type_are_refused_and_an_unknown_part_type_is_a_warning(
    filled: Call,
) -> None:
    with pytest.raises(InvalidValue, match="severity must be one of"):
        filled("create_agent_guardrail", name="g", severity="dire")
    with pytest.raises(InvalidValue, match="trait_type must be one of"):
        filled("update_agent_trait", name="curious", trait_type="odd")
    assert "none of" in filled("create_agent_part", name="m", type="mood")["warnings"][0]


def test_adding_or_removing_what_is_already_so_is_an_error(filled: Call, store: Store) -> None:
    again: list[tuple[str, dict[str, Any], str]] = [
        ("create_agent_persona", {"name": "p"}, "already a persona"),
        ("create_agent_part", {"name": "warm"}, "already a part"),
        ("add_persona_part", {"persona": "p", "part": "warm"}, "linked already"),
        ("remove_persona_part", {"persona": "p", "part": "icy"}, "not linked"),
        ("add_arc_stage", {"arc": "thaw", "stage": "cold"}, "already a stage"),
        ("remove_arc_stage", {"arc": "thaw", "stage": "hot"}, "no stage 'hot'"),
        ("add_stage_part", {"arc": "thaw", "stage": "cold", "part": "icy"}, "has the part icy already"),
        ("remove_stage_part", {"arc": "thaw", "stage": "mild", "part": "icy"}, "does not have the part icy"),
        (
            "create_character_arc",
            {"name": "a", "stages": [{"name": "x"}, {"name": "x"}]},
            "Two stages have the name",
        ),
    ]
    for name, given, why in again:
        with pytest.raises(InvalidValue, match=why):
            filled(name, **given)
    filled("assign_persona_arc", persona="p", arc="thaw")
    with pytest.raises(InvalidValue, match="linked already"):
        filled("assign_persona_arc", persona="p", arc="thaw")
    filled("assign_persona_arc", persona="p", arc="thaw", stage="mild")
    assert store.get("p").arc and store.get("p").arc.stage == "mild"  # type: ignore[union-attr]


def test_stages_are_added_and_removed_with_their_parts(filled: Call, store: Store) -> None:
    filled("add_arc_stage", arc="thaw", stage="hot", condition="a hug", parts=["warm"])
    filled("add_stage_part", arc="thaw", stage="mild", part="warm")
    filled("remove_stage_part", arc="thaw", stage="cold", part="icy")
    assert filled("get_character_arc", name="thaw")["stages"] == [
        {"name": "cold", "description": "", "condition": "", "parts": []},
        {"name": "mild", "description": "", "condition": "", "parts": ["warm"]},
        {"name": "hot", "description": "", "condition": "a hug", "parts": ["warm"]},
    ]
    changed = filled("remove_arc_stage", arc="thaw", stage="hot")
    assert changed["id"] == "arc/thaw" and changed["version"] == 5
    with pytest.raises(UnknownPersona, match="no part 'warn'"):
        filled("add_stage_part", arc="thaw", stage="mild", part="warn")
    warned = filled("create_character_arc", name="b", stages=[{"name": "s", "parts": ["gone"]}])["warnings"]
    assert warned == ["there is no part gone for the stage s"]


def test_what_is_used_is_deleted_only_by_force_and_an_edit_tells_whom_it_touches(filled: Call) -> None:
    filled("create_agent_persona", name="q")
    filled("assign_persona_arc", persona="q", arc="thaw")
    changed = filled("update_agent_part", name="icy", content="Be icier.")
    assert changed["users"] == [{"kind": "arc", "name": "thaw", "stage": "cold"}]
    assert changed["personas"] == ["q"] and changed["summary"].endswith("a part of q")
    with pytest.raises(InUse, match="used by arc/thaw"):
        filled("delete_agent_part", name="icy")
    filled("delete_agent_part", name="icy", force=True)
    assert filled("get_agent_persona", name="q")["missing"] == [{"kind": "part", "name": "icy"}]
    filled("delete_agent_persona", name="q")
    with pytest.raises(UnknownPersona):
        filled("get_agent_persona", name="q")


def test_missing_broken_looped_and_double_links_are_named_in_answers(filled: Call, store: Store) -> None:
    path = store.path("p")
    path.write_text('traits = ["curious", "curious", "gone"]\nskills = ["loop"]\nguardrails = ["torn"]\n')
    (store.home.library / "guardrails" / "torn.toml").write_text("content = 1\n")
    (store.home.library / "skills" / "loop.toml").symlink_to("loop.toml")
    for name in ("get_agent_persona", "get_persona_manifest", "compile_persona"):
        found = filled(name, name="p")
        missing = {one["name"]: one.get("reason") for one in found["missing"]}
        assert list(missing) == ["gone", "loop", "torn"] and missing["gone"] is None
        assert missing["loop"] and "content must be text" in missing["torn"]
        assert found["warnings"] == ["the trait curious is linked twice and counts once"]
    assert filled("list_agent_skills")["skills"][0]["error"]


def test_an_unknown_stage_or_arc_counts_as_none_and_is_reported(filled: Call, store: Store) -> None:
    assert filled("get_agent_persona", name="p", stage="hot")["missing"] == [{"kind": "stage", "name": "hot"}]
    for arc, missing in (
        ("thaw", {"kind": "stage", "name": "hot"}),
        ("melt", {"kind": "arc", "name": "melt"}),
    ):
        store.path("p").write_text(f'[arc]\nname = "{arc}"\nstage = "hot"\n')
        found = filled("get_agent_persona", name="p")
        assert found["arc"] == {"name": arc, "stage": None} and found["missing"] == [missing]
        assert filled("compile_persona", name="p")["missing"] == [missing]
        with pytest.raises(PersonaError, match=r"no stage 'hot'|no arc 'melt'"):
            filled("advance_persona_stage", persona="p")


def test_a_skill_folder_is_read_and_changed_in_place_and_a_toml_file_wins_over_it(
    call: Call, store: Store
) -> None:
    folder = store.home.library / "skills" / "pay"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pay\ndescription: Old\n---\nPay.\n")
    assert call("get_agent_skill", name="pay")["content"] == "Pay.\n"
    call("update_agent_skill", name="pay", description="New")
    assert 'description: "New"\n---\nPay.\n' in (folder / "SKILL.md").read_text()
    (folder / "note.txt").write_text("x")
    with pytest.raises(InUse, match="Other files"):
        call("delete_agent_skill", name="pay")
    (folder.parent / "pay.toml").write_text('content = "T"\n')
    found = call("get_agent_skill", name="pay")
    assert found["content"] == "T" and "pay.toml wins" in found["warnings"][0]


def test_a_run_of_the_agent_is_undone_whole_from_any_document_and_writes_carry_their_author(
    filled: Call, store: Store
) -> None:
    run = Author("agent", "s", "r")
    texts = {key: store.text(key) for key in ("p", "part/warm", "arc/thaw")}
    filled("update_agent_part", by=run, name="warm", content="Be warmer.")
    filled("add_stage_part", by=run, arc="thaw", stage="mild", part="warm")
    filled("assign_persona_arc", by=run, persona="p", arc="thaw")
    filled("create_agent_part", by=run, name="made", content="Made.")
    done = store.undo("arc/thaw", only="agent")
    assert {*done.also} == {"p", "part/warm", "part/made"}
    assert {key: store.text(key) for key in texts} == texts
    with pytest.raises(UnknownPersona):
        filled("get_agent_part", name="made")
    filled("update_agent_persona", by=MCP, name="p", detail="x")
    filled("update_agent_trait", by=MCP, name="curious", instruction="x")
    assert store.log("p")[0].by.kind == store.log("trait/curious")[0].by.kind == "mcp:claude"


def test_hostile_arguments_are_refused_and_harm_nothing(filled: Call, store: Store) -> None:
    before = sorted(path for path in store.home.root.rglob("*.toml"))
    for name in ("../p", "a/b", "Warm", "-x", "x\0", "n" * 65):
        with pytest.raises(PersonaError):
            filled("create_agent_part", name=name)
        with pytest.raises(PersonaError):
            filled("create_agent_persona", name=name)
        with pytest.raises(PersonaError):
            filled("add_persona_part", persona="p", part=name)
    for name in ("../p", "part/warm"):
        for tool in ("get_agent_persona", "update_agent_persona", "delete_agent_persona"):
            with pytest.raises(OutsideHome):
                filled(tool, name=name)
        with pytest.raises(OutsideHome):
            filled("add_persona_trait", persona=name, trait="curious")
    with pytest.raises(ValidationError):
        filled("create_agent_part", name="x", colour="red")
    with pytest.raises(PersonaError):
        filled("update_agent_part", name="warm", content="\ud800")
    with pytest.raises(PersonaError):
        filled("create_agent_persona", name="new", tags=["a\nb"])
    assert sorted(path for path in store.home.root.rglob("*.toml")) == before

"""The commands on the library: shapes of `--json`, plain output, exit codes."""

from __future__ import annotations

import json
from typing import Any

from tests.support.persona_agent import Workplace


def run(place: Workplace, *arguments: str, code: int = 0) -> str:
    done = place.run_here(*arguments)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def parsed(place: Workplace, *arguments: str) -> Any:
    return json.loads(run(place, *arguments, "--json"))


def fill(place: Workplace) -> None:
    (place.home / "library").mkdir(parents=True)  # with a library of its own a home gets no examples of one
    run(place, "new", "P", "--prompt", "You are P.")
    run(
        place,
        "part",
        "new",
        "warm",
        "--type",
        "tone",
        "--content",
        "Be warm.",
        "--summary",
        "Warm.",
        "--tags",
        "a, b",
    )
    run(place, "part", "new", "cool", "--type", "tone", "--content", "Be cool.", "--description", "Cool")
    run(place, "trait", "new", "curious", "--trait-type", "personality", "--instruction", "Ask.")
    run(place, "guardrail", "new", "legal", "--content", "No law.", "--severity", "high")
    run(place, "link", "p", "part", "warm", "--priority", "2")
    run(place, "link", "p", "trait", "curious")
    run(place, "link", "p", "guardrail", "legal")


def test_documents_are_made_listed_shown_set_renamed_and_deleted(place: Workplace) -> None:
    fill(place)
    assert [one["name"] for one in parsed(place, "part", "list")] == ["cool", "warm"]
    assert parsed(place, "part", "list", "--type", "tone", "--tag", "a")[0]["tags"] == ["a", "b"]
    assert "cool  tone  Cool" in run(place, "part", "list")
    shown = parsed(place, "part", "show", "warm")
    assert shown["content"] == "Be warm." and shown["error"] is None and "instruction" not in shown
    made = parsed(place, "part", "set", "warm", "content", "Be very warm.")
    assert made["id"] == "part/warm" and made["version"] == 2
    assert parsed(place, "part", "users", "warm") == [{"kind": "persona", "name": "p"}]
    assert "every reference to it; a part of p" in run(place, "part", "rename", "warm", "kind")
    assert "used by p" in run(place, "part", "rm", "kind", "--yes", code=1)
    run(place, "part", "rm", "cool", "--yes")
    assert "created" in run(place, "log", "part/cool")
    run(place, "undo", "part/cool")
    assert "Be cool." in run(place, "part", "show", "cool")
    assert "undone" in run(place, "undo", "part/kind").lower()
    assert parsed(place, "part", "users", "warm")
    assert [one["version"] for one in parsed(place, "log", "part/warm")][-1] == 1
    part = place.home / "library" / "parts" / "warm.toml"
    part.write_text('type = "tone"\ncontent = "Be tepid."\n')
    run(place, "part", "show", "warm")
    part.write_text('type = "tone"\ncontent = "Be hot."\n')
    assert '-content = "Be tepid."\n+content = "Be hot."' in run(place, "diff", "part/warm")
    assert "there is no" in run(place, "part", "show", "nobody", code=1).lower()
    assert "no command" in run(place, "nobody/x", code=2)
    assert "names no document" in run(place, "log", "nobody/x", code=1)


def test_compile_prints_the_effective_prompt_and_what_is_missing_goes_to_stderr(place: Workplace) -> None:
    fill(place)
    text = "You are P.\n\nBe warm.\n\n## Traits\n\n- curious: Ask.\n\n## Guardrails\n\n- (high) No law.\n"
    assert run(place, "compile", "p") == text
    compiled = parsed(place, "compile", "p")
    assert set(compiled) == {
        "name", "compiled_summary", "compiled_detail", "compiled_at", "missing", "left_out",
    }  # fmt: skip
    assert compiled["compiled_detail"] == text and compiled["missing"] == []
    assert run(place, "show", "p", "--prompt") == text
    cool = run(place, "show", "p", "--prompt", "--override", "tone=cool")
    assert cool == text.replace("warm", "cool") == run(place, "compile", "p", "--override", "tone=cool")
    assert "--override" in run(place, "show", "p", "--override", "tone=cool", code=2)
    assert "compile" in run(place, "show", "p", "--prompt", "--json", code=2)
    run(place, "new", "Odd", "--prompt", odd := "\x1b[1m bold \u202e\n\n ")
    assert run(place, "show", "odd", "--prompt") == odd
    run(place, "new", "Merged", "--prompt", "<<<<<<< HEAD\nBe A.\n=======\nBe B.\n>>>>>>> theirs\n")
    assert "merge conflict" in run(place, "show", "merged", "--prompt", code=1)
    for words in (["show"], ["compile"], ["export", "--to", "claude"], ["inputs"], ["manifest"], ["chat"]):
        assert "part/warm is not a persona" in run(
            place, words[0], "part/warm", *words[1:], *["Hi"] * (words == ["chat"]), code=1
        )
    assert "part/warm is not a persona" in run(place, "chat", "--to", "p,part/warm", "Hi", code=1)
    assert "`persona log p` lists them" in run(place, "restore", "p", code=2)
    assert "Be warm." not in run(place, "compile", "p", "--types", "goal")
    assert run(place, "compile", "p", "--summary").startswith("Warm.\n")
    assert "TYPE=NAME" in run(place, "compile", "p", "--override", "tone", code=2)
    assert "cannot override 'goal'" in run(place, "compile", "p", "--override", "goal=cool", code=1)
    assert parsed(place, "compile", "p", "--budget", "20")["left_out"] == ["warm"]
    assert "larger than the budget" in run(place, "compile", "p", "--budget", "1", code=1)
    run(place, "part", "rm", "warm", "--yes", "--force")
    done = place.run_here("compile", "p")
    assert done.returncode == 0 and done.stderr.decode().strip().endswith("missing: part warm")
    assert parsed(place, "compile", "p")["missing"] == [{"kind": "part", "name": "warm"}]


def test_manifest_tells_the_structure_without_content_and_explain_each_line(place: Workplace) -> None:
    fill(place)
    found = parsed(place, "manifest", "p")
    assert found["parts"] == [{"name": "warm", "type": "tone", "description": ""}]
    assert (
        found["guardrails"] == ["legal"]
        and found["arc"] is None
        and "get_agent_part" in found["on_demand_tools"]
    )
    assert "Be warm." not in json.dumps(found)
    assert "part   warm" in run(place, "manifest", "p").replace("part       ", "part   ")
    lines = parsed(place, "explain", "p", "--override", "tone=cool")["lines"]
    assert lines[2] == {
        "line": 3, "kind": "part", "name": "cool", "field": "content", "source_line": 1,
        "level": "override", "replaced": ["warm"],
    }  # fmt: skip
    assert "part/cool: about 3 tokens, override, instead of warm" in run(
        place, "explain", "p", "--override", "tone=cool"
    )


def test_a_stage_is_shown_and_advanced(place: Workplace) -> None:
    fill(place)
    (place.home / "library" / "arcs").mkdir()
    (place.home / "library" / "arcs" / "thaw.toml").write_text(
        '[[stages]]\nname = "cold"\nparts = ["cool"]\n[[stages]]\nname = "mild"\n'
    )
    assert run(place, "stage", "p") == "no stage\n"
    run(place, "link", "p", "arc", "thaw")
    assert parsed(place, "stage", "p") == {"arc": "thaw", "stage": "cold"}
    assert parsed(place, "manifest", "p")["parts"][0]["name"] == "cool"
    assert run(place, "stage", "p", "advance") == "stage: mild\n"
    assert "Be warm." in run(place, "compile", "p") and "Be cool." in run(
        place, "compile", "p", "--stage", "cold"
    )
    assert "last stage" in run(place, "stage", "p", "advance", code=1)
    run(place, "unlink", "p", "arc", "thaw")
    assert "not linked" in run(place, "unlink", "p", "arc", "thaw", code=1)


def test_a_document_is_edited_in_the_persons_editor(place: Workplace) -> None:
    fill(place)
    done = place.run_here("part", "edit", "warm", env={"EDITOR": "sed -i s/warm/kind/"})
    assert done.returncode == 0, done.stderr
    assert (
        "Be kind." in run(place, "part", "show", "warm")
        and parsed(place, "log", "part/warm")[0]["version"] == 2
    )


def test_an_arc_is_made_with_its_stages_and_they_are_changed_one_by_one(place: Workplace) -> None:
    fill(place)
    made = parsed(place, "arc", "new", "turn", "--stage", "cold=cool,gone", "--stage", "mild")
    assert made["warnings"] == ["there is no part gone for the stage cold"]
    assert made["users"] == [] and made["personas"] == []
    run(place, "link", "p", "arc", "turn")
    told = run(place, "arc", "stage", "add", "turn", "kind", "--condition", "a hug", "--part", "warm")
    assert told == "added stage kind to arc turn; a part of p\n"
    run(place, "arc", "stage", "add-part", "turn", "mild", "warm")
    assert parsed(place, "arc", "stage", "rm-part", "turn", "cold", "gone")["warnings"] == []
    assert [(one["name"], one["condition"], one["parts"]) for one in parsed(place, "arc", "show", "turn")["stages"]] == [
        ("cold", "", ["cool"]), ("mild", "", ["warm"]), ("kind", "a hug", ["warm"]),
    ]  # fmt: skip
    run(place, "arc", "stage", "rm", "turn", "mild")
    assert run(place, "stage", "p", "advance") == "stage: kind\n"
    assert "already a stage 'kind'" in run(place, "arc", "stage", "add", "turn", "kind", code=1)
    assert (
        "there is no part 'wram'"
        in run(place, "arc", "stage", "add-part", "turn", "kind", "wram", code=1).lower()
    )
    run(place, "undo", "arc/turn")
    assert len(parsed(place, "arc", "show", "turn")["stages"]) == 3


def test_doctor_names_missing_broken_looped_and_double_links(place: Workplace) -> None:
    fill(place)
    library = place.home / "library"
    (place.home / "personas" / "q.toml").write_text(
        'traits = ["curious", "curious"]\nskills = ["loop"]\n[arc]\nname = "turn"\nstage = "hot"\n'
    )
    (library / "skills").mkdir()
    (library / "skills" / "loop.toml").symlink_to("loop.toml")
    (library / "parts" / "torn.toml").write_text("content = 1\n")
    run(place, "arc", "new", "turn", "--stage", "cold=gone")
    found = json.loads(place.run_here("doctor", "--json").stdout)
    told = {(one["level"], one["subject"], one["message"]) for one in found}
    assert {
        ("problem", "persona q", "the stage hot is missing"),
        ("note", "persona q", "the trait curious is linked twice and counts once"),
        ("problem", "arc turn", "the part gone of stage cold is missing"),
        ("problem", "part torn", "content must be text, not a whole number, line 1, column 11"),
    } <= told, told
    assert any(one[1] == "persona q" and one[2].startswith("the skill loop cannot be used") for one in told)
    assert not [one for one in told if one[1] == "persona p" and one[0] == "problem"]

"""`persona import`, `export` and `formats`: what a person reads, what is written, and that one undo takes it back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from personas.toml.parse import parse
from tests.support.persona_agent import Workplace

AGENT = "---\nname: {0}\ndescription: Looks at {0}\nmodel: opus\n---\n\nYou are {0}.\n"


def run(place: Workplace, *arguments: str, code: int = 0) -> tuple[str, str]:
    done = place.run_here(*arguments)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def files(place: Workplace) -> dict[str, bytes]:
    return {
        str(path.relative_to(place.home)): path.read_bytes()
        for folder in ("personas", "library")
        for path in (place.home / folder).rglob("*.*")
    }


@pytest.fixture
def work(place: Workplace, tmp_path: Path) -> Path:
    """A folder of a person's files; the home has no personas."""
    (place.home / "personas").mkdir(parents=True)
    (place.home / "library").mkdir()
    for name in ("red", "green"):
        (tmp_path / "work" / "agents").mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / "agents" / f"{name}.md").write_text(AGENT.format(name))
    (tmp_path / "work" / "README.md").write_text("# Not a persona\n")
    (tmp_path / "work" / "AGENTS.md").write_text("Run the tests.\n")
    (tmp_path / "work" / "node_modules" / "x").mkdir(parents=True)
    (tmp_path / "work" / "node_modules" / "x" / "AGENTS.md").write_text("Not mine.\n")
    return tmp_path / "work"


def test_a_file_of_many_is_listed_until_all_are_wanted(place: Workplace, work: Path) -> None:
    (work / "prompts.csv").write_text("act,prompt\nPoet,Rhyme\nPoet,Write\nCook,Cook\nCook,Cook\n")
    before = files(place)
    said, _ = run(place, "import", str(work / "prompts.csv"))
    assert "holds 3 personas; --all imports them" in said and "More than one has the name Poet." in said
    assert files(place) == before
    said, note = run(place, "import", str(work / "prompts.csv"), "--all")
    assert "line 5: the same act and prompt as in line 4" in said and note.startswith("Imported 3 personas; ")
    assert {"personas/poet.toml", "personas/poet-2.toml", "personas/cook.toml"} <= {*files(place)}


def test_a_folder_is_imported_and_one_undo_takes_it_back(place: Workplace, work: Path) -> None:
    before = files(place)
    said, note = run(place, "import", str(work), "--dry-run")
    assert "part/work-agents" in said and note == "Nothing was written.\n" and files(place) == before
    said, note = run(place, "import", str(work))
    assert [line for line in said.splitlines() if not line.startswith(" ")] == [
        f"work  from {work}/AGENTS.md (markdown)",
        f"green  from {work}/agents/green.md (claude)",
        f"red  from {work}/agents/red.md (claude)",
    ]
    assert (
        "as it is: name, description, body -> system_prompt" in said and "kept in [x.claude]: model" in said
    )
    assert note == "Imported 3 personas; persona undo work undoes it.\n"
    made = files(place)
    assert parse(made["personas/red.toml"].decode()) == {
        "name": "red",
        "description": "Looks at red",
        "system_prompt": "You are red.\n",
        "x": {"claude": {"model": "opus"}},
    }
    assert "imported from red.md" in run(place, "log", "red")[0]
    assert run(place, "diff", "red", "0")[0] == "" and "+You are red." in run(place, "diff", "red")[0]
    said, _ = run(place, "undo", "red")
    assert said.startswith("Undone: the import (from red.md); also in ") and files(place) == before
    said, _ = run(place, "redo", "red")
    assert files(place) == made
    run(place, "undo", "part/work-agents")
    assert files(place) == before


def test_undo_leaves_a_document_that_a_later_import_uses_again(place: Workplace, work: Path) -> None:
    for name in ("one", "two"):
        run(place, "import", str(work / "AGENTS.md"), "--name", name)
    said, err = run(place, "undo", "one", code=1)
    assert "part/one-agents: two uses it too." in said + err
    assert [path.name for path in (place.home / "personas").iterdir()] == ["two.toml"]
    assert run(place, "compile", "two") == ("Run the tests.\n", "")
    run(place, "undo", "two")
    assert not list((place.home / "personas").iterdir())


def test_one_file_that_fails_stops_no_other(place: Workplace, work: Path) -> None:
    (work / "bad.md").write_bytes(b"\xff\xfe\0")
    named = [str(work / name) for name in ("bad.md", "agents/red.md", "README.md", "gone.md")]
    out, err = run(place, "import", *named, "--json", code=1)
    record = json.loads(out)
    assert [(one["source"], one["format"], one["id"]) for one in record["imported"]] == [
        (named[1], "claude", "red")
    ]
    assert {"field": "body", "went_to": "system_prompt", "why": ""} in record["imported"][0]["report"]
    reasons = {one["source"]: one["reason"] for one in record["failed"]}
    assert list(reasons) == [named[0], named[2], named[3]]
    assert reasons[named[3]] == f"There is no file {named[3]}." and "No format knows it" in reasons[named[2]]
    assert all(f"persona: {source}: " in err for source in reasons)
    assert "There is no format 'gpt'; there are " in run(place, "import", named[1], "--as", "gpt", code=1)[1]
    assert "UTF-16" in run(place, "import", named[0], "--as", "claude", code=1)[1]
    run(place, "import", named[1], named[2], "--name", "Two", code=1)


def test_a_folder_is_left_by_no_link(place: Workplace, work: Path, tmp_path: Path) -> None:
    folder, beside = work / "agents", tmp_path / "SOUL.md"
    beside.write_text("machine x password hunter2\n")
    (folder / "SOUL.md").symlink_to(beside)
    (folder / "rose.md").symlink_to("red.md")
    record = json.loads(run(place, "import", str(folder), "--json", code=1)[0])
    assert [Path(one["source"]).name for one in record["imported"]] == ["green.md", "red.md", "rose.md"]
    assert [Path(one["source"]).name for one in record["failed"]] == ["SOUL.md"]
    assert b"hunter2" not in b"".join(files(place).values())
    run(place, "import", str(folder / "SOUL.md"))


def test_a_file_with_several_personas_is_listed_until_all_are_wanted(place: Workplace, work: Path) -> None:
    (work / "prompts.csv").write_text('act,prompt\nPoet,"Be a\npoet"\nCook,Be a cook\nPoet,Be two poets\n')
    run(place, "new", "Mentor")
    before = files(place)
    out, err = run(place, "import", str(work / "prompts.csv"))
    assert out.splitlines()[0].endswith("holds 3 personas; --all imports them:") and err == ""
    assert out.splitlines()[-1] == "  More than one has the name Poet." and files(place) == before
    listed = json.loads(run(place, "import", str(work / "prompts.csv"), "--json")[0])
    assert (listed["imported"], listed["listed"][0]["names"]) == ([], ["Poet", "Cook", "Poet"])
    assert (
        "holds 3 personas" in run(place, "import", str(work / "prompts.csv"), "--into", "mentor", code=1)[1]
    )
    assert (
        "--name takes" in run(place, "import", str(work / "prompts.csv"), "--all", "--name", "X", code=1)[1]
    )
    run(place, "import", str(work / "prompts.csv"), "--all")
    assert {path.stem for path in (place.home / "personas").iterdir()} == {
        "mentor",
        "poet",
        "cook",
        "poet-2",
    }
    run(place, "undo", "cook")
    assert files(place) == before


def test_a_file_changes_a_persona_that_is_there(place: Workplace, work: Path) -> None:
    run(place, "new", "Mentor", "--prompt", "You mentor.")
    path = place.home / "personas" / "mentor.toml"
    path.write_text("# mine\n" + path.read_text() + 'tags = ["a"] # kept\n')
    before = path.read_text()
    said, _ = run(place, "import", str(work / "agents" / "red.md"), "--into", "mentor")
    assert said.splitlines()[0].startswith("mentor  from ")
    assert "left out: name: the persona has its own" in said
    assert "  system_prompt: what the persona had there is replaced\n" in said
    assert path.read_text() == (
        '# mine\nname = "Mentor"\nsystem_prompt = """\nYou are red.\n"""\ntags = ["a"] # kept\n'
        'description = "Looks at red"\n\n[x.claude]\nmodel = "opus"\n'
    )
    run(place, "import", str(work / "AGENTS.md"), "--into", "mentor", "--name", "Chief")
    assert parse(path.read_text())["parts"] == [{"name": "mentor-agents"}]
    assert parse(path.read_text())["description"] == "Looks at red"
    after = path.read_text()
    said, _ = run(place, "import", str(work / "AGENTS.md"), "--into", "mentor", "--name", "Chief")
    assert path.read_text() == after
    for _ in range(2):
        run(place, "undo", "mentor")
    assert path.read_text() == before and not list((place.home / "library").rglob("*.toml"))
    assert "no persona 'gone'" in run(place, "import", str(work), "--into", "gone", code=1)[1]


def test_a_report_says_what_a_person_should_know(place: Workplace, work: Path) -> None:
    card = {
        "name": "Mara",
        "description": "Keeper",
        "first_mes": "Hi",
        "creator_notes": "Ask me@example.com.",
    }
    depth = {"extensions": {"depth_prompt": {"prompt": "Stay dry.", "depth": 4}}}
    (work / "mara.json").write_text(json.dumps({**card, "data": {**card, **depth}}))
    said, _ = run(place, "import", str(work / "mara.json"))
    assert "for V1 readers name, description, first_mes, creator_notes are there too" in said
    assert "data.extensions.depth_prompt -> x.card.extensions.depth_prompt: a text" in said
    assert "x.card.creator_notes: something in it looks like an e-mail address; words are not changed" in said
    assert "the library has this text already" in run(place, "import", str(work / "mara.json"))[0]
    config = "description: Answers\nprompts: [Help.]\ntests: [{vars: {who: Jo, q: file://q.txt}}]\n"
    (work / "promptfooconfig.yaml").write_text(config)
    said, _ = run(place, "import", str(work / "promptfooconfig.yaml"))
    assert said.startswith("answers  from") and "test_inputs.jo: q is not in it" in said
    for number, (heading, name) in enumerate([("# Rules #", "rules"), ("# AGENTS.md - x", "w1")]):
        (work / f"w{number}").mkdir()
        (work / f"w{number}" / "CLAUDE.md").write_text(f"{heading}\n\nBe brief.\n")
        assert run(place, "import", str(work / f"w{number}"))[0].startswith(f"{name}  from")
    (work / "bad.md").write_text("---\nname: bad\ndescription: Use: it\ntools: Read\n---\nHelp.\n")
    run(place, "import", str(work / "bad.md"), "--as", "markdown")
    assert "left out: x.markdown.header.tools: kept" in run(place, "export", "bad", "--to", "claude")[1]


def test_what_a_prompt_has_more_follows_the_skill(place: Workplace, work: Path) -> None:
    (work / "pdf").mkdir()
    skill = "---\nname: pdf\ndescription: Fills forms\n---\n\n# Forms\n\nFill them.\n"
    (work / "pdf" / "SKILL.md").write_text(skill)
    run(place, "import", str(work / "pdf" / "SKILL.md"))
    path = place.home / "personas" / "pdf.toml"
    path.write_text(path.read_text().replace('system_prompt = ""', 'system_prompt = "Be brief."'))
    assert run(place, "export", "pdf", "--to", "skill", "--out", str(work / "out") + "/")[0] == ""
    assert (work / "out" / "pdf" / "SKILL.md").read_text().rstrip() == f"{skill}\nBe brief."


def test_nothing_is_left_of_an_import_that_fails(
    place: Workplace, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from personas.errors import StorageError
    from personas.store import Store

    before = files(place)

    def full(*_given: Any, **_named: Any) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(Store, "make", full)
    _, err = run(place, "import", str(work / "AGENTS.md"), code=1)
    assert "AGENTS.md: The disk is full." in err and files(place) == before


def test_an_export_goes_to_stdout_or_to_a_file_that_is_not_there(place: Workplace, work: Path) -> None:
    run(place, "import", str(work / "agents" / "red.md"))
    out, err = run(place, "export", "red", "--to", "claude")
    assert out == AGENT.format("red") and err == ""
    target = work / "new" / "red.md"
    _, err = run(place, "export", "red", "--to", "claude", "--out", str(target))
    assert target.read_text() == out and err == f"Wrote {target}\n"
    assert "already exists" in run(place, "export", "red", "--to", "claude", "--out", str(target), code=1)[1]
    (work / "link.md").symlink_to(work / "nothing.md")
    assert (
        "already exists"
        in run(place, "export", "red", "--to", "claude", "--out", str(work / "link.md"), code=1)[1]
    )
    (work / "file").write_text("")
    run(place, "export", "red", "--to", "promptfoo", "--out", str(work / "file" / "x") + "/", code=1)
    record = json.loads(run(place, "export", "red", "--to", "fabric", "--json")[0])
    assert (record["files"], record["text"]) == (["red/system.md"], "You are red.\n")
    assert record["report"][-1]["went_to"] is None and record["report"][-1]["why"]
    run(place, "part", "new", "warm", "--type", "tone", "--content", "Be warm.")
    run(place, "part", "new", "cold", "--type", "tone", "--content", "Be cold.")
    run(place, "link", "red", "part", "warm")
    out, err = run(place, "export", "red", "--to", "codex", "--override", "tone=cold")
    assert parse(out)["developer_instructions"] == "You are red.\n\nBe cold.\n" and "written out in it" in err
    assert "no format 'gpt'" in run(place, "export", "red", "--to", "gpt", code=1)[1]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_markdown_is_written_between_its_own_markers(place: Workplace, work: Path, end: str) -> None:
    run(place, "new", "Red", "--prompt", "You are red.")
    run(place, "new", "Green", "--prompt", "You are green.")
    target, mine = work / "CLAUDE.md", f"# Mine{end}{end}Text \t{end}no end".encode()
    target.write_bytes(mine)
    for name in ("red", "green", "red"):
        run(place, "export", name, "--to", "markdown", "--out", str(target))
    whole = target.read_bytes()
    assert (
        whole.startswith(mine)
        and whole.count(b"You are") == 2
        and whole.count(end.encode()) == whole.count(b"\n")
    )
    target.write_bytes(whole + b"Below.")
    out, _ = run(place, "export", "red", "--to", "markdown")
    run(place, "replace", "You are red", "I am red", "red")
    run(place, "export", "red", "--to", "markdown", "--out", str(target))
    assert target.read_bytes() == whole.replace(b"You are red", b"I am red") + b"Below."
    assert out == "<!-- persona-editor: red -->\nYou are red.\n<!-- persona-editor: end -->\n"
    target.write_bytes(b"<!-- persona-editor: red -->\nlost")
    assert "has no end" in run(place, "export", "red", "--to", "markdown", "--out", str(target), code=1)[1]
    assert target.read_bytes() == b"<!-- persona-editor: red -->\nlost"


@pytest.mark.parametrize("top", ["", "\ufeff---\r\nname: 'Mine'\r\nkey: [a]\r\n---\r\n\r\n"])
def test_an_import_goes_back_to_its_file_in_place_of_the_text(place: Workplace, work: Path, top: str) -> None:
    target = work / "AGENTS.md"
    mine = f"{top}# Rules\r\n\r\nRun the tests.\r\n".encode()
    target.write_bytes(mine)
    run(place, "import", str(target), "--name", "Rules")
    export = ("export", "rules", "--to", "markdown", "--out", str(target))
    assert "in place of the text that the persona was imported from" in run(place, *export)[1]
    begin, end = "<!-- persona-editor: rules -->\r\n", "<!-- persona-editor: end -->\r\n"
    assert target.read_bytes() == mine.replace(b"# Rules", f"{begin}# Rules".encode()) + end.encode()
    assert f"Wrote {target}\n" in run(place, *export)[1]
    target.write_bytes(changed := mine + b"Mine alone.\r\n")
    assert "at the end of its text" in run(place, *export)[1]
    assert target.read_bytes().startswith(changed)


def test_a_linked_file_keeps_the_prompt_and_everything_else(place: Workplace, work: Path) -> None:
    agent = place.home / ".claude" / "agents" / "blue.md"
    agent.parent.mkdir(parents=True)
    agent.write_text(AGENT.format("blue"))
    said, _ = run(place, "import", "--link", str(agent))
    assert "as it is: name, description, model -> .claude/agents/blue.md" in said
    assert files(place) == {
        "personas/blue.toml": b'name = "blue"\ndescription = "Looks at blue"\n'
        b'system_prompt_file = ".claude/agents/blue.md"\n'
    }
    said, _ = run(place, "show", "blue")
    assert "prompt file: .claude/agents/blue.md" in said and "\n\nYou are blue.\n" in said
    assert [one["version"] for one in json.loads(run(place, "log", "blue", "--json")[0])] == [1]
    (link := place.home / "run.md").symlink_to(place.home / "run.sh")
    (place.home / "run.sh").write_text("You are run.\n")
    for path, why in (
        (agent, "blue has its prompt there already"),
        (work / "README.md", "in the home"),
        (link, "cannot have a prompt"),
    ):
        assert why in run(place, "import", "--link", str(path), code=1)[1]
    run(place, "import", str(work / "agents" / "red.md"), "--into", "blue")
    assert agent.read_text() == AGENT.format("blue").replace("\nYou are blue.", "You are red.")
    assert len(json.loads(run(place, "log", "blue", "--json")[0])) == 2
    assert run(place, "export", "blue", "--to", "claude")[0].endswith("You are red.\n")
    run(place, "undo", "blue")
    run(place, "undo", "blue")
    assert not files(place) and agent.read_text() == AGENT.format("blue")
    run(place, "redo", "blue")
    beside = place.home / "personas" / "own.md"
    beside.write_text("You are own.\n")
    stray = "own.md is not a persona"
    assert stray in run(place, "doctor")[0]
    run(place, "import", "--link", str(beside), "--name", "Own")
    assert stray not in run(place, "doctor")[0]
    twin = place.home / "personas" / "twin.toml"
    twin.write_text('system_prompt_file = "./.claude//agents/blue.md"\n')
    for asked in (("list",), ("show", "twin"), ("doctor",)):
        assert "blue.md is the prompt's file of blue too" in run(place, *asked)[0]
    assert "of twin too" in run(place, "show", "blue")[0] and "too" not in run(place, "show", "own")[0]
    twin.unlink()
    agent.unlink()
    for command, code in ((("show", "blue"), 0), (("doctor",), 1)):
        said, _ = run(place, *command, code=code)
        way = re.search(r"with: persona restore blue (\d+)\n", said)
        assert way, said
    run(place, "restore", "blue", way[1])
    assert agent.read_text() == AGENT.format("blue")
    said, _ = run(place, "rm", "blue", "--yes")
    assert ".claude/agents/blue.md, which has its prompt, stays" in said and agent.exists()


def test_formats_are_listed(place: Workplace) -> None:
    rows = json.loads(run(place, "formats", "--json")[0])
    assert {
        "name": "claude",
        "label": "Claude Code subagent",
        "suffix": ".md",
        "import": True,
        "export": True,
    } in rows
    assert [line.split()[0] for line in run(place, "formats")[0].splitlines()] == [
        row["name"] for row in rows
    ]

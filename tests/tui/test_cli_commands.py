"""The commands as a script sees them: shapes of `--json`, plain output, exit codes."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from personas.changes import EditPrompt
from personas.errors import StorageError
from personas.versions.authorship import USER
from tests.support.persona_agent import Workplace, send_agent_message
from tests.support.program import make_store
from tui.cli.personas import edit
from tui.drafts.copies import copies_of, write_copy

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


def done(result: subprocess.CompletedProcess[bytes]) -> str:
    assert result.returncode == 0, result.stderr.decode()
    assert result.stderr == b""
    return result.stdout.decode()


def parsed(result: subprocess.CompletedProcess[bytes]) -> Any:
    return json.loads(done(result))


def test_list_shows_the_examples_and_broken_files_with_their_position(place: Workplace) -> None:
    done(place.run_here("list"))
    (place.home / "personas" / "broken one.toml").write_text(
        'name = "x"\nsystem_prompt = [\n', encoding="utf-8"
    )
    listed = {persona["id"]: persona for persona in parsed(place.run_here("list", "--json"))}
    assert set(listed["optimist"]) == {"id", "name", "description", "tags", "test_inputs", "error"}
    assert listed["optimist"]["error"] is None and listed["optimist"]["test_inputs"] >= 1
    assert set(listed["broken one"]["error"]) == {"message", "line", "column"}
    assert listed["broken one"]["error"]["line"] in (2, 3)
    plain = done(place.run_here("list"))
    assert re.search(r"broken one .*broken: .*line \d", plain)


def test_new_makes_ids_from_names_and_never_overwrites(place: Workplace) -> None:
    assert done(place.run_here("new", "Night Owl", "--prompt", "You wake at night.")) == "night-owl\n"
    second = parsed(place.run_here("new", "Night Owl", "--json"))
    assert second["id"] not in ("night-owl", "") and second["id"].startswith("night-owl")
    assert set(second) == {"id", "revision", "version", "summary"}
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", done(place.run_here("new", "日本語の先生")).strip())
    shown = parsed(place.run_here("show", "night-owl", "--json"))
    assert shown["system_prompt"].strip() == "You wake at night."
    assert shown["agent_chat_session_id"] is None and shown["revision"]


def test_new_reads_the_prompt_from_stdin_and_copies_with_from(place: Workplace) -> None:
    done(place.run("new", "Piped", "--prompt", "-", stdin="line one\nline two\n"))
    assert parsed(place.run_here("show", "piped", "--json"))["system_prompt"] == "line one\nline two\n"
    done(place.run("new", "From Windows", "--prompt", "-", stdin="a\r\nb\r\n"))
    assert parsed(place.run_here("show", "from-windows", "--json"))["system_prompt"] == "a\nb\n"
    done(place.run_here("new", "Given", "--prompt", "a\r\nb\rc"))
    assert parsed(place.run_here("show", "given", "--json"))["system_prompt"] == "a\nb\nc"
    done(place.run_here("new", "Copy", "--from", "optimist"))
    original, copy = (parsed(place.run_here("show", one, "--json")) for one in ("optimist", "copy"))
    assert copy["system_prompt"] == original["system_prompt"]
    assert copy["test_inputs"] == original["test_inputs"] and copy["name"] == "Copy"


@pytest.mark.parametrize(
    "arguments", [("show", "optimist"), ("chat", "optimist", "show the prompt"), ("edit", "optimist")]
)
def test_the_text_that_was_first_used_is_kept_when_the_file_is_changed_outside(
    place: Workplace, arguments: tuple[str, ...]
) -> None:
    done(place.run_here("list"))
    path = place.home / "personas" / "optimist.toml"
    first = path.read_text(encoding="utf-8")
    assert place.run_here(*arguments, env={"EDITOR": "true"}).returncode == 0
    path.write_text(first.replace("Optimist", "Owl"), encoding="utf-8")
    (version,) = parsed(place.run_here("log", "optimist", "--json"))
    assert version["by"] == "external"
    assert version["version"] == 1
    done(place.run_here("restore", "optimist", "0"))
    assert path.read_text(encoding="utf-8") == first


def test_a_merge_conflict_in_a_prompt_is_told_with_its_line(place: Workplace) -> None:
    done(place.run_here("list"))
    marks = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"
    (place.home / "personas" / "owl.toml").write_text(
        f'name = "Owl"\nsystem_prompt = """\n{marks}"""\n', encoding="utf-8"
    )
    told = "unresolved merge conflict, lines 3 to 7\n"
    assert f"note: {told}" in done(place.run_here("list"))
    assert f"note: {told}" in done(place.run_here("show", "owl"))
    assert f"note  persona owl: {told}" in done(place.run_here("doctor"))


@pytest.mark.parametrize("there", [True, False])
def test_a_link_out_of_the_home_is_told_what_works_and_rm_takes_it_away(
    place: Workplace, there: bool
) -> None:
    outside = place.home.parent / "mine.toml"
    if there:
        outside.write_text('name = "Mine"\n', encoding="utf-8")
    done(place.run_here("list"))
    link = place.home / "personas" / "mine.toml"
    link.symlink_to(outside)
    for arguments in (["show", "mine"], ["edit", "mine"], ["chat", "mine", "undo"]):
        result = place.run_here(*arguments)
        said = (result.stdout + result.stderr).decode()
        assert "is a link to" in said and "`persona rm mine`" in said and "persona edit" not in said
    assert str(outside) in place.run_here("doctor").stdout.decode()
    assert parsed(place.run_here("rm", "mine", "--yes", "--json")) == {"id": "mine", "version": None}
    assert not link.is_symlink() and outside.exists() == there


def test_a_link_within_the_home_that_leads_nowhere_is_taken_away_too(place: Workplace) -> None:
    done(place.run_here("list"))
    link = place.home / "personas" / "lost.toml"
    link.symlink_to("nowhere.toml")
    assert "a link that leads nowhere: `persona rm lost`" in place.run_here("show", "lost").stderr.decode()
    assert "deleted the link lost" in done(place.run_here("rm", "lost", "--yes"))
    assert not link.is_symlink()


@pytest.mark.parametrize("name", ["personas", "mine"])
def test_personas_that_are_a_link_to_another_folder_say_how_to_name_the_real_one(
    place: Workplace, name: str
) -> None:
    real = place.home.parent / "elsewhere" / name
    real.mkdir(parents=True)
    (real / "owl.toml").write_text('name = "Owl"\n', encoding="utf-8")
    place.home.mkdir()
    (place.home / "personas").symlink_to(real)
    said = place.run_here("list").stderr.decode().strip()
    assert said.endswith(f"persona --home {real.parent}") and str(real) in said
    if name != "personas":
        assert "rename that folder to personas" in said
        real.rename(real.parent / "personas")
    assert "Owl" in done(place.run_here("--home", str(real.parent), "list"))


def test_log_diff_restore_undo_and_redo_tell_one_story(place: Workplace) -> None:
    path = place.home / "personas" / "optimist.toml"
    done(place.run_here("list"))
    first = path.read_bytes()
    for name in ("One", "Two"):
        assert send_agent_message(place, "optimist", f"Change the name to {name}").code == 0
    log = parsed(place.run_here("log", "optimist", "--json"))
    assert [set(version) for version in log] == [
        {"version", "name", "by", "session_id", "run_id", "request", "at", "reason", "added", "removed"}
    ] * len(log)
    assert [version["by"] for version in log] == ["agent", "agent"]
    assert [version["request"] for version in log] == ["Change the name to Two", "Change the name to One"]
    assert all(version["session_id"] and version["run_id"] for version in log)
    assert log[0]["version"] > log[1]["version"]
    assert all(ISO.fullmatch(version["at"]) for version in log)

    assert "(asked: Change the name to Two)" in done(place.run_here("log", "optimist"))

    diff = parsed(place.run_here("diff", "optimist", "--json"))
    assert set(diff) == {"from", "to", "diff"}
    assert (diff["from"], diff["to"]) == (1, 2)
    assert '-name = "One"' in diff["diff"] and '+name = "Two"' in diff["diff"]

    undone = parsed(place.run_here("undo", "optimist", "--json"))
    assert set(undone) == {"id", "revision", "version", "summary"}
    assert b'name = "One"' in path.read_bytes()
    done(place.run_here("undo", "optimist"))
    assert path.read_bytes() == first
    nothing = place.run_here("undo", "optimist")
    assert nothing.returncode == 1 and nothing.stderr.decode().startswith("persona: ")
    done(place.run_here("redo", "optimist"))
    assert b'name = "One"' in path.read_bytes()
    restored = parsed(place.run_here("restore", "optimist", "0", "--json"))
    newest = parsed(place.run_here("log", "optimist", "--json"))[0]
    assert restored["id"] == "optimist" and restored["version"] == newest["version"]
    assert path.read_bytes() == first
    undone = parsed(place.run_here("undo", "optimist", str(newest["version"]), "--json"))
    assert undone["version"] == newest["version"] + 1
    assert b'name = "One"' in path.read_bytes()


def test_undo_keeps_what_was_written_since_and_shows_both_where_it_cannot(place: Workplace) -> None:
    done(place.run_here("list"))
    assert send_agent_message(place, "optimist", "Change the name to Sunny").code == 0
    path = place.home / "personas" / "optimist.toml"
    path.write_text(path.read_text(encoding="utf-8") + "\n# a note of mine\n", encoding="utf-8")
    done(place.run_here("undo", "optimist"))
    text = path.read_text(encoding="utf-8")
    assert 'name = "Optimist"' in text and text.endswith("# a note of mine\n")

    assert send_agent_message(place, "optimist", "Change the name to Sunny").code == 0
    path.write_text(path.read_text(encoding="utf-8").replace('"Sunny"', '"Cloudy"'), encoding="utf-8")
    refused = place.run_here("undo", "optimist")
    assert refused.returncode == 1
    assert b"Cloudy" in refused.stdout and b"Sunny" in refused.stdout
    assert 'name = "Cloudy"' in path.read_text(encoding="utf-8")


def test_what_cannot_go_back_in_one_of_several_personas_is_named_and_left(place: Workplace) -> None:
    store = place.store
    for name in ("Ann", "Ben"):
        store.create(name, system_prompt="One.\nTwo.\n")
    for persona_id in ("ann", "ben"):
        store.change(persona_id, EditPrompt("Two.", "2."), revision=None, by=USER, unit="replace:1")
    store.change("ben", EditPrompt("2.", "Mine."), revision=None, by=USER)
    undone = place.run_here("undo", "ann", "--json")
    assert undone.returncode == 1 and json.loads(undone.stdout)["version"] == 2
    told = undone.stderr.decode()
    assert told.startswith("persona: Skipped: ben: ") and told.count("\n") == 1
    assert store.get("ann").system_prompt == "One.\nTwo.\n"
    assert store.get("ben").system_prompt == "One.\nMine.\n"


def test_a_request_the_offline_model_declined_is_told_by_its_stop_reason(place: Workplace) -> None:
    def ended(message: str, *options: str) -> tuple[int, str, list[str]]:
        reply = send_agent_message(place, "optimist", message, *options)
        return reply.code, reply.events[-1]["stop_reason"], [turn["type"] for turn in reply.turns[-2:]]

    told = ["user", "assistant_text"]
    assert ended("Make it funnier") == (0, "refusal", told)  # no notice: an ordinary answer
    assert ended("Rename it") == (0, "end_turn", told)  # asks back
    assert ended("Sunny")[:2] == (0, "end_turn")
    assert ended("Make it funnier") == (0, "refusal", told)
    again = send_agent_message(place, "optimist", "Make it funnier")
    assert "“help”" in again.turns[-1]["content"]  # it still knows that it gave the help
    assert ended("Make it funnier", "--task")[:2] == (0, "refusal")


def test_rm_asks_needs_a_terminal_and_restore_brings_it_back(place: Workplace) -> None:
    done(place.run_here("list"))
    path = place.home / "personas" / "optimist.toml"
    before = path.read_bytes()
    assert place.run_here("rm", "optimist").returncode == 2
    assert path.exists()
    removed = parsed(place.run_here("rm", "optimist", "--yes", "--json"))
    assert not path.exists()
    done(place.run_here("restore", "optimist", str(removed["version"])))
    assert path.read_bytes() == before


def test_a_persona_and_a_version_that_are_not_there_name_the_command_that_lists_them(
    place: Workplace,
) -> None:
    assert "; `persona list` shows all of them." in place.run_here("show", "nobody").stderr.decode()
    said = place.run_here("diff", "optimist", "99").stderr.decode()
    assert "; `persona log optimist` shows which there are." in said
    done(place.run_here("rm", "optimist", "--yes"))
    said = place.run_here("show", "optimist").stderr.decode()
    assert (
        "`persona log optimist` lists them" in said
        and "`persona restore optimist VERSION` brings one back" in said
    )


def test_edit_brings_back_what_the_editor_wrote(place: Workplace) -> None:
    done(place.run_here("list"))
    path = place.home / "personas" / "optimist.toml"
    env = {"EDITOR": "sed -i s/Optimist/Sunshine/"}
    assert "saved" in done(place.run_here("edit", "optimist", env=env))
    assert "Sunshine" in path.read_text(encoding="utf-8")
    assert parsed(place.run_here("log", "optimist", "--json"))[0]["by"] == "user"
    failed = place.run_here("edit", "optimist", env={"EDITOR": "false"})
    assert failed.returncode == 1 and b"exit code 1" in failed.stderr
    assert place.run_here("edit", "optimist", env={"EDITOR": "no-such-editor-anywhere"}).returncode == 1


def test_edit_merges_what_was_changed_meanwhile_or_keeps_the_text_and_names_it(place: Workplace) -> None:
    done(place.run_here("list"))
    path = place.home / "personas" / "optimist.toml"
    path.write_text('name = "One"\n\nsystem_prompt = "Be short."\n', encoding="utf-8")

    def meanwhile(there: str, mine: str) -> dict[str, str]:
        return {"EDITOR": f'sh -c \'sed -i "{there}" "{path}"; sed -i "{mine}" "$0"\''}

    said = done(place.run_here("edit", "optimist", env=meanwhile("s/One/Two/", "s/short/brief/")))
    assert said.strip() == "saved optimist, merged with what was changed meanwhile"
    both = 'name = "Two"\n\nsystem_prompt = "Be brief."\n'
    assert path.read_text(encoding="utf-8") == both
    refused = place.run_here("edit", "optimist", env=meanwhile("s/Two/Three/", "s/Two/Four/"))
    said = refused.stderr.decode()
    assert refused.returncode == 1 and "changed meanwhile in the same lines" in said
    assert path.read_text(encoding="utf-8") == both.replace("Two", "Three")
    kept = Path(said.rpartition("kept in ")[2].strip().rstrip("."))
    assert kept.read_text(encoding="utf-8") == both.replace("Two", "Four")


def test_an_edit_that_is_interrupted_says_where_the_text_is_and_so_does_the_next_one(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(place.run_here("list"))

    def written_then(ends: BaseException) -> Callable[[Path], None]:
        def run_editor(path: Path) -> None:
            path.write_text("mine", encoding="utf-8")
            raise ends

        return run_editor

    for ends, code in ((KeyboardInterrupt(), 130), (OSError(5, "Input/output error"), 1), (ValueError(), 1)):
        monkeypatch.setattr(edit, "run_editor", written_then(ends))
        ended = place.run_here("edit", "optimist")
        said = ended.stderr.decode()
        where = re.search(r"your text is kept in (\S+)", said)
        assert ended.returncode == code and where is not None and "stdout" not in said
        assert Path(where[1]).read_text(encoding="utf-8") == "mine"
        monkeypatch.undo()
        again = place.run_here("edit", "optimist", env={"EDITOR": "true"})
        assert f"left its text in {where[1]}" in again.stderr.decode() and b"nothing changed" in again.stdout
        Path(where[1]).unlink()
    assert list((place.home / "state").glob("optimist.*")) == []


@pytest.mark.parametrize("leave", ["mkdir", "ln -s /dev/null", "mkfifo"])
def test_what_an_editor_leaves_in_place_of_its_file_is_named(place: Workplace, leave: str) -> None:
    done(place.run_here("list"))
    refused = place.run_here("edit", "optimist", env={"EDITOR": f'sh -c \'rm "$0"; {leave} "$0"\''})
    said = refused.stderr.decode()
    assert refused.returncode == 1 and "your text is kept in" in said and "stdout" not in said


def test_edit_mends_a_broken_file(place: Workplace) -> None:
    done(place.run_here("list"))
    path = place.home / "personas" / "optimist.toml"
    good = path.read_text(encoding="utf-8")
    path.write_text(good.replace('name = "', 'name == "', 1), encoding="utf-8")
    assert place.run_here("chat", "optimist", "hello").returncode == 1
    done(place.run_here("edit", "optimist", env={"EDITOR": "sed -i s/==/=/"}))
    assert path.read_text(encoding="utf-8") == good


def test_history_and_clear(place: Workplace) -> None:
    assert parsed(place.run_here("history", "optimist", "--json")) == {"session_id": None, "turns": []}
    send_agent_message(place, "optimist", "What is the name?")
    history = parsed(place.run_here("history", "optimist", "--json"))
    by_type = {turn["type"]: set(turn) for turn in history["turns"]}
    assert {"type", "id", "created_at", "content"} <= by_type["user"]
    assert {"type", "id", "created_at", "tool_use_id", "tool_name", "input"} <= by_type["tool_call"]
    assert {"type", "id", "created_at", "tool_use_id", "output", "is_error"} <= by_type["tool_result"]
    assert all(ISO.fullmatch(turn["created_at"]) for turn in history["turns"])
    assert "you: What is the name?" in done(place.run_here("history", "optimist"))
    cleared = done(place.run_here("clear", "optimist")).strip()
    assert cleared != history["session_id"]
    assert parsed(place.run_here("history", "optimist", "--json")) == {"session_id": cleared, "turns": []}
    header = (place.home / "agent-sessions" / f"{cleared}.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert set(json.loads(header)) == {"type", "version", "id", "persona_id", "created_at"}


def test_a_chat_that_changes_nothing_leaves_the_file_alone(place: Workplace) -> None:
    done(place.run_here("list"))
    path = place.home / "personas" / "optimist.toml"
    before, modified = path.read_bytes(), path.stat().st_mtime_ns
    send_agent_message(place, "optimist", "Hello, who are you?")
    send_agent_message(place, "optimist", "Show me the current system prompt")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, modified)
    assert parsed(place.run_here("log", "optimist", "--json")) == []


def test_plain_chat_puts_the_answer_on_stdout_and_the_tools_on_stderr(place: Workplace) -> None:
    result = place.run("chat", "optimist", "-", stdin="Change the name to Sunny\n")
    assert result.returncode == 0
    assert b"Sunny" in result.stdout and b"update_persona_name" not in result.stdout
    assert b"> update_persona_name +1 -1" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["list", "--no-such-option"],
        ["show"],
        ["chat", "optimist"],
        ["new"],
        ["--home"],
        ["optimist"],
        [],
        ["open", "optimist"],
    ],
)
def test_wrong_usage_and_a_missing_terminal_exit_2_with_one_line(
    place: Workplace, arguments: list[str]
) -> None:
    result = place.run_here(*arguments)
    assert result.returncode == 2
    assert result.stdout == b""
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("persona: ")


def test_doctor_says_that_a_budget_cannot_hold(place: Workplace) -> None:
    (place.home.parent / "config.toml").write_text("task_dollars = 0.5\n", encoding="utf-8")
    elsewhere = {"PERSONA_MODEL": "some-model", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    assert b"task_dollars = 0.5 stops no task" in place.run_here("doctor", env=elsewhere).stdout
    official = {"PERSONA_MODEL": "claude-sonnet-5-5", "ANTHROPIC_API_KEY": "k"}
    assert b"task_dollars" not in place.run_here("doctor", env=official).stdout


def test_doctor_does_not_call_settings_right_that_are_ignored(place: Workplace) -> None:
    config = place.home.parent / "odd.toml"
    config.write_text('no_such_setting = 1\n[keys]\n"no.such" = "f7"\n', encoding="utf-8")
    done = place.run_here("doctor", env={"PERSONA_CONFIG": str(config)})
    assert b"note  settings" in done.stdout and b"2 problems in it" in done.stdout


def test_doctor_says_what_the_agent_is_told_the_personas_are_for(place: Workplace) -> None:
    assert b"  about: " not in place.run_here("doctor").stdout
    (place.home / "about.md").write_text("For \x1b[31mbilling.\n", encoding="utf-8")
    said = done(place.run_here("doctor"))
    assert f"ok    about: {place.home / 'about.md'} says: For [31mbilling." in said
    (place.home.parent / "config.toml").write_text('about = "For a game."\n', encoding="utf-8")
    assert "ok    about: the setting about says: For a game." in done(place.run_here("doctor"))


def test_doctor_counts_one_persona_as_one(place: Workplace) -> None:
    (place.home / "personas").mkdir(parents=True, exist_ok=True)
    for path in (place.home / "personas").glob("*.toml"):
        path.unlink()
    (place.home / "personas" / "one.toml").write_text('name = "One"\n')
    (told,) = [
        one["message"] for one in parsed(place.run_here("doctor", "--json")) if one["subject"] == "home"
    ]
    assert told.endswith(", 1 persona")


def test_doctor_lists_what_is_no_persona(place: Workplace) -> None:
    done(place.run_here("list"))
    folder = place.home / "personas"
    for name in ("notes.md", "Cynic.TOML", ".hidden"):
        (folder / name).write_text("x", encoding="utf-8")
    (folder / "old").mkdir()
    (folder / "red.md").write_text("---\nname: red\ndescription: Sees red\n---\nSee red.\n", encoding="utf-8")
    notes = [
        line for line in done(place.run_here("doctor")).splitlines() if line.startswith("note  personas: ")
    ]
    assert notes == [
        f"note  personas: {folder / name} is not a persona: a persona is a file that ends in .toml"
        for name in ("Cynic.TOML", "notes.md", "old")
    ] + [
        f"note  personas: {folder / 'red.md'} is not a persona: a persona is a file that ends in .toml; "
        f"`persona import {folder / 'red.md'}` makes one of it"
    ]


def test_doctor_says_one_thing_of_a_file_whose_name_is_not_utf_8(place: Workplace) -> None:
    done(place.run_here("list"))
    with open(os.fsencode(place.home / "personas") + b"/bad\xff.toml", "wb") as file:
        file.write(b'name = "Bad"\n')
    said = place.run_here("doctor").stdout.decode()
    assert "rename it" in said and "There is no persona" not in said


def test_doctor_finds_what_is_wrong(place: Workplace) -> None:
    assert "home" in done(place.run_here("doctor"))
    (place.home / "personas" / "bad.toml").write_text("name = \n", encoding="utf-8")
    result = place.run_here("doctor", "--json")
    assert result.returncode == 1
    problems = [finding for finding in json.loads(result.stdout) if finding["level"] == "problem"]
    assert [problem["subject"] for problem in problems] == ["persona bad"]
    assert "line 1" in problems[0]["message"]


def test_every_command_explains_itself_with_an_example(place: Workplace) -> None:
    from tui.cli.group import COMMANDS

    overview = done(place.run_here("--help"))
    for name in COMMANDS:
        assert f"\n  {name} " in overview
    assert "..." not in overview.partition("Commands:")[2]
    for name in ("list", "chat", "undo"):
        assert f"persona {name}" in done(place.run_here(name, "--help"))


def test_a_draft_that_the_disk_cut_short_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)

    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdopen", lambda handle, _: os.close(handle) or Full())
    with pytest.raises(StorageError, match="No space left"):
        write_copy(store.home.state, "one", "text")
    assert copies_of(store.home.state, "one") == []


def test_doctor_shows_all_of_a_long_about(place: Workplace) -> None:
    done(place.run_here("list"))
    text = "word " * 1_500 + "the end"
    (place.home / "about.md").write_text(text, encoding="utf-8")
    assert f"says: {text}\n" in done(place.run_here("doctor"))


def test_undo_and_redo_say_which_of_them_was_done(place: Workplace) -> None:
    assert place.run_here("chat", "optimist", "rename it to Sun").returncode == 0
    assert done(place.run_here("undo", "optimist")).startswith("Undone: ")
    assert done(place.run_here("redo", "optimist")).startswith("Redone: ")


def test_hints_to_copy_hold_no_command_from_the_name_of_a_file(place: Workplace) -> None:
    done(place.run_here("list"))
    name = "x;touch pwned #"
    path = place.home / "personas" / f"{name}.toml"
    path.write_text("name =", encoding="utf-8")
    assert f"persona edit '{name}'" in done(place.run_here("show", name))
    assert f"persona edit '{name}'" in place.run_here("chat", name, "hello").stderr.decode()
    path.write_text('name = "x"', encoding="utf-8")
    assert f"persona chat '{name}'" in done(place.run_here("history", name))
    assert f"persona chat --task '{name}'" in place.run_here("reply", name, "yes").stderr.decode()
    assert f"persona restore '{name}' " in done(place.run_here("rm", name, "--yes"))
    path.symlink_to(place.home / "nowhere")
    assert f"persona rm '{name}'" in place.run_here("show", name).stderr.decode()
    path.unlink()
    path.symlink_to("/etc/passwd")
    told = f"`persona rm '{name}'`"
    assert told in done(place.run_here("show", name))
    assert told in done(place.run_here("list")), "what to do is not cut off in a pipe"


def test_a_name_with_what_nobody_sees_does_not_look_like_another(place: Workplace) -> None:
    done(place.run_here("list"))
    odd = ["a\x1b[2J", "a\u202e", "a\u200b", "a\n", "a\u200d", "a\ufe0f"]
    for name in ["a", "\u2764\ufe0f", *odd]:
        (place.home / "personas" / f"{name}.toml").write_text('name = "A"', encoding="utf-8")
    listed = {one["id"]: one["error"] for one in parsed(place.run_here("list", "--json"))}
    assert listed["a"] is None and listed["\u2764\ufe0f"] is None
    told = [error["message"] for name, error in listed.items() if name.startswith("a\ufffd")]
    assert told and all("rename it" in message for message in told)
    assert not set(odd) & set(listed)
    assert "plain file name" in place.run_here("show", "a\u202e").stderr.decode()

"""Settings that cannot be used, on the command line: all is told, and only what needs them fails. What is said is short."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.persona_agent import Workplace
from tui.terminal.secrets import safe_message

SECRET = "sk-ant-api03-" + "A" * 40
CHAT = ("chat", "optimist", "hello")


def configure(place: Workplace, text: str) -> None:
    (place.home.parent / "config.toml").write_text(text, encoding="utf-8")


def test_doctor_tells_all_that_is_wrong_in_the_settings_each_with_its_line(place: Workplace) -> None:
    configure(place, 'mouse = "x"\nfoo = 1\ntheme = "nosuch"\nbase_url = "foo"\n[keys]\nnosuch = "f1"\n')
    done = place.run_here("doctor", "--json")
    told = [found for found in json.loads(done.stdout) if found["subject"] == "settings"]
    lines = [found["message"].rpartition("config.toml:")[2].split(":")[0] for found in told]
    assert lines == ["1", "2", "3", "4", "6", " 5 problems in it, see above"]
    assert [found["level"] for found in told] == ["problem", "note", "problem", "problem", "note", "note"]
    assert done.returncode == 1 and done.stderr == b""


def test_a_conversation_needs_the_agents_settings_and_no_others(place: Workplace) -> None:
    configure(place, 'colours = "17"\n')
    done = place.run_here(*CHAT)
    assert done.returncode == 0 and b"config.toml:1: colours must be one of" in done.stderr
    configure(place, 'colours = "17"\napproval = "ask-al"\n')
    done = place.run_here(*CHAT, "--json")
    (line,) = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1 and line["type"] == "error"
    assert "config.toml:2: approval must be" in line["message"] and "line 1: colours" in line["message"]


def test_settings_in_the_folder_of_nobody_are_told_in_one_line(place: Workplace) -> None:
    done = place.run_here("doctor", env={"PERSONA_CONFIG": "~nobody-of-this-name/config.toml"})
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1 and b": no such user." in done.stderr


def test_a_key_in_the_models_place_is_never_printed(place: Workplace) -> None:
    for arguments, text, env in (
        (("doctor",), f'model = "{SECRET}"\n', {}),
        (("--model", SECRET, "doctor"), "", {}),
        (CHAT, "", {"PERSONA_MODEL": SECRET}),
        ((*CHAT, "--json", "--model", SECRET), "", {}),
        (("--debug", *CHAT), f'model = "{SECRET}"\n', {}),
    ):
        configure(place, text)
        done = place.run_here(*arguments, env={"PERSONA_MODEL": "", "ANTHROPIC_API_KEY": "k", **env})
        assert done.returncode == 1 and b"looks like an API key" in done.stdout + done.stderr
        assert b"api03" not in done.stdout + done.stderr


def test_a_long_complaint_is_cut_in_its_middle(place: Workplace) -> None:
    word = "a" * 100_000
    for arguments in (
        ("show", word),
        (word,),
        ("--home", f"/{word}", "list"),
        ("chat", word, "hi", "--json"),
    ):
        done = place.run_here(*arguments)
        said = done.stdout + done.stderr
        assert done.returncode in (1, 2) and 0 < len(said) < 2_500
    assert b"(see `persona --help`)" in place.run_here(word).stderr
    assert SECRET[:20] not in safe_message("x" * 1_590 + SECRET + "y" * 2_000)


@pytest.mark.parametrize("fault", [RuntimeError("no \x1b]0;pwned\x07 luck"), OSError(5, "no luck")])
def test_what_nobody_thought_of_still_ends_a_json_stream_and_its_traceback_is_harmless(
    fault: Exception, place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise fault

    monkeypatch.setattr("tui.settings.model_factory.build_model", fail)
    done = place.run_here("--debug", *CHAT, "--json")
    (line,) = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1 and line["type"] == "error" and "luck" in line["message"]
    assert b"Traceback" in done.stderr and b"\x1b" not in done.stderr and b"\x07" not in done.stderr


def test_a_settings_file_that_is_a_pipe_is_told(place: Workplace) -> None:
    import os

    os.mkfifo(place.home.parent / "config.toml")
    done = place.run_here("doctor")
    assert done.returncode == 1 and b"config.toml is not a regular file" in done.stdout

"""Finding a model server on this machine, trying it, and keeping the choice."""

from __future__ import annotations

import io
import json
import sys
from urllib.parse import urlsplit

import pytest

from tests.support.messages_server import MessagesServer, ToolUsingBrain, call, say
from tests.support.messages_strict import KNOWN_VERSIONS
from tests.support.persona_agent import Workplace

MODEL = "local-model-7b"
ANY_VERSION = ("", *KNOWN_VERSIONS)  # local servers ask for no version


def port_of(server: MessagesServer) -> str:
    return str(urlsplit(server.url).port)


def test_a_local_server_is_found_listed_tried_and_kept(place: Workplace) -> None:
    config = place.home.parent / "config.toml"
    config.write_text('# mine\nsent_turns = 12  # enough\nmodel = "old"\n', encoding="utf-8")
    with MessagesServer(
        [say("ready"), call("report", {"word": "ready"})], key=None, models=[MODEL], only_versions=ANY_VERSION
    ) as server:
        listed = place.run_here("doctor", "--local", "--port", port_of(server))
        assert listed.returncode == 0 and MODEL in listed.stdout.decode()
        taken = place.run_here("doctor", "--local", "--port", port_of(server), "--take", MODEL)
        assert taken.returncode == 0, taken.stderr
        written = config.read_text(encoding="utf-8")
        assert written.startswith(f'# mine\nsent_turns = 12  # enough\nmodel = "{MODEL}"\n')
        assert f'base_url = "{server.url}"' in written

    with MessagesServer(ToolUsingBrain(), key=None, models=[MODEL], only_versions=ANY_VERSION) as server:
        config.write_text(
            written.replace(written.split('base_url = "')[1].split('"')[0], server.url), "utf-8"
        )
        done = place.run_here(
            "chat", "optimist", "Change the name to 'Local'", "--json", env={"PERSONA_MODEL": ""}
        )
        assert done.returncode == 0, done.stdout
        assert {body["model"] for body in server.bodies} == {MODEL}
    assert json.loads(place.run_here("show", "optimist", "--json").stdout)["name"] == "Local"


@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_settings_are_written_only_when_the_person_says_so(
    place: Workplace, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    config = place.home.parent / "config.toml"
    keyboard = io.StringIO(f"1\n{answer}\n")
    monkeypatch.setattr(keyboard, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", keyboard)
    with MessagesServer(
        [say("ready"), call("report", {"word": "ready"})], key=None, models=[MODEL], only_versions=ANY_VERSION
    ) as server:
        done = place.run_here("doctor", "--local", "--port", port_of(server))
    assert done.returncode == 0 and f"Write model and base_url to {config}?" in done.stderr.decode()
    assert config.exists() == (answer == "y")


def test_a_model_that_does_not_work_leaves_the_settings_alone(place: Workplace) -> None:
    config = place.home.parent / "config.toml"
    with MessagesServer([], key=None, models=[MODEL], only_versions=ANY_VERSION) as server:
        refused = place.run_here("doctor", "--local", "--port", port_of(server), "--take", MODEL)
        unknown = place.run_here("doctor", "--local", "--port", port_of(server), "--take", "another")
    assert refused.returncode == 1 and b"does not work" in refused.stderr
    assert unknown.returncode == 1 and MODEL.encode() in unknown.stderr
    assert not config.exists()

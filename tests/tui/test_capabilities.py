"""What the environment says about the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from agent.models.scripted import ScriptedModel
from tests.support.program import make_store, program
from tui.app.app import PersonaApp
from tui.screens.main.screen import MainScreen
from tui.settings.schema import Settings
from tui.terminal.capabilities import detect


@pytest.mark.parametrize("name", ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"])
def test_over_ssh_everything_is_calm(name: str) -> None:
    found = detect({name: "1", "LANG": "de_DE.UTF-8"})
    assert found.remote
    assert found.calm
    assert found.frames_per_second == 10


def test_a_local_terminal_is_lively() -> None:
    found = detect({"TERM": "xterm-256color", "LANG": "en_US.UTF-8"})
    assert not (found.remote or found.calm or found.tmux or found.ascii_only)
    assert found.frames_per_second == 20


def test_tmux_is_calm_unless_the_person_says_otherwise() -> None:
    assert detect({"TMUX": "/tmp/x"}).calm
    assert not detect({"TMUX": "/tmp/x"}, calm="never").calm
    assert detect({}, calm="always").calm
    assert detect({"TERM": "tmux-256color"}).tmux


async def test_a_calm_screen_moves_nothing_by_itself_and_is_drawn_less_often(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), settings=Settings(calm="always")) as p:
        await p.until(lambda: p.main.settings.focus_target)
        assert p.app.animation_level == "none"
        assert p.main.conversation.view.frames_per_second == 10
        fields = [*p.main.query(TextArea), *p.main.query(Input)]
        assert len(fields) > 3 and not any(each.cursor_blink for each in fields)


def test_screen_is_not_tmux() -> None:
    assert detect({"STY": "1.x", "TERM": "screen"}).screen
    assert not detect({"TMUX": "x", "TERM": "screen-256color"}).screen


@pytest.mark.parametrize(
    ("environment", "ascii_only"),
    [
        ({"LANG": "en_US.UTF-8"}, False),
        ({}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "C.UTF-8"}, False),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"TERM": "linux", "LANG": "en_US.UTF-8"}, True),
    ],
)
def test_ascii_signs_where_unicode_does_not_arrive(environment: dict[str, str], ascii_only: bool) -> None:
    assert detect(environment).ascii_only is ascii_only
    assert not detect(environment, ascii_only=False).ascii_only


@pytest.mark.parametrize(
    ("lang", "ascii_only"), [("C", True), ("POSIX", True), ("", False), ("de_DE.UTF-8", False)]
)
def test_the_locale_that_python_puts_in_is_not_the_terminals(lang: str, ascii_only: bool) -> None:
    assert detect({"LANG": lang, "LC_CTYPE": "C.UTF-8"}).ascii_only is ascii_only
    assert detect({"LANG": lang, "LC_CTYPE": "de_DE.ISO-8859-1"}).ascii_only


def test_the_program_knows_a_locale_that_python_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    app = PersonaApp(lambda: None, MainScreen, make_model=lambda _: ScriptedModel(), name_model=lambda: "")  # type: ignore[arg-type,return-value]
    assert app.capabilities.ascii_only


def test_no_color_counts_only_when_it_is_not_empty_and_nothing_else_is_set() -> None:
    assert detect({"NO_COLOR": "1"}).colours == "none"
    assert detect({"NO_COLOR": ""}).colours == "auto"
    assert detect({"NO_COLOR": "1"}, colours="16").colours == "16"

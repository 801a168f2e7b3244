"""What the environment says about the terminal."""

from __future__ import annotations

import pytest

from tui.capabilities import detect


@pytest.mark.parametrize("name", ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"])
def test_over_ssh_everything_is_calm(name: str) -> None:
    found = detect({name: "1", "LANG": "de_DE.UTF-8"})
    assert found.remote
    assert found.calm
    assert found.frames_per_second == 10
    assert not found.clipboard_tool


def test_a_local_terminal_is_lively() -> None:
    found = detect({"TERM": "xterm-256color", "LANG": "en_US.UTF-8"})
    assert not (found.remote or found.calm or found.tmux or found.ascii_only)
    assert found.frames_per_second == 20


def test_tmux_is_calm_unless_the_person_says_otherwise() -> None:
    assert detect({"TMUX": "/tmp/x"}).calm
    assert not detect({"TMUX": "/tmp/x"}, calm="never").calm
    assert detect({}, calm="always").calm
    assert detect({"TERM": "tmux-256color"}).tmux


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


def test_no_color_counts_only_when_it_is_not_empty_and_nothing_else_is_set() -> None:
    assert detect({"NO_COLOR": "1"}).colours == "none"
    assert detect({"NO_COLOR": ""}).colours == "auto"
    assert detect({"NO_COLOR": "1"}, colours="16").colours == "16"

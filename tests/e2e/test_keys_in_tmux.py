"""Every default key of the screen through a real tmux, with a text area, a list or the turns: its command runs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from personas.files.home import open_home
from tests.support.forked import ROOT
from tui.commands.registry import COMMANDS

SOCKET = f"persona-keys-{os.getpid()}"

PROBE = """
import sys
from pathlib import Path
from personas.files.home import open_home
from personas.store import Store
from agent.models.offline import OfflineModel
from tui.terminal.textual_compat import input_parser as driver_guard
from tui.app.app import PersonaApp
from tui.screens.main.screen import MainScreen
from tui.settings.schema import Settings

heard, home, where = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def note(what):
    with heard.open("a") as file:
        print(what, file=file)

class Probe(PersonaApp):
    # Notes which action a key leads to, in place of doing it.
    async def run_action(self, action, default_namespace=None, namespaces=None):
        note(action)
        return True

    def simulate_ready(self):
        if self.main.conversation.current is None:
            return
        timer.stop()
        if where == "output":
            self.main.panel_reading.action_read = lambda what: note(f"read({what!r})")
            self.main.conversation.panel_controller.start_reading()
        else:
            widget = {"chat": self.main.chat_bar.input, "personas": self.main.personas.rows,
                      "tests": self.main.tests.rows, "prompt": self.main.prompt}[where]
            widget.focus()
        note("ready")

    def on_mount(self):
        global timer
        timer = self.set_interval(0.05, self.simulate_ready)

driver_guard.install()
Probe(lambda: Store(open_home(home, {"PERSONA_CONFIG": str(home / "config.toml")})), MainScreen, make_model=lambda _: OfflineModel(),
      name_model=lambda: "offline", settings=Settings(theme="dark")).run()
"""

IN_TMUX = {
    "escape": "Escape",
    "tab": "Tab",
    "shift+tab": "BTab",
    "enter": "Enter",
    "space": "Space",
    "slash": "/",
    "asterisk": "*",
    "delete": "DC",
    "shift+up": "S-Up",
    "shift+down": "S-Down",
    "ctrl+home": "C-Home",
    "ctrl+end": "C-End",
    "pageup": "PPage",
    "pagedown": "NPage",
    **{key: key.capitalize() for key in ("up", "down", "home", "end")},
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}


def in_tmux(key: str) -> str:
    """The name tmux has for a key."""
    return IN_TMUX.get(key) or (f"C-{key[5:]}" if key.startswith("ctrl+") else key)


class Tmux:
    """A tmux server of its own with the probe in it."""

    def __init__(self, folder: Path, where: str) -> None:
        # One socket a server: the one before may still be on its way out.
        self.socket = f"{SOCKET}-{where}"
        self.heard = folder / "heard"
        self.heard.touch()
        home = folder / "home"
        (home / "personas").mkdir(parents=True)
        (home / "personas" / "one.toml").write_text('name = "One"\nsystem_prompt = "x"\n')
        open_home(home, {"PERSONA_CONFIG": str(home / "config.toml")})
        probe = folder / "probe.py"
        probe.write_text(PROBE)
        command = [sys.executable, str(probe), str(self.heard), str(home), where]
        self.run(
            *("-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "30", "-e", f"PYTHONPATH={ROOT}"),
            shlex.join(command),
        )

    def run(self, *arguments: str) -> None:
        """Give the server a command."""
        subprocess.run(["tmux", "-L", self.socket, *arguments], check=True, capture_output=True, timeout=20)

    def wait(self, count: int, seconds: float = 20) -> list[str]:
        """Return what was heard once it is so many lines."""
        end = time.monotonic() + seconds
        while len(lines := self.heard.read_text().splitlines()) < count and time.monotonic() < end:
            time.sleep(0.02)
        return lines

    def press(self, key: str) -> list[str]:
        """Press a key; return the actions it led to."""
        before = len(self.wait(0))
        self.run("send-keys", in_tmux(key))
        return self.wait(before + 1, 3)[before:]


@pytest.fixture
def tmux(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    server = Tmux(tmp_path, request.param)
    try:
        assert server.wait(1) == ["ready"]
        yield server
    finally:
        subprocess.run(["tmux", "-L", server.socket, "kill-server"], check=False, capture_output=True)


PLACES = {"chat": {"anywhere"}, "personas": {"personas", "list"}}


@pytest.mark.parametrize("tmux", ["chat", "personas", "tests", "prompt", "output"], indirect=True)
def test_every_default_key_reaches_its_command_through_tmux(
    tmux: Tmux, request: pytest.FixtureRequest
) -> None:
    where = request.node.callspec.params["tmux"]
    places = PLACES.get(where, {where})
    failed = []
    for command in COMMANDS:
        for key in filter(None, command.keys.split(",")) if command.where in places else ():
            opened = (
                ["choose"] if key == "enter" else []
            )  # a list opens its row itself, which is editing here
            if (heard := tmux.press(key)) not in ([command.action], opened):
                failed.append(f"{command.id} on {key}: {heard}")
    assert failed == []

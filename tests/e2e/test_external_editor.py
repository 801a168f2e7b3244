"""The person's own editor, in a real terminal: what goes on meanwhile, what ends it, and what was written in it."""

from __future__ import annotations

import json
import os
import signal
import stat
import threading
import time
from pathlib import Path

import pytest

from tests.support.messages_server import MessagesServer, call, say
from tests.support.terminal import Terminal
from tests.support.terminal_drafts import texts
from tui.widgets.question_box import GRACE

PERSONA = 'name = "Optimist" # mine\nsystem_prompt = """\nYou see the good side.\nBe short.\n"""\n'
EDIT = call("edit_system_prompt", {"old": "Be short.", "new": "Be brief."})
ASK = call("ask_user", {"question": "How short shall it be?", "options": ["one line", "three lines"]})
CTRL_G = "\x07"


class Place:
    """A home with one persona, and an editor that waits for a word: a shell script that calls itself one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "home" / "personas" / "optimist.toml"
        self.file.parent.mkdir(parents=True)
        self.file.write_text(PERSONA)
        self.state = folder / "home" / "state"
        self.env: dict[str, str] = {}

    def editor(self, script: str = "", then: str = "") -> None:
        """Make the editor: it does `script`, shows itself, waits for `close`, and does `then`."""
        path = self.folder / "ed.sh"
        path.write_text(
            f'#!/bin/sh\ncd "{self.folder}"\necho $$ >> runs\n{script}\nprintf "THE EDITOR IS OPEN"\n'
            f"while [ ! -e close ]; do sleep 0.02; done\n{then}\n"
        )
        path.chmod(0o755)
        self.env["EDITOR"] = str(path)

    def close(self) -> None:
        (self.folder / "close").touch()

    def start(self, size: tuple[int, int] = (80, 24)) -> Terminal:
        return Terminal(["--home", str(self.folder / "home")], self.folder, env=self.env, size=size)

    def open_editor(self, terminal: Terminal, draft: str = "a draft") -> None:
        terminal.until("Be short.")
        terminal.until("saved")
        terminal.send(draft)
        terminal.until(draft)
        terminal.send(CTRL_G)
        terminal.until("THE EDITOR IS OPEN")

    @property
    def editors(self) -> list[int]:
        """The process ids of all editors there were."""
        return [int(line) for line in (self.folder / "runs").read_text().split()]

    @property
    def left(self) -> list[Path]:
        """The files in which a message lies."""
        return list(self.state.glob("message.*"))

    def drafts(self) -> dict[str, str]:
        return texts(self.folder, "chat")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def runs(number: int) -> bool:
    """Whether a process runs; one that ended and that nobody asked about does not."""
    try:
        return "Z" not in Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def use(place: Place, server: MessagesServer) -> None:
    place.env |= {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": server.key,
        "PERSONA_MODEL": "claude-sonnet-5-5",
    }


def test_the_agent_works_on_while_the_editor_is_open_and_nothing_is_painted_over_it(place: Place) -> None:
    place.editor(then='printf "a message" > "$1"')
    may_answer = threading.Event()
    answers = [EDIT, say("It is brief now.")]

    def brain(_body: dict[str, object]) -> object:
        may_answer.wait(60)
        return answers.pop(0)

    with MessagesServer(brain) as server:  # type: ignore[arg-type]
        use(place, server)
        with place.start() as terminal:
            terminal.until("Be short.")
            terminal.until("saved")
            terminal.send("be brief\r")
            terminal.until(lambda: server.requests)
            terminal.send("a draft")
            terminal.until("a draft")
            terminal.send(CTRL_G)
            terminal.until("THE EDITOR IS OPEN")
            before = len(terminal.received)
            terminal.resize(100, 30)
            may_answer.set()
            terminal.until(lambda: "Be brief." in place.file.read_text())
            terminal.until(lambda: not answers)
            terminal.until(
                lambda: any(
                    "It is brief now." in path.read_text()
                    for path in (place.folder / "home" / "agent-sessions").glob("*.jsonl")
                )
            )
            assert bytes(terminal.received[before:]) == b""
            place.close()
            terminal.until("a message")
            terminal.until("Be brief.")
            terminal.until(lambda: "THE EDITOR IS OPEN" not in terminal.text)
            terminal.until(lambda: max(len(line) for line in terminal.text.split("\n")) == 100)
            terminal.send(" goes on")
            terminal.until("a message goes on")
            assert place.left == []


def test_a_question_that_came_meanwhile_is_not_answered_by_what_was_typed_in_the_editor(place: Place) -> None:
    place.editor()
    may_answer = threading.Event()
    answers = [ASK, call("task_complete", {"summary": "It is short."})]

    def brain(_body: dict[str, object]) -> object:
        may_answer.wait(60)
        return answers.pop(0)

    with MessagesServer(brain) as server:  # type: ignore[arg-type]
        use(place, server)
        with place.start() as terminal:
            terminal.until("Be short.")
            terminal.until("saved")
            terminal.send("/task make it shorter\r")
            terminal.until(lambda: server.requests)
            terminal.send(CTRL_G)
            terminal.until("THE EDITOR IS OPEN")
            may_answer.set()
            terminal.until(
                lambda: any(
                    "three lines" in path.read_text()
                    for path in (place.folder / "home" / "agent-sessions").glob("*.jsonl")
                )
            )
            terminal.send("2\r2\r")
            place.close()
            terminal.until("2 three lines")
            time.sleep(GRACE + 0.2)  # the person's, not the program's: before it no key counts
            terminal.send("1")
            terminal.until("› 1 one line")
            terminal.send("\r")
            terminal.until(lambda: len(server.bodies) == 2)
            said = json.dumps(server.bodies[1]["messages"][-1])
            assert "one line" in said
            assert "three lines" not in said


def test_a_terminal_that_goes_away_ends_the_program_and_the_editor_and_loses_nothing(place: Place) -> None:
    place.editor('printf "a message" > "$1"')
    with place.start() as terminal:
        place.open_editor(terminal)
        (copy,) = place.left
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        terminal.hang_up()
        assert terminal.ended() in (129, -signal.SIGHUP)
        terminal.until(lambda: not runs(place.editors[0]))
    assert copy.read_text() == "a message"
    with place.start(size=(160, 40)) as terminal:
        terminal.until("Up brings it back")
        terminal.until("a draft")
        terminal.until("saved")
        terminal.send("\x1b[A")
        terminal.until("a message")
        assert place.left == []


def test_an_editor_that_outlives_the_program_leaves_the_message_to_the_next_one(place: Place) -> None:
    place.editor("trap '' TERM HUP", then='printf "written later" > "$1"')
    with place.start() as terminal:
        place.open_editor(terminal)
        terminal.until(lambda: place.drafts() == {"optimist": "a draft"})
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert terminal.restored
        with place.start() as second:  # what is no news is not told
            second.until("a draft")
            second.until("saved")
            second.process.kill()
            second.process.wait()
        place.close()
        terminal.until(lambda: not runs(place.editors[0]))
    with place.start() as terminal:
        terminal.until("a draft")
        terminal.until("saved")
        terminal.send("\x1b[A")
        terminal.until("written later")
        assert place.left == []


def test_what_an_editor_that_crashed_did_to_the_terminal_is_taken_back(place: Place) -> None:
    place.editor(then="stty raw -echo; kill -9 $$")
    with place.start(size=(160, 40)) as terminal:
        place.open_editor(terminal)
        place.close()
        terminal.until("signal 9")
        terminal.until("It saved no changes.")
        terminal.send(" goes on")
        terminal.until("a draft goes on")
        assert place.left == []
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert terminal.restored


def test_letters_right_before_the_key_are_in_the_file_and_two_presses_open_one_editor(place: Place) -> None:
    place.editor('cp "$1" given')
    with place.start() as terminal:
        terminal.until("Be short.")
        terminal.until("saved")
        terminal.send("a draft" + CTRL_G + CTRL_G)
        terminal.until("THE EDITOR IS OPEN")
        assert (place.folder / "given").read_text() == "a draft"
        place.close()
        terminal.until(lambda: "THE EDITOR IS OPEN" not in terminal.text)
        terminal.send(" goes on")
        terminal.until("a draft goes on")
        assert len(place.editors) == 1


@pytest.mark.parametrize("hangs_up", [False, True])
def test_an_end_while_the_file_of_a_persona_is_edited_keeps_what_was_saved(
    place: Place, hangs_up: bool
) -> None:
    place.editor('sed -i "s/short/quick/" "$1"')
    with place.start() as terminal:
        terminal.until("Be short.")
        terminal.send("\x1bOR")  # F3
        terminal.until("Esc chat")
        terminal.send(CTRL_G)
        terminal.until("THE EDITOR IS OPEN")
        if hangs_up:
            terminal.hang_up()
            assert terminal.ended() in (129, -signal.SIGHUP)
        else:
            os.kill(terminal.process.pid, signal.SIGTERM)
            assert terminal.ended() == 143
            assert terminal.restored
    assert place.file.read_text() == PERSONA.replace("short", "quick")
    assert not list(place.state.glob("optimist.*"))

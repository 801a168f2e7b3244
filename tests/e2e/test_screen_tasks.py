"""A task in a real terminal: asked, killed, found again, answered by keys alone, and undone as one."""

from __future__ import annotations

import time
from pathlib import Path

from agent.jobs.recovery import find_job
from personas.files import trust
from personas.files.home import open_home
from personas.store import Store
from tests.e2e.test_screen import IN_ORDER
from tests.support.messages_server import Answer, MessagesServer, Text, call
from tests.support.terminal import Terminal
from tui.widgets.question_box import GRACE

PERSONA = 'name = "Optimist" # mine\nsystem_prompt = """\nYou see the good side.\nBe short.\n"""\n'
ASK = call("ask_user", {"question": "How short shall it be?", "options": ["one line", "three lines"]})
EDIT = call("edit_system_prompt", {"old": "Be short.", "new": "Answer in three lines."})
DONE = call("task_complete", {"summary": "It answers in three lines now."})


def test_a_task_at_work_in_a_terminal_that_vanishes_is_left_to_be_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "home" / "personas" / "optimist.toml"
    file.parent.mkdir(parents=True)
    file.write_text(PERSONA)
    with MessagesServer([Answer((Text("Word after word."),), stall_after_events=4)]) as server:
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": server.key,
            "PERSONA_MODEL": "claude-sonnet-5-5",
        }
        with Terminal(["--home", str(tmp_path / "home")], tmp_path, env, command=IN_ORDER) as terminal:
            terminal.until("saved")
            terminal.send("/task make the answers shorter\r")
            terminal.until("Word")
            terminal.hang_up()
            assert terminal.ended() == 129
    left = find_job(Store(open_home(tmp_path / "home", env={})), "optimist")
    assert left is not None and left.status == "interrupted"


def test_a_task_asks_is_killed_comes_back_waiting_and_is_finished_by_keys(tmp_path: Path) -> None:
    file = tmp_path / "home" / "personas" / "optimist.toml"
    file.parent.mkdir(parents=True)
    file.write_text(PERSONA)
    (tmp_path / "config.toml").write_text('approval = "ask-all"\ntask_pause = 0\n')
    trust.trust(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")})
    with MessagesServer([ASK, EDIT, DONE]) as server:
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": server.key,
            "PERSONA_MODEL": "claude-sonnet-5-5",
        }

        def start() -> Terminal:
            return Terminal(["--home", str(tmp_path / "home")], tmp_path, env)

        with start() as terminal:
            terminal.until("saved")
            terminal.send("/task make the answers shorter\r")
            terminal.until("2 three lines")
            terminal.until("Reply")
            terminal.process.kill()
            terminal.process.wait()
        with start() as terminal:
            terminal.until("2 three lines")
            terminal.until("make the answers shorter")
            terminal.until("Reply")
            time.sleep(GRACE + 0.2)  # the person's, not the program's: before it no key counts
            terminal.send("2")
            terminal.until("› 2 three lines")
            terminal.send("\r")
            terminal.until("+Answer in three lines.")
            assert file.read_text() == PERSONA
            time.sleep(GRACE + 0.2)
            terminal.send("1")
            terminal.until("› 1 once")
            terminal.send("\r")
            terminal.until("Task complete")
            assert "Answer in three lines." in file.read_text()
            terminal.until("Send")
            terminal.send("\x1b[19~")  # F8
            terminal.until(lambda: file.read_text() == PERSONA)
            terminal.until("Undone")  # what is told next would give way to it
            terminal.send("\x03")
            terminal.until("again to quit")
            terminal.send("\x03")
            assert terminal.ended() == 0
        assert server.refusals == [] and len(server.bodies) == 3

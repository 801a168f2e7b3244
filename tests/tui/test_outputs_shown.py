"""Outputs on the screen: under their test inputs, in the strip while they are made, by keyboard and by mouse alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.models.anthropic.client import AnthropicModel
from agent.outputs.output_log import Stored, make_output
from agent.outputs.report import report_input
from agent.outputs.variant import variant_now
from personas.persona import read_persona
from tests.agent.outputs.bench import SONNET
from tests.support.messages_answers import call as call_tool
from tests.support.persona_brain import PersonaBrain
from tests.support.program import Program, make_store, program
from tests.support.screen import click
from tui.outputs.controller import InputState
from tui.outputs.labels import OutputLine, age, output_line
from tui.screens.dialogs.confirm import Confirm
from tui.settings.schema import Settings

FILE = 'name = "Kind"\nsystem_prompt = "Be kind."\n' + "".join(
    f'\n[[test_inputs]]\nid = "n{i}"\ncontent = "question {i}"\nexpect = [{{ type = "contains", value = "{word}" }}]\n'
    for i, word in enumerate(("kind", "cruel", "kind"))
)
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def brain() -> PersonaBrain:
    return PersonaBrain()


@pytest.fixture
def settings(brain: PersonaBrain) -> Iterator[Settings]:
    with brain.connected() as settings:
        yield settings


def seen(p: Program) -> str:
    return "\n".join(strip.text for strip in p.app.screen._compositor.render_strips())


def test_the_line_of_an_output() -> None:
    persona = read_persona("kind", FILE.encode())
    one, variant = persona.test_inputs[0], variant_now(persona, persona.system_prompt, model=SONNET)
    then = (NOW - timedelta(hours=2)).isoformat()

    def line(**of_output: object) -> OutputLine | None:
        stored = Stored()
        stored.add([make_output(variant, one, **({"started_at": then} | of_output))])
        [output] = stored.outputs
        made = {(one.id, 1): output} if output.error else {}
        report = report_input(stored, variant, one, made=made)
        return output_line(
            InputState(report, output, ("prompt",) if "outdated" in output.text else ()), {}, NOW
        )

    model = "sonnet-5-5"
    assert line(text="\n so kind\nand more") == OutputLine("✓", " so kind", ("2 h", model))
    for frame in ("<answer>", "```json", "---", "{"):
        assert line(text=f"{frame}\nkind\n") == OutputLine("✓", "kind", ("2 h", model)), (
            "a frame says nothing"
        )
    assert line(text="--- ") == OutputLine("✗", "--- ", ("2 h", model))
    assert line(text="outdated", source="recording") == OutputLine(
        "✗", "outdated", ("outdated", "recorded", "2 h", model), True
    )
    assert line(error="no network") == OutputLine("!", "no network", ("2 h", model))
    streaming = {1: "the last words", 2: None}
    assert output_line(None, streaming, NOW) == OutputLine("…", "the last words", ("1 more",))
    assert output_line(None, {}, NOW) is None
    assert [age(NOW, (NOW - timedelta(seconds=n)).isoformat()) for n in (5, 60, 7200, 200_000)] == [
        "now", "1 min", "2 h", "2 d"
    ]  # fmt: skip
    assert age(NOW, "long ago") == ""


def rows_seen(p: Program) -> str:
    """Return what the screen shows once the message that lies over the first rows for a moment is gone."""
    p.app.clear_notifications()
    return seen(p)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_inputs_are_run_by_the_keyboard(
    tmp_path: Path, settings: Settings, brain: PersonaBrain, size: tuple[int, int]
) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    async with program(store, settings=settings, size=size) as p:
        assert "Ctrl+T run" in seen(p) or size[0] == 80
        await p.press("f4", "ctrl+t")  # the cursor's row
        await p.until(lambda: "✓ Be kind. / q" in seen(p))
        assert "Ctrl+T run" in seen(p) and brain.asked == ["question 0"]
        await p.press("j", "space", "space", "ctrl+t")  # the marked ones
        await p.until(lambda: "✗ Be kind. / q" in seen(p) and len(brain.asked) == 3)
        await p.until(lambda: not p.main.outputs.is_running)
        assert sorted(brain.asked[1:]) == ["question 1", "question 2"]
        await p.press("f3", "ctrl+t")  # all, from elsewhere
        await p.until(lambda: "Run: 3/3 · 1 failed · " in seen(p))
        await p.until(lambda: len(brain.asked) == 6 and not p.main.outputs.is_running)
        await p.say("/run n2")
        await p.until(lambda: brain.asked[6:] == ["question 2"] and not p.main.outputs.is_running)
        await p.press("f4", "home", "enter", "ctrl+t")  # the one in the output pane
        await p.until(lambda: brain.asked[7:] == ["question 0"] and not p.main.outputs.is_running)
        await p.press("escape")
        p.prompt.focus()
        await p.write("More. ")
        await p.press("f4")
        await p.until(lambda: seen(p).count("outdated") == 3)


async def test_a_run_streams_and_is_stopped(tmp_path: Path, settings: Settings, brain: PersonaBrain) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    brain.hangs = True
    async with program(store, settings=settings, size=(120, 30)) as p:
        for stop in ("escape", "ctrl+c", "", "strip"):
            await p.press("ctrl+t")
            await p.until(lambda: seen(p).count("… Be k") == 3)
            assert "0/3 · Esc stops" in seen(p) and "Esc stop" in seen(p).splitlines()[-1]
            if stop == "strip":
                await click(p, "Esc stops")
            elif stop:
                await p.press(stop)
            else:
                p.main.output_actions.action_stop_inputs()
            await p.until(lambda: "Esc stops" not in seen(p))
            assert "… Be k" not in seen(p)
        assert not p.store.ids() or p.main.outputs.outputs_of("n0") == []
        await p.press("ctrl+t")
        await p.until(lambda: seen(p).count("… Be k") == 3)  # and it is left at work


async def test_an_expensive_run_asks_first(tmp_path: Path, brain: PersonaBrain) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    with brain.connected(confirm_requests=2) as settings:
        async with program(store, settings=settings) as p:
            await p.press("ctrl+t")
            await p.dialog(Confirm)
            assert "3 requests" in seen(p)
            await p.press("n")
            await p.until(lambda: p.app.screen is p.main)
            assert brain.asked == []
            await p.press("ctrl+t")
            await p.dialog(Confirm)
            await p.press("y")
            await p.until(lambda: len(brain.asked) == 3 and not p.main.outputs.is_running)


async def test_the_agents_task_runs_what_is_shown(
    tmp_path: Path, settings: Settings, brain: PersonaBrain
) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    agent = AnthropicModel(SONNET, base_url=settings.base_url)
    brain.calls = [
        call_tool("run_test_inputs", {}),
        call_tool("edit_system_prompt", {"old": "kind", "new": "kind, never cruel"}),
        call_tool("run_test_inputs", {}),
        call_tool("task_complete", {"summary": "All pass."}),
    ]
    async with program(store, model=agent, settings=settings._replace(runs_unasked=2), size=(160, 50)) as p:
        await p.say("/task make all test inputs pass")
        await p.until(lambda: rows_seen(p).count("✓ Be kind, never") == 3)
        await p.until(lambda: not p.main.conversation.running)
        assert brain.calls == [] and len(brain.asked) == 6
        await p.press("f8")  # one undo: what the first run made is fresh again
        await p.until(lambda: rows_seen(p).count("✓ Be kind. / q") == 2 and "✗ Be kind. / q" in rows_seen(p))
        # outside of a task more than `runs_unasked` are asked for
        brain.calls = [call_tool("run_test_inputs", {})]
        await p.say("try all again")
        await p.until(lambda: p.main.conversation.question is not None)
        assert len(brain.asked) == 6

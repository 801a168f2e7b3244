"""The output pane: what the persona answered, whole, with what holds of it; older ones, comparing, keeping, pasting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual import events
from textual.app import App, ComposeResult

from agent.core.model import Usage
from agent.outputs.output_log import PASTED, RECORDING, Output, OutputLog, make_output
from agent.outputs.runner import OutputStart, OutputText, PlannedSample, RunEnd, RunStart
from agent.outputs.variant import variant_of
from personas.changes import SetPrompt
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.program import Program, make_store, program
from tests.support.screen import click, drawn
from tui.screens.dialogs.comparison import ShowComparison
from tui.screens.dialogs.text_prompt import AskText
from tui.widgets.output_pane import STREAMING, OutputPane, ShownOutput

FILE = """\
name = "Kind"
system_prompt = "Be rude."

[[test_inputs]]
id = "refund"
content = "I want my money back."
expect = [{ type = "icontains", value = "sorry" }, { type = "word-count", max = 4 }]

[[test_inputs]]
id = "hello"
content = "Hello, {{user}}"
"""


def make_kind(folder: Path) -> Any:
    """Make a home with the persona `kind`, two versions of it, and an output of each."""
    store = make_store(folder, {"kind": FILE})
    answer(store, "**Go away** now", source=RECORDING)
    store.change("kind", SetPrompt("Be kind."), revision=None, by=USER)
    answer(store, "So *sorry* about that, dear", usage=Usage(input_tokens=1_200), cost=0.01, seconds=2.0)
    return store


def answer(store: Store, text: str, **known: Any) -> Output:
    """Store an answer of the persona as it is to its first test input."""
    persona = store.get("kind")
    output = make_output(
        variant_of(store, persona, model=None, fixed=True), persona.test_inputs[0], text=text, **known
    )
    OutputLog(store.home, "kind").append(output)
    return output


def seen(p: Program) -> str:
    """What stands in the pane, line by line."""
    pane = p.main.query_one(OutputPane)
    return f"{pane.border_title}\n{lines(pane)}"


def lines(pane: OutputPane) -> str:
    view = pane._view
    return "\n".join(view.render_line(y).text.strip() for y in range(view.size.height))


async def test_enter_shows_the_output_with_what_holds_of_it_and_the_ones_before(tmp_path: Path) -> None:
    store = make_kind(tmp_path)
    async with program(store, size=(140, 30)) as p:
        await p.until(lambda: len(p.main.outputs.outputs_of("refund")) == 2)
        await p.press("f4", "enter")
        await p.until(lambda: p.app.query(OutputPane) and "So sorry about that, dear" in seen(p))
        assert "Output of refund · 1 of 2" in seen(p)
        assert "version 1" in seen(p) and "2.0 s · 1.2k tok · $0.01" in seen(p)
        assert "✓ icontains “sorry”: has “sorry”" in seen(p) and "✗ word-count max 4: 5 words" in seen(p)
        assert not p.prompt.is_on_screen, "it stands over the prompt"

        await p.press("left")
        await p.until(lambda: "2 of 2" in seen(p))
        assert "version 0 · recorded" in seen(p) and "Outdated: the prompt changed since." in seen(p)
        assert "Go away now" in seen(p)
        await p.press("m")
        await p.until(lambda: "**Go away** now" in seen(p))
        await p.press("left", "p", "k")
        await p.until(lambda: "kept · pinned" in seen(p))
        assert OutputLog(store.home, "kind").read().kept == {p.main.outputs.outputs_of("refund")[1].id}

        await p.press("right", "c")
        await p.dialog(ShowComparison)
        await p.until(
            lambda: "− **Go away** now" in drawn(p.app.screen) and "+ So *sorry*" in drawn(p.app.screen)
        )
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        await p.press("s")
        await p.until(lambda: "What is sent for refund" in seen(p))
        await p.press("escape")
        await p.until(lambda: "Output of refund" in seen(p))
        await p.press("escape")
        assert p.main.prompt.is_on_screen and p.main.tests.rows.has_focus

        # one without an output is edited by Enter; F3 leads to the prompt whatever stands over it
        await p.press("down", "enter")
        assert p.main.tests.editor.has_focus
        await p.press("f4", "o")
        await p.until(lambda: "What is sent for hello" in seen(p))
        assert "System prompt\nBe kind." in seen(p) and "User\nHello, User" in seen(p)
        await p.press("f3")
        assert p.prompt.has_focus and p.main.panes.over_prompt is None


async def test_it_follows_what_changes(tmp_path: Path) -> None:
    store = make_kind(tmp_path)
    async with program(store, size=(80, 24)) as p:
        await p.until(lambda: len(p.main.outputs.outputs_of("refund")) == 2)
        await p.press("f4", "enter")
        await p.until(lambda: p.app.query(OutputPane) and "✗ word-count max 4: 5 words" in seen(p))
        p.file("kind").write_text(p.file("kind").read_text().replace("max = 4", "max = 5"))
        await p.until(lambda: "✓ word-count max 5: 5 words" in seen(p))
        answer(store, "Sorry again")
        await p.until(lambda: "1 of 3" in seen(p) and "Sorry again" in seen(p))
        await p.press("left")
        await p.until(lambda: "2 of 3" in seen(p))
        answer(store, "Sorry at last")
        await p.until(lambda: "3 of 4" in seen(p) and "So sorry about that" in seen(p))
        # an answer that is being made comes first, and grows
        persona, outputs = store.get("kind"), p.main.outputs
        trial = PlannedSample(variant_of(store, persona, model="m"), persona.test_inputs[0], 1)
        for event in (RunStart([trial]), OutputStart(trial), OutputText(trial, "Sorry, I ")):
            outputs._hear_in_loop(event)
        await p.until(lambda: "4 of 5" in seen(p))
        await p.press("right", "right", "right")
        await p.until(lambda: "1 of 5" in seen(p) and "running" in seen(p) and "Sorry, I" in seen(p))
        outputs._hear_in_loop(OutputText(trial, "will."))
        await p.until(lambda: "Sorry, I will." in seen(p))
        outputs._hear_in_loop(RunEnd([trial]))
        await p.until(lambda: "1 of 4" in seen(p) and "Sorry at last" in seen(p))
        await p.press("shift+tab", "tab")
        assert p.main.query_one(OutputPane).has_focus, "Tab leads to what stands over the prompt"
        p.file("kind").write_text(p.file("kind").read_text().replace('"refund"', '"money"'))
        await p.until(lambda: p.main.panes.over_prompt is None)


async def test_a_pasted_answer_is_an_output_and_is_judged(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    async with program(store) as p:
        await p.press("f4", "o")
        pane = p.main.query_one(OutputPane)
        await p.until(lambda: "What is sent for refund" in seen(p))
        pane.post_message(events.Paste("Sorry,\nI will not."))
        dialog = await p.dialog(AskText)
        assert dialog._slot.text == "Sorry,\nI will not."
        await p.press("enter")
        await p.until(lambda: "✓ word-count max 4: 4 words" in seen(p))
        assert "pasted" in seen(p) and "Outdated" not in seen(p)
        stored = OutputLog(store.home, "kind").read().outputs
        assert [(one.text, one.source, one.version) for one in stored] == [("Sorry,\nI will not.", PASTED, 0)]
        await p.press("s")
        await p.until(lambda: "What is sent for refund" in seen(p))
        # what is begun is kept when the dialog is closed
        await p.press("v")
        await p.dialog(AskText)
        await p.write("half")
        await p.press("escape", "v")
        await p.until(lambda: isinstance(p.app.screen, AskText) and p.app.screen._slot.text == "half")


async def press(p: Program, words: str) -> None:
    """Click on the key that these words name, once they are on the screen."""
    await p.until(lambda: words in drawn(p.app.screen))
    await click(p, words)


async def test_all_of_it_can_be_done_by_mouse_in_a_small_terminal(tmp_path: Path) -> None:
    store = make_kind(tmp_path)
    async with program(store, size=(80, 24)) as p:
        await p.until(lambda: len(p.main.outputs.outputs_of("refund")) == 2)
        await press(p, "Test inputs")
        await p.pilot.click("#test-rows", offset=(4, 0), times=2)
        await p.until(lambda: p.app.query(OutputPane) and "1 of 2" in seen(p))
        await press(p, "Left older")
        await p.until(lambda: "2 of 2" in seen(p))
        await press(p, "k keep")
        await p.until(lambda: "kept" in seen(p))
        await press(p, "e expectations")
        await p.until(lambda: "word-count max" in drawn(p.app.screen))
        await p.pilot.click("#choices", offset=(5, 1))
        await p.until(lambda: "or exactly" in drawn(p.app.screen))
        await p.pilot.click("#field-max")
        await p.press("end", "0")
        await press(p, "Enter accepts")
        await p.until(lambda: "✓ word-count max 40: 3 words" in seen(p))
        await press(p, "Esc closes")
        await p.until(lambda: p.app.screen is p.main)
        await press(p, "Esc close")
        await p.until(lambda: p.main.panes.over_prompt is None)


class Stage(App[None]):
    """A screen with nothing but the pane."""

    def compose(self) -> ComposeResult:
        self.pane = OutputPane()
        self.pane.styles.display = "block"
        yield self.pane


def streaming(text: str) -> ShownOutput:
    output = Output(
        id=f"{STREAMING} 1", input_id="x", input_hash="", prompt_hash="", settings_hash="", text=text
    )
    return ShownOutput(output)


async def test_streaming_text_is_followed_unless_the_person_scrolls_back() -> None:
    async with Stage().run_test(size=(60, 12)) as pilot:
        pane = pilot.app.pane  # type: ignore[attr-defined]
        text = ""
        for number in range(40):
            text += f"line {number}\n\n"
            pane.show("x", streaming(text), [])
        pane._view.draw_frame()
        await pilot.pause()
        assert "line 39" in lines(pane)
        pane.focus()
        await pilot.press("home")
        pane.show("x", streaming(text + "more"), [])
        pane._view.draw_frame()
        await pilot.pause()
        assert "line 0" in lines(pane) and "more" not in lines(pane)
        await pilot.press("end")
        assert "more" in lines(pane)

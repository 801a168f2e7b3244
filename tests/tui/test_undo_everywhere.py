"""Undo in the prompt, in a test input, in the settings and elsewhere: nothing undone twice, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from personas.changes import SetPrompt, UpdateTestInput
from personas.versions.authorship import USER, Author
from tests.support.program import STAYS, Program, make_store, program
from tui.document import debounce
from tui.settings.schema import Settings
from tui.widgets.text.document_editor import DocumentEditor

FILE = """name = "One"
system_prompt = "prompt"
[[test_inputs]]
id = "sum"
content = "input"
"""


@pytest.fixture(autouse=True)
def quick(quick_typing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "TYPING", -1.0)  # nobody is at the line that a run changes


class Both:
    """A program with the prompt and one test input, each in its editor."""

    def __init__(self, p: Program) -> None:
        self.p = p
        self._runs = 0

    @property
    def stored(self) -> tuple[str, str]:
        persona = self.p.store.get("one")
        return persona.system_prompt, persona.test_inputs[0].content

    @property
    def shown(self) -> tuple[str, str]:
        return self.p.prompt.raw, self.p.main.tests.editor.raw

    async def settled(self) -> None:
        """Everything typed is stored, and everything stored is shown."""
        p = self.p
        await p.until(
            lambda: (
                not p.prompt.unsaved
                and not p.main.tests.editor.unsaved
                and self.shown == self.stored
                and not p.main.documents.workspace.writing
            )
        )

    async def shows(self, prompt: str, content: str) -> None:
        await self.settled()
        assert self.stored == (prompt, content)

    def focus(self, which: str) -> DocumentEditor:
        editor = self.p.prompt if which == "prompt" else self.p.main.tests.editor
        editor.focus()
        return editor

    async def type(self, which: str, text: str) -> None:
        editor = self.focus(which)
        editor.history.checkpoint()
        editor.move_cursor((0, 0))
        await self.p.write(text)
        await self.settled()

    async def press(self, which: str, key: str) -> None:
        self.focus(which)
        await self.p.press(key)
        await self.p.pilot.pause(0.03)
        await self.settled()

    async def run(self, *, prompt: str = "", content: str = "") -> None:
        """The agent changes the prompt, the content or both, in one run."""
        self._runs += 1
        author = Author("agent", session_id="s", run_id=f"r{self._runs}")
        for which, text in (("prompt", prompt), ("content", content)):
            if text:
                change = SetPrompt(text) if which == "prompt" else UpdateTestInput("sum", text)
                changed = self.p.store.change("one", change, by=author, revision=None)
                self.p.main.documents.agent_wrote(changed, f"r{self._runs}")
        await self.settled()


async def test_each_editor_undoes_its_own_text_and_a_run_is_one_step_in_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        both = Both(p)
        await both.type("prompt", "A")
        await both.type("input", "B")
        await both.run(prompt="run", content="ran")
        for key, which, prompt, content in (
            ("ctrl+z", "input", "run", "Binput"),
            ("ctrl+z", "prompt", "Aprompt", "Binput"),
            ("ctrl+z", "prompt", "prompt", "Binput"),
            ("ctrl+z", "input", "prompt", "input"),
            ("ctrl+y", "input", "prompt", "Binput"),
            ("ctrl+y", "prompt", "Aprompt", "Binput"),
            ("ctrl+y", "prompt", "run", "Binput"),
            ("ctrl+y", "input", "run", "ran"),
        ):
            await both.press(which, key)
            await both.shows(prompt, content)
        assert not p.messages, "it is seen where the person is"


async def test_f8_and_f9_cancel_out_in_a_test_input_too(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        both = Both(p)
        await both.type("input", "B")
        await both.run(content="ran")
        await both.press("input", "f8")
        await both.shows("prompt", "Binput")
        await both.press("input", "f9")
        await both.shows("prompt", "ran")
        await both.press("input", "ctrl+z")
        await both.shows("prompt", "Binput")
        await both.press("input", "ctrl+z")
        await both.shows("prompt", "input")


async def test_what_a_list_undoes_is_not_undone_again_in_an_editor(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        both = Both(p)
        await both.type("input", "A")
        p.main.tests.rows.focus()
        await p.press("ctrl+z")
        await p.until(lambda: both.stored == ("prompt", "input"))
        await both.shows("prompt", "input")
        await both.press("input", "ctrl+z")
        await both.shows("prompt", "input")
        await both.press("input", "ctrl+y")
        await both.shows("prompt", "Ainput")


async def test_in_the_chat_bar_the_draft_comes_first_and_then_what_was_done_to_the_persona(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        both, bar = Both(p), p.main.chat_bar
        await both.type("prompt", "A")
        await both.run(prompt="run")
        bar.input.focus()
        await p.write("draft")
        await p.press("ctrl+z")
        await p.until(lambda: bar.input.is_empty)
        await p.press("ctrl+z")
        await p.until(lambda: both.stored == ("Aprompt", "input"))
        await p.press("ctrl+z")
        await p.until(lambda: both.stored == ("prompt", "input"))
        assert p.main.situation.undoes
        for stored in ("Aprompt", "run"):
            await p.press("ctrl+y")
            await p.until(lambda stored=stored: both.stored == (stored, "input"))
        await p.press("ctrl+y")
        await p.until(lambda: bar.draft == "draft")
        bar.input.load_text("a draft that was found")
        await p.until(lambda: bar.draft)
        assert not p.main.situation.undoes
        await p.press("ctrl+z")
        await both.shows("run", "input")
        assert bar.draft == "a draft that was found"


async def field(p: Program, name: str) -> None:
    p.main.settings.field(name).focus()
    await p.press("end")


async def test_undo_in_a_field_takes_back_what_was_typed_there_and_nothing_else(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        both = Both(p)
        await both.type("prompt", "A")
        await field(p, "name")
        await p.write("X")
        await p.press("ctrl+z")
        assert p.main.settings.field("name").raw == "One"
        await p.press("ctrl+y")
        assert p.main.settings.field("name").raw == "OneX"
        await p.press("enter")
        await p.until(lambda: store.get("one").name == "OneX")
        await field(p, "name")
        await p.press("ctrl+z")
        await p.until(lambda: store.get("one").name == "One")
        await both.shows("Aprompt", "input")
        await p.press("ctrl+y")
        await p.until(lambda: store.get("one").name == "OneX")
        await p.press("ctrl+z")
        await p.until(lambda: store.get("one").name == "One")
        await p.press("ctrl+z")
        await both.shows("prompt", "input")
        await field(p, "name")
        await p.press("ctrl+z")
        await p.notified("nothing to undo")
        assert p.file("one").read_text() == FILE


async def test_a_model_set_in_a_field_is_taken_back_there_once(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        await field(p, "effort")
        await p.write("high")
        await p.press("enter")
        await p.until(lambda: store.get("one").model.effort == "high")
        await field(p, "effort")
        await p.press("ctrl+z")
        await p.until(lambda: not store.get("one").model.effort)
        await p.press("ctrl+y")
        await p.until(lambda: store.get("one").model.effort == "high")
        await p.press("ctrl+z")
        await p.until(lambda: not store.get("one").model.effort)
        for _ in range(2):  # the table that was made for it goes in a step of its own
            await p.press("ctrl+z")
            await p.pilot.pause(0.2)
        await p.until(lambda: p.file("one").read_text() == FILE)


async def test_undo_in_a_field_brings_a_description_of_several_lines_back_as_it_was(tmp_path: Path) -> None:
    text = 'name = "One"\ndescription = """\nfirst\nsecond\n"""\n'
    store = make_store(tmp_path, {"one": text})
    async with program(store) as p:
        await field(p, "description")
        await p.write("X")
        await p.press("enter")
        await p.until(lambda: store.get("one").description == "first secondX")
        await field(p, "description")
        await p.press("ctrl+z")
        await p.until(lambda: p.file("one").read_text() == text)


async def test_undo_elsewhere_after_a_field_was_changed_is_not_done_twice(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        await field(p, "name")
        await p.write("X")
        await p.press("enter")
        await p.until(lambda: store.get("one").name == "OneX")
        p.main.tests.rows.focus()
        await p.press("ctrl+z")
        await p.until(lambda: store.get("one").name == "One")
        await field(p, "name")
        p.app.clear_notifications()
        await p.press("ctrl+z")
        await p.notified("nothing to undo")
        await p.press("ctrl+y")
        await p.until(lambda: store.get("one").name == "OneX")


async def test_what_the_agent_undoes_in_another_conversation_changes_nothing_of_how_a_run_here_is_undone(
    tmp_path: Path,
) -> None:
    settings = Settings(panel_seconds=STAYS, approval_of={"edit_system_prompt": "ask"})
    script = [
        answer(ToolUse("edit_system_prompt", {"old": "prompt", "new": "better"})),
        answer(ToolUse("update_persona_name", {"name": "Uno"})),
        answer(ToolUse("undo", {})),
        answer("Done."),
        answer("Done."),
    ]
    store = make_store(tmp_path, {"one": FILE, "two": FILE})
    async with program(store, *script, persona_id="two", settings=settings) as p:
        conversation = p.main.conversation
        await p.say("edit")
        await p.until(lambda: conversation.question is not None)
        await p.open("one")
        await p.run_to_end("rename, and undo it")
        await p.open("two")
        await p.until(lambda: conversation.question is not None)
        assert conversation.question is not None
        await conversation.questions.answer(conversation.question.id, "once")
        await p.until(lambda: not conversation.running and p.on_disk("two") == p.prompt.raw == "better")
        await p.press("f8")
        await p.until(lambda: p.on_disk("two") == p.prompt.raw == "prompt")


async def test_the_agents_run_is_undone_and_redone_while_a_dialog_is_open(tmp_path: Path) -> None:
    edit = answer(ToolUse("edit_system_prompt", {"old": "first line", "new": "1st line"}))
    async with program(make_store(tmp_path), edit, answer("Done.")) as p:
        await p.run_to_end("go")
        await p.until(lambda: "1st" in p.prompt.raw)
        for key in "f1", "f5", "ctrl+p", "n":
            p.main.personas.rows.focus()
            await p.press(key)
            await p.until(lambda: p.app.screen is not p.main)
            dialog = p.app.screen
            for pressed, found, told in (("f8", "first line", "Undone"), ("f9", "1st line", "Redone")):
                await p.press(pressed)
                await p.until(lambda found=found: found in p.prompt.raw)
                await p.notified(told)
                assert p.app.screen is (p.main if key in ("f1", "f5") else dialog)
            p.app.clear_notifications()
            if p.app.screen is not p.main:
                await p.press("escape")
                await p.until(lambda: p.app.screen is p.main)


async def test_an_import_that_is_undone_takes_the_open_persona_away(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": FILE})
    store.make("two", FILE, by=USER, reason="imported from two.md", unit="import:1")
    async with program(store) as p:
        await p.open("two")
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.notified("Undone: the import (from two.md)")
        await p.until(lambda: p.main.documents.id is None and not store.path("two").exists())
        await p.until(lambda: len(p.main.personas.rows.rows) == 1)
        assert not any("outside" in message for message in p.messages)

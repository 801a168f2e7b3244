"""Every widget class of ours is shown every kind of hostile text: it stands there literally, and obeys nobody."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets._toast import Toast

import tui.widgets
from agent.core.turns import (
    AssistantTextTurn,
    CustomTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)
from agent.jobs.job import Approval, Question
from agent.outputs.expectations import Verdict
from agent.outputs.output_log import Output
from personas.fields import FileError
from personas.library.assembly import CompiledLine, Piece, assemble
from personas.persona import Persona, TestInput
from tests.support.hostile import HOSTILE, MARKUP, OBEYED, assert_only_text
from tests.support.program import make_store, program
from tui.chat.panel_state import PanelState
from tui.chat.persona_talk import TalkLine
from tui.chat.view import Queued
from tui.commands.slash import Completion
from tui.document.composition import Composition, LinkRow
from tui.document.document import OpenDocument
from tui.widgets.agent_panel import AgentPanel
from tui.widgets.chat_bar import ChatBar
from tui.widgets.chat_input import ChatInput
from tui.widgets.command_list import CommandList
from tui.widgets.compiled_pane import CompiledPane, CompiledText
from tui.widgets.composition_pane import CompositionPane
from tui.widgets.conversation import ConversationView, Glyphs
from tui.widgets.conversation.cursor import ReadableScrollView
from tui.widgets.conversation.scroll_view import EntryScrollView
from tui.widgets.field_form import FieldForm
from tui.widgets.find_bar import FindBar
from tui.widgets.footer import KeyLine
from tui.widgets.margin_signs import MarginSigns
from tui.widgets.output_pane import OutputPane, OutputView, ShownOutput, TextEntry
from tui.widgets.pane_tabs import PaneTabs
from tui.widgets.persona_fields import SettingsPane
from tui.widgets.persona_list import PersonaEntry, PersonaList
from tui.widgets.plain_text import LiteralButton, LiteralLabel, LiteralStatic, label
from tui.widgets.prompt_pane import Banner, PromptPane
from tui.widgets.question_box import Choices, QuestionBox
from tui.widgets.queued_messages import QueuedMessageList
from tui.widgets.run_strip import RunStrip
from tui.widgets.talk_panel import TalkPanel
from tui.widgets.test_input_list import TestInputList
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.text.ellipsis import EllipsisStatic
from tui.widgets.text.line_input import LineInput
from tui.widgets.text.safe_text_area import LONG_LINE, SafeTextArea
from tui.widgets.text.side_by_side import PairLayout, SideBySide, SideBySideText, TextPair
from tui.widgets.text.virtual_static import VirtualStatic
from tui.widgets.virtual_list import Row, VirtualList

Shown = TypeVar("Shown", bound=Widget)


def every_turn(text: str) -> list[Turn]:
    """A conversation in which the text stands everywhere it can."""
    given = {"name": text, text[:200]: {"x": [text]}}
    call = ToolCallTurn(tool_use_id="a", tool_name=text, input=given)
    failed = ToolCallTurn(tool_use_id="b", tool_name=text, input={}, fault=text)
    return [
        UserTurn(content=text),
        AssistantTextTurn(content=text, interrupted=True),
        ThinkingTurn(content=text),
        call,
        ToolResultTurn(
            tool_use_id="a", output=text, details={"diff": f"-{text}\n+{text}", "added": 1, "removed": 1}
        ),
        failed,
        ToolResultTurn(tool_use_id="b", output=text, is_error=True),
        NoticeTurn(content=text),
        NoticeTurn(content=text, kind="error"),
        CustomTurn(type=text, fields={text[:200]: text}),
        CustomTurn(type="task_step", fields={"text": text}),
        CustomTurn(
            type="task_ending",
            fields={
                "text": text,
                "summary": text,
                "diff": f"-{text}",
                "added": 1,
                "removed": 1,
                "status": text,
            },
        ),
    ]


def fill_conversation(view: ConversationView, text: str) -> None:
    view.load(every_turn(text))
    for index, entry in enumerate(view.layout_model.entries):
        if entry.foldable and len(text) < 1000:
            view.toggle(index)
    stream = AssistantTextTurn(content="")
    view.begin_turn(stream)
    half = len(text) // 2
    view.extend_turn(stream.id, text[:half])
    view.draw_frame()
    view.extend_turn(stream.id, text[half:])
    view.draw_frame()
    view.add_notice(text)
    view.start_reading()
    view.search(text[:3])


def fill_panel(panel: AgentPanel, text: str) -> None:
    panel.show_state(PanelState.PINNED)
    panel.set_title(text)
    panel.ask(question_of(text))
    fill_conversation(panel.conversation, text)


def fill_talk(panel: TalkPanel, text: str) -> None:
    panel.add_class("-open")
    panel.set_title(text)
    lines = [
        TalkLine("a", "", "", text),
        TalkLine("b", "x", text, text),
        TalkLine("c", "y", text, text, "error"),
    ]
    panel.show_lines(("x", "y"), lines)


def fill_output_pane(pane: OutputPane, text: str) -> None:
    pane.styles.display = "block"
    output = Output(id="a", input_id=text, input_hash="", prompt_hash="", settings_hash="", model=text, text=text,
                    thinking=text, source=text, started_at=text)  # fmt: skip
    verdicts = (Verdict("equals", {text[:200]: [text]}, "fail", text),)
    pane.show(text, ShownOutput(output, verdicts, (text,)), [("outputs.keep", text[:200])])


def question_of(text: str) -> Question:
    approval = Approval.model_construct(tool=text[:200], label=text, diff=f"-{text}\n+{text}\n", note=text)
    return Question.model_construct(text=text, options=(text, text), tool_use_id="a", approval=approval)


def fill_question(box: QuestionBox, text: str) -> None:
    box.ask(question_of(text))
    box.fit(12)


def fill_queued(lines: QueuedMessageList, text: str) -> None:
    lines.show([Queued("a", text, False), Queued("b", text, True)])


def fill_commands(commands: CommandList, text: str) -> None:
    commands.find = lambda _text: [Completion(text, text, text)]
    commands.offer(f"/{text}")
    commands.styles.offset = (0, 0)


def fill_chat_bar(bar: ChatBar, text: str) -> None:
    bar.set_trace(text)
    bar.set_status(text)
    bar.set_sent([text])
    bar.set_mode("asking", text)
    fill_commands(bar.commands, text)
    bar.set_queued([Queued("a", text, False)])


def fill_draft(bar: ChatBar, text: str) -> None:
    fill_chat_bar(bar, text)
    bar.set_draft(text)


def persona_of(text: str) -> Persona:
    return Persona(
        id=text[:200],
        name=text,
        description=text,
        tags=(text,),
        summary=text,
        system_prompt=text,
        test_inputs=(),
        model=Persona(id="x", name="x").model,
        error=FileError(message=text, line=1, column=1),
    )


def document_of(persona: Persona) -> OpenDocument:
    document = OpenDocument(persona.id)
    document.persona = persona
    return document


async def fill_settings(pane: SettingsPane, text: str) -> None:
    if not pane.children:
        await pane.fill()
    pane.show(document_of(persona_of(text)), fresh=True)


async def fill_composition(pane: CompositionPane, text: str) -> None:
    if not pane.children:
        await pane.fill()
    persona = Persona(id="x", name="x")
    composition = Composition(persona, assemble(persona, {}), tried_with=text)
    pane.show(
        composition,
        [LinkRow("part", text, text, text, description=text), LinkRow("note", "", "", description=text)],
    )


def fill_compiled(pane: CompiledPane, text: str) -> None:
    lines = text.split("\n")
    piece = Piece(kind="part", name=text, replaced=(text,))
    pane.show(text, [CompiledLine(line, piece, text, number) for number, line in enumerate(lines, start=1)])


def fill_persona_list(pane: PersonaList, text: str) -> None:
    pane.show_ids([text])
    pane.show_entries([PersonaEntry(text, text, text, "", (text,)), PersonaEntry("broken", text, text, text)])
    pane.show_badges(text, {text: "waiting"})


def fill_inputs(pane: TestInputList, text: str) -> None:
    inputs = (TestInput(id=text[:200], content=text),)
    pane.show(document_of(Persona(id="x", name="x", test_inputs=inputs)), fresh=True)


def fill_prompt(pane: PromptPane, text: str) -> None:
    pane.editor.show(text)
    pane.show_state(text, "saved", text)


def fill_pairs(widget: SideBySideText, text: str) -> None:
    pair = TextPair(text, Content(""), (label(text, 70),) * 2, (text, f"{text} more"))
    widget.update(SideBySide(PairLayout(pair).stretches))


def update(widget: LiteralStatic | LiteralLabel, text: str) -> None:
    widget.update(text)


CASES: dict[type[Widget], tuple[Callable[[str], Widget], Callable[..., object] | None]] = {
    LiteralStatic: (LiteralStatic, update),
    VirtualStatic: (VirtualStatic, update),
    EllipsisStatic: (EllipsisStatic, update),
    Banner: (Banner, update),
    RunStrip: (lambda text: RunStrip(), lambda strip, text: strip.show([text, text], text)),
    MarginSigns: (lambda text: MarginSigns(DocumentEditor()), None),
    SideBySideText: (lambda text: SideBySideText(), fill_pairs),
    LiteralLabel: (LiteralLabel, update),
    LiteralButton: (LiteralButton, LiteralButton.set_label),
    SafeTextArea: (SafeTextArea, SafeTextArea.set_placeholder),
    ChatInput: (lambda text: ChatInput(text=text, placeholder=text), ChatInput.show),
    ChatBar: (lambda text: ChatBar(), fill_draft),
    AgentPanel: (lambda text: AgentPanel(share=1.0), fill_panel),
    TalkPanel: (
        lambda text: TalkPanel(frames_per_second=20, glyphs=Glyphs(ascii_only=False), press=lambda _: None),
        fill_talk,
    ),
    ConversationView: (lambda text: ConversationView(), fill_conversation),
    EntryScrollView: (lambda text: EntryScrollView(), None),
    ReadableScrollView: (lambda text: ReadableScrollView(), None),
    OutputPane: (lambda text: OutputPane(), fill_output_pane),
    OutputView: (lambda text: OutputView(), lambda view, text: view.show([TextEntry(text, sign="!")])),
    QuestionBox: (lambda text: QuestionBox(), fill_question),
    Choices: (lambda text: Choices(), lambda choices, text: choices.show([text, text])),
    CommandList: (lambda text: CommandList(), fill_commands),
    QueuedMessageList: (lambda text: QueuedMessageList(), fill_queued),
    CompositionPane: (lambda text: CompositionPane(), fill_composition),
    CompiledPane: (lambda text: CompiledPane(), fill_compiled),
    CompiledText: (lambda text: CompiledText(), None),
    FindBar: (lambda text: FindBar(DocumentEditor()), lambda bar, text: setattr(bar.text, "raw", text)),
    LineInput: (lambda text: LineInput(text, hint=text), None),
    KeyLine: (lambda text: KeyLine(), lambda line, text: line.show([("f1", "help")], text)),
    PaneTabs: (lambda text: PaneTabs([("a", "A")]), None),
    VirtualList: (
        lambda text: VirtualList(empty="Nothing yet."),
        lambda rows, text: rows.set_rows([Row("a", text, text), Row("b", text, tone="error")]),
    ),
    PersonaList: (lambda text: PersonaList(), fill_persona_list),
    TestInputList: (lambda text: TestInputList(), fill_inputs),
    FieldForm: (lambda text: FieldForm("form"), None),
    SettingsPane: (lambda text: SettingsPane(), fill_settings),
    PromptPane: (lambda text: PromptPane(), fill_prompt),
    DocumentEditor: (lambda text: DocumentEditor(placeholder=text), lambda editor, text: editor.show(text)),
}
"""How each class is made, with a text where it takes one, and how it is given the text afterwards."""

LITERALS = [LiteralStatic, VirtualStatic, EllipsisStatic, LiteralLabel, LiteralButton]
MADE_WITH_TEXT = [*LITERALS, SafeTextArea, ChatInput, LineInput, DocumentEditor]


def widget_classes() -> set[type[Widget]]:
    """Every widget class that `tui.widgets` defines."""
    found: set[type[Widget]] = set()
    for module in pkgutil.walk_packages(tui.widgets.__path__, "tui.widgets."):
        for _, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(value, Widget) and value.__module__ == module.name:
                found.add(value)
    return found


def test_no_widget_class_is_left_out() -> None:
    assert {cls.__name__ for cls in widget_classes()} <= {cls.__name__ for cls in CASES}


class Stage(App[None]):
    """A screen with the widgets that are made when it is."""

    CSS = ".low { height: 3; max-height: 3; }"

    def __init__(self, *makers: Callable[[], Widget]) -> None:
        super().__init__()
        self._makers = makers

    def compose(self) -> ComposeResult:
        for make in self._makers:
            yield make().set_class(len(self._makers) > 1, "low")

    def get(self, cls: type[Shown]) -> Shown:
        return self.query_one(cls)


@pytest.mark.parametrize("cls", MADE_WITH_TEXT, ids=lambda cls: cls.__name__)
async def test_a_widget_made_with_hostile_text_shows_only_text(cls: type[Widget]) -> None:
    make, _ = CASES[cls]
    app = Stage(*(partial(make, text) for text in HOSTILE.values()))
    async with app.run_test(size=(70, 3 * len(HOSTILE)), notifications=True, tooltips=True) as pilot:
        await pilot.pause()
        assert_only_text(app)


@pytest.mark.parametrize(
    "cls", [cls for cls in CASES if CASES[cls][1] is not None], ids=lambda cls: cls.__name__
)
async def test_a_widget_given_hostile_text_shows_only_text(cls: type[Widget]) -> None:
    make, fill = CASES[cls]
    assert fill is not None
    app = Stage(partial(make, "ready"))
    async with app.run_test(size=(70, 24), notifications=True, tooltips=True) as pilot:
        for text in HOSTILE.values():
            done = fill(app.get(cls), text)
            if inspect.isawaitable(done):
                await done
            await pilot.pause()
            assert_only_text(app)
        assert app._exception is None


@pytest.mark.parametrize("cls", LITERALS, ids=lambda cls: cls.__name__)
async def test_markup_stands_there_as_it_was_written(cls: type[Widget]) -> None:
    make, _ = CASES[cls]
    app = Stage(*(partial(make, text) for text in MARKUP))
    async with app.run_test(size=(70, 24)) as pilot:
        await pilot.pause()
        shown = assert_only_text(app)
        assert [text for text in MARKUP if text not in shown] == []


async def test_a_conversation_shows_markup_as_it_was_written() -> None:
    app = Stage(ConversationView)
    async with app.run_test(size=(100, 40)) as pilot:
        app.get(ConversationView).load(
            [UserTurn(content="[/] [@click=app.quit]x[/]"), AssistantTextTurn(content="[b + ] [/b + ] [/]")]
        )
        await pilot.pause()
        shown = assert_only_text(app)
        assert "[/] [@click=app.quit]x[/]" in shown
        assert "[b + ] [/b + ] [/]" in shown


async def test_a_question_in_the_empty_input_is_only_text() -> None:
    app = Stage(ChatBar)
    async with app.run_test(size=(70, 24)) as pilot:
        for text in HOSTILE.values():
            fill_chat_bar(app.get(ChatBar), text)
            await pilot.pause()
            assert_only_text(app)


async def test_a_very_long_line_of_an_editor_looks_as_a_short_one_does() -> None:
    app = Stage(DocumentEditor)
    async with app.run_test(size=(40, 12)) as pilot:
        editor = app.get(DocumentEditor)
        rows = []
        for rest in ("", "x" * LONG_LINE, ""):  # the first is drawn before the theme has its colours
            editor.show(f"a **b** c\x1b[31m\u202e\x7f `code` X {rest}\n")
            editor.move_cursor((1, 0))  # the line of the cursor has no colours
            await pilot.pause()
            editor.scroll_to(y=0, animate=False, immediate=True)
            drawn = editor.render_line(0).crop(0, 25)
            rows.append([(text, style) for text, style, _ in drawn])
        assert "".join(text for text, _ in rows[1]).startswith("a **b** c␛[31m·␡ `code` X")
        assert rows[1] == rows[2]


async def test_what_is_told_and_what_a_tooltip_says_is_only_text(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await p.until(lambda: len(p.main.personas.entries) == 2)
        rows, texts = p.main.personas.rows, [*HOSTILE.values()]
        for some in texts[:4], texts[4:8], texts[8:]:
            entries = [PersonaEntry(str(n), text, text, text) for n, text in enumerate(some)]
            p.main.personas.show_ids([entry.id for entry in entries])
            p.main.personas.show_entries(entries)
            for text in some:
                p.app.show_message(text, error=True)
            await p.until(lambda: p.app.screen.query(Toast))
            assert_only_text(p.app)
            for entry in entries:
                rows.post_message(VirtualList.Highlighted(rows, entry.id))
                await p.pilot.pause()
                assert isinstance(rows.tooltip, Content)
                assert OBEYED.search(rows.tooltip.plain) is None

"""Reading the turns while the agent asks: what is shown says where the keys go and how one comes back."""

from __future__ import annotations

from pathlib import Path

from agent.models.scripted import ToolUse, answer
from tests.support.program import make_store, program
from tui.settings.schema import Settings
from tui.widgets.footer import KeyLine
from tui.widgets.plain_text import LiteralLabel

ASK = ToolUse("ask_user", {"question": "Which one?", "options": ["the first", "the second"]})


async def test_a_question_says_how_one_comes_back_to_it_from_the_turns(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer(ASK), settings=Settings(), size=(60, 15)) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        widget = p.main.conversation.panel_controller.panel_view
        assert widget is not None
        await p.until(lambda: widget.box._appeared is not None)
        widget.box._appeared = float("-inf")
        hint = widget.box.query_one(".ask--hint", LiteralLabel)
        await p.press("ctrl+o")
        await p.until(lambda: p.main.conversation.panel_controller.reading)
        assert str(hint.visual) == "Ctrl+O or a digit goes back to answer"
        assert "Ctrl+O back" in p.main.query_one(KeyLine).render_line(0).text
        await p.press("enter")
        assert p.main.conversation.question is not None
        await p.press("ctrl+o")
        assert not p.main.conversation.panel_controller.reading
        assert "digit" in str(hint.visual)
        await p.press("2", "enter")
        await p.until(lambda: p.main.conversation.question is None)


async def test_a_question_says_where_it_is_answered_while_a_pane_has_the_keys(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer(ASK), settings=Settings()) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        widget = p.main.conversation.panel_controller.panel_view
        assert widget is not None
        hint = widget.box.query_one(".ask--hint", LiteralLabel)
        await p.until(lambda: "digit" in str(hint.visual))
        await p.press("f3")
        await p.until(lambda: str(hint.visual) == "Answer in the chat bar: Tab cycles to it")
        p.main.focus_chat()
        await p.until(lambda: "digit" in str(hint.visual))


async def test_a_digit_picks_an_answer_from_the_turns_and_enter_gives_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer(ASK), settings=Settings()) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        widget = p.main.conversation.panel_controller.panel_view
        assert widget is not None
        await p.until(lambda: widget.box._appeared is not None)
        widget.box._appeared = float("inf")  # it was not seen for long enough
        await p.press("ctrl+o")
        await p.until(lambda: p.main.conversation.panel_controller.reading)
        await p.press("2")
        assert p.main.conversation.panel_controller.reading
        assert widget.box.choices.picked is None
        widget.box._appeared = float("-inf")
        p.main.chat_bar.set_draft("half a")  # Enter would send that
        await p.press("2")
        assert p.main.conversation.panel_controller.reading
        assert widget.box.choices.picked is None
        p.main.chat_bar.set_draft("")
        await p.press("2")
        await p.until(lambda: widget.box.choices.picked == 1)
        assert not p.main.conversation.panel_controller.reading
        assert p.main.conversation.question is not None
        await p.press("enter")
        await p.until(lambda: p.main.conversation.question is None)
        assert "the second" in "".join(
            entry.text() for entry in p.main.conversation.view.layout_model.entries
        )


async def test_a_key_of_the_turns_leaves_the_draft_alone(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer(ASK), settings=Settings()) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        p.main.chat_bar.set_draft("/")
        await p.press("ctrl+o")
        await p.until(lambda: p.main.conversation.panel_controller.reading)
        await p.press("tab")
        await p.until(lambda: p.main.prompt.has_focus)
        assert not p.main.conversation.panel_controller.reading
        assert p.main.chat_bar.draft == "/"

"""What begins with a slash: what it means, and the list that is offered while it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.scripted import answer
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tests.support.screen import drawn
from tui.commands.registry import palette
from tui.commands.slash import COMMANDS, TAKES_WORDS, SlashCommand, UnknownCommand, as_typed, offers, read
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.help import Help
from tui.terminal.ascii_fallback import Charset
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import VirtualList

MESSAGES = [
    "hello",
    " /clear",
    "/usr/bin is full",
    "/usr/bin",
    "/a/b\n/c/d",
    "/imagine a cat\nwith a hat",
    "and/or",
    "what does /clear do?",
]


@pytest.mark.parametrize("text", MESSAGES)
def test_a_message_stays_as_it_was_written(text: str) -> None:
    assert read(text) == text


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/clear", "clear", ""),
        ("/clear \n", "clear", ""),
        ("/Clear", "clear", ""),
        ("/model  claude-x ", "model", "claude-x"),
        ("/export /tmp/x.md", "export", "/tmp/x.md"),
        ("/task make five\nnot six", "task", "make five\nnot six"),
        ("/task\nmake five", "task", "make five"),
    ],
)
def test_a_command_is_read_with_its_words(text: str, name: str, rest: str) -> None:
    assert read(text) == SlashCommand(name, rest)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/uncl", "There is no command /uncl; did you mean /unclear?"),
        ("/exprt", "There is no command /exprt; did you mean /export?"),
        ("/cler now", "There is no command /cler; did you mean /clear?"),
        ("/taks do this\nand that", "There is no command /taks; did you mean /task?"),
        ("/xyzzy", "There is no command /xyzzy. "),
        ("/clear\nthe table", "/clear must be alone on one line"),
        ("/", "Which command?"),
    ],
)
def test_what_looks_like_a_command_and_is_none_is_told(text: str, said: str) -> None:
    meant = read(text)
    assert isinstance(meant, UnknownCommand)
    assert meant.trouble.startswith(said)
    assert "blank before" in meant.trouble


def test_a_second_slash_makes_a_message() -> None:
    assert read("//clear") == "/clear"
    assert read("///x") == "//x"


@given(st.text("/ \nacler", max_size=12))
def test_every_message_can_be_typed(message: str) -> None:
    assert read(as_typed(message)) == message


def test_offers_are_narrowed_while_one_types() -> None:
    assert [offer.line for offer in offers("/")] == [f"/{name}" for name in COMMANDS]
    assert [offer.line for offer in offers("/c")] == [
        "/clear",
        "/compare",
        "/compiled",
        "/continue",
        "/copy",
        "/coverage",
    ]
    assert [offer.line for offer in offers("/UN")] == ["/unclear", "/undo"]
    for nothing in ("", "c", " /c", "/x", "/usr/", "/clear ", "/c\n"):
        assert offers(nothing) == []
    names = {"optimist": "Optimist", "b": "The optimal"}
    assert [offer.line for offer in offers("/persona opt", names)] == ["/persona optimist", "/persona b"]


def test_each_command_has_one_line_that_fits_a_small_terminal() -> None:
    wide = max(map(len, COMMANDS))
    around = 1 + 1 + 2 + 1 + 1  # the pointer, the slash, two blanks, a margin, the scrollbar
    assert all(wide + len(meaning) + around <= 60 for meaning in COMMANDS.values())
    assert all(meaning.isascii() for meaning in COMMANDS.values())
    assert set(COMMANDS) > TAKES_WORDS


FIRST = f"/{next(iter(COMMANDS))}"
ASCII = Charset(utf8=False)


def listed(p: Program) -> list[str]:
    """The commands that are offered."""
    commands = p.main.chat_bar.commands
    return [row.head for row in commands.rows] if commands.display else []


async def test_a_slash_lists_the_commands_above_the_bar(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        bar, commands = p.main.chat_bar, p.main.chat_bar.commands
        for size in (60, 15), (80, 24), (160, 50):
            await p.pilot.resize_terminal(*size)
            await p.pilot.pause()
            before = p.prompt.region
            await p.write("/")
            assert listed(p) == [f"/{name}" for name in COMMANDS]
            assert p.main.focused is bar.input
            assert commands.region.bottom == bar.region.y
            assert commands.region.height >= 5
            assert p.prompt.region == before, "the panes stay where they are"
            for _ in range(len(COMMANDS) - 1):
                await p.press("down")
                place = commands.cursor - commands.scroll_offset.y
                assert 0 <= place < commands.size.height, "the chosen row is in sight"
            last = [*COMMANDS][-1]
            assert commands.chosen and commands.chosen.line == f"/{last}"
            text = drawn(p.app.screen)
            assert f"/{last}" in text
            assert COMMANDS[last] in text
            await p.press("down")
            assert commands.chosen.line == FIRST, "round at the end"
            await p.write("und")
            assert listed(p) == ["/undo"]
            await p.press("backspace", "backspace", "backspace", "backspace")
            assert listed(p) == []


async def test_what_is_chosen_is_written_or_done_and_the_list_closes(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        bar = p.main.chat_bar
        await p.write("/ex")
        assert listed(p) == ["/export"]
        assert p.main.program_actions.escape_meaning()[0] == "close list"
        await p.press("escape")
        assert listed(p) == []
        assert bar.draft == "/ex"
        await p.write("p")
        assert listed(p) == [], "closed for this text"
        bar.set_draft("")
        await p.pilot.pause()
        await p.write("/")
        assert listed(p)
        lines = [bar.commands.render_line(y) for y in range(5)]
        sent = [[piece for segment in line for piece in ASCII.pieces(segment.text)] for line in lines]
        assert not any(stands_in for row in sent for _, stands_in in row)
        rows = ["".join(text for text, _ in row) for row in sent]
        assert all(row.isascii() for row in rows)
        assert [row[0] for row in rows] == [">", " ", " ", " ", " "]
        await p.press("f3")
        assert listed(p) == [], "the keys go elsewhere"
        assert p.prompt.has_focus
        p.main.focus_chat()
        bar.set_draft("")
        await p.write("/co")
        await p.press("down", "down", "tab")
        assert bar.draft == "/continue "
        assert p.main.focused is bar.input
        bar.set_draft("")
        await p.write("/hel")
        await p.press("enter")
        await p.until(lambda: isinstance(p.app.screen, Help))
        assert bar.draft == ""
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        await p.write("/he")
        await p.pilot.click(bar.commands, offset=(4, 0))
        await p.until(lambda: isinstance(p.app.screen, Help))
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        bar.set_draft("")
        bar.set_sent(["first", "second", "third"])
        bar.input.sent.add("/help")
        await p.press("up")
        assert bar.draft == "/help"
        await p.press("up")
        assert bar.draft == "third", "a recalled command does not hold the arrows"
        bar.set_draft("")
        await p.write("/pers")
        await p.press("enter")
        assert bar.draft == "/persona "
        await p.write("tw")
        assert listed(p) == ["two"]
        await p.press("enter")
        await p.until(lambda: p.main.documents.id == "two")


async def test_a_list_that_comes_anew_or_grows_begins_at_its_first_command(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(80, 24)) as p:
        bar, commands = p.main.chat_bar, p.main.chat_bar.commands

        def begins() -> bool:
            chosen = commands.chosen
            return chosen is not None and chosen.line == FIRST and commands.scroll_offset.y == 0

        await p.write("/q")
        await p.press("tab")
        bar.set_draft("")
        await p.pilot.pause()
        await p.write("/")
        await p.until(lambda: begins() and commands.size.height > 1)
        await p.write("mo")
        await p.press("backspace", "backspace")
        await p.until(lambda: listed(p) == [f"/{name}" for name in COMMANDS] and begins())
        await p.press(*["down"] * list(COMMANDS).index("bisect"))
        await p.write("b")
        await p.press("backspace")
        await p.until(lambda: commands.chosen is not None and commands.chosen.line == "/bisect")
        await p.until(lambda: commands.scroll_offset.y == 0)


async def test_an_unknown_command_never_goes_to_the_model_and_a_message_may_begin_with_a_slash(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = GatedModel([answer("Hi."), answer("Hi."), answer("Hi."), [gate, *answer("Hi.")]])
    async with program(make_store(tmp_path), model=model) as p:
        talk = p.main.conversation.current
        for text in "/uncl", "/exprt now", "/nothing":
            p.main.chat_bar.set_draft(text)
            await p.press("enter")
            await p.notified("There is no command")
            assert p.main.chat_bar.draft == text
            assert not p.main.conversation.running
            assert not talk.chat.turns
            p.app.clear_notifications()
        for typed, sent in (" /uncl", " /uncl"), ("//uncl", "/uncl"), ("/usr/bin", "/usr/bin"):
            before = len(talk.chat.turns)
            await p.run_to_end(typed)
            assert talk.chat.turns[before].content == sent
        await p.say("go")
        await p.until(lambda: p.main.chat_bar.mode == "running")
        p.main.chat_bar.set_draft("/nothing")
        await p.press("tab")  # it is not queued either
        await p.notified("There is no command")
        assert p.main.chat_bar.draft == "/nothing"
        gate.set()
        await p.until(lambda: not p.main.conversation.running)


async def test_the_palette_finds_every_command_by_its_name_and_does_what_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        p.main.action_switch_persona(">")
        dialog = await p.dialog(CommandPaletteDialog)
        field, matches = dialog.query_one(LineInput), dialog.query_one("#matches", VirtualList)
        actions = {command.slash: command.action for command in palette() if command.slash}
        assert set(actions) == set(COMMANDS)
        for name in [*COMMANDS, "export"]:
            field.value = f">{name}"
            key = f"command {actions[name]}"
            await p.until(lambda key=key: key in [row.key for row in matches.rows] and len(matches.rows) < 10)  # type: ignore[misc]
            assert hasattr(p.main, "action_" + actions[name].partition("(")[0])
        await p.press("enter")
        await p.notified("The conversation is in")
        assert (tmp_path / "one-conversation.md").exists()

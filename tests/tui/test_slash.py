"""What begins with a slash: what it means, and the list that is offered while it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.scripted import answer
from tests.support.program import Program, make_store, program
from tests.tui.test_app_layout import drawn
from tui.commands.registry import palette
from tui.commands.slash import COMMANDS, TAKES_WORDS, SlashCommand, Unknown, as_typed, offers, read
from tui.screens.dialogs.command_palette import Switcher
from tui.screens.dialogs.help import Help
from tui.terminal.ascii_fallback import Charset
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import RowList

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
        ("/clear\nthe table", "/clear stands alone"),
        ("/", "Which command?"),
    ],
)
def test_what_looks_like_a_command_and_is_none_is_told(text: str, said: str) -> None:
    meant = read(text)
    assert isinstance(meant, Unknown)
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


def listed(p: Program) -> list[str]:
    """The commands that are offered."""
    commands = p.main.chat_bar.commands
    return [row.head for row in commands.rows] if commands.display else []


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 50)])
async def test_a_slash_lists_the_commands_above_the_bar(tmp_path: Path, size: tuple[int, int]) -> None:
    async with program(make_store(tmp_path), size=size) as p:
        before = p.prompt.region
        await p.write("/")
        bar, commands = p.main.chat_bar, p.main.chat_bar.commands
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


async def test_tab_writes_the_chosen_command_and_enter_does_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await p.write("/co")
        await p.press("down", "down", "tab")
        assert p.main.chat_bar.draft == "/continue "
        assert p.main.focused is p.main.chat_bar.input
        p.main.chat_bar.set_draft("")
        await p.write("/hel")
        await p.press("enter")
        await p.until(lambda: isinstance(p.app.screen, Help))
        assert p.main.chat_bar.draft == ""


async def test_enter_on_a_command_that_takes_words_leaves_room_for_them(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await p.write("/pers")
        await p.press("enter")
        assert p.main.chat_bar.draft == "/persona "
        await p.write("tw")
        assert listed(p) == ["two"]
        await p.press("enter")
        await p.until(lambda: p.main.documents.id == "two")


async def test_esc_closes_the_list_and_stops_nothing(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await p.write("/e")
        assert listed(p) == ["/export"]
        assert p.main.program_actions.escape_meaning()[0] == "close list"
        await p.press("escape")
        assert listed(p) == []
        assert p.main.chat_bar.draft == "/e"
        await p.write("x")
        assert listed(p) == [], "closed for this text"
        p.main.chat_bar.set_draft("")
        await p.pilot.pause()
        await p.write("/")
        assert listed(p)


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
        await p.press(*["down"] * list(COMMANDS).index("export"))
        await p.write("e")
        await p.press("backspace")
        await p.until(lambda: commands.chosen is not None and commands.chosen.line == "/export")
        await p.until(lambda: commands.scroll_offset.y == 0)


async def test_a_recalled_command_does_not_hold_the_arrows(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        p.main.chat_bar.set_sent(["first", "second", "third"])
        p.main.chat_bar.input.sent.add("/help")
        await p.press("up")
        assert p.main.chat_bar.draft == "/help"
        await p.press("up")
        assert p.main.chat_bar.draft == "third"


async def test_a_click_on_a_command_does_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await p.write("/he")
        await p.pilot.click(p.main.chat_bar.commands, offset=(4, 0))
        await p.until(lambda: isinstance(p.app.screen, Help))


async def test_the_list_goes_when_the_keys_go_elsewhere(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await p.write("/")
        await p.press("f3")
        assert listed(p) == []
        assert p.prompt.has_focus


@pytest.mark.parametrize("text", ["/uncl", "/exprt now", "/nothing"])
async def test_an_unknown_command_never_goes_to_the_model(tmp_path: Path, text: str) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        p.main.chat_bar.set_draft(text)
        await p.press("enter")
        await p.told("There is no command")
        assert p.main.chat_bar.draft == text
        assert not p.main.conversation.running
        assert not p.main.conversation.talk.chat.turns


async def test_an_unknown_command_is_not_queued_either(tmp_path: Path) -> None:
    from tests.support.program import Gate, GatedModel

    gate = Gate()
    async with program(make_store(tmp_path), model=GatedModel([[gate, *answer("Hi.")]])) as p:
        await p.say("go")
        await p.until(lambda: p.main.chat_bar.mode == "running")
        p.main.chat_bar.set_draft("/nothing")
        await p.press("tab")
        await p.told("There is no command")
        assert p.main.chat_bar.draft == "/nothing"
        gate.set()
        await p.until(lambda: not p.main.conversation.running)


@pytest.mark.parametrize(
    ("typed", "sent"), [(" /uncl", " /uncl"), ("//uncl", "/uncl"), ("/usr/bin", "/usr/bin")]
)
async def test_a_message_may_begin_with_a_slash(tmp_path: Path, typed: str, sent: str) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end(typed)
        assert p.main.conversation.talk.chat.turns[0].content == sent


ASCII = Charset(("ascii",))


async def test_the_list_is_drawn_in_ascii_where_there_is_nothing_else(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await p.write("/")
        lines = [p.main.chat_bar.commands.render_line(y) for y in range(5)]
        sent = [[piece for segment in line for piece in ASCII.pieces(segment.text)] for line in lines]
        assert not any(stands_in for row in sent for _, stands_in in row)
        rows = ["".join(text for text, _ in row) for row in sent]
        assert all(row.isascii() for row in rows)
        assert [row[0] for row in rows] == [">", " ", " ", " ", " "]


async def test_the_palette_finds_every_command_by_its_name_and_does_what_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        p.main.action_switch_persona(">")
        dialog = await p.dialog(Switcher)
        field, matches = dialog.query_one(LineInput), dialog.query_one("#matches", RowList)
        actions = {command.slash: command.action for command in palette() if command.slash}
        assert set(actions) == set(COMMANDS)
        for name in [*COMMANDS, "export"]:
            field.value = f">{name}"
            key = f"command {actions[name]}"
            await p.until(lambda key=key: key in [row.key for row in matches.rows] and len(matches.rows) < 9)  # type: ignore[misc]
            assert hasattr(p.main, "action_" + actions[name].partition("(")[0])
        await p.press("enter")
        await p.told("The conversation is in")
        assert (tmp_path / "one-conversation.md").exists()

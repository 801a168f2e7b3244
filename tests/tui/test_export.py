"""A conversation as a file: where it goes, and that nothing in it speaks to the terminal that prints it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.chat.chat import Chat
from agent.core.turns import AssistantTextTurn, ToolResultTurn, UserTurn
from agent.models.scripted import ScriptedModel, answer
from personas.errors import PersonaError
from tests.support.hostile import ESCAPES, SURROGATE
from tests.support.program import make_store, program
from tui.chat.export import as_json, as_markdown, export_conversation
from tui.terminal.sanitise import sanitise


async def test_a_word_for_a_format_is_no_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        for number, (words, name, as_json) in enumerate(
            [
                *(("", "one-conversation.md", False), ("md", "one-conversation.md", False)),
                *(("Markdown", "one-conversation.md", False), ("json", "one-conversation.json", True)),
                *(("JSON", "one-conversation.json", True), ("mine.json", "mine.json", True)),
                *(("mine", "mine", False), ("./json", "json", False)),
            ]
        ):
            folder = tmp_path / str(number)
            folder.mkdir()
            monkeypatch.chdir(folder)
            p.app.clear_notifications()
            await p.say(f"/export {words}".rstrip())
            await p.notified("The conversation is in")
            assert [path.name for path in folder.iterdir()] == [name]
            assert (folder / name).read_text().startswith("[" if as_json else "## You") is True


@pytest.mark.parametrize("hostile", [*ESCAPES.values(), SURROGATE, "del \x7f", "bidi \u202e"])
def test_an_exported_conversation_can_be_printed(hostile: str) -> None:
    turn = AssistantTextTurn(content=f"before {hostile} after")
    markdown = as_markdown([turn])
    assert markdown == sanitise(markdown)
    assert "before" in markdown
    document = as_json([turn])
    assert document == sanitise(document)
    assert json.loads(document)[0]["content"] == turn.content, "JSON keeps the text itself"


async def test_an_export_never_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    store = make_store(tmp_path)
    chat = Chat(store, "one", ScriptedModel([answer("Hi.")]))
    chat.load()
    await chat.send("hello")
    assert [export_conversation(chat, "md").name for _ in range(3)] == [
        *("one-conversation.md", "one-conversation-2.md", "one-conversation-3.md")
    ]
    export_conversation(chat, "mine")
    for name, told in (("mine", "There is a mine already"), ("a\0b", "Not exported")):
        with pytest.raises(PersonaError, match=told):
            export_conversation(chat, name)


@pytest.mark.parametrize("words", ["", "json", "mine.json"])
async def test_of_a_conversation_with_nothing_in_it_no_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    chat = Chat(make_store(tmp_path), "one", ScriptedModel([]))
    chat.load()
    with pytest.raises(PersonaError, match="There is nothing to export"):
        export_conversation(chat, words)
    assert not list((tmp_path / "here").iterdir())


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("~~~\ncode", True),
        ("```py\ncode\n~~~", True),
        ("````\n```", True),
        ("```\ncode\n```", False),
        ("`code` ``` in a line", False),
        ("``` not a `fence", False),
        ("plain", False),
    ],
)
def test_a_fence_left_open_does_not_take_in_the_turns_below(text: str, closed: bool) -> None:
    exported = as_markdown([AssistantTextTurn(content=text), UserTurn(content="below")])
    fence = text[:4].strip("\npyco") if closed else ""
    assert f"## Agent\n\n{text}\n{fence}{chr(10) * closed}\n## You" in exported


@pytest.mark.parametrize("inside", [" ```", "```   ", "a ````` b", "none"])
def test_the_fence_around_an_output_is_longer_than_any_in_it(inside: str) -> None:
    turn = ToolResultTurn(tool_use_id="t", output=f"before\n{inside}\nafter")
    fence = as_markdown([turn]).split("\n")[0]
    assert set(fence) == {"`"} and len(fence) >= 3 and fence not in turn.output


async def test_a_file_of_somebody_who_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        await p.say("/export ~nobody-of-that-name/x")
        await p.notified("no such user")

"""A conversation as a file: where it goes, and that nothing in it speaks to the terminal that prints it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.models.scripted import answer
from agent.turns import AssistantTextTurn
from tests.hostile import ESCAPES, SURROGATE
from tests.tui.program import make_store, program
from tui.export import conversation_text
from tui.sanitise import sanitise


@pytest.mark.parametrize(
    ("words", "name", "as_json"),
    [
        *(("", "one-conversation.md", False), ("md", "one-conversation.md", False)),
        *(("Markdown", "one-conversation.md", False), ("json", "one-conversation.json", True)),
        *(("JSON", "one-conversation.json", True), ("mine.json", "mine.json", True)),
        *(("mine", "mine", False), ("./json", "json", False)),
    ],
)
async def test_a_word_for_a_format_is_no_file_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, name: str, as_json: bool
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        await p.say(f"/export {words}".rstrip())
        await p.told("The conversation is in")
    assert [path.name for path in (tmp_path / "here").iterdir()] == [name]
    assert (tmp_path / "here" / name).read_text().startswith("[" if as_json else "## You") is True


@pytest.mark.parametrize("hostile", [*ESCAPES.values(), SURROGATE, "del \x7f", "bidi \u202e"])
def test_an_exported_conversation_can_be_printed(hostile: str) -> None:
    turn = AssistantTextTurn(content=f"before {hostile} after")
    markdown = conversation_text([turn], as_json=False)
    assert markdown == sanitise(markdown)
    assert "before" in markdown
    document = conversation_text([turn], as_json=True)
    assert document == sanitise(document)
    assert json.loads(document)[0]["content"] == turn.content, "JSON keeps the text itself"

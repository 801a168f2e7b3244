"""One timeline of undo, held against a model: a list of states and a place in it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from personas.changes import Change, SetName, SetPrompt, UpdateTestInput
from personas.versions.authorship import Author
from tests.examples import examples
from tests.tui.program import Program, make_store, program
from tui.document.undo_stack import Stored
from tui.widgets.text import document_editor as text_editor
from tui.widgets.text.document_editor import TextEditor

FILE = """name = "One"
system_prompt = \"\"\"
prompt
end
\"\"\"
[[test_inputs]]
id = "sum"
content = \"\"\"
input
end
\"\"\"
"""
State = tuple[str, str, str]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_editor, "PAUSE", 0.02)
    monkeypatch.setattr(text_editor, "AT_IT", -1.0)  # nobody is at the line that a run changes


class Walk:
    """What the prompt, the test input and the name were, and which of these states is shown."""

    def __init__(self, p: Program, chance: random.Random) -> None:
        self.p, self._chance = p, chance
        self.states, self.place = [self._stored], 0
        self._kinds = [""]  # of the deed that led to each state
        self._runs = 0

    @property
    def _stored(self) -> State:
        persona = self.p.store.get("one")
        return persona.system_prompt, persona.test_inputs[0].content, persona.name

    @property
    def now(self) -> State:
        return self.states[self.place]

    async def shows(self) -> None:
        p = self.p
        content = p.main.tests.editor
        await p.until(
            lambda: (
                self._stored == (p.prompt.raw, content.raw, p.main.settings.field("name").raw) == self.now
                and not p.prompt.unsaved
                and not content.unsaved
                and p.main.editing is not None
                and p.main.editing.persona is not None
                and p.main.editing.persona.revision == p.store.get("one").revision
            )
        )

    async def _goes_on_with(self, state: State, kind: str = "") -> None:
        self.states[self.place + 1 :] = [state]
        self._kinds[self.place + 1 :] = [kind]
        self.place += 1
        await self.shows()

    def _focus(self, editor: TextEditor) -> None:
        editor.focus()
        editor.history.checkpoint()
        editor.move_cursor((0, 0))

    async def type(self) -> None:
        letter, (prompt, content, name) = self._chance.choice("abcdefgh"), self.now
        if self._chance.random() < 0.5:
            self._focus(self.p.prompt)
            await self.p.write(letter)
            await self._goes_on_with((letter + prompt, content, name), "type")
        else:
            self._focus(self.p.main.tests.editor)
            await self.p.write(letter)
            await self._goes_on_with((prompt, letter + content, name), "type")

    async def rename(self) -> None:
        field = self.p.main.settings.field("name")
        field.focus()
        field.cursor_position = 0
        letter, (prompt, content, name) = self._chance.choice("abcdefgh"), self.now
        await self.p.write(letter)
        await self.p.press("enter")
        await self._goes_on_with((prompt, content, letter + name))

    async def run(self) -> None:
        self._runs += 1
        author = Author("agent", session_id="s", run_id=f"r{self._runs}")
        prompt, content, name = self.now
        state = (
            f"{prompt}{self._runs}\n" if self._chance.random() < 0.5 else prompt,
            f"{content}{self._runs}\n" if self._chance.random() < 0.5 else content,
            f"{name}{self._runs}",
        )
        made: list[Change] = [SetPrompt(state[0]), UpdateTestInput("sum", state[1]), SetName(state[2])]
        for change in made:
            now = self.p.store.change("one", change, by=author, revision=None)
            assert self.p.main.editing is not None
            self.p.main.editing.agent_wrote(now, Stored(author.run_id))
        await self._goes_on_with(state, "run")

    async def there_and_back(self) -> None:
        """F8 and F9 where nothing but letters was typed since the last run, or nothing: they leave nothing."""
        kinds = self._kinds[1 : self.place + 1]
        while kinds and kinds[-1] == "type":
            kinds.pop()
        if kinds and kinds[-1] == "run":
            await self.p.press("f8")
            await self.p.until(lambda: self._stored[2] != self.now[2])
            await self.p.press("f9")
            await self.shows()

    async def press(self, by: int) -> None:
        """Go back (-1) or forth (1) wherever the focus is."""
        p = self.p
        p.main.set_focus(
            self._chance.choice(
                [p.prompt, p.main.tests.editor, p.main.tests.rows, p.main.settings.field("name")]
            )
        )
        p.app.clear_notifications()
        await p.press("ctrl+z" if by < 0 else "ctrl+y")
        if 0 <= self.place + by < len(self.states):
            self.place += by
        else:
            word = "undo" if by < 0 else "redo"
            await p.told(f"nothing to {word}")
        await self.shows()


@pytest.mark.parametrize("seed", range(examples(5)))
async def test_undo_and_redo_walk_over_all_that_was_ever_on_the_screen(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        walk = Walk(p, chance)
        for _ in range(12):
            deed = chance.choice(["type", "type", "rename", "run", "there_and_back", "undo", "undo", "redo"])
            if deed in ("undo", "redo"):
                await walk.press(-1 if deed == "undo" else 1)
            else:
                await getattr(walk, deed)()
        last = p.file("one").read_text() if walk.place == len(walk.states) - 1 else None
        everything = walk.now
        for _ in range(walk.place + 1):
            await walk.press(-1)
        assert p.file("one").read_text() == FILE
        for _ in range(len(walk.states)):
            await walk.press(1)
        assert last in (None, p.file("one").read_text())
        kept = {store.version_text("one", version.number) for version in store.log("one")}
        assert everything == walk.now or any(everything[2] in text for text in kept)


async def test_what_new_typing_cuts_off_is_still_a_version(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        p.prompt.focus()
        await p.write("A")
        await p.press("ctrl+z")
        await p.write("B")
        await p.until(lambda: store.get("one").system_prompt == "Bprompt\nend\n")
        await p.press("ctrl+y")
        await p.told("nothing to redo")
        kept = [store.version_text("one", version.number) for version in store.log("one")]
        assert any("Aprompt" in text for text in kept)

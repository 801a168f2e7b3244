"""Undo and redo in an editor, held against a model: a list of states and a place in it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from personas.changes import Change, SetName, SetPrompt
from personas.versions.authorship import Author
from tests.support.examples import examples
from tests.support.program import Program, make_store, program
from tui.document import debounce

FILE = """name = "One"
system_prompt = \"\"\"
prompt
end
\"\"\"
"""


@pytest.fixture(autouse=True)
def quick(quick_typing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "TYPING", -1.0)  # nobody is at the line that a run changes


class Walk:
    """What the prompt was, and which of these states is shown."""

    def __init__(self, p: Program, chance: random.Random) -> None:
        self.p, self._chance = p, chance
        self.states, self.place = [p.prompt.raw], 0
        self._runs = 0

    @property
    def now(self) -> str:
        return self.states[self.place]

    async def shows(self) -> None:
        p = self.p
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == self.now and not p.prompt.unsaved)

    async def _goes_on_with(self, state: str) -> None:
        self.states[self.place + 1 :] = [state]
        self.place += 1
        await self.shows()

    async def type(self) -> None:
        letter = self._chance.choice("abcdefgh")
        self.p.prompt.history.checkpoint()
        self.p.prompt.move_cursor((0, 0))
        await self.p.write(letter)
        await self._goes_on_with(letter + self.now)

    async def run(self) -> None:
        self._runs += 1
        author = Author("agent", session_id="s", run_id=f"r{self._runs}")
        half, whole = f"{self.now}half {self._runs}\n", f"{self.now}{self._runs}\n"
        made: list[Change] = [SetPrompt(half), SetName(f"One {self._runs}"), SetPrompt(whole)]
        for change in made:
            now = self.p.store.change("one", change, by=author, revision=None)
            assert self.p.main.documents is not None
            self.p.main.documents.agent_wrote(now, author.run_id)
        await self._goes_on_with(whole)

    async def there_and_back(self) -> None:
        """F8 and F9 leave nothing."""
        if self._runs and self.place == len(self.states) - 1:
            for key in ("f8", "f9"):
                await self.p.press(key)
                await self.p.notified("Undone" if key == "f8" else "Redone")
            await self.shows()
            self.p.app.clear_notifications()

    async def press(self, by: int) -> None:
        """Go back (-1) or forth (1)."""
        p = self.p
        p.app.clear_notifications()
        await p.press("ctrl+z" if by < 0 else "ctrl+y")
        if 0 <= self.place + by < len(self.states):
            self.place += by
        elif len(self.states) > 1:
            word = "undo" if by < 0 else "redo"
            await p.notified(f"nothing to {word}")
        await self.shows()


@pytest.mark.parametrize("seed", range(examples(2)))
async def test_undo_and_redo_walk_over_all_that_was_ever_in_the_editor(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        p.prompt.focus()
        await p.until(lambda: p.prompt.has_focus)
        walk = Walk(p, chance)
        for _ in range(12):
            step = chance.choice(["type", "type", "run", "undo", "undo", "redo"])
            if step in ("undo", "redo"):
                await walk.press(-1 if step == "undo" else 1)
            else:
                await getattr(walk, step)()
        for by in (-1, 1):
            for _ in walk.states:
                await walk.press(by)


async def test_f8_and_f9_leave_nothing_for_undo(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        p.prompt.focus()
        await p.until(lambda: p.prompt.has_focus)
        walk = Walk(p, random.Random(1))
        for step in (walk.type, walk.run, walk.there_and_back, walk.type, walk.there_and_back):
            await step()
        for by in (-1, 1):
            for _ in walk.states:
                await walk.press(by)


async def test_what_new_typing_cuts_off_is_still_a_version(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        p.prompt.focus()
        await p.write("A")
        await p.press("ctrl+z")
        await p.write("B")
        await p.until(lambda: store.get("one").system_prompt == "Bprompt\nend\n")
        await p.press("ctrl+y")
        await p.notified("nothing to redo")
        kept = [store.version_text("one", version.number) for version in store.log("one")]
        assert any("Aprompt" in text for text in kept)

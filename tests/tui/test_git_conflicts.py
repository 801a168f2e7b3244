"""The markers that git leaves in a persona's file: the person chooses between both sides, and one undo takes it back."""

from __future__ import annotations

from pathlib import Path

from personas.versions.authorship import USER
from tests.support.program import Program, make_store, program
from tests.support.screen import drawn
from tui.screens.dialogs.conflict import ConflictDialog

PLACE = "<<<<<<< HEAD\n{}||||||| 12ab\n{}=======\n{}>>>>>>> their-branch\n"
IN_PROMPT = (
    '# mine\nname = "One"\nsystem_prompt = """\nfirst\n'
    + PLACE.format("a\n", "o\n", "b\n")
    + "middle\n"
    + PLACE.format("c\n", "", "d\n").replace("||||||| 12ab\n", "")
    + 'last\n"""\n'
)
BETWEEN_KEYS = PLACE.format('name = "Two"\n', 'name = "T"\n', 'name = "Zwei"\n') + 'system_prompt = "say"\n'


def said(p: Program) -> str:
    return str(p.main.prompt_pane.banner.render())


async def choose(p: Program, *keys: str) -> ConflictDialog:
    await p.press("f5")
    dialog: ConflictDialog = await p.dialog(ConflictDialog)
    for number, key in enumerate(keys, 1):
        await p.until(
            lambda number=number: f"Place {number} of {len(keys)}" in drawn(dialog) and dialog.ready
        )
        await p.press(key)
    await p.until(lambda: p.app.screen is not dialog)
    return dialog


async def test_the_sides_are_chosen_place_by_place_and_it_is_one_version(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": IN_PROMPT, "two": BETWEEN_KEYS})
    async with program(store, persona_id="one", size=(100, 30)) as p:
        await p.until(lambda: "F5 shows both sides" in said(p))
        await p.press("f5")
        dialog = await p.dialog(ConflictDialog)
        assert "HEAD" in drawn(dialog) and "their-branch" in drawn(dialog)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert store.text("one") == IN_PROMPT and store.log("one") == []

        await choose(p, "2", "3")
        await p.until(lambda: p.prompt.raw == "first\nb\nmiddle\nc\nd\nlast\n")
        assert store.text("one").startswith('# mine\nname = "One"\nsystem_prompt = """\nfirst\nb\n')
        assert [one.reason for one in store.log("one")] == ["merge conflict resolved"]
        assert not p.main.prompt_pane.banner.display
        p.main.focus_chat()
        await p.press("ctrl+z")
        await p.until(lambda: store.text("one") == IN_PROMPT)
        await p.until(lambda: "F5 shows both sides" in said(p))

        await p.main.view.open_persona("two")
        await p.until(lambda: "F5 shows both sides" in said(p))
        await choose(p, "3")
        await p.notified("would not be valid; nothing was written")
        assert store.text("two") == BETWEEN_KEYS
        await choose(p, "1")
        await p.until(lambda: p.prompt.raw == "say" and not p.prompt.read_only)
        assert store.text("two") == 'name = "Two"\nsystem_prompt = "say"\n'
        store.restore("two", 0, by=USER)  # no undo leads to a file that cannot be read
        assert store.text("two") == BETWEEN_KEYS

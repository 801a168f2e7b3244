"""What a persona takes from the library, on the screen: its pane, the compiled prompt, what is tried in this sitting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from personas.library.assembly import assemble
from personas.library.documents import Kind, LibraryDocument, Stage
from personas.library_store import LibraryStore
from personas.persona import ArcLink, PartLink, Persona
from tests.support.faulty_store import FaultyStore
from tests.support.persona_brain import PersonaBrain
from tests.support.program import ONE, Program, make_store, program
from tests.support.screen import click, drawn
from tests.tui.test_clicks import told_of_keys
from tui.document.composition import Composition, neighbour, rows_of
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine
from tui.settings.schema import Settings
from tui.widgets.compiled_pane import CompiledPane, origin
from tui.widgets.virtual_list import VirtualList

ROBOT = """\
name = "Robot"  # mine
system_prompt = "You are a robot.\\nYou guard."
traits = ["curious", "gone", "curious"]

[arc]
name = "thaw"

[[parts]]
name = "guard"
priority = 3

[[parts]]
name = "formal"

[[test_inputs]]
id = "hello"
content = "Hello"
expect = [{ type = "contains", value = "warm" }]
"""


@pytest.fixture
def store(tmp_path: Path) -> FaultyStore:
    made = make_store(tmp_path, {"robot": ROBOT, "one": ONE})
    library = LibraryStore(made)
    for name, kind, content in (
        ("icy", "tone", "Be icy."),
        ("warm", "tone", "Be warm."),
        ("formal", "tone", "Be formal."),
        ("guard", "goal", "Protect it."),
    ):
        library.create("part", name, {"type": kind, "content": content, "description": f"The {name} one"})
    library.create("trait", "curious", {"trait_type": "social", "instruction": "Ask back."})
    library.create("guardrail", "law", {"severity": "high", "content": "No law."})
    stages = [
        {"name": "cold", "condition": "until somebody is kind", "parts": ["icy"]},
        {"name": "mild", "condition": "for good", "parts": ["warm"]},
    ]
    library.create("arc", "thaw", {"stages": stages})
    return made


def rows(p: Program) -> list[str]:
    """What stands in the pane, row by row."""
    shown = p.main.composition_pane.rows
    return [" ".join(shown.render_line(y).text.split()) for y in range(shown.size.height)]


async def has_row(p: Program, text: str) -> None:
    await p.until(lambda: any(text in row for row in rows(p)))


async def go(p: Program, size: tuple[int, int] | None = None) -> None:
    """Go to the composition by the keyboard."""
    await p.until(lambda: p.main.composition.found is not None)
    await p.press("f4", "tab")
    await p.until(lambda: p.main.composition_pane.rows.has_focus)


def test_rows_name_everything_that_is_linked_in_sequence() -> None:
    docs: dict[tuple[Kind, str], LibraryDocument] = {
        ("part", name): LibraryDocument(kind="part", name=name, type=kind, content=name)
        for name, kind in (("a", "tone"), ("b", "tone"), ("c", "goal"))
    }
    stage = Stage(name="s", parts=("b", "lost"))
    docs["arc", "x"] = LibraryDocument(kind="arc", name="x", stages=(stage,))
    parts = (PartLink(name="c", order=1, priority=2), PartLink(name="a"), PartLink(name="a"))
    persona = Persona(
        id="p", name="P", parts=parts, skills=("no",), arc=ArcLink(name="x"), system_prompt="Own."
    )
    found = Composition(persona, assemble(persona, docs))
    assert [(one.key, one.level, one.is_own) for one in rows_of(found)] == [
        ("persona/", "own", False),
        ("part/b", "stage", False),
        ("part/a", "replaced", True),
        ("part/c", "own", True),
        ("arc/x", "", True),
        ("part/lost", "missing", False),
        ("skill/no", "missing", True),
        ("note/0", "", False),
    ]
    assert [
        neighbour(persona, "part", name, by) for name, by in (("a", 1), ("c", -1), ("a", -1), ("z", 1))
    ] == [
        "c",
        "a",
        "",
        "",
    ]
    assert [origin(line) for line in found.assembled.lines] == [
        "its own prompt, line 1",
        "between pieces",
        "part b, content line 1 · stage, instead of a",
        "between pieces",
        "part c, content line 1 · own",
    ]


async def test_links_are_changed_by_the_keyboard_in_a_small_terminal(store: FaultyStore) -> None:
    async with program(store, size=(80, 24), persona_id="robot") as p:
        await p.until(lambda: "Composition 5" in drawn(p.main))
        await go(p)
        assert [row.removeprefix("› ") for row in rows(p)[:8]] == [
            "prompt its own own · ~7",
            "goal guard: The guard one own · p3 · ~3",
            "tone icy: The icy one stage · ~2",
            "tone formal replaced",
            "trait curious own · ~6",
            "arc thaw: stage cold",
            "trait gone: not found in the library missing",
            "note the trait curious is linked twice and counts once",
        ]
        # a link is added behind a preview, and undone
        await p.press("n")
        dialog = await p.dialog(Picker)
        await p.write("guardrail")
        await p.until(lambda: "No law." in drawn(p.app.screen))
        offered = [row.key for row in dialog.query_one(VirtualList).rows]
        assert offered == ["guardrail/law"], "what is linked already is not offered"
        await p.press("enter")
        await has_row(p, "guardrail law own")
        assert store.get("robot").guardrails == ("law",)
        await p.press("ctrl+z")
        await p.until(lambda: store.text("robot") == ROBOT and not any("law" in row for row in rows(p)))
        # moved, weighed and taken away
        await p.press("home", "down", "J")
        await p.until(lambda: [one.name for one in store.get("robot").parts] == ["formal", "guard"])
        await p.press("p")
        await p.dialog(AskLine)
        await p.write("x\n")
        await p.until(lambda: "whole number" in drawn(p.app.screen))
        await p.press("backspace", "7", "enter")
        await has_row(p, "› goal guard: The guard one own · p7")
        await p.press("x")
        await p.until(lambda: [one.name for one in store.get("robot").parts] == ["formal"])
        assert "# mine" in store.text("robot")
        # what is no link of the file is left alone, and what is missing says why
        await p.press("home", "x")
        await p.notified("not a link that can be changed")
        await p.press("end", "up", "enter")
        await p.notified("trait gone: not found in the library.")
        # the stage of the arc
        await p.press("s")
        await p.dialog(Picker)
        await p.until(lambda: "until somebody is kind" in drawn(p.app.screen))
        await p.press("down", "enter")
        await has_row(p, "arc thaw: stage mild")
        assert store.get("robot").arc == ArcLink(name="thaw", stage="mild")
        await has_row(p, "tone warm: The warm one stage")


async def test_the_compiled_prompt_leads_where_its_lines_come_from(store: FaultyStore) -> None:
    async with program(store, size=(80, 24), persona_id="robot") as p:
        opened: list[tuple[str, str]] = []
        p.main.open_library = lambda kind, name: opened.append((kind, name))  # type: ignore[attr-defined]
        await go(p)
        await p.press("down", "enter")
        assert opened == [("part", "guard")]
        await p.press("v")
        pane = p.main.query_one(CompiledPane)
        await p.until(lambda: "part guard, content line 1" in str(pane.border_subtitle))
        await p.press("ctrl+home")
        await p.until(
            lambda: "its own prompt, line 1" in str(pane.border_subtitle) and "Be icy." in drawn(p.main)
        )
        await p.press("down", "down", "down", "down", "down")
        await p.until(
            lambda: "part icy, content line 1 · stage, instead of formal" in str(pane.border_subtitle)
        )
        assert "Enter where it is from" in told_of_keys(p)
        await p.press("enter")
        assert opened[1:] == [("part", "icy")]
        # a document that is changed elsewhere is seen
        LibraryStore(store).update("part", "icy", {"content": "Be freezing."})
        await p.until(lambda: "Be freezing." in drawn(p.main))
        await p.press("up", "up", "up", "up", "enter")
        await p.until(lambda: p.prompt.has_focus and p.prompt.cursor_location == (1, 0))
        # Esc closes it, and another persona has its own
        await p.press("escape")
        await p.write("/compiled")
        await p.press("enter")
        await p.until(lambda: pane.has_focus_within)
        await p.open("one")
        await p.until(lambda: "One · compiled prompt" in drawn(p.main) and "third line" in drawn(p.main))
        await p.press("escape")
        await p.until(lambda: p.main.panes.over_prompt is None)
        assert p.main.composition.found is None and p.main.composition_pane.tab_mark == ""


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_a_first_link_and_the_compiled_prompt_by_mouse_alone(
    store: FaultyStore, size: tuple[int, int]
) -> None:
    async with program(store, size=size, persona_id="one") as p:
        if size[0] == 80:
            await click(p, "Composition")
        await p.until(lambda: "Nothing linked. n links something." in drawn(p.main))
        await click(p, "Nothing linked.")
        await p.until(lambda: "x unlink" in drawn(p.main))
        await click(p, "n link ·")
        await p.until(lambda: "Be formal." in drawn(p.app.screen))
        await p.pilot.click("#choices", offset=(4, 0))
        await has_row(p, "tone formal: The forma")
        await click(p, "x unlink")
        await p.until(lambda: not store.get("one").parts)
        await click(p, "Ctrl+Z undo ")
        await has_row(p, "tone formal: The forma")
        await click(p, "t try")
        await p.until(lambda: "Be formal." in drawn(p.app.screen))
        await p.pilot.click("#choices", offset=(4, 3))
        await has_row(p, "override")
        await click(p, "v compiled")
        await p.until(lambda: "Be warm." in drawn(p.main))
        await click(p, "Be warm.")
        pane = p.main.query_one(CompiledPane)
        await p.until(lambda: "part warm, content line 1 · override" in str(pane.border_subtitle))
        await click(p, "first line")
        await click(p, "Enter where it is from")
        await p.until(lambda: p.prompt.has_focus)


@pytest.fixture
def settings() -> Iterator[Settings]:
    with PersonaBrain().connected() as settings:
        yield settings


async def test_test_inputs_run_with_what_is_tried_and_on_each_stage(
    store: FaultyStore, settings: Settings
) -> None:
    async with program(store, size=(160, 50), settings=settings, persona_id="robot") as p:
        await go(p)
        outputs, before = p.main.outputs, store.text("robot")

        def newest() -> str:
            return outputs.outputs_of("hello")[0].text

        await p.press("t")
        await p.dialog(Picker)
        await p.write("warm\n")
        await p.until(lambda: "Composition · trying tone = warm" in drawn(p.main))
        await p.press("ctrl+t")
        await p.until(lambda: outputs.outputs_of("hello") and outputs.report("hello") is not None)
        await p.until(lambda: "tone = warm" in drawn(p.main.tests.screen) and "Be warm." in newest())
        report = outputs.report("hello")
        assert report is not None and (report.verdict, report.is_outdated) == ("pass", False)
        assert "with tone = warm" not in store.text("robot") and store.text("robot") == before
        # as it is stored again, that output is outdated, and says what it was made with
        await p.press("t")
        await p.dialog(Picker)
        await p.press("enter")
        await p.until(lambda: (report := outputs.report("hello")) is not None and report.is_outdated)
        await p.until(lambda: "Composition ─" in drawn(p.main))
        # each stage, with its verdicts in the selector; its own stage is what is stored
        await p.press("T")
        await p.notified("Each stage: cold: 1 failed · mild: 1 passed")
        tried = [outputs.tried_with(one) for one in outputs.outputs_of("hello")]
        assert tried == ["stage mild", "", "stage mild"], "the override had led to the same prompt"
        await p.press("s")
        await p.dialog(Picker)
        await p.until(lambda: "1 failed" in drawn(p.app.screen) and "1 passed" in drawn(p.app.screen))
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        # an override whose part goes away is told and dropped
        await p.press("t")
        await p.dialog(Picker)
        await p.write("formal\n")
        await p.until(lambda: outputs.options is not None)
        LibraryStore(store).delete("part", "formal", force=True)
        await p.notified("There is no part 'formal'")
        await p.until(lambda: outputs.options is None)


async def test_a_persona_without_links_reads_no_library_and_links_out_of_the_home_are_not_followed(
    store: FaultyStore, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text('type = "goal"\ncontent = "Secret."\n')
    path = store.home.library / "parts" / "guard.toml"
    path.unlink()
    path.symlink_to(outside)
    loop = store.home.library / "parts" / "icy.toml"
    loop.unlink()
    loop.symlink_to(loop)
    async with program(store, size=(160, 50), persona_id="one") as p:
        p.main.composition.look()
        await p.until(lambda: "Nothing linked." in drawn(p.main))
        assert p.main.composition.found is None and p.main.composition._assemblies is None
        await p.open("robot")
        await p.until(lambda: sum("broken" in row for row in rows(p)) == 2)
        assert "Secret." not in drawn(p.main)

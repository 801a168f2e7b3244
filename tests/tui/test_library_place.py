"""The library on the screen: its lists, a document in its editor, and what is done with documents there."""

from __future__ import annotations

from pathlib import Path

from tests.support.faulty_store import FaultyStore
from tests.support.program import Program, make_store, program
from tests.tui.test_app_layout import drawn
from tui.screens.library.place import LibraryPlace

FILES = {
    "parts/warm-brief": 'type = "tone"\ndescription = "For support"\ntags = ["support"]\ncontent = "Speak warmly."\n',
    "parts/icy": 'type = "tone"\ncontent = "Speak coldly."\n',
    "parts/broken": 'type = "tone\n',
    "traits/curious": 'trait_type = "personality"\ninstruction = "Ask back."\n',
    "guardrails/no-legal": 'content = "No legal advice."\nseverity = "high"\n',
    "arcs/redemption": """description = "Thaws"

[[stages]]
name = "cold"
condition = "until kind twice"
parts = ["icy"]

[[stages]]
name = "warm"
""",
}
SKILL = "---\nname: pdf\ndescription: Reads PDFs\n---\n# PDF\n\nRead it.\n"
USERS = {
    name: f'name = "{name.title()}"\nsystem_prompt = "I am {name}."\n\n[[parts]]\nname = "warm-brief"\n'
    for name in ("amy", "ben")
}
CLEO = 'name = "Cleo"\nsystem_prompt = "I am cleo."\n\n[[parts]]\nname = "icy"\n'


def library_store(root: Path) -> FaultyStore:
    """Make a home whose parts `warm-brief` and `icy` are used by two personas and by one and an arc."""
    store = make_store(root, {**USERS, "cleo": CLEO})
    library = store.home.library
    for name, text in FILES.items():
        path = library / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (library / "skills" / "pdf").mkdir(parents=True)
    (library / "skills" / "pdf" / "SKILL.md").write_text(SKILL, encoding="utf-8")
    return store


async def open_place(p: Program) -> LibraryPlace:
    """Open the library as a person does, and wait until who uses what is counted."""
    await p.say("/library")
    await p.until(lambda: isinstance(p.app.screen, LibraryPlace) and "2 users" in drawn(p.app.screen))
    return p.app.screen  # type: ignore[return-value]


def rows(place: LibraryPlace) -> list[str]:
    return [f"{row.head} {row.text} {row.tail}".strip() for row in place.rows.rows]


async def test_lists_show_type_tags_and_users_and_are_filtered_by_keyboard_on_80_columns(
    tmp_path: Path,
) -> None:
    store = library_store(tmp_path)
    async with program(store, persona_id="amy", size=(80, 24)) as p:
        place = await open_place(p)
        broken, icy, warm = rows(place)
        assert broken.startswith("broken ") and "(line 1, column" in broken
        assert icy == "icy tone 2 users"
        assert warm == "warm-brief tone · #support · For support 2 users"
        await p.press("slash")
        await p.write("tone #supp")
        assert [row.key for row in place.rows.rows] == ["warm-brief"]
        await p.press("enter", "enter")
        await p.until(lambda: place.editor.text == "Speak warmly." and "For support" in drawn(place))
        assert "warm-brief" not in [row.key for row in place.query_one("#library-kinds").rows]  # type: ignore[attr-defined]
        await p.press("escape", "escape")
        assert len(place.rows.rows) == 3
        await p.press("shift+tab", "j")
        await p.until(lambda: rows(place) == ["curious personality unused"])
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)


async def test_the_main_screen_opens_a_document_of_the_library_by_its_name(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    async with program(store, persona_id="amy", size=(160, 50)) as p:
        p.main.open_library("skill", "pdf")
        await p.until(lambda: isinstance(p.app.screen, LibraryPlace) and "Read it." in drawn(p.app.screen))
        place = p.app.screen
        assert place.focused is place.editor  # type: ignore[attr-defined]
        await p.write("Now: ")
        p.main.open_library("guardrail", "no-legal")
        await p.until(lambda: "No legal advice." in drawn(place) and "high" in drawn(place))
        text = (store.home.library / "skills" / "pdf" / "SKILL.md").read_text(encoding="utf-8")
        assert text == SKILL.replace("# PDF", "Now: # PDF")

"""The library on the screen: its lists, a document in its editor, and what is done with documents there."""

from __future__ import annotations

from pathlib import Path

from agent.models.anthropic.client import AnthropicModel
from personas.library_store import LibraryStore
from personas.versions.authorship import Author
from tests.agent.outputs.bench import SONNET
from tests.support.faulty_store import FaultyStore
from tests.support.messages_answers import say
from tests.support.messages_server import MessagesServer
from tests.support.program import Program, make_store, program
from tests.support.screen import click, drawn, place_of
from tui.screens.dialogs.comparison import ShowComparison
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.dialogs.versions import Versions
from tui.screens.library.blast_radius import ShowBlastRadius
from tui.screens.library.screen import LibraryScreen
from tui.settings.schema import Settings

FILES = {
    "parts/warm-brief": 'type = "tone"\ndescription = "For support"\ntags = ["support"]\ncontent = """\nSpeak warmly.\n\nBe brief.\n"""\n',
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


async def open_place(p: Program) -> LibraryScreen:
    """Open the library as a person does, and wait until who uses what is counted."""
    await p.say("/library")
    await p.until(lambda: isinstance(p.app.screen, LibraryScreen) and "2 users" in drawn(p.app.screen))
    return p.app.screen  # type: ignore[return-value]


def rows(place: LibraryScreen) -> list[str]:
    return [f"{row.head} {row.text} {row.tail}".strip() for row in place.rows.rows]


async def test_lists_show_type_tags_and_users_and_are_filtered_by_keyboard_on_80_columns(
    tmp_path: Path,
) -> None:
    store = library_store(tmp_path)
    path = store.home.library / "parts" / "My Tone.toml"
    path.write_text('content = "Mine."\n', encoding="utf-8")
    async with program(store, persona_id="amy", size=(80, 24)) as p:
        place = await open_place(p)
        await p.until(lambda: rows(place)[-1].startswith("My Tone a part's name"))
        broken, icy, warm, _ = rows(place)
        assert broken.startswith("broken ") and "(line 1, column" in broken
        assert icy == "icy tone 2 users"
        assert warm == "warm-brief tone · #support · For support 2 users"
        await p.press("slash")
        await p.write("tone #supp")
        assert [row.key for row in place.rows.rows] == ["warm-brief"]
        await p.press("enter", "enter")
        await p.until(lambda: place.editor.text.startswith("Speak warmly.") and "For support" in drawn(place))
        assert "warm-brief" not in [row.key for row in place.query_one("#library-kinds").rows]  # type: ignore[attr-defined]
        await p.press("escape", "escape")
        assert len(place.rows.rows) == 4 and place.rows.key == "warm-brief"
        await p.press("end")  # a file whose name is none is left alone
        for key in ("enter", "r", "c", "x", "b", "v"):
            await p.press(key)
            await p.notified("'My Tone' cannot be a name")
            p.app.clear_notifications()
        assert p.app.screen is place and path.read_text(encoding="utf-8") == 'content = "Mine."\n'
        await p.press("shift+tab", "j")
        await p.until(lambda: rows(place) == ["curious personality unused"])
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)


async def test_the_main_screen_opens_a_document_of_the_library_by_its_name(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    async with program(store, persona_id="amy", size=(160, 50)) as p:
        p.main.open_library("skill", "pdf")
        await p.until(lambda: isinstance(p.app.screen, LibraryScreen) and "Read it." in drawn(p.app.screen))
        place = p.app.screen
        assert place.focused is place.editor  # type: ignore[attr-defined]
        await p.write("Now: ")
        await p.press("escape")
        assert place.rows.key == "pdf"  # type: ignore[attr-defined]
        p.main.open_library("guardrail", "no-legal")
        await p.until(lambda: "No legal advice." in drawn(place) and "high" in drawn(place))
        text = (store.home.library / "skills" / "pdf" / "SKILL.md").read_text(encoding="utf-8")
        assert text == SKILL.replace("# PDF", "Now: # PDF")


async def test_what_is_typed_in_what_several_use_is_kept_and_stored_only_when_it_is_saved(
    tmp_path: Path,
) -> None:
    store = library_store(tmp_path)
    path = store.home.library / "parts" / "warm-brief.toml"
    async with program(store, persona_id="amy", size=(80, 24)) as p:
        place = await open_place(p)
        await p.press("end", "enter")
        await p.until(lambda: place.editor.text.startswith("Speak warmly."))
        await p.write("Please: ")
        await p.until(lambda: "Not saved yet, since it has 2 users. F2 saves it." in drawn(place))
        await p.press("shift+tab")  # into a field, which is held back too
        await p.write("x")
        await p.press("escape")
        await p.until(lambda: rows(place)[-1].endswith("unsaved"))
        assert path.read_text(encoding="utf-8") == FILES["parts/warm-brief"]

        # Closed and opened again, it is as it was left; what others change meanwhile is merged with it.
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        path.write_text(FILES["parts/warm-brief"].replace("brief.", "very brief."), encoding="utf-8")
        place = await open_place(p)
        await p.press("end", "enter")
        await p.until(lambda: place.editor.text == "Please: Speak warmly.\n\nBe very brief.\n")
        await p.press("f2")
        await p.until(lambda: "Please: Speak warmly" in path.read_text(encoding="utf-8"))
        await p.until(lambda: "saved" in drawn(place) and "Not saved" not in drawn(place))
        assert 'tags = ["supportx"]' in path.read_text(encoding="utf-8")
        assert [one.by.kind for one in store.log("part/warm-brief")] == ["user", "user", "external"]

        # One that has one user at most is stored as one types, and undone.
        place.show_kind("part", "broken")
        p.main.open_library("trait", "curious")
        await p.until(lambda: place.editor.text == "Ask back.")
        await p.write("A")
        await p.until(lambda: store.text("trait/curious").endswith('"AAsk back."\n'))
        await p.press("escape", "ctrl+z")
        await p.until(lambda: store.text("trait/curious") == FILES["traits/curious"])
        assert place.editor.text == "Ask back."


async def test_documents_are_made_copied_renamed_deleted_and_brought_back_by_keyboard(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    async with program(store, persona_id="amy", size=(80, 24)) as p:
        place = await open_place(p)
        await p.press("n")
        await p.dialog(AskLine)
        await p.write("icy")
        await p.press("enter")
        await p.until(lambda: "already a part called icy" in drawn(p.app.screen))
        await p.write("er")  # behind what is selected no more
        await p.press("enter")
        await p.dialog(Picker)
        await p.write("ton")
        await p.press("enter")
        await p.until(lambda: p.app.screen is place and place.focused is place.editor)
        await p.write("Colder.")
        await p.until(lambda: store.text("part/icyer") == 'type = "tone"\ncontent = "Colder."\n')

        await p.press("escape", "c")
        await p.dialog(AskLine)
        await p.write("icyest")
        await p.press("enter")
        await p.until(lambda: store.home.library.joinpath("parts/icyest.toml").exists())
        await p.until(lambda: place.focused is place.editor and place.editor.text == "Colder.")

        await p.press("escape")
        place.rows.select("warm-brief")
        await p.press("r")
        await p.dialog(AskLine)
        await p.write("kind-brief")
        await p.press("enter")
        await p.notified("Renamed to kind-brief, also for its 2 users. Ctrl+Z undoes it.")
        assert 'name = "kind-brief"' in store.text("amy") and 'name = "kind-brief"' in store.text("ben")

        await p.until(lambda: place.rows.key == "kind-brief")
        await p.press("x")
        await p.notified("Not deleted: kind-brief is used by amy, ben.")
        await p.press("ctrl+z")  # of the document under the cursor, though another is open
        await p.until(lambda: place.rows.key == "warm-brief" and place.focused is place.rows)
        assert 'name = "warm-brief"' in store.text("amy") and store.text("part/icyest")
        await p.until(lambda: "New name" not in drawn(place) and "Ctrl+Z undo" in drawn(place))
        place.rows.select("icyest")
        await p.press("x")
        await p.notified("icyest is deleted. It is kept as a version; u brings it back.")
        await p.until(lambda: "icyest" not in str(rows(place)))
        await p.press("u")
        await p.dialog(Picker)
        await p.press("enter")
        await p.until(lambda: p.app.screen is place and place.focused is place.editor)
        await p.until(lambda: place.editor.text == "Colder." and store.text("part/icyest"))

        await p.press("escape", "v")
        await p.dialog(Versions)
        await p.until(lambda: "deleted" in drawn(p.app.screen))
        assert "bisect" not in drawn(p.app.screen)
        await p.press("escape")
        await p.until(lambda: p.app.screen is place)
        place.rows.select("warm-brief")
        await p.press("b")
        await p.dialog(Picker)
        await p.press("down", "enter")
        await p.until(lambda: p.app.screen is p.main and p.main.documents.id == "ben")


async def test_a_broken_document_names_the_place_and_a_conflict_is_chosen(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    path = store.home.library / "traits" / "curious.toml"
    async with program(store, persona_id="amy", size=(160, 50)) as p:
        place = await open_place(p)
        p.main.open_library("part", "broken")
        await p.until(
            lambda: "line 1, column" in drawn(place) and "Ctrl+G opens the file to fix it." in drawn(place)
        )
        await p.write("x")
        await p.notified("This cannot be edited: the file is broken.")

        p.main.open_library("trait", "curious")
        await p.until(lambda: place.editor.text == "Ask back.")
        path.write_text(FILES["traits/curious"].replace("Ask back.", "Ask twice."), encoding="utf-8")
        await p.write("X")
        await p.until(
            lambda: "This text was changed elsewhere in the same lines. F5 shows both" in drawn(place)
        )
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("1")
        await p.until(lambda: "XAsk back." in path.read_text(encoding="utf-8"))


async def press_on(p: Program, words: str) -> None:
    """Click on words once they are on the screen."""
    await p.until(lambda: place_of(p, words))
    await click(p, words)


async def test_a_change_is_tried_on_all_who_use_it_before_it_is_saved_by_mouse(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    for name, text in USERS.items():
        expected = '[[test_inputs]]\nid = "hi"\ncontent = "Hi."\nexpect = [{ type = "contains", value = "warmly" }]\n'
        store.path(name).write_text(f"{text}\n{expected}", encoding="utf-8")
    with MessagesServer(lambda body: say(f"{body['system']}"), key=None) as server:
        settings = Settings(base_url=server.url, model=SONNET)
        async with program(
            store,
            model=AnthropicModel(SONNET, base_url=server.url),
            settings=settings,
            persona_id="amy",
            size=(80, 24),
        ) as p:
            place = await open_place(p)
            await press_on(p, "warm-brief")
            await p.until(
                lambda: place.focused is place.editor and place.editor.text.startswith("Speak warmly.")
            )
            await press_on(p, "Ctrl+T tries it ·")
            await p.notified("Everything is saved.")
            await press_on(p, "warmly.")
            await p.press("delete")
            for _ in range(5):
                await p.press("delete")
            await press_on(p, "Ctrl+T tries it ·")
            shown = await p.dialog(ShowBlastRadius)
            await p.until(lambda: "Broke 2, fixed 0" in drawn(shown) and "✗ ben  broke hi" in drawn(shown))
            await p.pilot.click("#choices", offset=(8, 1), times=2)
            await p.until(
                lambda: isinstance(p.app.screen, ShowComparison) and "hi  broke" in drawn(p.app.screen)
            )
            await press_on(p, "Esc closes")
            await p.until(lambda: p.app.screen is shown)
            assert "warmly" in store.text("part/warm-brief")
            await press_on(p, "F2 saves it")
            await p.until(lambda: "warmly" not in store.text("part/warm-brief"))
            await press_on(p, "Esc to the list")
            await p.until(lambda: place.focused is place.rows)
            await press_on(p, "Arcs")
            await press_on(p, "redemption")
            await press_on(p, "Esc to the list")
            await p.until(lambda: place.focused is place.rows)
            await press_on(p, "Esc closes")
            await p.until(lambda: p.app.screen is p.main)


async def test_stages_of_an_arc_are_edited_as_fields(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    store.path("cleo").write_text(CLEO + '\n[arc]\nname = "redemption"\nstage = "cold"\n', encoding="utf-8")
    async with program(store, persona_id="cleo", size=(80, 24)) as p:
        place = await open_place(p)
        p.main.open_library("arc", "redemption")
        await p.until(lambda: "until kind twice" in drawn(place))
        await p.press("n")
        await p.dialog(AskLine)
        await p.write("open")
        await p.press("enter")
        await p.until(lambda: "open" in drawn(place) and p.app.screen is place)
        await p.press("enter", "down")
        await p.write("at dawn")
        await p.press("down")
        await p.write("icy, warm-brief")
        await p.press("enter")
        await p.until(
            lambda: store.text("arc/redemption").endswith(
                'condition = "at dawn"\nparts = ["icy", "warm-brief"]\n'
            )
        )
        await p.press("escape")
        await p.press("enter")
        await p.press("home", "r")
        await p.dialog(AskLine)
        await p.write("frozen")
        await p.press("enter")
        await p.until(lambda: 'stage = "frozen"' in store.text("cleo") and "frozen" in drawn(place))
        assert "changed outside" not in str(p.messages)
        await p.until(lambda: p.app.screen is place)
        await p.press("end", "x")
        await p.until(lambda: '"open"' not in store.text("arc/redemption"))


async def test_unsaved_text_is_back_after_a_restart_and_the_agents_change_is_undone_in_the_place(
    tmp_path: Path,
) -> None:
    store = library_store(tmp_path)
    async with program(store, persona_id="amy", size=(80, 24)) as p:
        place = await open_place(p)
        await p.press("end", "enter")
        await p.until(lambda: place.editor.text.startswith("Speak warmly."))
        await p.write("X")
        await p.until(lambda: not p.main.documents.would_lose() and p.main.documents.not_saved())
    async with program(store, size=(80, 24)) as p:
        assert p.main.documents.id == "amy"  # a document of the library is no persona whose file is gone
        place = await open_place(p)
        await p.press("end", "enter")
        await p.until(lambda: place.editor.text.startswith("XSpeak warmly."))
        await p.press("f2")
        await p.until(lambda: "XSpeak" in store.text("part/warm-brief"))

        by = Author("agent", "session", "run")
        LibraryStore(store, by=by).update("trait", "curious", {"instruction": "Never ask."})
        p.main.open_library("trait", "curious")
        await p.until(lambda: place.editor.text == "Never ask.")
        await p.press("f8")
        await p.until(lambda: place.editor.text == "Ask back.")
        await p.press("f9")
        await p.until(lambda: place.editor.text == "Never ask." and "Never" in store.text("trait/curious"))

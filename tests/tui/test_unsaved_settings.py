"""What is typed into the settings of a persona outlives everything that keeps it from being saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.errors import StorageError
from personas.files.home import Home
from personas.store import Store
from tests.support.drafts import leave_behind, unsaved
from tests.support.program import Program, make_store, program
from tui.document import debounce, document
from tui.screens.dialogs.confirm import Confirm
from tui.screens.main import screen

FILE = 'name = "One"\ndescription = "Short"\nsystem_prompt = "first line"\n'
LINES = 'name = " One "\ndescription = """\nfirst\nsecond\n"""\ntags = ["a", "b,c"]\n'


pytestmark = pytest.mark.usefixtures("quick_typing")


def left(home: Home, persona_id: str = "one") -> dict[str, tuple[str, str]]:
    """What would be found on the disk if every program ended now: what each text grew from, and the text."""
    return unsaved(home, persona_id)


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Store, *arguments: object, **named: object) -> object:
        raise StorageError("The disk is full; nothing was written.")

    monkeypatch.setattr(Store, "change", full)


async def type_in(p: Program, field: str, text: str) -> None:
    p.main.action_go("settings")
    p.main.settings.field(field).focus()
    await p.press("end")
    await p.write(text)


async def test_what_is_typed_in_a_field_is_kept_whatever_happens_to_the_file_and_is_back_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(
        tmp_path, dict.fromkeys(("one", *"bdefg"), FILE) | {"c": LINES, "two": 'name = "Two"\n'}
    )
    with monkeypatch.context() as full:
        async with program(store, persona_id="one") as p:  # a field that was not left
            await type_in(p, "name", " more")
            await p.until(lambda: left(store.home) == {"field:name": ("One", "One more")})
            assert store.get("one").name == "One"
            await p.press(*["backspace"] * 5)
            await p.until(lambda: not left(store.home))
            await p.write("s")
            await p.press("enter")
            await p.until(lambda: store.get("one").name == "Ones" and not left(store.home))

            await p.open("b")  # a name that is too long
            p.main.action_go("settings")
            p.main.settings.field("name").focus()
            p.main.settings.field("name").raw = "x" * 300
            await p.press("enter")
            await p.notified("at most")
            assert p.main.settings.field("name").raw == "x" * 300
            p.main.settings.field("name").raw = "y"
            await p.press("enter")
            await p.until(lambda: store.get("b").name == "y" and not left(store.home, "b"))

            await p.open("c")  # looking at several lines changes nothing
            p.main.action_go("settings")
            for _ in range(6):
                await p.press("down")
            await p.press("escape")
            await p.main.documents.flush()
            assert p.file("c").read_text() == LINES

            await p.open("d")  # a file that broke
            await type_in(p, "name", " more")
            p.file("d").write_text("<<<<\n" + FILE)
            await p.until(lambda: p.state == "broken")
            await p.until(lambda: left(store.home, "d") == {"field:name": ("One", "One more")})
            assert not any("Name was changed" in message for message in p.messages)

            await p.open("e")
            fill_disk(full)
            await type_in(p, "description", " and more")
            await p.press("enter")
            await p.notified("disk is full")
            assert p.main.settings.field("description").raw == "Short and more"
            await p.until(lambda: left(store.home, "e") == {"field:description": ("Short", "Short and more")})
            await p.main.documents.flush()
            assert p.main.settings.field("description").raw == "Short and more"
    assert store.get("e").description == "Short"
    given = {"name": "Else", "tags": "a, b", "model": "some-model", "effort": "high", "max_tokens": "12"}
    for field, text in given.items():
        leave_behind(store.home, f"field:{field}", "One" if field == "name" else "", text, "f")
    leave_behind(store.home, "field:description", "Older", "Mine", "g")
    async with program(store, persona_id="e") as p:
        await p.until(lambda: store.get("e").description == "Short and more")
        await p.until(lambda: not left(store.home, "e"))
        assert p.main.settings.field("description").raw == "Short and more"
        await p.notified("is back")

        await p.open("d")
        assert p.state == "broken"
        assert p.main.settings.field("name").raw == "One more"
        p.file("d").write_text(FILE)
        await p.until(lambda: store.get("d").name == "One more")
        await p.until(lambda: not left(store.home, "d"))

        await p.open("f")  # every field is given back
        await p.until(lambda: not left(store.home, "f"))
        one = store.get("f")
        assert (one.name, one.tags) == ("Else", ("a", "b"))
        assert (one.model.name, one.model.effort, one.model.max_tokens) == ("some-model", "high", 12)

        await p.open("g")  # changed elsewhere meanwhile
        await p.notified("Description was changed elsewhere")
        assert p.main.settings.field("description").raw == "Mine"
        await p.main.documents.flush()
        assert store.get("g").description == "Short"
        await p.open("two")
        assert left(store.home, "g") == {"field:description": ("Short", "Mine")}
        await p.open("g")
        assert p.main.settings.field("description").raw == "Mine"
        await type_in(p, "description", "!")
        await p.press("enter")
        await p.until(lambda: store.get("g").description == "Mine!" and not left(store.home, "g"))


async def test_a_file_that_is_gone_while_only_a_setting_is_unsaved_is_written_back_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '# mine\nname = "One" # so\ndescription = "Short"\n[[test_inputs]]\nid = "sum"\ncontent = "1+1?"\n'
    store = make_store(tmp_path, {"one": text, "two": 'name = "Two"\n'})
    monkeypatch.setattr(document, "GONE_AFTER", 0.05)
    async with program(store) as p:
        await p.until(lambda: store.file("one").versions.exists())
        await type_in(p, "description", " and more")
        p.file("one").unlink()
        await p.until(lambda: p.state == "gone" and left(store.home))
        await p.main.remember()
    assert not store.path("one").exists()
    async with program(store, ready=False) as p:
        await p.until(
            lambda: p.main.documents is not None and p.state == "gone" and p.main.settings.focus_target
        )
        assert p.main.documents.persona.name == "One"
        assert p.main.settings.field("description").raw == "Short and more"
        await p.press("f5")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: p.state == "saved" and not left(store.home))
        assert p.file("one").read_text() == text.replace('"Short"', '"Short and more"')


async def test_a_setting_typed_in_without_a_pause_is_kept_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path, {"one": FILE})
    now = 0.0
    monkeypatch.setattr(debounce, "PAUSE", 600.0)
    monkeypatch.setattr(debounce, "LONGEST", 6_000.0)
    monkeypatch.setattr(screen, "LOOK_EVERY", 600.0)
    monkeypatch.setattr(debounce, "clock", lambda: now)
    async with program(store) as p:
        await type_in(p, "description", " and")
        now = debounce.LONGEST - 600.0
        await p.write(" m")
        assert not left(store.home)
        now = debounce.LONGEST
        await p.write("ore")
        await p.until(lambda: left(store.home))
        assert left(store.home)["field:description"][1].startswith("Short and mo")

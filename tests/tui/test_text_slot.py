"""A text slot: what is typed, what is stored, and where both meet."""

from __future__ import annotations

import pytest

from tui.document import debounce
from tui.document.merge import MergeConflict
from tui.document.text_slot import TextSlot

TEXT = "first\nsecond\nthird\n"


class View:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.sources: list[str | None] = []

    def slot_changed(self, source: str | None) -> None:
        self.sources.append(source)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(debounce, "clock", lambda: now[0])
    return now


def test_what_is_typed_is_merged_with_what_is_stored_elsewhere() -> None:
    slot, view = TextSlot("prompt", TEXT), View()
    slot.view = view
    slot.edit("my " + TEXT)
    assert slot.dirty and view.sources == [], "whoever typed it shows it"
    assert slot.rebase(TEXT.replace("third", "3rd"), source="run") is None
    assert slot.text == "my first\nsecond\n3rd\n" and slot.base == "first\nsecond\n3rd\n"
    assert view.sources == ["run"]


def test_changes_of_the_same_line_are_a_conflict_until_one_side_gives_way() -> None:
    slot = TextSlot("prompt", TEXT)
    slot.edit("my " + TEXT)
    theirs = TEXT.replace("first", "their")
    conflict = slot.rebase(theirs)
    assert isinstance(conflict, MergeConflict) and (conflict.ours, conflict.theirs) == ("my " + TEXT, theirs)
    assert slot.text == "my " + TEXT and slot.base == TEXT, "nothing is overwritten"
    assert slot.rebase(TEXT) is None
    assert slot.conflict is None and slot.text == "my " + TEXT


def test_what_is_typed_on_while_a_text_is_stored_grew_from_that() -> None:
    slot = TextSlot("prompt", TEXT)
    slot.edit("my " + TEXT)
    slot.edit("my own " + TEXT)
    slot.saved("my " + TEXT, "my " + TEXT)
    assert (slot.base, slot.text) == ("my " + TEXT, "my own " + TEXT)
    slot.saved("my own " + TEXT, "my own " + TEXT + "theirs\n")
    assert slot.text == slot.base == "my own " + TEXT + "theirs\n"


@pytest.mark.parametrize(("passed", "meets"), [(0.5, True), (10.0, False)])
def test_an_agent_that_changes_the_line_being_typed_in_overwrites_nothing(
    time: list[float], passed: float, meets: bool
) -> None:
    slot = TextSlot("prompt", TEXT)
    slot.edit("my " + TEXT)
    slot.saved("my " + TEXT, "my " + TEXT)
    time[0] += passed
    assert (slot.rebase("NEW\n", by_agent=True) is not None) == meets
    assert slot.text == ("my " + TEXT if meets else "NEW\n")
    if meets:  # its change is undone
        assert slot.rebase("my " + TEXT) is None
        assert slot.conflict is None and not slot.dirty


def test_a_field_keeps_what_is_typed_and_waits_for_the_person() -> None:
    slot = TextSlot("field:description", "Short")
    slot.edit("Mine")
    conflict = slot.rebase("Theirs")
    assert conflict is not None and conflict.theirs == "Theirs"
    assert (slot.base, slot.text) == ("Theirs", "Mine")
    slot.edit("Mine!")
    assert slot.conflict is None, "who goes on has seen it"
    slot.saved("Mine!", "Mine !")
    assert slot.text == slot.base == "Mine !", "it is shown as it is stored"

"""The line of deeds that undo walks over."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from personas.versions.undo import Retrace
from tui.document import undo_stack as module
from tui.document.undo_stack import BEFORE, Deed, Past, Stored, Typed


def test_what_goes_on_with_the_last_stretch_is_undone_with_it() -> None:
    past = Past()
    past.typed("prompt", ("", "a", "ab"))
    past.typed("prompt", ("ab", "abc"), goes_on=True)
    past.typed("prompt", ("abc", "abc"))
    assert past.next("undo") == Typed("prompt", "a", "abc")
    past.stored(Stored("r1"))
    past.typed("prompt", ("abc", "abcd"), goes_on=True)
    assert past.next("undo") == Typed("prompt", "abc", "abcd")


def test_a_run_that_goes_on_is_one_deed_as_young_as_its_last_change() -> None:
    past = Past()
    past.stored(Stored("r1"))
    past.typed("prompt", ("", "a"))
    past.stored(Stored("r1"))
    past.move("undo", Stored("r1"))
    past.move("undo", Typed("prompt", "", "a"))
    assert past.next("undo") is BEFORE
    assert past.next("redo") == Typed("prompt", "", "a")


def test_redo_before_anything_was_done_is_the_stores_and_no_longer_after() -> None:
    past = Past()
    assert past.next("redo") is BEFORE
    past.typed("prompt", ("", "a"))
    assert past.next("redo") is None


def line(past: Past, operation: Retrace) -> list[Deed]:
    """Take all steps one way; return them."""
    taken: list[Deed] = []
    while (deed := past.next(operation)) is not None and deed is not BEFORE:
        past.move(operation, deed)
        taken.append(deed)
    return taken


def test_a_run_undone_from_under_what_is_younger_is_out_of_the_line_until_it_is_back_in_its_place() -> None:
    past = Past()
    run, typed, name = Stored("r1"), Typed("prompt", "", "a"), Stored(None)
    past.stored(run)
    past.typed("prompt", ("", "a"))
    past.stored(name)
    past.move_run("undo", "r1")
    past.move("undo", name)
    past.move_run("redo", "r1")
    assert past.next("redo") == name
    past.move("redo", name)
    assert past.next("redo") is None
    assert line(past, "undo") == [name, typed, run]


def test_what_is_typed_while_a_step_is_taken_stays_in_the_line_and_what_was_undone_leaves_it() -> None:
    past = Past()
    first, second, typed = Stored("r1"), Stored("r2"), Typed("prompt", "", "a")
    past.stored(first)
    past.stored(second)
    assert past.next("undo") == second
    past.typed("prompt", ("", "a"))  # the store takes its time
    past.move("undo", second)
    assert past.next("redo") == second
    assert line(past, "undo") == [typed, first]


def test_what_is_typed_while_a_step_turns_out_to_be_none_stays_in_the_line() -> None:
    past = Past()
    run, typed = Stored("r1"), Typed("prompt", "", "a")
    past.stored(run)
    past.typed("prompt", ("", "a"))
    assert past.drop("undo", run)
    assert not past.drop("undo", BEFORE)
    assert line(past, "undo") == [typed]


def test_no_undo_brings_a_run_back_and_redo_goes_the_way_that_undo_came() -> None:
    past = Past()
    run, typed = Stored("r1"), Typed("prompt", "", "a")
    past.stored(run)
    past.typed("prompt", ("", "a"))
    past.move_run("undo", "r1")
    assert line(past, "undo") == [typed]
    assert line(past, "redo") == [typed, run]
    assert line(past, "undo") == [run, typed], "what redo did last is undone first"


def test_a_run_from_before_comes_into_the_line_where_it_was() -> None:
    past = Past()
    past.typed("prompt", ("", "a"))
    past.move_run("undo", "r0")
    assert past.next("redo") == Stored("r0")
    past.move_run("redo", "r0")
    assert line(past, "undo") == [Typed("prompt", "", "a"), Stored("r0")]


def outside(past: Past) -> list[str]:
    """Another program writes between two stretches of typing that are not saved; return where undo leads."""
    past.typed("prompt", ("", "a"))
    past.typed("prompt", ("", "OUT"))
    past.typed("test:sum", ("x", "a"))
    past.typed("prompt", ("a", "ab"))
    return ["ab", "a", "OUT", ""]


def run(past: Past) -> list[str]:
    """The agent writes over typing that is saved while more of it is not; return where undo leads."""
    past.typed("prompt", ("", "saved"))
    past.stored(Stored("r1"))
    past.typed("prompt", ("saved", "ab"))
    return ["ab", "OUT"]


@pytest.mark.parametrize("meet", [outside, run])
@pytest.mark.parametrize("chosen", ["ab", "OUT", "OUT ab"])
def test_undo_of_a_choice_leads_to_what_was_typed_and_then_to_what_it_met(
    meet: Callable[[Past], list[str]], chosen: str
) -> None:
    past = Past()
    ways = meet(past)
    past.settled("prompt", ("saved" if meet is run else "", "ab"), "OUT", chosen)
    if chosen == "ab":
        ways = ways[1:]
    at = chosen
    for way in ways:
        deed = past.next("undo")
        if isinstance(deed, Typed) and deed.place != "prompt":
            past.move("undo", deed)
            deed = past.next("undo")
        assert deed == Typed("prompt", way, at)
        past.move("undo", deed)
        at = way
    if meet is run:
        assert line(past, "undo") == [Stored("r1"), Typed("prompt", "", "saved")]
    assert past.next("undo") is BEFORE


def test_a_choice_about_typing_of_another_day_is_undone_too() -> None:
    past = Past()
    past.settled("prompt", ("", "kept"), "OUT", "OUT")
    assert line(past, "undo") == [Typed("prompt", "kept", "OUT"), Typed("prompt", "OUT", "kept")]


def test_the_oldest_deeds_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TEXT", 40)
    past = Past()
    for length in range(1, 30):
        past.typed("prompt", ("x" * length, "x" * (length + 1)))
    undone = 0
    while (deed := past.next("undo")) is not BEFORE:
        assert deed is not None
        past.move("undo", deed)
        undone += 1
    assert undone == 1

"""What a selection over several parts of the screen copies: texts, no signs, titles or names of widgets."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from textual.widget import Widget

import tui
from agent.models.scripted import answer
from tests.support.program import make_store, program
from tui.widgets.conversation.scroll_view import EntryScrollView
from tui.widgets.footer import KeyLine


def _subclasses(kind: type) -> Iterator[type]:
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


def test_no_part_that_draws_its_own_rows_is_copied_by_its_name() -> None:
    for module in pkgutil.walk_packages(tui.__path__, "tui."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    ours = {kind for kind in _subclasses(Widget) if kind.__module__.startswith("tui.")}
    drawing = {
        kind
        for kind in ours
        if any("render_line" in vars(base) for base in kind.__mro__ if base.__module__.startswith("tui."))
    }
    assert KeyLine in drawing
    drawing.remove(EntryScrollView)  # what is made of it knows its turns
    assert not {kind for kind in drawing if kind.get_selection is Widget.get_selection}  # type: ignore[attr-defined]


async def test_a_drag_beyond_the_panel_copies_what_is_seen_of_the_conversation(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("The answer."), size=(80, 24)) as p:
        await p.run_to_end("hello")
        view = p.main.conversation.view
        await p.pilot.mouse_down(view, offset=(1, 0))
        await p.pilot.hover(KeyLine, offset=(40, 0))
        await p.pilot.mouse_up(KeyLine, offset=(40, 0))
        await p.pilot.pause()
        assert (p.main.get_selected_text() or "").split() == ["hello", "The", "answer."]

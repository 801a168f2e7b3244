"""Two texts that changed in the same lines, side by side, to choose from place by place."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Button

from tui.commands.registry import bindings
from tui.document.merge import Choice, MergeConflict, resolve
from tui.screens.dialogs.base import GRACE, Dialog, arrows
from tui.terminal.word_diffs import differences, first_difference
from tui.widgets.plain_text import LiteralButton, content, label, marked
from tui.widgets.text.ellipsis import EllipsisStatic
from tui.widgets.text.virtual_static import VirtualStatic, WrappedText

SIDES = ("ours", "theirs")
KEYS = {"ours": "conflict.mine", "theirs": "conflict.theirs"}
CHOICES = {"Yours": "Keep mine", "On disk": "Take theirs"}
"""What to call the choice of a side where that is not the title of its box."""


class ConflictDialog(Dialog[str]):
    """Shows each place where both sides changed; gives the text put together, or None for not now.

    Args:
        conflict: what is to be resolved.
        ours: what to call the text of the editor.
        theirs: what to call the text on disk.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("conflict")]

    grace = GRACE

    def __init__(self, conflict: MergeConflict, *, ours: str = "Yours", theirs: str = "On disk") -> None:
        super().__init__()
        self._conflict = conflict
        self._titles = (ours, theirs)
        self._choices: list[Choice] = []
        self._sides: dict[str, str] = {}
        self._seek = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield EllipsisStatic("", id="conflict-where")
            with Horizontal(id="conflict-sides", classes="gives"):
                for side, title in zip(SIDES, self._titles, strict=True):
                    with VerticalScroll(id=f"side-{side}", can_focus=False) as box:
                        box.border_title = label(title, 40)
                        yield VirtualStatic("", id=f"text-{side}")
            with Horizontal(classes="dialog-buttons"):
                for side, title in zip(SIDES, self._titles, strict=True):
                    yield LiteralButton(self.labelled(KEYS[side], CHOICES.get(title, title)), id=side)
                yield LiteralButton(self.labelled("conflict.both", "Both"), id="both")
            yield self.hint(
                "The other is kept as a version",
                arrows(self.keymap, "conflict.up", "conflict.down", "scroll"),
                ("dialog.close", "not now"),
            )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(".dialog").border_title = "Both changed the same lines"
        self.query_one("#ours", LiteralButton).focus()
        self._show()

    def _show(self) -> None:
        hunk = self._conflict.hunks[len(self._choices)]
        place = f"Place {len(self._choices) + 1} of {len(self._conflict.hunks)}, line {hunk.line}"
        was = f" · it was: {hunk.base.strip()}" if hunk.base.strip() else ""
        self.query_one("#conflict-where", EllipsisStatic).update(label(place + was, 1_000))
        ours, theirs = hunk.ours.rstrip("\n"), hunk.theirs.rstrip("\n")
        self._sides = {"ours": ours, "theirs": theirs}
        for (side, text), spans in zip(self._sides.items(), differences(ours, theirs), strict=True):
            shown = marked(text, spans) if text else "(nothing: the lines are removed)"
            self.query_one(f"#text-{side}", VirtualStatic).update(shown)
        self._seek = True
        self.fit_soon()

    def desired_rows(self, part: Widget) -> int:
        return max(text.size.height for text in part.query(VirtualStatic)) + 2  # the borders

    def on_fitted(self) -> None:
        """The boxes have their rows: bring the first difference into sight, once."""
        super().on_fitted()
        if not self._seek:
            return
        self._seek = False
        begin = first_difference(*self._sides.values())
        for side, text in self._sides.items():
            box = self.query_one(f"#side-{side}", VerticalScroll)
            before = WrappedText(content(text[:begin]))
            rows = before.get_height({}, max(1, self.query_one(f"#text-{side}").size.width))
            box.scroll_to(y=rows - 1 - box.size.height // 3, animate=False)

    def action_scroll_sides(self, by: int) -> None:
        for box in self.query("#conflict-sides VerticalScroll"):
            box.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        self.action_scroll_sides(by * max(1, self.query_one("#side-ours").size.height - 1))

    def action_choose(self, choice: Choice) -> None:
        if not self.ready or self._all_chosen:
            return
        self._choices.append(choice)
        if self._all_chosen:
            self.run_worker(self._give())
        else:
            self._appeared = None  # a key pressed twice is no answer to the next place
            self._show()
            self.call_after_refresh(self._appear)

    @property
    def is_closing(self) -> bool:
        """Whether it closes as soon as the text is put together: what is typed now is for what comes then."""
        return self._all_chosen

    @property
    def _all_chosen(self) -> bool:
        return len(self._choices) == len(self._conflict.hunks)

    async def _give(self) -> None:
        """Put the text together, which takes its time with a large one, and close with it."""
        self.dismiss(await asyncio.to_thread(resolve, self._conflict, self._choices))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_choose(event.button.id)  # type: ignore[arg-type]

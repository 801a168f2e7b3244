"""The box for a question or an approval, with the exact diff and the answers to choose from.

It takes no focus: keys come from the empty chat bar by `press`. A key or click counts only once the box was visible for
a moment, so that what was typed before it appeared never answers it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.commands.registry import keymap_of, sentence
from tui.terminal.diff_view import LONGEST, close_context
from tui.terminal.sanitise import one_line, spelled_out
from tui.widgets.conversation.lines import wrap_rows
from tui.widgets.plain_text import LiteralLabel, NotSelectable
from tui.widgets.text.diff_wrap import CountedText, DiffText
from tui.widgets.text.virtual_static import VirtualStatic
from tui.widgets.theme_styles import ink
from tui.widgets.virtual_list import POINTER

if TYPE_CHECKING:
    from agent.jobs.job import Question

GRACE = 0.5
"""Seconds after its appearance in which the box takes no answer."""
ROWS_OF_OPTION = 3
SHORTEST_TEXT = 2
"""Rows a question has at least."""
APPROVAL_WORDS = {"once": "once", "task": "this task", "always": "always", "no": "no"}
"""The labels of the answers to an approval."""


class Choices(NotSelectable, Widget, can_focus=False):
    """Numbered options, in one row if they fit, else one below the other."""

    picked: reactive[int | None] = reactive(None)

    class Pressed(Message):
        """An option was clicked."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._options: Sequence[str] = ()
        self._top = 0

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._options)

    def show(self, options: Sequence[str]) -> None:
        """Show these, none of them picked."""
        self._options = options
        self._top = 0
        self.picked = None
        self.display = bool(options)
        self.refresh(layout=True)

    def _rows(self, width: int) -> list[list[tuple[int, str]]]:
        """Return the options of each row: index and text."""
        labels = [f"{place} {one_line(text, 1_000)}" for place, text in enumerate(self._options, 1)]
        if sum(cell_len(text) + 4 for text in labels) <= width:
            return [[(place, f"{text}  ") for place, text in enumerate(labels)]]
        rows: list[list[tuple[int, str]]] = []
        for place, text in enumerate(labels):
            lines = [text[start:end] for start, end, _ in wrap_rows(text, max(8, width - 4))]
            if len(lines) > ROWS_OF_OPTION:
                lines = [*lines[: ROWS_OF_OPTION - 1], one_line(f"{lines[ROWS_OF_OPTION - 1]} …", width - 4)]
            rows += [[(place, line if number == 0 else f"  {line}")] for number, line in enumerate(lines)]
        return rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows the options take."""
        return max(1, len(self._rows(width)))

    def rows_at(self, width: int) -> int:
        """Return how many rows all of them take."""
        return len(self._rows(max(8, width))) if self._options else 0

    def watch_picked(self) -> None:
        """Scroll the picked option into view."""
        rows = self._rows(max(8, self.size.width))
        mine = [y for y, row in enumerate(rows) if any(place == self.picked for place, _ in row)]
        if mine and self.size.height:
            self._go_to_row(min(max(self._top, mine[-1] - self.size.height + 1), mine[0]))

    def on_resize(self) -> None:
        """Keep the picked option in view and leave no row empty."""
        self._go_to_row(self._top)
        self.watch_picked()

    def _go_to_row(self, top: int) -> None:
        self._top = max(0, min(top, self.rows_at(self.size.width) - self.size.height))
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._go_to_row(self._top + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._go_to_row(self._top - 1)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        rows = self._rows(width)
        y += self._top
        if y >= len(rows):
            return Strip.blank(width, base)
        chosen = base + ink(self, "background", "accent", bold=True)
        segments = []
        for place, text in rows[y]:
            style = chosen if place == self.picked else base
            segments += [Segment(POINTER if place == self.picked else " ", style), Segment(f" {text}", style)]
        return Strip(segments).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        x = 0
        rows = self._rows(self.size.width)
        y = event.y + self._top
        for place, text in rows[y] if 0 <= y < len(rows) else []:
            x += cell_len(text) + 2
            if event.x < x or len(rows) > 1:
                self.post_message(self.Pressed(place))
                return


class QuestionBox(Vertical, can_focus=False):
    """A question or an approval, at the end of the agent's panel.

    Args:
        clock: monotonic seconds.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    class Answered(Message):
        """An option was chosen: the answer to the question with this id."""

        def __init__(self, question_id: str, text: str) -> None:
            super().__init__()
            self.question_id = question_id
            self.text = text

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, **options: Any) -> None:
        self._text, self._diff = VirtualStatic(classes="ask--text"), VirtualStatic(classes="ask--diff")
        self.body = VerticalScroll(self._text, self._diff, classes="ask--body", can_focus=False)
        """The question and what it is about."""
        self.choices = Choices(classes="ask--choices")
        """The options."""
        self._hint = LiteralLabel(classes="ask--hint")
        super().__init__(self.body, self.choices, self._hint, **options)
        self._clock = clock
        self.question: Question | None = None
        self._appeared: float | None = None
        self._how: list[str] = []
        self._way_back = ""
        self._most_rows = 0

    @property
    def ready(self) -> bool:
        """Whether it was visible long enough for a key to be meant for it."""
        return self._appeared is not None and self._clock() - self._appeared >= GRACE

    def ask(self, question: Question | None) -> None:
        """Show a question; None hides the box."""
        self.question = question
        self._appeared = None
        self.display = question is not None
        if question is None:
            return
        approval = question.approval
        diff = approval.diff if approval is not None else ""
        text = question.text
        if approval is not None and approval.note:
            text = f"{text}\n{spelled_out(approval.note)}"
        title: str | CountedText = text
        if diff and approval is not None:
            less = f"Only the first {LONGEST:,} of {len(diff):,} characters of the change are shown."
            counts = f"+{approval.added} −{approval.removed}"
            title = CountedText(text, counts, less if len(diff) > LONGEST else "")
        self._text.update(title)
        self._diff.display = bool(diff)
        if diff:
            self._diff.update(DiffText(close_context(diff[:LONGEST])))
        options = question.options
        self.choices.show([APPROVAL_WORDS.get(one, one) for one in options] if approval else options)
        how = "↑ ↓ or a digit, then Enter" if options else "Write your answer"
        own = "or write: no, and why" if approval else "or write your own" if options else ""
        self._how = [
            part for part in (how, own, sentence("back", keymap_of(self.app), "{} stops the task")) if part
        ]
        self._show_how()
        self.body.scroll_home(animate=False)
        self.call_after_refresh(self._seen, question.id)

    def on_show(self) -> None:
        """The box became visible."""
        if self.question is not None:
            self.call_after_refresh(self._seen, self.question.id)

    def on_hide(self) -> None:
        """The box is hidden: the delay begins again when it is shown."""
        self._appeared = None

    def _seen(self, question_id: str) -> None:
        asked = self.question is not None and self.question.id == question_id
        if asked and self._appeared is None and self.is_on_screen:
            self._appeared = self._clock()
            self._show_how()

    def show_way_back(self, text: str) -> None:
        """Show how to get back to the answers while the focus is elsewhere; empty for the normal hint."""
        self._way_back = text
        self._show_how()

    def _show_how(self) -> None:
        if self.is_attached and self.question is not None:
            hints = ["PgDn shows more"] * (self.body.max_scroll_y > 0) + self._how
            while len(hints) > 1 and 0 < self.size.width < cell_len(" · ".join(hints)):
                hints.pop()  # the footer shows it too
            self._hint.update(self._way_back or " · ".join(hints))

    def ask_reason(self) -> None:
        """No was picked: show how to give a reason."""
        self._how = ["Write why, then Enter", "Enter alone: no reason"]
        self._show_how()

    def fit(self, rows: int) -> None:
        """Take at most so many rows: the question keeps some, the answers get the others."""
        self._most_rows = rows
        wanted = self.choices.rows_at(self.size.width - 2)
        shown = max(1, min(wanted, rows - SHORTEST_TEXT - 2))
        self.choices.styles.max_height = shown
        self.body.styles.max_height = max(1, rows - (shown if wanted else 0) - 2)
        self._show_how()
        self.call_after_refresh(self._show_how)

    def on_resize(self) -> None:
        """It has its width now, on which the rows of the answers depend."""
        if self.question is not None and self._most_rows:
            self.fit(self._most_rows)

    def scroll_text(self, pages: int) -> bool:
        """Scroll a question that is longer than its room; return whether there is something to scroll."""
        if self.question is None or self.body.max_scroll_y <= 0:
            return False
        self.body.scroll_relative(y=pages * max(1, self.body.size.height - 1), animate=False)
        return True

    def press(self, key: str) -> None:
        """Take a key of the empty chat bar: `up`, `down`, a number, `enter`."""
        choices = self.choices
        if self.question is None or not choices.count or not self.ready:
            return
        picked, last = choices.picked, choices.count - 1
        if key == "enter":
            self._choose()
        elif key == "down":
            choices.picked = 0 if picked is None else min(last, picked + 1)
        elif key == "up":
            choices.picked = last if picked is None else max(0, picked - 1)
        elif key.isdigit() and 1 <= int(key) <= choices.count:
            choices.picked = int(key) - 1

    def _choose(self) -> None:
        question, place = self.question, self.choices.picked
        if question is not None and place is not None and self.ready:
            self.post_message(self.Answered(question.id, question.options[place]))

    @on(Choices.Pressed)
    def _pressed(self, event: Choices.Pressed) -> None:
        """A click picks; one on what is picked answers."""
        event.stop()
        if not self.ready:
            return
        if self.choices.picked == event.place:
            self._choose()
        else:
            self.choices.picked = event.place

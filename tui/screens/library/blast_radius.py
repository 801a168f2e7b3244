"""What a change did to each persona: which of its test inputs broke, and which were fixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tui.commands.registry import binding
from tui.outputs.labels import SIGNS
from tui.screens.dialogs.base import Dialog
from tui.widgets.plain_text import label
from tui.widgets.text.ellipsis import EllipsisStatic
from tui.widgets.virtual_list import Row, VirtualList

if TYPE_CHECKING:
    from agent.outputs.blast_radius import BlastReport, Touched


class ShowBlastRadius(Dialog[bool]):
    """Gives True where the change is to be saved.

    Args:
        name: what was changed, any text.
        compare: shows the outputs of one persona.
        stop: ends what runs.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("library.save", "save"),
        binding("comparison.stop"),
    ]

    def __init__(self, name: str, compare: Callable[[Touched], object], stop: Callable[[], object]) -> None:
        super().__init__()
        self._changed, self._compare, self._stop = name, compare, stop
        self._touched: dict[str, Touched] = {}
        self._rows: list[Row] = []
        self._sentence = "Reading…"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide switcher") as box:
            box.border_title = label(f"{self._changed}: what it breaks and fixes", 90)
            yield EllipsisStatic("", id="blast-sentence")
            yield VirtualList(empty="Reading…", id="choices", classes="gives", choose_on_click=False)
            yield self.hint(
                ("rows.open", "compares"),
                ("library.save", "saves it"),
                ("comparison.stop", "stops"),
                ("dialog.close", "closes"),
            )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VirtualList).focus()
        self._show()

    def show_sentence(self, sentence: str) -> None:
        """Say what was found, or how far it is."""
        self._sentence = sentence
        self._show()

    def show_report(self, report: BlastReport) -> None:
        """Show what is known of each persona."""
        self._touched = {str(at): one for at, one in enumerate(report.touched)}
        self._rows = [
            *(_row(key, one) for key, one in self._touched.items()),
            *(Row(f"!{one.id}", one.error or "", head=one.title, tone="error") for one in report.broken),
        ]
        self.show_sentence(f"{report.sentence[:1].upper()}{report.sentence[1:]}.")

    def _show(self) -> None:
        for rows in self.query("#choices").results(VirtualList):  # none before it is composed
            rows.set_rows(self._rows)
            self.query_one("#blast-sentence", EllipsisStatic).update(label(self._sentence, 400))
            self.fit_soon()

    @on(VirtualList.Highlighted)
    def _highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        if (touched := self._touched.get(event.key)) is not None:
            self._compare(touched)

    def action_save(self) -> None:
        """Close; the change is to be saved."""
        self.dismiss(True)

    def action_stop(self) -> None:
        """Stop what runs; what is there stays."""
        self._stop()


def _row(key: str, touched: Touched) -> Row:
    sign = SIGNS["fail"] if touched.broke else SIGNS["pass"] if touched.is_known else " "
    return Row(key, " · ".join(touched.summary_lines), head=f"{sign} {touched.title}")

"""The versions of a document, newest first: who changed what, when and why, and what the test inputs came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tui.commands.registry import bindings
from tui.document.version_names import author_name, reason_of, when
from tui.outputs.labels import SIGNS
from tui.screens.dialogs.base import Dialog
from tui.widgets.plain_text import label
from tui.widgets.virtual_list import Row, VirtualList

if TYPE_CHECKING:
    from agent.outputs.version_counts import VersionCounts
    from personas.versions.authorship import Version

WHEN_CELLS = len("29 Nov 14:02")


class Versions(Dialog[None]):
    """The timeline. It stays open while something is done with a version.

    Args:
        name: whose versions, any text.
        choose: told what is to be done (`diff`, `between`, `compare`, `bisect`, `restore`, `undo`, `name`) with which
            version: its number, or the name of a proposal; `between` with two numbers, the older one first.
        has_outputs: whether outputs can be compared, and what turned a verdict be found.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("versions")]

    def __init__(self, name: str, choose: Callable[..., object], *, has_outputs: bool = True) -> None:
        super().__init__()
        self._of, self._choose, self._has_outputs = name, choose, has_outputs
        self._counts: dict[int, VersionCounts] = {}
        self._rows: Sequence[Row] = ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide switcher") as box:
            box.border_title = label(f"Versions of {self._of}", 70)
            yield VirtualList(empty="Reading…", id="choices", classes="gives", choose_on_click=False)
            tries = (("versions.compare", "compare"), ("versions.bisect", "bisect"))
            yield self.hint(
                ("rows.open", "diff"),
                ("versions.mark", "marks"),
                *(tries if self._has_outputs else ()),
                ("versions.restore", "restore"),
                ("versions.undo", "undo"),
                ("versions.name", "name"),
                ("dialog.close", "closes"),
            )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VirtualList).focus()
        self._show()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these versions, see `version_rows`."""
        self._rows = rows
        self._show()

    def show_counts(self, counts: Mapping[int, VersionCounts]) -> None:
        """Show how many test inputs passed and failed in these versions too."""
        self._counts.update(counts)
        self._show()

    def _show(self) -> None:
        for rows in self.query(VirtualList):  # none before it is composed
            rows.set_rows([self._counted(row) for row in self._rows])
            self.fit_soon()

    def _counted(self, row: Row) -> Row:
        counts = self._counts.get(int(row.key)) if row.key.isdigit() else None
        return row if counts is None else row._replace(tail=f"{row.tail}  {shown_counts(counts)}".strip())

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        rows = event.rows
        if (marked := rows.marked) and rows.key is not None:
            two = {*marked} if len(marked) > 1 else {*marked, rows.key}
            numbers = sorted((key for key in two if key.isdigit()), key=int)
            if len(numbers) == 2:
                self._choose("between", *numbers)
                return
            if len(numbers) > 2:
                self.show_notification("Only two versions can be compared: unmark the others.")
                return
        self.action_choose("diff")

    def action_mark(self) -> None:
        """Mark or unmark the version under the cursor."""
        self.query_one(VirtualList).toggle_mark()

    def action_choose(self, what: str) -> None:
        """Do something with the version under the cursor."""
        if (key := self.query_one(VirtualList).key) is not None:
            self._choose(what, key)


def shown_counts(counts: VersionCounts) -> str:
    """Return the verdicts of a version's outputs in a few cells: `3✓ 1✗`."""
    numbers = (counts.passed, counts.failed, counts.errors, counts.unjudged)
    signs = (SIGNS["pass"], SIGNS["fail"], SIGNS["error"], "·")
    return " ".join(f"{number}{sign}" for number, sign in zip(numbers, signs, strict=True) if number)


def version_rows(versions: Sequence[Version], now: datetime, *, all_read: bool) -> list[Row]:
    """Return the rows of these versions, newest first; with `all_read` the first text, which no change led to, is last.

    Proposals stand above them.
    """
    current = next((one.number for one in versions if one.role not in ("kept", "proposal")), 0)
    rows = [_row(one, now, is_current=one.number == current and one.role != "proposal") for one in versions]
    if all_read:
        rows.append(Row("0", "0 · the first text", head_cells=WHEN_CELLS, current=not current))
    return rows


def _row(version: Version, now: datetime, *, is_current: bool) -> Row:
    key, name = str(version.number), f"“{version.name}”" if version.name else ""
    if version.role == "proposal":
        key, name = str(version.name), ""
    parts = [key, name, author_name(version.by)]
    return Row(
        key,
        " · ".join(filter(None, [*parts, reason_of(version)])),
        head=when(version.at, now),
        head_cells=WHEN_CELLS,
        tail=f"+{version.added} −{version.removed}" if version.added or version.removed else "",
        current=is_current,
    )

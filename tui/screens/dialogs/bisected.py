"""What a bisection found: the probes, the change, and a key that reverts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tui.commands.registry import bindings
from tui.screens.dialogs.base import GRACE, Dialog
from tui.terminal.diff_view import LONGEST
from tui.terminal.sanitise import shortened
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.text.diff_wrap import DiffText
from tui.widgets.text.virtual_static import VirtualStatic

if TYPE_CHECKING:
    from agent.outputs.bisect_run import Bisected


class ShowBisected(Dialog[bool]):
    """Gives True where the change is to be reverted.

    Args:
        title: any text.
        found: what was found.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("page"), *bindings("bisected")]

    grace = GRACE

    def __init__(self, title: str, found: Bisected) -> None:
        super().__init__()
        self._what, self._found = title, found

    def compose(self) -> ComposeResult:
        found = self._found
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = label(self._what, 90)
            reverts = self.key_hint("bisected.revert", "{} reverts it · ") if found.decided else ""
            box.border_subtitle = Content.assemble(reverts, self.closes)
            probes = "\n".join(f"  {one.sentence}" for one in found.probes)
            sentence = found.sentence[:1].upper() + found.sentence[1:]
            yield LiteralStatic(f"{sentence}.\n\n{probes}\n", classes="dialog-text")
            yield VirtualStatic(DiffText(shortened(found.hunk, LONGEST)), id="diff")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_revert(self) -> None:
        """Close; the change is to be reverted."""
        if self.ready and self._found.decided:
            self.dismiss(True)

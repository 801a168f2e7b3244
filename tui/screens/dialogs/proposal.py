"""A proposal as a diff: what keeping it would change, with a key that keeps it and one that refuses it."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tui.commands.registry import binding, bindings
from tui.screens.dialogs.base import GRACE, Dialog
from tui.terminal.diff_view import LONGEST
from tui.terminal.sanitise import shortened
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.text.diff_wrap import DiffText
from tui.widgets.text.virtual_static import LongStatic

Decision = Literal["keep", "refuse"]


class ShowProposal(Dialog[Decision]):
    """Gives what the person decides; None where they close it, and the proposal waits on.

    Args:
        title: any text.
        diff: unified, any text.
        conflict: why it cannot be kept, any text; empty where it can.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("edit.compare", "cancel", priority=True),
        *bindings("page"),
        *bindings("proposal"),
    ]

    grace = GRACE

    def __init__(self, title: str, diff: str, conflict: str = "") -> None:
        super().__init__()
        self._what, self._diff, self._conflict = title, diff, conflict

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = label(self._what, 90)
            keeps = "" if self._conflict else self.key_hint("proposal.keep", "{} keeps it · ")
            refuses = self.key_hint("proposal.refuse", "{} refuses it · ")
            box.border_subtitle = Content.assemble(keeps, refuses, self.closes)
            if self._conflict:
                yield LiteralStatic(f"{self._conflict}\n", classes="dialog-text")
            yield LongStatic(DiffText(shortened(self._diff, LONGEST)), id="diff")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_decide(self, decision: Decision) -> None:
        """Close with the person's decision."""
        if self.ready and not (decision == "keep" and self._conflict):
            self.dismiss(decision)

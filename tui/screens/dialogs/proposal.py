"""A proposal as a diff: what keeping it would change, with keys that keep it, refuse it, and edit it first."""

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

Decision = Literal["keep", "refuse", "edit", "later"]
DOES = {"keep": "keeps it", "refuse": "refuses it", "edit": "edits it", "later": "leaves it"}
"""What the key of each decision does."""


class ShowProposal(Dialog[Decision]):
    """Gives what the person decides; None where they close it, and the proposal waits on.

    Args:
        title: any text.
        diff: unified, any text.
        conflict: why it cannot be kept, any text; empty where it can.
        edits: whether what is proposed can be edited.
        queued: whether another one may follow, so that this one can be left for later.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("edit.compare", "cancel", priority=True),
        *bindings("page"),
        *bindings("proposal"),
    ]

    grace = GRACE

    def __init__(
        self, title: str, diff: str, conflict: str = "", *, edits: bool = False, queued: bool = False
    ) -> None:
        super().__init__()
        self._what, self._diff, self._conflict = title, diff, conflict
        self._offered = {"keep": not conflict, "refuse": True, "edit": edits, "later": queued}

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = label(self._what, 90)
            hints = [
                self.key_hint(f"proposal.{what}", f"{{}} {does} · ")
                for what, does in DOES.items()
                if self._offered[what]
            ]
            box.border_subtitle = Content.assemble(*hints, self.closes)
            if self._conflict:
                yield LiteralStatic(f"{self._conflict}\n", classes="dialog-text")
            yield LongStatic(DiffText(shortened(self._diff, LONGEST)), id="diff")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_decide(self, decision: Decision) -> None:
        """Close with the person's decision."""
        if self.ready and self._offered[decision]:
            self.dismiss(decision)

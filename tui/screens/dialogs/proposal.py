"""A proposal as a diff: what keeping it would change, with keys that keep it, refuse it, and edit it first."""

from __future__ import annotations

import asyncio
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tui.commands.registry import binding, bindings
from tui.screens.dialogs.base import GRACE, Dialog
from tui.terminal.diff_view import LONGEST
from tui.terminal.sanitise import shortened
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.text.diff_wrap import DiffText
from tui.widgets.text.virtual_static import VirtualStatic

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
        stays: whether it stays open after a decision, which `decided` gives, until it is closed: `show` brings what
            comes next.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("edit.compare", "cancel", priority=True),
        *bindings("page"),
        *bindings("proposal"),
    ]

    grace = GRACE

    def __init__(
        self,
        title: str = "",
        diff: str = "",
        conflict: str = "",
        *,
        edits: bool = False,
        queued: bool = False,
        stays: bool = False,
    ) -> None:
        super().__init__()
        self._queued, self._stays = queued, stays
        self._box = VerticalScroll(classes="dialog wide")
        self._why, self._what = LiteralStatic(classes="dialog-text"), VirtualStatic(id="diff")
        self.show(title, diff, conflict, edits=edits)

    def show(self, title: str, diff: str, conflict: str = "", *, edits: bool = False) -> None:
        """Show a proposal; arguments as above. A key that was meant for the one before does not decide of it."""
        self._decision: asyncio.Future[Decision | None] = asyncio.get_running_loop().create_future()
        self._offered = {"keep": not conflict, "refuse": True, "edit": edits, "later": self._queued}
        self._box.border_title = label(title, 90)
        self._why.update(f"{conflict}\n")
        self._why.display = bool(conflict)
        self._what.update(DiffText(shortened(diff, LONGEST)))
        if self.is_mounted:
            self._show_keys()
            self._box.scroll_home(animate=False)
            self._appeared = None
            self.call_after_refresh(self._appear)

    def compose(self) -> ComposeResult:
        with self._box:
            yield self._why
            yield self._what

    def on_mount(self) -> None:
        super().on_mount()
        self._show_keys()
        self._box.focus()

    def _show_keys(self) -> None:
        hints = [
            self.key_hint(f"proposal.{what}", f"{{}} {does} · ")
            for what, does in DOES.items()
            if self._offered[what]
        ]
        self._box.border_subtitle = Content.assemble(*hints, self.closes)

    async def decided(self) -> Decision | None:
        """Wait for what the person decides of what is shown; None once it is closed."""
        return None if self._given else await self._decision

    @property
    def is_closing(self) -> bool:
        """Whether the person has decided of what is shown: what is typed now is for what comes then."""
        return self._decision.done()

    def action_decide(self, decision: Decision) -> None:
        """Take the person's decision. Editing decides nothing yet, so it needs no look at the proposal."""
        if (self.ready or decision == "edit") and self._offered[decision] and not self.is_closing:
            if self._stays:
                self._decision.set_result(decision)
            else:
                self.dismiss(decision)

    def action_undo_agent(self) -> None:
        """Undo the agent's last run; among several proposals close instead: what is said then names the persona."""
        if self._queued:
            self.dismiss(None)
        else:
            super().action_undo_agent()

    def dismiss(self, result: Decision | None = None) -> AwaitComplete:
        """Close with an answer."""
        if not self._decision.done():
            self._decision.set_result(None)
        return super().dismiss(result)

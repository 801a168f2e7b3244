"""The dialogs of connecting a model: the ways there are, a field for a key, and waiting for an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from tui.commands.registry import binding, first_key
from tui.screens.dialogs.base import GRACE, Dialog, DialogText, choosing
from tui.settings.schema import OFFLINE
from tui.widgets.plain_text import label
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import Row, VirtualList

WAYS = (
    Row("key", "Paste a key", tail="Claude, or your server"),
    Row("local", "Find a model server on this machine", tail="Ollama, LM Studio …"),
    Row("server", "Name a server and a model", tail="Messages API"),
    Row("model", "Name another model", tail="same server and key"),
    Row("offline", "Use the offline model", tail="built in"),
)
STAY = "stay"


def the_model(name: str) -> str:
    """Return a model's name as it stands in a sentence."""
    return "the offline model" if name == OFFLINE else name


class ConnectDialog(Dialog[str]):
    """Shows which model answers and the ways to another; gives the key of one of `WAYS`, or `STAY`, or None.

    Args:
        model: the name of the agent's model, any text.
        text: what is said above the ways, any text.
        greeting: whether this is the first start: then staying is offered as well, and first; and nobody asked for
            the dialog, so it makes way for what is typed.
        tried: the way that led nowhere, to which the mark goes; empty for the first one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("dialog.up"),
        binding("dialog.down"),
        binding("dialog.page_up", priority=True),
        binding("dialog.page_down", priority=True),
    ]

    grace = GRACE

    def __init__(self, model: str, text: str, *, greeting: bool = False, tried: str = "") -> None:
        super().__init__()
        self._model, self._text, self._greeting, self._tried = model, text, greeting, tried
        self.dismissed_for_typing = False

    def dismiss_for(self, event: events.Key | events.Paste) -> None:
        """Go before a text that is typed or pasted over a greeting: it was meant for what lies under it."""
        if self._greeting and (isinstance(event, events.Paste) or event.is_printable):
            self.dismissed_for_typing = True
            self.dismiss(None)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog switcher ways") as box:
            box.border_title = "Welcome" if self._greeting else "The agent's model"
            yield DialogText(self._text)
            yield VirtualList(id="choices", classes="gives")
            yield self.hint(("rows.open", "chooses"), choosing(self.keymap, ""), ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        rows = self.query_one(VirtualList)
        ways: tuple[Row, ...] = WAYS
        if self._greeting:
            first = Row(
                STAY, f"Begin with {the_model(self._model)}", tail=first_key("rows.open", self.keymap)
            )
            ways = (first, *(row for row in WAYS if row.key not in ("offline", "model")))
        rows.set_rows(ways)
        rows.select(self._tried)
        rows.styles.height = len(ways)
        rows.focus()

    def action_step(self, by: int) -> None:
        self.query_one(VirtualList).cursor += by

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        if self.ready:
            self.dismiss(event.key)


class SecretInput(LineInput):
    """A field whose text is never shown, and cannot be copied out of it."""

    sign = "•"

    def _drawn(self, text: str) -> str:
        return self.sign * len(text)

    def __repr__(self) -> str:
        return "SecretInput()"

    def action_copy(self) -> None:
        """A secret is not copied."""

    def action_cut(self) -> None:
        """Nor cut."""


class AskSecret(Dialog[str]):
    """Asks for a secret; gives it stripped, "" where none is needed, or None.

    Args:
        question: any text.
        explanation: any text.
        optional: whether Enter on the empty field is an answer.
        ascii_only: use no sign outside ASCII.
        kept: stands in the field at first, hidden as all of it; what is typed or pasted takes its place.
    """

    def __init__(
        self,
        question: str,
        explanation: str,
        *,
        optional: bool = False,
        ascii_only: bool = False,
        kept: str = "",
    ) -> None:
        super().__init__()
        self._question, self._explanation, self._kept = question, explanation, kept
        self._optional, self._ascii_only = optional, ascii_only

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = label(self._question, 70)
            yield DialogText(self._explanation)
            yield SecretInput(hint="paste it here; it is not shown", id="answer")
            yield self.hint("Enter accepts", ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        field = self.query_one(SecretInput)
        field.sign = "*" if self._ascii_only else "•"
        field.value = self._kept
        field.focus()
        field.action_select_all()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.end_refusal()

    @on(Input.Submitted)
    def _answered(self, event: Input.Submitted) -> None:
        event.stop()
        answer = event.value.strip()
        if answer or self._optional:
            self.dismiss(answer)
        else:
            self.refuse("Enter a key.")


class WaitDialog(Dialog[Any]):
    """Says what is waited for; gives what the work gives, or None where Esc ended it.

    Args:
        text: what is going on, any text.
        work: begun when the dialog appears, cancelled with it; raises nothing.
    """

    def __init__(self, text: str, work: Coroutine[Any, Any, Any]) -> None:
        super().__init__()
        self._text, self._work = text, work
        self._waiting: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = "One moment"
            yield DialogText(self._text)
            yield self.hint(("dialog.close", "stops"))

    def on_mount(self) -> None:
        super().on_mount()
        self._waiting = asyncio.create_task(self._finish())

    async def _finish(self) -> None:
        result = await self._work
        if self.is_attached:
            self.dismiss(result)

    def action_cancel(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        super().action_cancel()

    def on_unmount(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()

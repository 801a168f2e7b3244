"""The output pane: what the persona answered to a test input, whole, with what holds of it, and the answers before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from agent.core.model import Request
from agent.core.turns import AssistantTextTurn, ThinkingTurn
from tui.commands.registry import bindings, hint, keymap_of
from tui.outputs.labels import SOURCES, age, expected
from tui.terminal.sanitise import sanitise
from tui.widgets.clickable_hints import key_under, press, pressing
from tui.widgets.conversation import ConversationView, Glyphs
from tui.widgets.conversation.entries import AnswerEntry, ThinkingEntry
from tui.widgets.conversation.entry import Entry
from tui.widgets.conversation.lines import ADDED, BOLD, DIM, ERROR, HEADING, REMOVED, UNICODE, Line, TextRun
from tui.widgets.conversation.render_parts import Part, fixed_part, plain_parts
from tui.widgets.plain_text import LiteralStatic, label

if TYPE_CHECKING:
    from agent.outputs.expectations import Verdict
    from agent.outputs.output_log import Output

STREAMING = "streaming"
"""Begins the id of an output that is being made."""


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """An output with what holds of it now.

    Attributes:
        output: the answer, as far as it has arrived.
        verdicts: on each expectation of the test input.
        outdated: what it was made from that is another now.
        samples: how many outputs a run makes.
        is_kept: whether it stays when old outputs thin out.
        is_pinned: whether others are compared with it.
        tried_with: overrides and stage it was made with, in words.
    """

    output: Output
    verdicts: Sequence[Verdict] = ()
    outdated: Sequence[str] = ()
    samples: int = 1
    is_kept: bool = False
    is_pinned: bool = False
    tried_with: str = ""

    @property
    def is_streaming(self) -> bool:
        """Whether more of it may arrive."""
        return self.output.id.startswith(STREAMING)


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """What is sent for a test input.

    Attributes:
        request: as it goes to the model; None where that cannot be said.
        told: what is said of it, any text.
        trouble: why it cannot be sent, any text.
    """

    request: Request | None
    note: str = ""
    trouble: str = ""


class TextEntry(Entry):
    """A literal text.

    Args:
        text: any text.
        ink: how it is drawn.
        sign: stands before its first line.
        gap: whether an empty line goes before it.
    """

    def __init__(
        self, text: str, ink: int = 0, *, sign: str = "", sign_ink: int = 0, gap: bool = False
    ) -> None:
        super().__init__("")
        self._text, self._ink, self._gap = text, ink, gap
        self._first: list[TextRun] = [(f"{sign} ", sign_ink)] if sign else []

    def make_parts(self) -> list[Part]:
        rest: list[TextRun] = [("  ", 0)] if self._first else []
        gap = [fixed_part(lambda width: [Line()])] if self._gap else []
        return [*gap, *plain_parts(self.text(), self._ink, self._first, rest)]

    def weight(self) -> tuple[int, int]:
        return len(self._text), self._text.count("\n") + self._gap

    def text(self) -> str:
        return sanitise(self._text)


class OutputView(ConversationView, can_focus=False):
    """Shows entries, and an answer as it arrives."""

    def show(self, entries: Sequence[Entry], *, follow: bool = False) -> None:
        """Show these entries and no others, from the first or from the end."""
        self.clear()
        self.layout_model.fill(list(entries))
        self._streaming = {place for place, entry in enumerate(entries) if entry.grows}
        self._by_key = {entry.key: place for place, entry in enumerate(entries) if entry.key}
        self._refresh_all()
        self.draw_frame()
        if not follow:
            self.scroll_to(y=0)


class OutputPane(Vertical, can_focus=True):
    """One output of a test input, or what is sent for it.

    Args:
        glyphs: Unicode or ASCII signs.
        frames_per_second: how often arriving text is drawn at most.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("outputs")]

    focus_area = "outputs"

    class Requested(Message):
        """The person asks for what a command of "outputs" does, named by its last part; `text` is what was pasted."""

        def __init__(self, operation: str, text: str = "") -> None:
            super().__init__()
            self.operation = operation
            self.text = text

    def __init__(
        self,
        *,
        glyphs: Glyphs = UNICODE,
        frames_per_second: float = 20.0,
    ) -> None:
        super().__init__(id="output-pane")
        self._glyphs = glyphs
        self._view = OutputView(frames_per_second=frames_per_second, glyphs=glyphs)
        self._view.when_empty = ""
        self._hint = LiteralStatic("", classes="output-hint")
        self._shown: ShownOutput | ShownRequest | None = None
        self._is_raw = False

    def compose(self) -> ComposeResult:
        yield self._view
        yield self._hint

    @property
    def text(self) -> str:
        """What is in sight, as it came: the answer, or what is sent."""
        match self._shown:
            case ShownOutput(output=output):
                return output.error or output.text
            case ShownRequest(request=Request() as request):
                return "\n\n".join(f"{title}\n{text}" for title, text in _parts(request))
        return ""

    def show(self, title: str, shown: ShownOutput | ShownRequest, keys: Sequence[tuple[str, str]]) -> None:
        """Show an output, or what is sent; what is in sight already is not drawn again.

        Args:
            title: any text.
            shown: what to show.
            keys: the ids of commands with what they do now, for the line of hints.
        """
        self.border_title = label(title, 80)
        parts = [*keys, ("outputs.raw", "Markdown" if self._is_raw else "raw"), ("back", "close")]
        hints = hint(keymap_of(self.app), *parts)
        self._hint.update(Content(" · ").join(pressing(*one) for one in hints))
        before, self._shown = self._shown, shown
        if shown != before:
            self._draw(before)

    def _draw(self, before: ShownOutput | ShownRequest | None = None) -> None:
        """Draw what is in sight; of an answer that only grew since `before`, the rest."""
        now = self._shown
        if isinstance(now, ShownRequest):
            self._view.show(self._request_entries(now))
        elif now is not None:
            old = before.output if isinstance(before, ShownOutput) and before.is_streaming else None
            if (
                old is not None
                and not self._is_raw
                and now.output.id == old.id
                and now.output.text.startswith(old.text)
            ):
                self._view.extend_turn(old.id, now.output.text[len(old.text) :])
            else:
                follow = now.is_streaming or (old is not None and self._view.following)
                self._view.show(self._entries(now), follow=follow)

    def _entries(self, shown: ShownOutput) -> list[Entry]:
        output, glyphs = shown.output, self._glyphs
        entries: list[Entry] = [TextEntry(self._facts(shown), DIM)]
        if shown.outdated:
            note = f"Outdated: the {' and '.join(shown.outdated)} changed since."
            entries.append(TextEntry(note, HEADING, sign="!", sign_ink=HEADING | BOLD))
        signs = {"pass": (glyphs.done, ADDED), "fail": (glyphs.failed, REMOVED), "error": ("!", ERROR)}
        for one in shown.verdicts:
            sign, ink = signs[one.verdict]
            note = f"{expected(one.type, one.value)}: {one.reason}"
            entries.append(TextEntry(note, sign=sign, sign_ink=ink | BOLD))
        if output.thinking:
            entries.append(
                ThinkingEntry(ThinkingTurn(id=f"{output.id} thinking", content=output.thinking), glyphs)
            )
        entries.append(TextEntry(""))
        if output.error is not None:
            entries.append(TextEntry(output.error, ERROR, sign=glyphs.failed, sign_ink=ERROR))
        elif self._is_raw:
            entries.append(TextEntry(output.text))
        else:
            turn = AssistantTextTurn(id=output.id, content=output.text)
            entries.append(AnswerEntry(turn, glyphs, streaming=shown.is_streaming))
        return entries

    def _facts(self, shown: ShownOutput) -> str:
        output = shown.output
        parts = [f"version {output.version}", shown.tried_with, output.model]
        if shown.is_streaming:
            parts.append("running")
        elif output.source in SOURCES:
            parts.append(SOURCES[output.source])
        if not shown.is_streaming:
            parts.append(age(datetime.now(UTC), output.started_at))
        parts += [f"sample {output.sample} of {shown.samples}"] if shown.samples > 1 else []
        parts += [f"{output.seconds:.1f} s"] if output.seconds is not None else []
        from agent.models.prices import spent_parts

        parts += spent_parts(output.usage, output.cost)
        if output.stop_reason == "max_tokens":
            parts.append("cut at max_tokens")
        parts += ["kept"] * shown.is_kept + ["pinned"] * shown.is_pinned
        return f" {self._glyphs.point} ".join(part for part in parts if part)

    def _request_entries(self, shown: ShownRequest) -> list[Entry]:
        entries: list[Entry] = [TextEntry(shown.note, BOLD)] if shown.note else []
        if shown.trouble:
            entries.append(TextEntry(shown.trouble, ERROR, sign=self._glyphs.failed, sign_ink=ERROR))
        for title, text in _parts(shown.request) if shown.request is not None else ():
            entries += [TextEntry(title, HEADING | BOLD, gap=True), TextEntry(text)]
        return entries

    # -- keys ---------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        if key := key_under(event):
            self.focus()
            press(self.app, key)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Requested("paste", event.text))

    def action_ask(self, operation: str) -> None:
        self.post_message(self.Requested(operation))

    def action_raw(self) -> None:
        self._is_raw = not self._is_raw
        self._draw()
        self.post_message(self.Requested("hints"))

    def action_scroll_lines(self, by: int) -> None:
        self._view.scroll_to(y=self._view.scroll_offset.y + by)

    def action_page(self, by: int) -> None:
        self._view.page(by)

    def action_edge(self, end: bool) -> None:
        if end:
            self._view.follow()
        else:
            self._view.scroll_to(y=0)


def _parts(request: Request) -> list[tuple[str, str]]:
    """Return the parts of a request with their titles."""
    parts = [("System prompt", request.system)] if request.system else []
    return [*parts, *((str(one["role"]).capitalize(), str(one["content"])) for one in request.messages)]

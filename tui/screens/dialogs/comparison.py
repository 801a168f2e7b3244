"""Outputs side by side, with what differs marked: those of two versions input by input, or two outputs of one input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content

from tui.commands.registry import bindings
from tui.outputs.labels import SIGNS, SOURCES
from tui.screens.dialogs.base import Dialog
from tui.terminal.sanitise import one_line
from tui.widgets.plain_text import label
from tui.widgets.text.ellipsis import EllipsisStatic
from tui.widgets.text.side_by_side import PairLayout, SideBySide, SideBySideText, TextPair, column_names

if TYPE_CHECKING:
    from agent.outputs.comparison import Comparison
    from agent.outputs.output_log import Output
    from agent.outputs.report import InputReport
    from personas.persona import TestInput

HINT = (("comparison.next", "next"), ("comparison.previous", "previous"), ("comparison.words", "words/lines"))
NOTHING: Mapping[tuple[int, str], str | None] = {}


class ShowComparison(Dialog[None]):
    """Pairs of outputs to look at; more of them may come while it is open.

    Args:
        title: any text.
        names: what the two are called, any text.
        pairs: what is shown at first; None where that is being read.
        stop: ends what runs.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("page"), *bindings("comparison")]

    def __init__(
        self,
        title: str,
        names: tuple[str, str] = ("", ""),
        pairs: Sequence[TextPair] | None = None,
        stop: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__()
        self._stop, self._is_running = stop, False
        self._title, self._names = title, names
        self._sentence = "Reading…" if pairs is None else ""
        self._pairs = [PairLayout(one) for one in pairs or ()]
        self._shown = SideBySide([])
        self._by_words = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog whole") as box:
            box.border_title = label(self._title, 90)
            yield EllipsisStatic("", id="comparison-sentence")
            yield SideBySideText(id="comparison-names")
            with VerticalScroll(id="comparison-texts"):
                yield SideBySideText(id="comparison-pairs")
            yield self.hint(*HINT, ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        self._show()
        self.query_one(VerticalScroll).focus()

    def show_names(self, names: tuple[str, str]) -> None:
        """Say what the two are called."""
        self._names = names
        self._show()

    def show_sentence(self, sentence: str) -> None:
        """Say what was found, or how far it is."""
        self._sentence = sentence
        self._show()

    def show_pairs(self, pairs: Sequence[TextPair]) -> None:
        """Show these pairs; what is on the screen of them already stays as it is."""
        known = {one.pair.key: one for one in self._pairs}
        self._pairs = [
            old if (old := known.get(pair.key)) is not None and old.pair.is_same(pair) else PairLayout(pair)
            for pair in pairs
        ]
        self._show_texts()

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen, or will be in a moment."""
        return not self._given

    def show_comparison(
        self, found: Comparison, arriving: Mapping[tuple[int, str], str | None] = NOTHING, progress: str = ""
    ) -> None:
        """Show what there is of both.

        Args:
            found: the comparison of it.
            arriving: what is being made, by side (0 or 1) and input: the text so far, None where it has not begun.
            progress: how far the run is, empty where nothing runs.
        """
        self.show_sentence(f"Running: {progress}" if progress else found.finding.sentence)
        self.show_pairs([_pair(*row, arriving) for row in found.rows()])
        if bool(progress) != self._is_running and self.query(".dialog-hint"):
            self._is_running = bool(progress)
            stops = ("comparison.stop", "stops the run") if progress else ""
            self.say_hint(*HINT, stops, ("dialog.close", "closes"))

    def action_stop(self) -> None:
        """Stop what runs; what is there stays."""
        self._stop()

    def _show(self) -> None:
        if self.query(SideBySideText):  # it is composed
            self.query_one("#comparison-names", SideBySideText).update(column_names(self._names))
            sentence = self.query_one("#comparison-sentence", EllipsisStatic)
            sentence.update(label(self._sentence, 400))
            sentence.display = bool(self._sentence)
            self._show_texts()

    def _show_texts(self) -> None:
        current = self._shown.current
        self._shown = SideBySide(
            [one for pair in self._pairs for one in pair.stretches], by_words=self._by_words
        )
        self._shown.current = current
        for text in self.query("#comparison-pairs").results(SideBySideText):
            text.update(self._shown)

    def action_words(self) -> None:
        """Mark whole lines that differ, or words again."""
        self._by_words = not self._by_words
        self._show_texts()

    def action_step(self, by: int) -> None:
        """Go to the next difference or the one before, seen from the one looked at, or else from what is in sight."""
        box, text = self.query_one(VerticalScroll), self.query_one("#comparison-pairs", SideBySideText)
        rows = self._shown.differences(text.size.width)
        top, current = int(box.scroll_offset.y), self._shown.current
        if current is not None and current < len(rows) and top <= rows[current] < top + box.size.height:
            wanted = current + by
        else:
            before = sum(row < top for row in rows)
            wanted = before if by > 0 else before - 1
        if 0 <= wanted < len(rows):
            self._shown.current = wanted
            box.scroll_to(y=rows[wanted], animate=False)
            text.refresh()


def outputs_pair(texts: tuple[str, str]) -> TextPair:
    """Return two outputs of one input, any texts."""
    heads = (Content(_length(texts[0])), Content(_length(texts[1])))
    return TextPair("", Content(), heads, texts)


def _pair(
    test_input: TestInput,
    before: InputReport,
    after: InputReport,
    arriving: Mapping[tuple[int, str], str | None],
) -> TextPair:
    change = {("pass", "fail"): "  broke", ("fail", "pass"): "  fixed"}.get(
        (before.verdict, after.verdict), ""
    )
    title = Content.assemble(("── ", "dim"), (one_line(test_input.id, 60), "bold $text-accent"), change)
    heads, texts, is_whole = [], [], True
    for side, report in enumerate((before, after)):
        output = report.outputs.get(min(report.outputs, default=0))
        key = (side, test_input.id)
        if output is None and key in arriving:
            text, is_whole = arriving[key], False
            heads.append(Content("waits" if text is None else f"… {_length(text)}"))
            texts.append(text or "")
        else:
            heads.append(_head(report, output))
            texts.append("" if output is None else output.text)
    return TextPair(test_input.id, title, (heads[0], heads[1]), (texts[0], texts[1]), is_whole)


def _head(report: InputReport, output: Output | None) -> Content:
    """Return the line above an output: its verdict, its length, where it comes from, and why."""
    parts = [one_line(report.sentence, 200) if report.verdict != "none" or output is None else ""]
    if output is not None:
        parts = [_length(output.text), SOURCES.get(output.source or "", ""), *parts]
    return Content(f"{SIGNS[report.verdict]} {' · '.join(filter(None, parts))}".strip())


def _length(text: str) -> str:
    words = len(text.split())
    return f"{words} word{'' if words == 1 else 's'}"

"""The pane of the system prompt: the editor, its save state, and a banner for errors of the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from tui.outputs.findings import COLOURS, meaning
from tui.widgets.margin_signs import MarginSigns
from tui.widgets.plain_text import label
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.text.ellipsis import EllipsisStatic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.outputs.coverage import Coverage
    from tui.widgets.find_bar import FindBar

HINT = "No system prompt yet. Write one here, or ask the agent for it."
MARGIN = 4
"""Columns of the border that hold no text."""
NONE_OPEN = "No persona is open. /new makes one."

STATES = {
    "saved": "saved",
    "unsaved": "unsaved …",
    "conflict": "conflict",
    "failed": "not saved",
    "broken": "broken file",
    "gone": "no file",
}


class Banner(EllipsisStatic):
    """What is wrong with the file, or waits for a decision."""

    class Changed(Message):
        """It takes more rows than before, or fewer."""

    def on_resize(self) -> None:
        self.post_message(self.Changed())

    def on_hide(self) -> None:
        self.post_message(self.Changed())


class PromptPane(Vertical):
    """The system prompt of the open persona."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def __init__(self, id: str = "prompt-pane") -> None:
        super().__init__(id=id)
        self.border_title = "System prompt"
        self._parts: list[str] = []
        self.banner = Banner("", id="prompt-banner")
        self._coverage: Coverage | None = None
        self._signs: Mapping[str, str] = {}
        self.editor = DocumentEditor(id="prompt")
        self._margin = MarginSigns(self.editor)
        self.finder: FindBar | None = None
        """Where text is looked for; None before it is first."""

    def on_resize(self) -> None:
        """What fits below the prompt depends on its width."""
        self._show_parts()

    def _show_parts(self) -> None:
        """Show the state below the prompt; if room is short, whether it is saved stays."""
        parts = self._parts
        if parts and (found := self._found_here()):
            room = self.size.width - MARGIN - len(parts[-1]) - 3
            self.border_subtitle = Content.assemble(label(found, max(room, 10)), " · ", parts[-1])
            return
        while len(parts) > 1 and len(" · ".join(parts)) > self.size.width - MARGIN:
            parts = parts[:-2] + parts[-1:]
        self.border_subtitle = label(" · ".join(parts))

    def compose(self) -> ComposeResult:
        yield self.editor

    @property
    def focus_target(self) -> DocumentEditor:
        """What gets the keys."""
        return self.editor

    @property
    def focus_area(self) -> str:
        """What the key hints are for while the focus is here."""
        return "find" if self.finder is not None and self.finder.has_keys else "prompt"

    # -- finding ----------------------------------------------------------------------------------------

    @property
    def is_finding(self) -> bool:
        """Whether the fields to find and replace are shown."""
        return self.finder is not None and self.finder.display

    async def find(self) -> None:
        """Go to the field of what to find, from there to that of what takes its place."""
        if self.finder is None:
            from tui.widgets.find_bar import FindBar

            self.finder = FindBar(self.editor)
            await self.mount(self.finder, before=self.editor)
        self.finder.begin()

    def end_finding(self) -> None:
        """Go back to the text."""
        if self.finder is not None:
            self.finder.close()

    # -- the coverage -----------------------------------------------------------------------------------

    def show_coverage(self, found: Coverage | None, signs: Mapping[str, str]) -> None:
        """Show what was found of the prompt's pieces, until the prompt is another; None for nothing."""
        self._coverage, self._signs = found, signs
        if not self._margin.is_attached:
            self.mount(self._margin)
        self._check_coverage()
        self._show_parts()

    @on(DocumentEditor.Changed)
    def _text_changed(self) -> None:
        self._check_coverage()
        if self.finder is not None and self.finder.display:
            self.finder.show_count()

    def _check_coverage(self) -> None:
        """The signs go with the prompt they were found for."""
        if (found := self._coverage) is not None and self.editor.raw != found.prompt:
            self._coverage = found = None
            self._show_parts()
        self._margin.show(
            {
                one.piece.line - 1: (self._signs[one.finding], COLOURS[one.finding])
                for one in (found.pieces if found is not None else ())
            }
        )

    @on(DocumentEditor.SelectionChanged)
    def _cursor_moved(self) -> None:
        if self._coverage is not None:
            self._show_parts()

    @on(MarginSigns.Clicked)
    def _go_to_line(self, event: MarginSigns.Clicked) -> None:
        event.stop()
        self.editor.focus()
        self.editor.move_cursor((event.line, 0))

    def _found_here(self) -> str:
        """Return what was found of the piece at the cursor, the smallest where there are several; empty for none."""
        line = self.editor.cursor_location[0] + 1
        pieces = self._coverage.pieces if self._coverage is not None else ()
        here = [one for one in pieces if one.piece.line <= line <= one.piece.end]
        return f"{self._signs[here[-1].finding]} {meaning(here[-1])}" if here else ""

    # -- the state ----------------------------------------------------------------------------------------

    def show_state(self, name: str, state: str, banner: str) -> None:
        """Show the persona's name, the save state and the banner.

        Args:
            name: the persona's name, any text; empty when none is open.
            state: as `DocumentController.state`.
            banner: what is wrong or waits, any text; empty for nothing.
        """
        self.border_title = label(f"{name} · system prompt", 80) if name else "System prompt"
        editor = self.editor
        parts = []
        if state in STATES:
            if editor.text:
                lines = editor.document.line_count
                parts = [f"{lines} line{'s' * (lines != 1)}", f"~{estimate_tokens(editor.text)} tokens"]
            parts.append(STATES[state])
        self._parts = parts
        self._show_parts()
        self.set_class(state in ("conflict", "failed", "broken", "gone"), "-trouble")
        self.set_class(state == "unsaved", "-unsaved")
        editor.set_placeholder({"": NONE_OPEN, "reading": "Reading…", "broken": ""}.get(state, HINT))
        if banner and self.banner.parent is None:
            self.mount(self.banner, before=editor)  # when first needed, which makes the first paint faster
        self.banner.display = bool(banner)
        if banner:
            self.banner.update(banner)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model makes of `text`."""
    plain = len(text.encode("ascii", "ignore"))
    return round(plain / 4 + (len(text) - plain) / 1.5)

"""What the open persona takes from the library, as a list in sequence: its links, what they weigh, what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from tui.commands.registry import bindings, hint, keymap_of, sentence
from tui.widgets.clickable_hints import key_under, press, pressing
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.virtual_list import Row, VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.document.composition import Composition, LinkRow

HINT_ROWS = 3
"""Rows that are kept for the line of hints while the pane has the keys."""


class CompositionPane(Vertical):
    """The links of the open persona. One row high while it has none."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("composition")]

    focus_area = "composition"

    class Requested(Message):
        """The person asks for what a command of "composition" does, or to `open` a row."""

        def __init__(self, operation: str) -> None:
            super().__init__()
            self.operation = operation

    def __init__(self, id: str = "composition") -> None:
        super().__init__(id=id)
        self._links: Sequence[LinkRow] = ()
        self._is_filled = False  # the list is mounted after the first paint
        self.border_title = "Composition"

    async def fill(self) -> None:
        """Mount the list; done after the first paint, which it would hold up."""
        keymap = keymap_of(self.app)
        none = sentence("composition.add", keymap, "Nothing linked. {} links something.", "Nothing linked.")
        rows = VirtualList(id="links", empty=none, choose_on_click=False)
        hint_parts = [("rows.open", "open"), ("composition.add", "link"), ("composition.remove", "unlink"),
                ("composition.up", ""), ("composition.down", "move"), ("composition.priority", "priority"),
                ("composition.stage", "stage"), ("composition.try", "try with"),
                ("composition.each_stage", "run each stage"), ("composition.compiled", "compiled")]  # fmt: skip
        hints = Content(" · ").join(pressing(text.strip(), key) for text, key in hint(keymap, *hint_parts))
        await self.mount_all([rows, LiteralStatic(hints, classes="links-hint")])
        self._is_filled = True
        self._fit()

    @property
    def rows(self) -> VirtualList:
        """The list."""
        return self.query_one(VirtualList)

    @property
    def focus_target(self) -> VirtualList | None:
        """What gets the keys."""
        return self.rows if self._is_filled else None

    @property
    def tab_mark(self) -> str:
        """How many links there are, for the tab."""
        return str(sum(link.is_own for link in self._links) or "")

    @property
    def link(self) -> LinkRow | None:
        """What the row under the cursor stands for."""
        key = self.rows.key if self._is_filled else None
        return next((link for link in self._links if link.key == key), None)

    def show(self, composition: Composition | None, links: Sequence[LinkRow]) -> None:
        """Show what a persona is made of; None where it links nothing."""
        if not self._is_filled:
            return
        self._links = links
        width = max((len(link.what) for link in links), default=0)
        self.rows.set_rows([_row(link, width) for link in links])
        tried = composition.tried_with if composition is not None else ""
        self.border_title = label(f"Composition · trying {tried}" if tried else "Composition", 80)
        parts = []
        if composition is not None:
            stage = composition.assembled.stage
            parts = [f"stage {stage.name}"] if stage is not None else []
            parts.append(f"~{sum(link.tokens for link in links)} tokens")
        self.border_subtitle = label(" · ".join(parts))
        self.set_class(composition is not None, "-linked")
        self._fit()

    def _fit(self) -> None:
        """Be as high as the rows need, where it stands above another pane."""
        if not self.screen.has_class("-wide"):
            self.styles.clear_rule("height")
            return
        is_in = self.has_focus_within
        rows = max(1, len(self._links)) + (HINT_ROWS if is_in else 0)
        self.styles.height = rows + 2 if self._links or is_in else 1

    def on_resize(self) -> None:
        self._fit()

    def on_descendant_focus(self) -> None:
        self._fit()

    def on_descendant_blur(self) -> None:
        self._fit()

    # -- what is pressed ------------------------------------------------------------------------------------

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.post_message(self.Requested("open"))

    def on_click(self, event: events.Click) -> None:
        if key := key_under(event):
            self.screen.set_focus(self.rows)  # at once: the key is for the list
            press(self.app, key)

    def action_ask(self, operation: str) -> None:
        self.post_message(self.Requested(operation))


def _row(link: LinkRow, width: int) -> Row:
    tail = [
        link.level,
        f"p{link.priority}" if link.priority else "",
        f"~{link.tokens}" if link.tokens else "",
    ]
    description = (
        f"{link.name}: {link.description}"
        if link.name and link.description and link.kind != "note"
        else link.name or link.description
    )
    return Row(
        link.key,
        link.description if link.kind == "note" else description,
        head=link.what,
        tail=" · ".join(part for part in tail if part),
        tone="error" if link.is_wrong else "dim" if link.level == "replaced" else "",
        head_cells=width,
    )

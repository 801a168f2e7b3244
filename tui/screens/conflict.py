"""Two texts that changed in the same lines, side by side, to choose from place by place."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button

from tui.draft import Choice, Clash, resolve
from tui.screens.dialog import GRACE, Dialog
from tui.widgets.literal import LiteralButton, LiteralStatic, label


class ChooseText(Dialog[str]):
    """Shows each place where both sides changed; gives the text put together, or None for not now.

    Args:
        clash: what met.
        ours: what to call the text of the editor.
        theirs: what to call the text on disk.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "choose('ours')", "Yours", show=False),
        Binding("2", "choose('theirs')", "Theirs", show=False),
        Binding("3", "choose('both')", "Both", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    grace = GRACE

    def __init__(self, clash: Clash, *, ours: str = "Yours", theirs: str = "On disk") -> None:
        super().__init__()
        self._clash = clash
        self._titles = (ours, theirs)
        self._choices: list[Choice] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield LiteralStatic("", id="conflict-where", classes="dialog-text")
            with Horizontal(id="conflict-sides"):
                for side, title in zip(("ours", "theirs"), self._titles, strict=True):
                    with VerticalScroll(id=f"side-{side}", can_focus=False) as box:
                        box.border_title = label(title, 40)
                        yield LiteralStatic("", id=f"text-{side}")
            with Horizontal(classes="dialog-buttons"):
                yield LiteralButton("1 Keep mine", id="ours", compact=True)
                yield LiteralButton("2 Take theirs", id="theirs", compact=True)
                yield LiteralButton("3 Both", id="both", compact=True)
            yield LiteralStatic(
                "Nothing is lost: the other text stays in the log · Esc decides later", classes="dialog-hint"
            )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(".dialog").border_title = "Both changed the same lines"
        self.query_one("#ours", Button).focus()
        self._show()

    def _show(self) -> None:
        hunk = self._clash.hunks[len(self._choices)]
        place = f"Place {len(self._choices) + 1} of {len(self._clash.hunks)}, line {hunk.line}"
        was = f" · it was: {hunk.base.strip()}" if hunk.base.strip() else ""
        self.query_one("#conflict-where", LiteralStatic).update(label(place + was, 200))
        for side, text in (("ours", hunk.ours), ("theirs", hunk.theirs)):
            shown = text.rstrip("\n") or "(nothing: the lines are removed)"
            self.query_one(f"#text-{side}", LiteralStatic).update(shown)

    def action_choose(self, choice: Choice) -> None:
        if not self.ready:
            return
        self._choices.append(choice)
        if len(self._choices) == len(self._clash.hunks):
            self.dismiss(resolve(self._clash, self._choices))
        else:
            self._show()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_choose(event.button.id)  # type: ignore[arg-type]

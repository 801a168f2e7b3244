"""One text of a document that a person edits: what is stored, what stands in the editor, and where both conflict.

Pure: no widgets, no files, no timers. An editor binds itself as the slot's view; the document is told of each edit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tui.document import debounce
from tui.drafts.draft import FIELD, INPUT, PROMPT

if TYPE_CHECKING:
    from personas.persona import Persona
    from tui.document.merge import MergeConflict


class SlotView(Protocol):
    """What shows a slot."""

    def slot_changed(self, source: str | None) -> None:
        """The slot's text was changed by something else than this view. `source`: as in `TextSlot.rebase`."""


class TextSlot:
    """One text.

    Attributes:
        id: which text of its document: `prompt`, `input:<id>` or `field:<name>`.
        base: the stored text that `text` grew from.
        text: the text as the person edits it.
        conflict: both sides, where the stored text and the person's changed in the same lines.
        sending: the text that is being stored just now.
        error: why it could not be saved the last time; empty where it could.
        view: what shows it; None for nothing.
    """

    def __init__(
        self, id: str, stored: str = "", *, on_edit: Callable[[TextSlot], None] | None = None
    ) -> None:
        self.id = id
        self.base = self.text = stored
        self.conflict: MergeConflict | None = None
        self.sending: str | None = None
        self.error = ""
        self.view: SlotView | None = None
        self._on_edit = on_edit
        self._before_agent: str | None = None  # what was stored before the agent changed the typed lines
        self._typed: tuple[str, float] | None = (
            None  # the text where the typing began, and when the last key came
        )

    def __repr__(self) -> str:
        return f"TextSlot({self.id!r}, base={self.base!r}, text={self.text!r})"

    @property
    def dirty(self) -> bool:
        """Whether the text is not what is stored."""
        return self.text != self.base

    @property
    def merges(self) -> bool:
        """Whether changes of both sides are merged by lines; a settings field has one line."""
        return not self.id.startswith(FIELD)

    @property
    def is_typed_in(self) -> bool:
        """Whether the person is typing just now."""
        return self._typed is not None and debounce.clock() - self._typed[1] <= debounce.TYPING

    # -- the person -------------------------------------------------------------------------------------

    def edit(self, text: str) -> None:
        """The person changed the text."""
        if text == self.text:
            return
        self._typed = (self._typed[0] if self._typed and self.is_typed_in else self.text), debounce.clock()
        self.text = text
        if not self.merges:
            self.conflict = None
        if self._on_edit is not None:
            self._on_edit(self)

    def stop_typing(self) -> None:
        """The person left the text."""
        self._typed = None

    # -- the store --------------------------------------------------------------------------------------

    def begin_with(self, base: str, text: str) -> None:
        """Hold a text that could not be saved yet, grown from the stored text `base`."""
        self.base, self.text = base, text
        self.conflict = self._before_agent = self._typed = None
        self._show("")

    def saved(self, sent: str, stored: str) -> None:
        """`sent` was stored; with other people's changes the stored text is `stored`. What was typed since stays."""
        self.sending, self.error, self._before_agent = None, "", None
        typed_on = self.text != sent
        self.base, self.conflict = sent, None
        if not self.merges:
            self.base = stored
            if not typed_on:
                self._set(stored)
        elif stored != sent:
            self.rebase(stored)

    def rebase(self, stored: str, *, source: str | None = "", by_agent: bool = False) -> MergeConflict | None:
        """Take in what is stored now, merged with what is typed; return the conflict where both touch.

        With a conflict the text stays as it is.

        Args:
            stored: the stored text.
            source: who changed it, so that a view can make one undo step of it: an agent's run, else empty; None
                where it is to be no undo step.
            by_agent: who wrote it may not have seen what is typed just now, though that was saved: where it touches
                that, what is typed counts as unsaved.
        """
        if stored == self.base and self.conflict is None:
            return None
        if not self.merges:
            return self._absorb_value(stored)
        from tui.document.merge import MergeConflict, merge_texts, touch  # not before the first paint

        base = saved = self.base
        if by_agent and self._typed is not None and self.is_typed_in:
            start = self._typed[0]
            base = start if touch(saved, start, stored) else saved
        elif stored == self._before_agent:
            base = stored  # the agent's change was taken back
        merged = merge_texts(base, self.text, stored)
        if isinstance(merged, MergeConflict):
            self.conflict, self.base = merged, base
            if base != saved:
                self._before_agent = saved
            return merged
        if self._typed is not None:
            start = merge_texts(saved, self._typed[0], stored)  # type: ignore[assignment]
            self._typed = (start if isinstance(start, str) else stored), self._typed[1]
        self.base, self.conflict, self._before_agent = stored, None, None
        self._set(merged, source)
        return None

    def _absorb_value(self, stored: str) -> MergeConflict | None:
        """The same for a value of one line: what is typed stays, and is not stored before the person goes on with it."""
        was_dirty, before = self.dirty, self.base
        self.base = stored
        if not was_dirty:
            self.conflict = None
            self._set(stored)
        elif self.text == stored:
            self.conflict = None
        elif before != stored:
            from tui.document.merge import MergeConflict

            self.conflict = MergeConflict(before, self.text, stored, ())
        return self.conflict

    def prepend(self, typed: str) -> None:
        """What was typed before the text was read goes in front of it, where the cursor stood."""
        self.edit(typed + self.text)

    def take(self, text: str, base: str) -> None:
        """Show a text that the person chose; `base` is what is stored."""
        self.base, self.conflict, self._before_agent, self._typed = base, None, None, None
        self.error = ""
        self._set(text)

    def _set(self, text: str, source: str | None = "") -> None:
        if text != self.text:
            self.text = text
            self._show(source)

    def _show(self, source: str | None) -> None:
        if self.view is not None:
            self.view.slot_changed(source)


def stored_texts(persona: Persona) -> dict[str, str]:
    """Return the stored text of each slot of a persona, or of a document of the library, by slot id."""
    if "/" in persona.id:
        from tui.document.library_slots import texts_of

        return texts_of(persona)
    model = persona.model
    fields = {
        "name": persona.name,
        "description": persona.description,
        "tags": ", ".join(persona.tags),
        "model": model.name or "",
        "effort": model.effort or "",
        "max_tokens": str(model.max_tokens) if model.max_tokens is not None else "",
    }
    return {
        PROMPT: persona.system_prompt,
        **{INPUT + each.id: each.content for each in persona.test_inputs},
        **{FIELD + name: value for name, value in fields.items()},
    }


def in_words(slot_id: str, document_id: str) -> str:
    """Return what a slot of a document is called in a sentence: "the system prompt"."""
    kind, _, name = slot_id.partition(":")
    text = "the text" if "/" in document_id else "the system prompt"
    return {"input": f"the test input {name}", "field": f"the field {name}"}.get(kind, text)

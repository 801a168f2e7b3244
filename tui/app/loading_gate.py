"""The first moments: what is pressed before the persona and its conversation are read waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from tui.commands.registry import sentence

if TYPE_CHECKING:
    from tui.screens.main.screen import MainScreen
else:
    MainScreen = Any

AT_ONCE = frozenset({"help", "program_settings", "choose_model", "redraw", "copy_or_stop", "leave", "back"})
"""Actions that work on nothing of the home."""

OF_CONVERSATION = frozenset(
    {
        *(
            "output",
            "pin_output",
            "enlarge_output",
            "find",
            "recall",
            "export_conversation",
            "external_editor",
        ),
        *("clear_conversation", "unclear_conversation", "stop_agent", "task_mode", "continue_task"),
    }
)
"""Actions that work on the conversation; all others work on the persona or on what stands beside it."""

TO_FIELDS = frozenset({"go('settings')", "next_pane", "previous_pane"})
"""Actions that may lead to the fields of the settings, which are made after the persona is shown."""


NOT_TAKEN = "What you typed cannot go where you meant it: it stands in the chat bar."


class BeingRead(Screen[None]):
    """What is read of the home so far, for what has to wait for it."""

    _persona_is_read = False
    _unread = ""

    @property
    def _read(self) -> MainScreen:
        return self  # type: ignore[return-value]

    def persona_is_read(self) -> None:
        """The first persona is shown, or there is none: what was pressed for it goes on."""
        self._persona_is_read, self._unread = True, ""
        self._read.program.take_keys()

    def nothing_is_read(self, why: str) -> None:
        """The home could not be read, which was told: what is pressed cannot be done, and text goes into the chat bar."""
        self._unread = why
        self._read.program.give_held_back()

    def conversation_is_read(self) -> None:
        """A conversation is shown, or cannot be: what was pressed for it goes on."""
        self._read.program.take_keys()

    @property
    def awaits_persona(self) -> bool:
        """Whether keys for the panes have to wait for the first persona."""
        return not self._persona_is_read and not self._unread

    def lacks(self, action: str) -> bool:
        """Whether what an action works on is not read yet."""
        name = action.partition("(")[0].rpartition(".")[2]
        if name in AT_ONCE or (name == "next_pane" and self._read.conversing.bar_focused):
            return False  # what Tab does in the chat bar is decided there
        if not self._persona_is_read:
            return True
        if action in TO_FIELDS and self._read.settings.first_field is not None:
            return False
        return name in OF_CONVERSATION | TO_FIELDS and not self._read.conversing.settled.is_set()

    def once_read(self, action: str, deed: Callable[[], object], text: str = "") -> object:
        """Do what an action stands for once what it works on is read; where that failed, say so instead.

        Args:
            action: the action.
            deed: does it; what it returns is awaited where that can be.
            text: what was typed for it, which comes back where it cannot be done.

        Returns:
            What the deed returned; None where it was not done yet.
        """
        if not self.lacks(action):
            return deed()
        if self._unread:
            if text:
                self._read.chat_bar.put_back(text)
            self._read.tell(f"That cannot be done: {self._unread} This is tried again.", error=True)
        else:
            self._read.program.keep_deed(lambda: self.once_read(action, deed, text), text)
        return None

    def do(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do what a key or command asks for; those that were pressed behind it while the home was read wait for it."""
        self._read.program.behind(self._read.start(work))

    def say_held(self) -> None:
        """What was pressed has waited for a while: say so."""
        what = "conversation" if self._persona_is_read else "persona"
        self._read.tell(f"The {what} is still being read. What you press is kept, and done once it is there.")

    def say_slow(self) -> None:
        """What was asked for takes a while: say that what is pressed waits, and how that is ended."""
        how = sentence(
            "back", self._read.keymap, "; {} ends the waiting and puts your text into the chat bar"
        )
        self._read.tell(f"What you asked for takes a while. What you press is kept, and done behind it{how}.")

    def give_text(self, text: str, why: str = "") -> None:
        """Put what was typed for a pane that cannot take it into the chat bar, below what is there, and say so.

        `why`: what is said before that, and where there is no text.
        """
        from tui.drafts.chat_drafts import below

        if text:
            bar = self._read.chat_bar
            bar.set_draft(below(bar.draft, text))
            why = f"{why} What you typed stands in the chat bar." if why else NOT_TAKEN
        self._read.tell(why, error=True)

    async def tell_left_texts(self) -> None:
        """Say where text is that no home took when an earlier program ended, until the person has dealt with it."""
        from tui.app.emergency_save import left_texts, told_of

        if left := told_of(await asyncio.to_thread(left_texts)):
            self._read.tell(left[:1].upper() + left[1:], error=True)

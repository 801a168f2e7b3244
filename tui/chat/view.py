"""What the conversation's controllers need of the program, the screen, the panel and the chat bar; they know no widget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from agent.core.events import Event
    from agent.core.model import Model
    from agent.core.turns import Turn
    from agent.jobs.job import Question
    from personas.persona import Persona
    from tui.chat.chat_bar_labels import Mode
    from tui.chat.input_history import InputHistory
    from tui.chat.panel_state import PanelState
    from tui.settings.schema import Settings
    from tui.terminal.capabilities import Capabilities


class Queued(NamedTuple):
    """A queued message; `later`: for the end of the run, not for the end of the present tool call."""

    key: str
    text: str
    later: bool


class Timer(Protocol):
    """A timer of the screen."""

    def stop(self) -> None:
        """Stop the timer."""


class ChatProgram(Protocol):
    """The running program."""

    @property
    def is_running(self) -> bool:
        """Whether the program runs: its screens exist."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop it runs in."""

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""

    @property
    def capabilities(self) -> Capabilities:
        """What the terminal can do."""

    @property
    def model_name(self) -> str:
        """What the agent's model is called."""

    def model(self) -> Model:
        """Return the agent's model; may block."""

    async def look_at_settings(self) -> None:
        """Use the settings file as it is now."""

    def announce(self, what: str) -> None:
        """Tell a person who looks elsewhere what has happened, if they want that."""


class TurnsView(Protocol):
    """The turns on the screen."""

    when_empty: str
    """The text that an empty conversation shows."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is shown."""

    @property
    def following(self) -> bool:
        """Whether the view follows the end."""

    def load(self, turns: Iterable[Turn]) -> None:
        """Show these turns and no others, from the end."""

    def clear(self) -> None:
        """Show nothing."""

    def feed(self, event: Event) -> None:
        """Show an event of a run."""

    def end_turn(self, turn: Turn) -> None:
        """Show a turn that is whole."""

    def add_notice(self, text: str, *, error: bool = False) -> None:
        """Show a sentence that is no part of the conversation."""

    def follow(self) -> None:
        """Go to the end and stay there."""

    def page(self, pages: int) -> None:
        """Scroll by so many pages, up when negative."""

    def search(self, text: str) -> int:
        """Go to where a text was said last; return how often it was."""

    def view_state(self) -> Any:
        """Return where the view stands and what is open in it, for `restore_view_state`."""

    def restore_view_state(self, kept: Any) -> None:
        """Stand as before."""

    def start_reading(self) -> None:
        """Show a cursor, which keys move."""

    def stop_reading(self) -> None:
        """Show no cursor."""


class PanelView(Protocol):
    """The panel with the turns and a question."""

    @property
    def conversation(self) -> TurnsView:
        """The turns."""

    @property
    def is_mounted(self) -> bool:
        """Whether it is on the screen, shown or hidden."""

    @property
    def has_answers(self) -> bool:
        """Whether the question has answers to pick from."""

    @property
    def may_answer(self) -> bool:
        """Whether the question was visible long enough for a key to be meant for it."""

    @property
    def keys_in_pane(self) -> bool:
        """Whether a pane has the keys, and not the chat bar or the panel."""

    def set_title(self, text: str) -> None:
        """Show a title."""

    def show_state(self, state: PanelState) -> None:
        """Show or hide it, and whether it is pinned."""

    def enlarge(self, enlarged: bool) -> None:
        """Take the full height, or fit the content."""

    def leave_room(self, leave: bool) -> None:
        """Leave the panes room also while something is asked."""

    def cover_soon(self) -> None:
        """After the layout, tell the editors which of their rows it covers; nobody types there."""

    def ask(self, question: Question | None) -> None:
        """Show a question; None hides it."""

    def ask_reason(self) -> None:
        """No was picked: say how to give a reason."""

    def press(self, key: str) -> None:
        """Take a key of the empty chat bar for the answers."""

    def scroll_question(self, pages: int) -> bool:
        """Scroll a question that is longer than its room; return whether it is."""

    def show_way_back(self, text: str) -> None:
        """Say in the question how one comes back to it; empty for what is said else."""


class BarView(Protocol):
    """The chat bar."""

    @property
    def has_keys(self) -> bool:
        """Whether what is typed goes there."""

    @property
    def draft(self) -> str:
        """What is written and not sent."""

    @property
    def unsent(self) -> str:
        """All unsent text, also the draft while Up shows an earlier message."""

    @property
    def mode(self) -> Mode:
        """What sending does now."""

    @property
    def asked(self) -> str:
        """The id of the open question, empty for none."""

    @property
    def sent(self) -> InputHistory:
        """What Up brings back."""

    def set_draft(self, text: str, *, older: bool = False) -> None:
        """Replace the draft; `older`: it was begun before the open question."""

    def begin_draft(self, text: str) -> None:
        """Show the draft of another conversation, with an empty undo history."""

    def restore_message(self, text: str, *, mine: bool = False) -> None:
        """Put an unsent message back, before the draft; `mine`: it was meant for the question that is asked."""

    def stash(self) -> bool:
        """Clear the draft into the history; return whether there was any."""

    def set_sent(self, messages: list[str]) -> None:
        """Set the history, oldest first; the draft stays."""

    def take_kept_ups(self) -> None:
        """The history is loaded: handle the Up keys that were pressed before."""

    def set_mode(
        self,
        mode: Mode,
        question: str = "",
        *,
        asked: str = "",
        options: bool = False,
        mine: bool = False,
        live: bool = True,
    ) -> None:
        """Set what sending does; for the arguments, see `ChatBar`."""

    def set_task_mode(self, on: bool) -> None:
        """Set whether messages begin tasks."""

    def set_hint(self, text: str, *, can_continue: bool = False) -> None:
        """Show a text where nothing is written; `can_continue`: the button then continues the task."""

    def set_queued(self, queued: list[Queued]) -> None:
        """Show the queued messages, oldest first."""

    def set_trace(self, text: str) -> None:
        """Show a text above the bar: what the agent did last; empty for none."""

    def show_output_button(self, shown: bool) -> None:
        """Offer to show the panel, or not."""


class ChatHost(Protocol):
    """The screen that a conversation is shown on."""

    @property
    def program(self) -> ChatProgram:
        """The program."""

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something beside the screen."""


class ChatView(ChatHost, Protocol):
    """The main screen, where the agent's conversation is shown beside what it is about."""

    @property
    def chat_bar(self) -> BarView:
        """Where messages are written."""

    @property
    def talk_draft(self) -> str:
        """What is written in the bar of a talk with a persona and not sent."""

    def start_once(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run something beside the screen, unless the last time is still under way."""

    async def confirm(
        self,
        question: str,
        text: str,
        *,
        action: str,
        keep: str,
        danger: bool = False,
        reading: Coroutine[Any, Any, str | None] | None = None,
    ) -> bool:
        """Ask whether something is to be done.

        `reading` gives what is said instead of `text` once that is known, empty for no change; None where there is
        nothing to ask, and the question goes.
        """

    def focus_chat(self) -> None:
        """Give the keys to the chat bar."""

    def set_focus(self, widget: None) -> None:
        """Take the keys from every widget."""

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> Timer:
        """Call something in so many seconds."""

    def set_interval(self, interval: float, callback: Callable[[], Any]) -> Timer:
        """Call something every so many seconds."""

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called."""

    def note_persona(self, persona: Persona) -> None:
        """Another persona than the open one changed."""

    def show_badges(self) -> None:
        """Show which personas have news, and what keys do now."""

"""The panel's state machine: when what the agent says is hidden, visible for a while, or pinned, and in full height.

Pure: no widgets, no timers. Whoever owns the screen reports what happens, reads `state`, keeps one timer armed
for `next_deadline()` and calls `expire()` when it rings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from enum import Enum


class PanelState(Enum):
    """What the person sees of the panel."""

    HIDDEN = "hidden"
    VISIBLE = "visible"
    PINNED = "pinned"


class Panel:
    """Hidden, visible or pinned.

    Args:
        clock: monotonic seconds.
        delay: seconds without new content, stream or interaction after which a visible panel hides.
        reading_rate: characters a second a person reads; unread text then adds its reading time to the
            delay. 0: no such time.

    Every method that reports an event returns the state after it.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        delay: float = 5.0,
        reading_rate: float = 0.0,
    ) -> None:
        self._clock = clock
        self.delay = delay
        self.reading_rate = reading_rate
        self._state = PanelState.HIDDEN
        self._enlarged = False
        self._in_flight = 0
        self._asks: set[Hashable] = set()
        self._error_held = False
        self._reads_back = False
        self._deadline = 0.0
        self._blurred_at: float | None = None
        self._unread = 0

    @property
    def state(self) -> PanelState:
        return self._state

    @property
    def shown(self) -> bool:
        """Whether the panel is on the screen at all."""
        return self._state is not PanelState.HIDDEN

    @property
    def enlarged(self) -> bool:
        """Whether it has the full height: until it is hidden, and while one looks at other personas."""
        return self._enlarged

    @property
    def asking(self) -> bool:
        """Whether a question or an approval is open: the panel cannot be dismissed then."""
        return bool(self._asks)

    @property
    def in_flight(self) -> bool:
        """Whether a request is running."""
        return self._in_flight > 0

    def next_deadline(self) -> float | None:
        """When `expire` has something to do, on the injected clock; None while no timer runs."""
        if self._state is not PanelState.VISIBLE or self._timer_stopped():
            return None
        return self._deadline

    def expire(self) -> PanelState:
        """The time of `next_deadline` may have come: hide a visible panel whose time is over."""
        deadline = self.next_deadline()
        if deadline is not None and self._clock() >= deadline:
            self._hide()
        return self._state

    # What the person does

    def user_sent(self) -> PanelState:
        """The person sent a message, a reply or a steering text."""
        self._error_held = False
        if self._state is PanelState.HIDDEN:
            self._state = PanelState.VISIBLE
        self._unread = 0
        self._restart()
        return self._state

    def clicked_inside(self) -> PanelState:
        """The mouse went down in the panel (not on its dismiss button)."""
        self._error_held = False
        if self._state is PanelState.VISIBLE:
            self._state = PanelState.PINNED
        return self._state

    def clicked_away(self) -> PanelState:
        """The mouse went down outside the panel and outside the chat bar: that dismisses a pinned panel only."""
        self.key_pressed()
        if self._state is PanelState.PINNED and not self._asks:
            self._hide()
        return self._state

    def clicked_chat_bar(self) -> PanelState:
        """The mouse went down on the chat bar: it is not "away"."""
        return self.interacted()

    def dismiss(self) -> PanelState:
        """The dismiss button. Ignored while a question or an approval is open."""
        self.key_pressed()
        if not self._asks:
            self._hide()
        return self._state

    def escape(self) -> PanelState:
        """Esc that closed no popup and left no other pane. It hides the panel when nothing runs."""
        self.key_pressed()
        if not self._in_flight and not self._asks:
            self._hide()
        return self._state

    def show_output(self) -> PanelState:
        """The button or a key that shows or pins it: the panel stays until it is dismissed."""
        self._error_held = False
        self._state = PanelState.PINNED
        return self._state

    def enlarge(self) -> PanelState:
        """Full height, or not any more; who wants more of it is not done in a few seconds, so it stays."""
        self._enlarged = not (self.shown and self._enlarged)
        return self.show_output()

    def pane_has_keys(self) -> PanelState:
        """The keys are in a pane: in full height nobody would see what they do there."""
        if self.shown:
            self._enlarged = False
        return self._state

    def covers_keys(self) -> PanelState:
        """What has the keys lies under the panel: it goes, unless a question or an approval is open."""
        return self._state if self._asks else self.dismiss()

    def interacted(self) -> PanelState:
        """Scrolling, selecting, hovering or a key in the panel, or typing in the chat bar."""
        self._error_held = False
        self._unread = 0
        self._restart()
        return self._state

    def hovered(self) -> PanelState:
        """The mouse moved over the panel: an interaction, though neither key nor click."""
        self._unread = 0
        self._restart()
        return self._state

    def stands(self, *, at_end: bool) -> PanelState:
        """Where the person has scrolled to: who has gone up from the end reads, and the panel does not go by itself."""
        if at_end and self._reads_back:
            self._restart()
        self._reads_back = not at_end
        return self._state

    def key_pressed(self) -> PanelState:
        """A key or click anywhere: an error has been seen. Its panel then hides after the usual delay."""
        if self._error_held:
            self._error_held = False
            self._restart()
        return self._state

    # What the agent does

    def request_started(self) -> PanelState:
        """A run began; requests may overlap, each start needs its end."""
        self._in_flight += 1
        return self._state

    def request_ended(self) -> PanelState:
        """A run ended."""
        self._in_flight = max(0, self._in_flight - 1)
        self._restart()
        return self._state

    def stream_active(self, characters: int = 0) -> PanelState:
        """New content of `characters` length arrived; a visible panel's time starts again."""
        self._unread += characters
        self._restart()
        return self._state

    def ask_opened(self, key: Hashable = "question") -> PanelState:
        """A question or an approval, named by `key`, waits for the person: pinned, and not to be dismissed."""
        self._asks.add(key)
        self._state = PanelState.PINNED
        return self._state

    def ask_closed(self, key: Hashable = "question") -> PanelState:
        """The question or approval was answered or withdrawn; the panel stays pinned until dismissed."""
        self._asks.discard(key)
        return self._state

    def keep_visible(self) -> PanelState:
        """The agent asked for its answer to stay."""
        self._state = PanelState.PINNED
        return self._state

    def error_shown(self) -> PanelState:
        """Something failed and the panel says what: visible until the next key or click."""
        if self._state is not PanelState.PINNED:
            self._state = PanelState.VISIBLE
            self._error_held = True
            self._restart()
        return self._state

    # What the terminal does

    def focus_lost(self) -> PanelState:
        """The terminal lost the focus: time stands still."""
        if self._blurred_at is None:
            self._blurred_at = self._clock()
        return self._state

    def focus_gained(self) -> PanelState:
        """The terminal has the focus again: what was left of the time runs on."""
        if self._blurred_at is not None:
            self._deadline += self._clock() - self._blurred_at
            self._blurred_at = None
        return self._state

    def reset(self, *, pinned: bool = False) -> PanelState:
        """Another persona's conversation takes the panel: nothing runs, nothing is asked."""
        self._in_flight = 0
        self._asks.clear()
        self._error_held = False
        self._unread = 0
        self._state = PanelState.PINNED if pinned else PanelState.HIDDEN
        return self._state

    def _timer_stopped(self) -> bool:
        held = self._error_held or self._reads_back or self._blurred_at is not None
        return held or bool(self._in_flight or self._asks)

    def _restart(self) -> None:
        now = self._clock()
        extra = self._unread / self.reading_rate if self.reading_rate > 0 else 0.0
        self._deadline = now + self.delay + extra
        if self._blurred_at is not None:
            self._blurred_at = now

    def _hide(self) -> None:
        self._state = PanelState.HIDDEN
        self._enlarged = False
        self._error_held = False
        self._unread = 0

"""The history of sent messages that Up and Down go through, with the text edited in each. No widget."""

from __future__ import annotations

from collections.abc import Iterable

from tui.commands.text_matching import fold

MAX_MESSAGES = 1000
"""Messages in the history; the oldest are dropped."""


def without_repeats(messages: Iterable[str]) -> list[str]:
    """Return messages, oldest first, without repetitions: each at its last position."""
    return list(dict.fromkeys(reversed(list(messages))))[::-1]


class InputHistory:
    """The sent messages, oldest first, with the draft at the end.

    An edited history entry keeps its text until something is sent, so going up and down loses nothing.
    """

    def __init__(self, messages: Iterable[str] = ()) -> None:
        self._messages = list(messages)[-MAX_MESSAGES:]
        self._changed: dict[int, str] = {}
        self._at = len(self._messages)
        self._queued: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[str, ...]:
        """What was sent, oldest first."""
        return tuple(self._messages)

    @property
    def browsing(self) -> bool:
        """Whether a recalled message is shown and not the draft."""
        return self._at < len(self._messages)

    def replace_messages(self, messages: Iterable[str], shown: str) -> str:
        """Replace the messages. Edited text stays with its message if that is still in the history.

        Args:
            messages: what was sent.
            shown: the text of the input.

        Returns:
            The new text of the input: the same, or all unsent text if a message with edited text is gone.
        """
        new, before = list(messages)[-MAX_MESSAGES:], [*self._messages, None]
        places: dict[str | None, int] = {message: place for place, message in enumerate(new)}
        places[None] = len(new)  # the draft
        written = {place: text for place, text in self._changed.items() if text != before[place]}
        at = {self._at: self._at, **written}.keys()
        stays = len({places.get(before[place]) for place in at} - {None}) == len(at)
        text = shown if stays else self.unsent(shown)
        self._changed = {places[before[place]]: text for place, text in written.items()} if stays else {}
        self._at = places[before[self._at]] if stays else len(new)
        self._messages = new
        return text

    def leave_out(self, queued: Iterable[str]) -> None:
        """Skip queued messages, the last occurrence of each, so that nobody sends them twice."""
        self._queued = tuple(queued)

    def _passed_over(self) -> set[int]:
        """Return the indexes of the queued messages that were not edited."""
        places: set[int] = set()
        for message in self._queued:
            last = range(len(self._messages) - 1, -1, -1)
            found = (p for p in last if p not in places and self._messages[p] == message)
            places.update(place for place in [next(found, -1)] if place >= 0)
        return places - self._changed.keys()

    def add(self, message: str) -> None:
        """`message` was sent (or stashed); the next draft is empty."""
        if message.strip() and (not self._messages or self._messages[-1] != message):
            self._messages.append(message)
            del self._messages[:-MAX_MESSAGES]
        self._changed.clear()
        self._at = len(self._messages)

    def unsent(self, shown: str | None = None) -> str:
        """Return all unsent text: the draft, then the edited history entries, one after another.

        Args:
            shown: the text of the input; None leaves out the entry that is shown.
        """
        here = {} if shown is None else {self._at: shown}
        written = {place: text for place, text in self._changed.items() if place != self._at} | here
        end = len(self._messages)
        texts = [
            text
            for place, text in sorted(written.items(), key=lambda one: (one[0] != end, one[0]))
            if text.strip() and (place == end or text != self._messages[place])
        ]
        return "\n".join(dict.fromkeys(texts))

    def begin(self) -> None:
        """Go to the draft and forget edited entries."""
        self._changed.clear()
        self._at = len(self._messages)

    def recall(self, message: str, shown: str) -> str:
        """Go to the last occurrence of `message` and return its text; `shown` is the text of the input before."""
        out = self._passed_over()
        places = [place for place, text in enumerate(self._messages) if text == message and place not in out]
        return (self._go(places[-1] - self._at, shown) if places else None) or message

    def previous(self, shown: str) -> str | None:
        """Return the message before the one shown, None at the first. `shown` is the text of the input."""
        return self._go(-1, shown)

    def following(self, shown: str) -> str | None:
        """Return the message after the one shown, at last the draft; None when the draft is shown."""
        return self._go(1, shown)

    def find(self, text: str) -> list[str]:
        """Return the sent messages that contain `text` in any letter case, latest first, each once."""
        needle, out = fold(text), self._passed_over()
        kept = [message for place, message in enumerate(self._messages) if place not in out]
        return list(dict.fromkeys(message for message in reversed(kept) if needle in fold(message)))

    def _go(self, step: int, shown: str) -> str | None:
        target, out = self._at + step, self._passed_over()
        while target in out:
            target += step
        if not 0 <= target <= len(self._messages):
            return None
        self._changed[self._at] = shown
        self._at = target
        if target in self._changed:
            return self._changed[target]
        return self._messages[target] if target < len(self._messages) else ""

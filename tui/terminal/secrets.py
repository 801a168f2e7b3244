"""Keys in a text: by their shape, by the environment, and by what was typed into the program as one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from personas.key_shapes import KEY_SHAPES

_NAME = re.compile(r"(?i)key|token|secret|password")
_STAND_IN = "[secret]"
_ALONE = r"(?:/model\s+)?(?:export\s+)?(?:\w+\s*[=:]\s*)?['\"]?\[secret\]['\"]?;?"
_typed: set[str] = set()


LONGEST_MESSAGE, _LONGEST_END = 2_000, 400
"""Characters of a message that are told, and how many of them from its end."""


def keep_out(secret: str) -> None:
    """Leave a secret that was typed into the program out of everything that is redacted from now on."""
    if len(secret) >= 4:
        _typed.add(secret)


def redact(text: str, env: Mapping[str, str] | None = None) -> str:
    """Return `text` without anything that looks like a key, or that an environment secret holds."""
    env = os.environ if env is None else env
    for name, value in env.items():
        if len(value) >= 8 and _NAME.search(name):
            text = text.replace(value, _STAND_IN)
    for secret in _typed:
        text = text.replace(secret, _STAND_IN)
    return KEY_SHAPES.sub(_STAND_IN, text)


def is_key(text: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether a text is nothing but a key, as one pastes it, sets a variable to it, or gives it to /model."""
    text = text.strip()
    return (
        len(text) <= 4096
        and _STAND_IN not in text
        and _STAND_IN in (rest := redact(text, env))
        and bool(re.fullmatch(_ALONE, rest))
    )


GRACE = 0.5
"""Seconds within which a second Enter is taken for the first one."""


class SendTwiceGuard:
    """A key is sent as a message only by who says so twice, with a moment between."""

    def __init__(self) -> None:
        self._text, self._at = "", 0.0

    def lets(self, text: str, now: float) -> bool:
        """Whether a text that was to be sent before may go; `now` in seconds from anywhere."""
        if self._text != text:
            self._text, self._at = text, now
            return False
        if now - self._at < GRACE:
            return False
        self._text = ""
        return True


def safe_message(message: str) -> str:
    """Return a message without secrets and, if it is long, without its middle: its end says what to do next."""
    message = redact(message)  # before it is cut: half a key is not recognised
    if len(message) <= LONGEST_MESSAGE:
        return message
    return f"{message[: LONGEST_MESSAGE - _LONGEST_END]} … {message[-_LONGEST_END:]}"

"""The text of an exception, without the keys in it, and also when the exception itself is broken."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Callable
from urllib.parse import quote

logging.getLogger("agent").addHandler(logging.NullHandler())  # a library; who runs it says where its log goes
_LONGEST_LINE = 200
_CERTAINLY_A_SECRET = 8
"""Characters from which on a secret is cut out even where it is part of a longer word."""


def text_of(error: BaseException) -> str:
    """Return `str(error)`, or "" where the exception cannot say anything. Never raises."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception of foreign code whose __str__ raises
        return ""


def report(log: logging.Logger, what: str, error: BaseException, clean: Callable[[str], str] = str) -> None:
    """Log a failure of code given to us as one line; where it came from, without the chain, at the level of debugging.

    Args:
        log: of the module that met it.
        what: in words.
        error: what was raised.
        clean: takes out of its words what must not be shown.
    """
    text = " ".join(clean(text_of(error)).split())[:_LONGEST_LINE]
    log.error("%s: %s%s", what, type(error).__name__, f": {text}" if text else "")
    if log.isEnabledFor(logging.DEBUG):
        frames = "".join(traceback.format_tb(error.__traceback__))
        log.debug("%s was raised here:\n%s", type(error).__name__, frames)


_STAND_IN = "[key]"


class Secrets:
    """Texts that must stand in nothing that is shown or stored.

    Args:
        secrets: the first of them; None and blank ones are none.
    """

    def __init__(self, *secrets: str | None) -> None:
        self._forms: tuple[str, ...] = ()
        for secret in secrets:
            self.keep_out(secret)

    def keep_out(self, secret: str | None) -> None:
        """Cut one more out of every text from now on, in every form in which code quotes it."""
        if secret and (stripped := secret.strip()) and stripped not in self._forms:
            forms = {*self._forms, *_forms(secret)}
            self._forms = tuple(sorted(forms, key=len, reverse=True))

    def clean(self, text: str) -> str:
        """Return `text` without them, and without the first part of one at its end: it may have been cut there.

        Before it is cut short where that can be: a few characters of a key are not found.
        """
        for form in self._forms:
            text = _without(form, text)
        for form in self._forms:
            text = _without_part(form, text)
        return text


def _forms(secret: str) -> set[str]:
    """A secret as it is, as a string, bytes, JSON or a URL would have it, and its parts where it is of several."""
    raw = secret.encode("utf-8", "surrogatepass")
    quoted = {repr(secret)[1:-1], ascii(secret)[1:-1], repr(raw)[2:-1], json.dumps(secret)[1:-1]}
    forms = {secret, *quoted, quote(raw), quote(raw, safe="")}
    parts = [part for part in secret.split() if len(part) >= _CERTAINLY_A_SECRET]
    return {stripped for form in (*forms, *parts) if (stripped := form.strip())}


def _without_part(secret: str, text: str) -> str:
    """Return `text` without the first part of a secret with which it ends."""
    end = text.rstrip("\ufffd")  # what is left of a character that was cut itself
    if end[-_CERTAINLY_A_SECRET:] not in secret:
        return text
    for size in range(min(len(secret) - 1, len(end)), _CERTAINLY_A_SECRET - 1, -1):
        if end.endswith(secret[:size]):
            return end[:-size] + _STAND_IN
    return text


def _without(secret: str, text: str) -> str:
    """Return `text` without a secret; a short one only where it stands by itself, for it may be part of a word."""
    if secret not in text:
        return text
    if len(secret) >= _CERTAINLY_A_SECRET:
        return text.replace(secret, _STAND_IN)
    alone = re.compile(rf"(?<![\w-]){re.escape(secret)}(?![\w-])")
    # What stands for one already is none, whatever letters it has.
    return _STAND_IN.join(alone.sub(_STAND_IN, part) for part in text.split(_STAND_IN))

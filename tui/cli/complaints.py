"""How a command says what is wrong: one harmless line on stderr, without secrets."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

_SECRET_SHAPES = re.compile(
    r"sk-[A-Za-z0-9_\-]{8,}|(?i:bearer)\s+[^\s'\"]+|(?i:(?:x-api-key|authorization)['\"]?\s*[:=]\s*)['\"]?[^\s'\",}]+"
)
_PASTED: set[str] = set()
_SECRET_NAME = re.compile(r"(?i)key|token|secret|password")


def complain(message: str) -> None:
    """Write `persona: message` as one harmless line on stderr."""
    from tui.sanitise import sanitise

    line = " ".join(sanitise(redact(message)).split())
    try:
        sys.stderr.write(f"persona: {line}\n")
        sys.stderr.flush()
    except OSError:
        return  # nobody is left to tell


def keep_out(secret: str) -> None:
    """Leave a secret that was typed into the program out of everything that is redacted from now on."""
    if len(secret) >= 4:
        _PASTED.add(secret)


def redact(text: str, env: Mapping[str, str] | None = None) -> str:
    """Return `text` without anything that looks like a key, or that an environment secret holds."""
    env = os.environ if env is None else env
    for name, value in env.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "[secret]")
    for secret in _PASTED:
        text = text.replace(secret, "[secret]")
    return _SECRET_SHAPES.sub("[secret]", text)

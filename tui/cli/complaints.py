"""How a command says what is wrong: one harmless line on stderr, without secrets."""

from __future__ import annotations

import sys

from tui.cli.output import drop


def complain(message: str) -> None:
    """Write `persona: message` as one harmless line on stderr."""
    from tui.sanitise import sanitise
    from tui.secret_text import redact

    remark("persona: " + " ".join(sanitise(redact(message)).split()))


def remark(line: str) -> None:
    """Write one harmless line on stderr; nothing where nobody is left to read it."""
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)

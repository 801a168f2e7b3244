"""The command `persona`. Only what a command needs is imported when it runs."""

from __future__ import annotations

import os
import signal
import sys

_CANCELLED = (
    b'{"type": "done", "stop_reason": "cancelled", "usage": {"input_tokens": 0, "output_tokens": 0, '
    b'"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}'
)
_OF_RUN = b', "ran": 0, "failed": 0, "reused": 0, "cost": 0, "seconds": 0'
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main() -> None:
    """Run `persona` with the arguments of this process and exit with its code."""
    if "--json" in sys.argv and any(word in sys.argv for word in ("chat", "reply", "run")):
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _end_json_stream)
    try:
        from tui.cli.error_handling import run

        run()
    except KeyboardInterrupt:  # while modules are imported
        raise SystemExit(130) from None
    except RuntimeError as error:
        if not was_interrupted(error):
            raise
        raise SystemExit(130) from None


def _end_json_stream(number: int, _frame: object) -> None:
    """Handle a signal before the conversation does: print the last line of the stream and end the process.

    It imports and raises nothing: the signal may arrive in the middle of an import.
    """
    try:
        os.write(1, _CANCELLED + (_OF_RUN if "run" in sys.argv else b"") + b"}\n")
    finally:
        os._exit(128 + number)


def let_stream_end() -> None:
    """Keep signals from adding a line to the JSON stream: its last line is about to be written."""
    for number in _SIGNALS:
        if signal.getsignal(number) is _end_json_stream:
            signal.signal(number, signal.SIG_IGN)


def was_interrupted(error: BaseException) -> bool:
    """Return whether Ctrl+C caused an error.

    Python 3.11 turns whatever `__set_name__` raises into a `RuntimeError`.
    """
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        if isinstance(link, KeyboardInterrupt):
            return True
        seen.add(id(link))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return False

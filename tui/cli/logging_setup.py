"""What libraries and the event loop log: nothing that a person sees unasked, and with --debug no secret."""

from __future__ import annotations

import logging


class Lines(logging.Handler):
    """Writes harmless lines without secrets on stderr, whatever stands there at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; one that cannot be written is dropped."""
        from tui.cli.stderr import print_note
        from tui.terminal.sanitise import sanitise
        from tui.terminal.secrets import redact

        try:
            print_note(sanitise(redact(self.format(record))))
        except Exception:  # noqa: BLE001 - an argument that cannot be shown; Python's own complaint has a traceback
            return


def set_up(*, debug: bool = False) -> None:
    """Have the whole process log to nobody, or with `debug` to stderr. Said once it stays.

    Without it Python writes warnings and the tracebacks of forgotten tasks over the screen.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(Lines() if debug else logging.NullHandler())
        if debug:
            logging.getLogger("agent").setLevel(logging.DEBUG)

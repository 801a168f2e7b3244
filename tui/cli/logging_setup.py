"""Logging of the commands: silent, or with --debug on stderr without secrets."""

from __future__ import annotations

import logging


class StderrHandler(logging.Handler):
    """Writes log records to the present stderr, sanitised and without secrets."""

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
    """Make the whole process log nowhere, or with `debug` to stderr. Only the first call counts.

    Without it Python writes warnings and the tracebacks of forgotten tasks over the screen.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(StderrHandler() if debug else logging.NullHandler())
        if debug:
            logging.getLogger("agent").setLevel(logging.DEBUG)

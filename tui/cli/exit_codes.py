"""The exit codes of all commands."""

from __future__ import annotations

import signal

FAILED = 1
USAGE = 2
WAITS = 3
"""A task waits for an answer."""
COULD_NOT_RUN = 4
"""A test input could not be run."""
READER_GONE = 141
"""The reader of stdout went away."""
INTERRUPTED = 130
OF_SIGNAL = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: 143, signal.SIGHUP: 129}

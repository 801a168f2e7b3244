"""The program was stopped by something else than Ctrl+Z and goes on: the terminal's modes are set and all is drawn again.

Textual takes each SIGCONT for the end of what Ctrl+Z began: after any other stop it would start a second thread that reads
keys beside the first, over the picture and in the modes of whatever had the terminal meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.terminal.textual_compat.terminal_app import TerminalApp


def install_handler(app: TerminalApp) -> None:
    """Have the program take its terminal again each time it goes on; to be called in the running loop."""
    driver: Any = app._driver
    if not hasattr(driver, "_sigcont_application"):
        return  # no terminal, or a system where nothing is stopped
    loop = asyncio.get_running_loop()

    def resume_terminal() -> None:
        if not app.is_lent:
            driver.suspend_application_mode()
            driver._must_signal_resume = True  # has the app told as after SIGTSTP
            driver.resume_application_mode()

    def on_sigcont(_number: int, _frame: object) -> None:
        if driver._must_signal_resume:  # SIGTSTP: the terminal was given back in order
            driver._sigcont_application()
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(resume_terminal)

    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGCONT, on_sigcont)

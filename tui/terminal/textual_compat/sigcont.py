"""The program was stopped and goes on: whatever the terminal shows by now, its modes are set and all is drawn again.

Textual does so after SIGTSTP alone. After any other stop it would begin a second time beside what it has begun: with two
threads that read keys, over the picture of who had the terminal meanwhile, whose modes it would leave behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.terminal.textual_compat.terminal_app import TerminalApp


def heed(app: TerminalApp) -> None:
    """Have the program take its terminal again each time it goes on; to be called in the running loop."""
    driver: Any = app._driver
    if not hasattr(driver, "_sigcont_application"):
        return  # no terminal, or a system where nothing is stopped
    loop = asyncio.get_running_loop()

    def hear(_number: int, _frame: object) -> None:
        if driver._must_signal_resume:  # SIGTSTP: the terminal was given back in order
            driver._sigcont_application()
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(take_again, app, driver)

    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGCONT, hear)


def take_again(app: TerminalApp, driver: Any) -> None:
    """Take the terminal as at the start, and draw everything; nothing while it is lent or already left."""
    reading = driver._key_thread
    if app.is_lent or reading is None or not reading.is_alive() or not _is_in_front(driver.fileno):
        return
    driver.suspend_application_mode()
    driver._must_signal_resume = True  # has the app told as after SIGTSTP
    driver.resume_application_mode()


def _is_in_front(number: int) -> bool:
    """Return whether the terminal may be written to; behind the shell the program is stopped here until it may."""
    import termios

    try:
        termios.tcsetattr(number, termios.TCSANOW, termios.tcgetattr(number))
    except termios.error:
        return False  # stopped and told to go on meanwhile, which is heard as well
    return True

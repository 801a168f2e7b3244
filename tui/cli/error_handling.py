"""The outermost boundary of every command: whatever goes wrong becomes one line and an exit code.

0 done · 1 failed · 2 wrong usage · 3 a task waits for an answer · 129 the terminal went away · 130 Ctrl+C · 141 the
reader of stdout went away · 143 SIGTERM.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from personas.errors import PersonaError
from tui.cli import was_interrupted
from tui.cli.output import ClosedOutput, drop
from tui.cli.stderr import complain, unexpected

FAILED, USAGE, INTERRUPTED, READER_GONE = 1, 2, 130, 141


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command line, print what went wrong in one line, and exit."""
    _mend_streams()
    arguments = [as_text(argument) for argument in (sys.argv[1:] if arguments is None else arguments)]
    if "--debug" in arguments:
        from tui.cli.logging_setup import set_up

        set_up(debug=True)
    try:
        from tui.cli.group import persona

        code = persona.main(args=arguments, prog_name="persona", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.UsageError as error:
        code = USAGE
        where = error.ctx.command_path if error.ctx else "persona"
        complain(f"{error.format_message()} (see `{where} --help`)")
    except click.ClickException as error:
        code = FAILED
        complain(error.format_message())
    except (KeyboardInterrupt, click.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        code = READER_GONE
    except OSError as error:
        code = FAILED
        complain(f"{error.strerror or error}; is stdout writable, and its disk not full?")
        _write_traceback(arguments)
        drop(sys.stdout)
    except PersonaError as error:
        code = FAILED
        complain(str(error))
        _write_traceback(arguments)
    except Exception as error:  # noqa: BLE001 - the last boundary: a person never sees a traceback unasked
        if was_interrupted(error):
            code = INTERRUPTED
        else:
            code = FAILED
            complain(unexpected(error))
            _write_traceback(arguments)
    _leave(code if isinstance(code, int) else 0)


def _write_traceback(arguments: Sequence[str]) -> None:
    if "--debug" not in arguments:
        return
    import traceback

    from tui.terminal.sanitise import sanitise
    from tui.terminal.secrets import redact

    sys.stderr.write(sanitise(redact(traceback.format_exc())))


def as_text(argument: str) -> str:
    """Return an argument whose bytes are UTF-8 as that text, whatever the locale made of it."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument  # no UTF-8: the commands refuse it where it matters


def _mend_streams() -> None:
    """Have streams where the caller closed them, and none that fails on a character it cannot say."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for the life of the process
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _leave(code: int) -> NoReturn:
    """Exit without the interpreter's own complaint about a stdout that is gone."""
    try:
        sys.stdout.flush()
    except OSError:
        code = READER_GONE if isinstance(sys.exc_info()[1], BrokenPipeError) else FAILED
        if code == FAILED:
            complain("cannot write to stdout; is the disk full?")
        drop(sys.stdout)
    sys.exit(code)

"""The outermost boundary of every command: whatever goes wrong becomes one line and an exit code.

0 done · 1 failed · 2 wrong usage · 130 Ctrl+C · 141 the reader of stdout went away · 143 SIGTERM.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from personas.errors import PersonaError
from tui.cli.complaints import complain, redact

FAILED, USAGE, INTERRUPTED, READER_GONE = 1, 2, 130, 141


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command line, print what went wrong in one line, and exit."""
    from tui.cli.group import persona

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = persona.main(args=list(arguments), prog_name="persona", standalone_mode=False)
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
    except PersonaError as error:
        code = FAILED
        complain(str(error))
        _write_traceback(arguments)
    except Exception as error:  # noqa: BLE001 - the last boundary: a person never sees a traceback unasked
        code = FAILED
        complain(
            f"unexpected {type(error).__name__}: {error}; run it again with --debug and report what it prints"
        )
        _write_traceback(arguments)
    _leave(code if isinstance(code, int) else 0)


def _write_traceback(arguments: Sequence[str]) -> None:
    if "--debug" not in arguments:
        return
    import traceback

    sys.stderr.write(redact(traceback.format_exc()))


def _leave(code: int) -> NoReturn:
    """Exit without the interpreter's own complaint about a stdout that is gone."""
    try:
        sys.stdout.flush()
    except OSError:
        code = READER_GONE if isinstance(sys.exc_info()[1], BrokenPipeError) else FAILED
        if code == FAILED:
            complain("cannot write to stdout; is the disk full?")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)

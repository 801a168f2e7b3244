"""Running a command line: every error becomes one line on stderr and an exit code (`tui.cli.exit_codes`)."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from personas.errors import PersonaError
from tui.cli import was_interrupted
from tui.cli.exit_codes import COULD_NOT_RUN, FAILED, INTERRUPTED, READER_GONE, USAGE
from tui.cli.invocation import Invocation
from tui.cli.printing import ClosedOutput, drop
from tui.cli.stderr import print_error, unexpected_message


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command line, print what went wrong in one line, and exit."""
    _repair_streams()
    arguments = [as_text(argument) for argument in (sys.argv[1:] if arguments is None else arguments)]
    if "--debug" in arguments:
        from tui.cli.logging_setup import set_up

        set_up(debug=True)
    failed = FAILED
    code: object
    try:
        if not arguments and _has_screen():
            from tui.cli.start import run_program

            code = run_program(Invocation())  # as the command `open` does, without what reads a command line
        else:
            from tui.cli.group import COMMANDS

            if next((word for word in arguments if word in COMMANDS), "") in ("test", "compare"):
                failed = COULD_NOT_RUN  # 1 would say that an expectation failed
            code = _run_command(arguments)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = READER_GONE
    except OSError as error:
        code = failed
        print_error(f"{error.strerror or error}; is stdout writable, and its disk not full?")
        _write_traceback(arguments)
        drop(sys.stdout)
    except PersonaError as error:
        code = failed
        print_error(str(error))
        _write_traceback(arguments)
    except Exception as error:  # noqa: BLE001 - the last boundary: a person never sees a traceback unasked
        if was_interrupted(error):
            code = INTERRUPTED
        else:
            code = failed
            print_error(unexpected_message(error))
            _write_traceback(arguments)
    _exit(code if isinstance(code, int) else 0)


def _has_screen() -> bool:
    from tui.cli.start import has_screen

    return has_screen()


def _run_command(arguments: list[str]) -> object:
    """Run the command that a command line names; return its exit code."""
    import click

    from tui.cli.group import persona

    try:
        code = persona.main(args=arguments, prog_name="persona", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "persona"
        print_error(f"{error.format_message()} (see `{where} --help`)")
        return USAGE
    except click.ClickException as error:
        print_error(error.format_message())
        return FAILED
    except click.Abort:
        return INTERRUPTED
    return code


def _write_traceback(arguments: Sequence[str]) -> None:
    if "--debug" not in arguments:
        return
    import traceback

    from tui.terminal.sanitise import sanitise
    from tui.terminal.secrets import redact

    sys.stderr.write(sanitise(redact(traceback.format_exc())))


def as_text(argument: str) -> str:
    """Return an argument decoded as UTF-8 where its bytes are that, whatever the locale."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument  # not UTF-8: the commands refuse it where it matters


def _repair_streams() -> None:
    """Replace streams that the caller closed; let none fail on a character outside its encoding."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for the life of the process
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _exit(code: int) -> NoReturn:
    """Flush stdout and exit, without the interpreter's own message about a stdout that is gone."""
    try:
        sys.stdout.flush()
    except OSError:
        code = READER_GONE if isinstance(sys.exc_info()[1], BrokenPipeError) else FAILED
        if code == FAILED:
            print_error("cannot write to stdout; is the disk full?")
        drop(sys.stdout)
    sys.exit(code)

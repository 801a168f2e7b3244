"""`persona demo`: a recorded run in the real program, in a temporary home."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.group import Invocation
from tui.cli.printing import print_text
from tui.cli.program.open import require_screen
from tui.cli.start import run_in_terminal

if TYPE_CHECKING:
    from personas.files.home import Home
    from tui.recording.recorded_session import Recording


@click.command()
@click.option(
    "--session",
    metavar="ID|FILE",
    help="Play this conversation: its id, the id of a persona for its current one, or a .jsonl file.",
)
@click.pass_obj
def demo(invocation: Invocation, session: str | None) -> None:
    """Watch a recorded run: an answer, a change and its diff.

    It needs no key and changes none of your files. When it is over, or as soon as you type, you can try the program
    with the offline model.

    \b
    persona demo
    persona demo --session optimist
    persona demo --session recorded.jsonl
    """
    require_screen()
    settings = invocation.config.settings
    recording, origin = _chosen(invocation, session) if session is not None else (None, None)
    from tui.recording.demo_app import DemoApp

    with tempfile.TemporaryDirectory(prefix="persona-demo-", ignore_cleanup_errors=True) as folder:
        code = run_in_terminal(DemoApp(Path(folder), settings, recording=recording, origin=origin))
    if code == 0:
        print_text("That was the demo; its folder was deleted. `persona` opens your own personas.")
    raise click.exceptions.Exit(code)


def _chosen(invocation: Invocation, session: str) -> tuple[Recording, Home | None]:
    """Return the recording that is asked for, and the home it was made in; the home is only read.

    Raises:
        PersonaError: there is none, or it cannot be played.
    """
    from personas.files.home import Home
    from tui.recording.locate import find_recording
    from tui.recording.recorded_session import read_recording

    home = Home.find(invocation.home_flag).home
    path, is_own = find_recording(home, session)
    return read_recording(path), home if is_own else None

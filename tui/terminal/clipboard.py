"""Copying text: the terminal's clipboard by OSC 52, a local tool when the terminal is here, a file when all fails.

What cannot be known is not claimed: a terminal does not say whether it took the text.
"""

from __future__ import annotations

import base64
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Literal

OSC52_LIMIT = 100_000
"""Bytes of base64 beyond which terminals drop the whole sequence; longer text goes to a file."""

TOOLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)
"""The local tools in the order they are tried, each with the variable that must be set for it."""

TOOL_TIMEOUT = 2.0
"""Seconds a tool may take."""


@dataclass(frozen=True, slots=True)
class Copied:
    """Where a text went.

    Attributes:
        way: by what it went; `terminal` says only that it was sent.
        message: one sentence for the person.
        path: the file it was written to, if it was.
    """

    way: Literal["tool", "terminal", "file", "nowhere"]
    message: str
    path: Path | None = None


def osc52(text: str, *, tmux: bool = False, screen: bool = False) -> str:
    """Return the escape sequence that asks the terminal to take `text` into its clipboard.

    Inside tmux the plain sequence is right: tmux takes it itself (`set-clipboard on` or `external`) and hands
    it on. GNU screen needs it wrapped and in short pieces.
    """
    payload = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    sequence = f"\x1b]52;c;{payload}\x07"
    if screen and not tmux:
        pieces = [sequence[start : start + 250] for start in range(0, len(sequence), 250)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence


def local_tool(
    environment: Mapping[str, str], find: Callable[[str], str | None] = which
) -> tuple[str, ...] | None:
    """Return the command of a clipboard tool that is there and can reach a display, or None."""
    for variable, command in TOOLS:
        if (not variable or environment.get(variable)) and find(command[0]):
            return command
    return None


def run_tool(command: Sequence[str], text: str) -> bool:
    """Give `text` to a clipboard tool; return whether it took it. Blocks for at most `TOOL_TIMEOUT` seconds."""
    try:
        done = subprocess.run(
            list(command),
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TOOL_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def copy(
    text: str,
    *,
    write: Callable[[str], None] | None,
    remote: bool = False,
    tmux: bool = False,
    screen: bool = False,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    run: Callable[[Sequence[str], str], bool] = run_tool,
    find: Callable[[str], str | None] = which,
) -> Copied:
    """Copy `text` as well as this terminal allows. May block for `TOOL_TIMEOUT` seconds: call it in a thread.

    Args:
        text: what to copy, as it is.
        write: writes to the terminal; None when there is none to write to.
        remote: over SSH, where a local tool would fill the wrong clipboard.
        tmux: inside tmux.
        screen: inside GNU screen.
        environment: as `os.environ`, which is the default.
        folder: where the file of the last resort goes; the folder for temporary files by default.
        run: runs a clipboard tool.
        find: finds a program.
    """
    if not text:
        return Copied("nowhere", "There is nothing to copy.")
    tool = None if remote else local_tool(os.environ if environment is None else environment, find)
    if tool is not None and run(tool, text):
        return Copied("tool", f"Copied {_size(text)}.")
    sequence = osc52(text, tmux=tmux, screen=screen)
    if write is not None and len(sequence) <= OSC52_LIMIT:
        write(sequence)
        hint = " (tmux needs `set-clipboard on`)" if tmux else ""
        return Copied("terminal", f"Sent {_size(text)} to the terminal's clipboard{hint}.")
    try:
        path = _write_file(text, folder)
    except OSError as error:
        return Copied("nowhere", f"Could not copy {_size(text)}: {error.strerror or error}.")
    return Copied("file", f"Too long for the terminal's clipboard: {_size(text)} written to {path}.", path)


def _write_file(text: str, folder: Path | None) -> Path:
    handle, name = tempfile.mkstemp(prefix="persona-copy-", suffix=".txt", dir=folder)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text.encode("utf-8", "replace"))
    return Path(name)


def _size(text: str) -> str:
    lines = text.count("\n") + 1
    return f"{lines} lines" if lines > 1 else f"{len(text)} characters" if len(text) != 1 else "1 character"

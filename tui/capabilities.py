"""What the terminal can do and what is kind to it: remote or not, inside tmux, colours, signs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Calm = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """How the program behaves in this terminal.

    Attributes:
        remote: the terminal is at the other end of an SSH connection.
        tmux: inside tmux.
        screen: inside GNU screen.
        no_colour: `NO_COLOR` is set to something.
        ascii_only: the terminal does not take UTF-8, or `TERM` is that of a bare console.
        calm: no animation, no cursor blink, a slow spinner, fewer frames.
        clipboard_tool: whether a local clipboard tool reaches the person's clipboard.
    """

    remote: bool = False
    tmux: bool = False
    screen: bool = False
    no_colour: bool = False
    ascii_only: bool = False
    calm: bool = False
    clipboard_tool: bool = True

    @property
    def frames_per_second(self) -> float:
        """How often arriving text is drawn at most."""
        return 10.0 if self.remote or self.calm else 20.0

    @property
    def spinner_interval(self) -> float:
        """Seconds between two pictures of a spinner."""
        return 0.5 if self.remote or self.calm else 0.1


def detect(
    environment: Mapping[str, str],
    *,
    calm: Calm = "auto",
    encoding: str = "utf-8",
    ascii_only: bool | None = None,
) -> Capabilities:
    """Return the capabilities that the environment tells of.

    Args:
        environment: as `os.environ`.
        calm: the person's setting; `auto` is calm over SSH and inside tmux.
        encoding: of the output stream.
        ascii_only: the person's setting; None decides by encoding, locale and `TERM`.
    """
    remote = any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))
    term = environment.get("TERM", "")
    tmux = bool(environment.get("TMUX")) or term.startswith("tmux")
    if ascii_only is None:
        # The first of these that is set decides, as it does for the C library.
        names = ("LC_ALL", "LC_CTYPE", "LANG")
        locale = next((environment[name] for name in names if environment.get(name)), "")
        plain_locale = locale.split(".")[0] in ("C", "POSIX") and "utf" not in locale.lower()
        other_charset = "." in locale and "utf" not in locale.lower()
        utf8 = encoding.lower().replace("-", "").replace("_", "") in ("utf8", "cp65001")
        ascii_only = not utf8 or other_charset or plain_locale or term in ("linux", "dumb", "vt100", "vt220")
    return Capabilities(
        remote=remote,
        tmux=tmux,
        screen=bool(environment.get("STY")) or (term.startswith("screen") and not tmux),
        no_colour=bool(environment.get("NO_COLOR")),
        ascii_only=ascii_only,
        calm=calm == "always" or (calm == "auto" and (remote or tmux)),
        clipboard_tool=not remote,
    )

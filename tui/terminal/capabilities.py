"""What the terminal can do and what is kind to it: remote or not, inside tmux, colours, signs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Calm = Literal["auto", "always", "never"]
Colours = Literal["auto", "16", "none"]

_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")


class Capabilities(NamedTuple):
    """How the program behaves in this terminal.

    Attributes:
        remote: the terminal is at the other end of an SSH connection.
        tmux: inside tmux.
        screen: inside GNU screen.
        colours: how many go to the terminal: what it takes (`auto`), 16, or none.
        ascii_only: the terminal does not take UTF-8, or `TERM` is that of a bare console.
        calm: no animation, fewer frames, fewer looks at the activity line.
    """

    remote: bool = False
    tmux: bool = False
    screen: bool = False
    colours: Colours = "auto"
    ascii_only: bool = False
    calm: bool = False

    @property
    def frames_per_second(self) -> float:
        """How often arriving text is drawn at most."""
        return 10.0 if self.remote or self.calm else 20.0


def locale_of(environment: Mapping[str, str]) -> str:
    """Return the locale of the terminal, empty where nothing is set.

    The first variable that is set decides, as it does for the C library. Beside a `LANG` of C, `LC_CTYPE` is taken for
    what Python itself puts there when it starts (PEP 538).
    """
    names = ["LC_ALL", "LC_CTYPE", "LANG"]
    if environment.get("LC_CTYPE") in _COERCED and environment.get("LANG", "") in ("", "C", "POSIX"):
        names.remove("LC_CTYPE")
    return next((environment[name] for name in names if environment.get(name)), "")


def detect(
    environment: Mapping[str, str],
    *,
    calm: Calm = "auto",
    ascii_only: bool | None = None,
    colours: Colours = "auto",
) -> Capabilities:
    """Return the capabilities that the environment tells of.

    Args:
        environment: as `os.environ`.
        calm: the person's setting; `auto` is calm over SSH and inside tmux.
        ascii_only: the person's setting; None decides by locale and `TERM`.
        colours: the person's setting; `auto` is none where `NO_COLOR` is set.
    """
    remote = any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))
    term = environment.get("TERM", "")
    tmux = bool(environment.get("TMUX")) or term.startswith("tmux")
    if ascii_only is None:
        locale = locale_of(environment)
        plain_locale = locale.split(".")[0] in ("C", "POSIX") and "utf" not in locale.lower()
        other_charset = "." in locale and "utf" not in locale.lower()
        ascii_only = other_charset or plain_locale or term in ("linux", "dumb", "vt100", "vt220")
    return Capabilities(
        remote=remote,
        tmux=tmux,
        screen=bool(environment.get("STY")) or (term.startswith("screen") and not tmux),
        colours="none" if colours == "auto" and environment.get("NO_COLOR") else colours,
        ascii_only=ascii_only,
        calm=calm == "always" or (calm == "auto" and (remote or tmux)),
    )

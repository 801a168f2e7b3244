"""The one place where hostile text becomes harmless text: nothing a terminal would obey survives here.

Text is stored raw and passes through `sanitise` where it is shown. What is done, and why:

- A *complete* escape sequence (CSI, a terminated OSC/DCS/APC/PM/SOS string, a two-byte escape; 7 and 8 bit)
  is removed whole, so that coloured tool output reads as plain text.
- An *incomplete* one loses only its introducer: nobody can make the rest of an answer disappear by opening a
  string and never closing it. For the same reason a string counts as terminated only within its own line and
  4,096 characters; a longer one stays readable.
- Every line ending (CR LF, a lone CR, VT, FF, NEL, U+2028, U+2029) becomes a newline: a CR never overwrites
  what stands before it.
- Other C0 and C1 controls, DEL, bidi controls and invisible formatting characters are removed. ZWJ, ZWNJ and
  the emoji variation selectors stay, since emoji and several scripts need them.
- Lone surrogates and the invisible "tag" letters, which are used to smuggle text, become U+FFFD each: visible.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from rich.cells import cell_len

_STRING_LIMIT = 4096
_PARAMETER_LIMIT = 64

# Everything below is built so that a failed attempt at a sequence stops at the next control character:
# each character is looked at a bounded number of times, whatever the text.
_PAYLOAD = rf"[^\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]{{0,{_STRING_LIMIT}}}"
_STRING_OPENER = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"
_STRING_END = r"(?:\x07|\x1b\\|\x9c)"
_CSI_BODY = rf"(?:\x1b\[|\x9b)[0-?]{{0,{_PARAMETER_LIMIT}}}[ -/]{{0,{_PARAMETER_LIMIT}}}"
_SHORT_BODY = rf"\x1b[ -/]{{0,{_PARAMETER_LIMIT}}}"

_COMPLETE = (
    rf"{_STRING_OPENER}{_PAYLOAD}{_STRING_END}|{_CSI_BODY}[@-~]|\x1b[ -/]{{1,{_PARAMETER_LIMIT}}}[0-~]"
)
_OPEN = rf"(?P<open>(?:{_STRING_OPENER}{_PAYLOAD}\x1b?|{_CSI_BODY}|{_SHORT_BODY}|\r)\Z)"
_NEWLINE = r"(?P<newline>\r\n?|[\x0b\x0c\x85\u2028\u2029])"
_VISIBLE = r"(?P<visible>[\ud800-\udfff\U000e0000-\U000e007f])"
# The introducers stand apart from the run: a run must not eat the beginning of a sequence.
_DROPPED = (
    r"\x1b[0-~]?|[\x90\x98\x9b\x9d-\x9f]"
    r"|[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x8f\x91-\x97\x99\x9a\x9c\u00ad\u034f\u061c\u180e\u200b\u200e"
    r"\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0100-\U000e01ef]+"
)

HIDDEN = (
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE01EF),
)
"""The first and the last of each row of characters that nobody sees, or that a terminal obeys."""
SUSPECT = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in HIDDEN)}\ud800-\udfff]")
"""One of these, or a surrogate, which no file can hold."""
_RULES = f"{_NEWLINE}|{_VISIBLE}|{_DROPPED}"


@cache
def _whole() -> re.Pattern[str]:  # made where there is something suspect: most starts see nothing of the sort
    return re.compile(f"{_COMPLETE}|{_RULES}")


@cache
def _stream() -> re.Pattern[str]:
    return re.compile(f"{_COMPLETE}|{_OPEN}|{_RULES}")


def _replacement(match: re.Match[str]) -> str:
    if match.lastgroup == "newline":
        return "\n"
    return "\ufffd" if match.lastgroup == "visible" else ""


def sanitise(text: str) -> str:
    """Return `text` without anything a terminal would obey (see the module). Linear; clean text is returned as is."""
    if SUSPECT.search(text) is None:
        return text
    return _whole().sub(_replacement, text)


class Sanitiser:
    """The same for text that arrives in pieces: what `feed` and `flush` return, joined, is `sanitise(all)`.

    An escape sequence cut in two by the pieces does not survive; the cut part (at most some 4,100 characters)
    is held back until it is decided.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece; return what can be shown of it now."""
        text = self._held + text
        self._held = ""
        if SUSPECT.search(text) is None:
            return text
        return _stream().sub(self._decide, text)

    def flush(self) -> str:
        """Return what was held back, the text being over; the object is then as new."""
        held, self._held = self._held, ""
        return sanitise(held)

    def _decide(self, match: re.Match[str]) -> str:
        if match.lastgroup == "open":
            self._held = match.group()
            return ""
        return _replacement(match)


def stand_ins(text: str) -> str:
    """Return `text` with one visible sign in place of each dangerous character: as long as before.

    For an editor, where every character must stay in its column.
    """
    if SUSPECT.search(text) is None:
        return text
    return SUSPECT.sub(_stand_in, text)


def spelled_out(text: str) -> str:
    """Return `text` with each dangerous or invisible character by its number, as `<U+202E>`; newline and tab stay.

    For what a person agrees to or compares: nothing is left out, and two different texts never look the same.
    """
    if SUSPECT.search(text) is not None:
        text = SUSPECT.sub(lambda match: _number(match.group()), text)
    if _keeps is None or text.isascii():
        return text
    keeps = _keeps
    return "".join(sign if keeps(sign) else _number(sign) for sign in text)


_keeps: Callable[[str], bool] | None = None


def spell_out_too(keeps: Callable[[str], bool] | None) -> None:
    """Have `spelled_out` from now on spell out what this process's terminal cannot show as itself.

    Args:
        keeps: says of a character whether it can; None where it can show all.
    """
    global _keeps
    _keeps = keeps


def _number(sign: str) -> str:
    return f"<U+{ord(sign):04X}>"


def _stand_in(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def one_line(text: str, limit: int, *, sign: str = "…") -> str:
    """Return the start of `text` as one harmless line of at most `limit` cells, `sign` at its end when cut."""
    # Enough of the text for `limit` visible cells unless nearly all of it is invisible; then less is shown.
    head = text[: limit * 8 + 256]
    line = " ".join(sanitise(head).split())
    cut = len(head) < len(text)
    if not cut and cell_len(line) <= limit:
        return line
    return clip(line, limit, sign=sign, always=cut)


def both_ends(text: str, limit: int) -> str:
    """Return `text` as one harmless line of at most `limit` cells; what is too long loses its middle.

    Names, of models for example, often differ at their ends alone.
    """
    line = one_line(text, 1_000)
    if cell_len(line) <= limit:
        return line
    tail = line[-(limit // 2) :]
    while cell_len(tail) > limit // 2:
        tail = tail[1:]
    return clip(line, limit - cell_len(tail), always=True) + tail


def shortened(text: str, limit: int) -> str:
    """Return `text` with at most `limit` characters, the last an ellipsis where it is cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def clip(line: str, limit: int, *, sign: str = "…", always: bool = False) -> str:
    """Return `line` (harmless, no newline) cut to `limit` cells; `sign` ends it when cut, or `always`."""
    if limit <= 0:
        return ""
    if cell_len(line) <= limit and not always:
        return line
    low, high = 0, min(len(line), limit * 8)
    while low < high:
        middle = (low + high + 1) // 2
        if cell_len(line[:middle]) <= limit - len(sign):
            low = middle
        else:
            high = middle - 1
    return (line[:low].rstrip() + sign)[:limit]

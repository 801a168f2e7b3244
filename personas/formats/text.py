"""Bytes of a file to text, and texts out of data as a persona's file can hold them. Pure."""

from __future__ import annotations

import re

from personas.errors import BrokenFile
from personas.files.slug import slug
from personas.files.text_file import decode
from personas.formats.types import Unreadable

SIZE_LIMIT = 64 * 1024 * 1024
"""Most bytes of a file that is read."""

_NOT_STORED = re.compile("[\0\ud800-\udfff]")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def text_of(content: bytes, limit: int = SIZE_LIMIT) -> str:
    """Return a file's text without its byte order mark, each line end as LF.

    Raises:
        Unreadable: it is not text in UTF-8, or larger than `limit` bytes.
    """
    if len(content) > limit:
        raise Unreadable(f"the file is larger than {limit // (1024 * 1024)} MB")
    if content.startswith(_UTF_16):
        raise Unreadable("the file is in UTF-16; save it as UTF-8")
    try:
        text = decode(content).text
    except BrokenFile as error:
        raise Unreadable("the file is not UTF-8", error.line) from None
    if "\0" in text:
        raise Unreadable(
            "the file is not text: it contains the character NUL", text.count("\n", 0, text.index("\0")) + 1
        )
    return with_lf(text)


def with_lf(text: str) -> str:
    """Return a text with each of its line ends as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def plain_text(text: str) -> str:
    """Return a text out of data with line ends as LF, and what no file can hold (half a character, NUL) as its escape."""
    return _NOT_STORED.sub(lambda found: f"\\u{ord(found[0]):04x}", with_lf(text))


def without_blank_start(text: str) -> str:
    """Return a text without the blank lines it begins with, as the body behind a frontmatter has."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", text)


def ended(text: str) -> str:
    """Return a text with a line end at its end."""
    return text if not text or text.endswith("\n") else text + "\n"


def one_line(text: str) -> str:
    """Return a text as one line."""
    return " ".join(text.split())


def stem_of(name: str) -> str:
    """Return the stem of a file's name, without its folder."""
    return name.rpartition("/")[2].rpartition(".")[0] or name.rpartition("/")[2]


def folder_of(name: str) -> str:
    """Return the name of the folder a file lies in, empty where it is not known."""
    return name.rpartition("/")[0].rpartition("/")[2]


def hyphened(text: str, fallback: str) -> str:
    """Return a name of lower-case letters, digits and single hyphens, as file names and ids of other programs want it."""
    return slug(text, fallback=fallback)

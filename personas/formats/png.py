"""The texts in a PNG: its chunks `tEXt`, read and replaced with all other bytes as they are. Pure.

Compressed texts (`zTXt`, `iTXt`) are not looked into: no card is in one, and nothing can unpack to gigabytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from personas.formats.types import Unreadable

_MOST_CHUNKS = 100_000
SIGNATURE = b"\x89PNG\r\n\x1a\n"


class _CutOff(Unreadable):
    """The picture ends before its last chunk does."""


class _Chunk(NamedTuple):
    kind: bytes
    data: memoryview
    start: int
    end: int

    @property
    def keyword(self) -> str | None:
        """What it is a text of, in lower case; None where it is not text."""
        head, end, _ = bytes(self.data[:80]).partition(b"\0")
        return head.decode("latin-1").lower() if self.kind == b"tEXt" and end else None


def read_texts(content: bytes, keywords: Collection[str]) -> list[tuple[str, bytes]]:
    """Return those of its texts that have one of the keywords, in the order of the keywords.

    Args:
        content: the picture.
        keywords: in lower case; the case in the picture does not count.

    Raises:
        Unreadable: it is not a PNG, or it ends or is damaged before what was asked for is read.
    """
    found = list[tuple[str, bytes]]()
    try:
        for chunk in _chunks(content):
            if (keyword := chunk.keyword) is not None and keyword in keywords:
                if zlib.crc32(content[chunk.start + 4 : chunk.end - 4]) != int.from_bytes(
                    content[chunk.end - 4 : chunk.end]
                ):
                    raise Unreadable(f"the picture is damaged: the checksum of its text {keyword} is wrong")
                found.append((keyword, bytes(chunk.data).partition(b"\0")[2]))
    except _CutOff:
        if not found:
            raise
    return sorted(found, key=lambda text: list(keywords).index(text[0]))


def replace_texts(content: bytes, texts: Mapping[str, bytes]) -> bytes:
    """Return a picture with these texts in place of those that have their keywords.

    Raises:
        Unreadable: it is not a PNG, or not a whole one.
    """
    parts: list[bytes | memoryview] = [SIGNATURE]
    view = memoryview(content)
    for chunk in _chunks(content):
        if chunk.kind == b"IEND":
            parts += [_text_chunk(keyword, text) for keyword, text in texts.items()]
            return b"".join([*parts, view[chunk.start :]])
        if chunk.keyword not in texts:
            parts.append(view[chunk.start : chunk.end])
    raise _CutOff("the picture has no end")


def _chunks(content: bytes) -> Iterator[_Chunk]:
    if not content.startswith(SIGNATURE):
        raise Unreadable("it is not a PNG")
    view, at = memoryview(content), len(SIGNATURE)
    for _ in range(_MOST_CHUNKS):
        if at == len(content):
            return
        end = at + 12 + int.from_bytes(view[at : at + 4])
        if end > len(content):
            raise _CutOff("the picture is cut off")
        chunk = _Chunk(bytes(view[at + 4 : at + 8]), view[at + 8 : end - 4], at, end)
        yield chunk
        if chunk.kind == b"IEND":
            return
        at = end
    raise Unreadable(f"the picture has more than {_MOST_CHUNKS} chunks")


def _text_chunk(keyword: str, text: bytes) -> bytes:
    body = b"tEXt" + keyword.encode() + b"\0" + text
    return (len(body) - 4).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)

"""Packs the files of a document into one content: what a version stores, and what is merged file by file. Pure.

The content of a document with one file is the bytes of that file. One with more is written as a line of JSON with the
sizes, after a mark, and the files one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

_MARK = b"persona-bundle 1 "


def pack(files: Sequence[bytes | None]) -> bytes:
    """Return the content of a document; the first file is there, of the others None is one that is not."""
    if len(files) == 1:
        return files[0] or b""
    sizes = [None if file is None else len(file) for file in files]
    return b"".join([_MARK, json.dumps(sizes).encode(), b"\n", *(file or b"" for file in files)])


def unpack(content: bytes, count: int) -> list[bytes | None]:
    """Return the files in the content of a document that has `count` of them now.

    What was stored when it had only one is its first file.
    """
    if count == 1:
        return [content]
    files: list[bytes | None] = [content]
    if content.startswith(_MARK):
        header, _, rest = content.removeprefix(_MARK).partition(b"\n")
        files = []
        for size in json.loads(header):
            files.append(None if size is None else rest[:size])
            rest = rest[size or 0 :]
    return [*files, *[None] * count][:count]

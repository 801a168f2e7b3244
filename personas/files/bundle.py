"""Packs the files of a document into one content: what a version stores, and what is merged file by file. Pure.

The content of a document with one file is the bytes of that file. One with more, or with a file that itself begins with the
mark, is written as a line of JSON with the sizes, after the mark, and the files one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_MARK = b"persona-bundle 1 "
_HEADER = re.compile(_MARK + rb"(\[(?:(?:\d+|null)(?:, )?)+\])\n")


def pack(files: Sequence[bytes | None]) -> bytes:
    """Return the content of a document; the first file is there, of the others None is one that is not."""
    if len(files) == 1 and not (first := files[0] or b"").startswith(_MARK):
        return first
    sizes = [None if file is None else len(file) for file in files]
    return b"".join([_MARK, json.dumps(sizes).encode(), b"\n", *(file or b"" for file in files)])


def unpack(content: bytes, count: int = 1) -> list[bytes | None]:
    """Return the files in the content of a document, at least `count` of them.

    What was stored when it had only one is its first file.
    """
    header = _HEADER.match(content)
    files: list[bytes | None] = [] if header else [content]
    at = header.end() if header else 0
    for size in json.loads(header[1]) if header else ():
        files.append(None if size is None else content[at : at + size])
        at += size or 0
    return [*files, *[None] * (count - len(files))]

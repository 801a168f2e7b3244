"""Reads the bodies of error responses, and no more of them than is shown.

A server may send such a body without end, or one that is small on the wire and huge when it is decompressed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

REFUSAL_LIMIT = 64 * 1024
REFUSAL_SECONDS = 10.0
ANSWER_LIMIT = 4 * 1024 * 1024

ENCODINGS = {"accept-encoding": "identity"}
"""What the HTTP client asks for: answers are small, and streams must not be held back by a compressor."""
_KNOWN = ("", "identity", "gzip", "deflate")


async def decompressed(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """Yield the parts of a body, each of them a megabyte at the most.

    Raises:
        DecodingError: it is compressed more than once, or in a way nobody asked for.
    """
    import httpx2

    if response.headers.get("content-encoding", "").strip().lower() not in _KNOWN:
        raise httpx2.DecodingError("unexpected content-encoding")
    async with aclosing(response.aiter_bytes()) as parts:
        async for part in parts:
            yield part


async def read_beginning(response: httpx2.Response, limit: int, seconds: float | None = None) -> bytes:
    """Return the first `limit` bytes of a body, decompressed, or what of them comes within `seconds`.

    Raises:
        DecodingError: see `decompressed`.
    """
    body = bytearray()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), aclosing(decompressed(response)) as parts:
            async for part in parts:
                body += part
                if len(body) >= limit:
                    break
    return bytes(body[:limit])


async def read_refusal(response: httpx2.Response) -> bytes:
    """Return the beginning of a refusal; nothing of one that cannot be decompressed: its status is still shown."""
    import httpx2

    with suppress(httpx2.DecodingError):
        return await read_beginning(response, REFUSAL_LIMIT, REFUSAL_SECONDS)
    return b""

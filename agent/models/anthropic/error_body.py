"""Bodies that are no stream of events, such as those of refusals: no more of them is read than anybody looks at.

A server may send such a body without end, and nothing of it is put where the stall clocks would see it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

REFUSAL_LIMIT = 64 * 1024
REFUSAL_SECONDS = 10.0
ANSWER_LIMIT = 4 * 1024 * 1024
_PACKED = 16
"""How many times less is read of a body that is compressed: it may grow a thousandfold."""

ENCODINGS = {"accept-encoding": "gzip, deflate"}
"""What an HTTP client with `body_hooks` asks for: the beginning of such a body can be read without its end."""


def body_hooks(stream_path: str) -> dict[str, list[Any]]:
    """Return hooks for an HTTP client that let only the beginning of a body be read, as if it ended there.

    The beginning is `REFUSAL_LIMIT` bytes that come within `REFUSAL_SECONDS`, of a success `ANSWER_LIMIT` bytes; what
    has more is closed, its connection with it. A success that is a stream of events is left alone where one was asked
    for.

    Imports the HTTP client. Slow: call it in a thread.

    Args:
        stream_path: how the path ends of what is asked for a stream of events.
    """
    import httpx2

    class Beginning(httpx2.AsyncByteStream):
        def __init__(self, stream: Any, most: int, seconds: float | None) -> None:
            self._stream = stream
            self._most = most
            self._seconds = seconds

        async def __aiter__(self) -> AsyncIterator[bytes]:
            give_up = None if self._seconds is None else asyncio.get_running_loop().time() + self._seconds
            parts = aiter(self._stream)
            left = self._most
            while left > 0:
                try:
                    async with asyncio.timeout_at(give_up):
                        part = await anext(parts)
                except (StopAsyncIteration, TimeoutError):
                    return
                yield part[:left]
                left -= len(part)

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def shorten(response: httpx2.Response) -> None:
        is_stream = "event-stream" in response.headers.get("content-type", "").lower()
        if response.is_success and is_stream and response.request.url.path.endswith(stream_path):
            return
        most = ANSWER_LIMIT if response.is_success else REFUSAL_LIMIT
        seconds = None if response.is_success else REFUSAL_SECONDS
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            most //= _PACKED
        response.stream = Beginning(response.stream, most, seconds)

    return {"response": [shorten]}

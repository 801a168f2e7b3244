"""A loopback server that answers every request with the same bytes, as a proxy for models would."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping


class ProxyServer:
    """Serves `stream` for as long as the context is open; `requests` are (path, headers, body).

    Args:
        drop: the connection is dropped after the bytes, in the middle of the answer.
    """

    def __init__(
        self, stream: bytes, *, status: int = 200, content_type: str = "text/event-stream", drop: bool = False
    ) -> None:
        self.requests: list[tuple[str, Mapping[str, str], bytes]] = []
        self.url = ""
        self._stream = stream
        self._status = status
        self._content_type = content_type
        self._drop = drop

    async def __aenter__(self) -> ProxyServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.requests.append((first.split()[1], headers, body))
        length = len(self._stream) + (1 if self._drop else 0)
        head = f"HTTP/1.1 {self._status} X\r\ncontent-type: {self._content_type}\r\ncontent-length: {length}\r\n\r\n"
        writer.write(head.encode() + self._stream)
        await writer.drain()
        writer.close()

"""The HTTP client below a model: built at the first request, kept for the next one, one for each event loop."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from agent.models.anthropic import error_mapping
from agent.models.anthropic.endpoint import is_loopback
from agent.models.anthropic.error_body import ENCODINGS
from agent.models.anthropic.error_mapping import ModelFailure, Where

if TYPE_CHECKING:
    import httpx2


class HttpClient:
    """Keeps the connections to one server.

    Args:
        base_url: the server's.
    """

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._built: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient] | None = None

    async def get(self, where: Where) -> httpx2.AsyncClient:
        """Return the client of the running event loop: connections cannot be used in another one.

        Raises:
            ModelFailure: it cannot be built.
        """
        loop = asyncio.get_running_loop()
        if self._built is not None and self._built[0] is loop:
            return self._built[1]
        problem = None
        try:
            # The import takes 0.2 s, the certificates some more: the screen must not stand still for it.
            client = await asyncio.to_thread(build_client, self._base_url)
        except Exception as error:  # noqa: BLE001 - proxies, certificates, missing packages: all become one message
            problem = error_mapping.explain_construction(error, where)
        if problem is not None:
            raise ModelFailure(problem)
        if self._built is not None and self._built[0] is loop:  # another request was quicker
            await client.aclose()
        else:
            self._built = (loop, client)
        return self._built[1]

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        built, self._built = self._built, None
        if built is not None and built[0] is asyncio.get_running_loop():
            await built[1].aclose()


def build_client(base_url: str) -> httpx2.AsyncClient:
    """Return a client that uses proxies and certificates as the environment says. Slow: call it in a thread.

    Redirects are not followed: the key is for the server the person named. The stall clocks are ours.

    Args:
        base_url: the server; no proxy is used for one on this machine.

    Raises:
        Exception: anything; the transport cannot be set up.
    """
    import ssl

    import httpx2

    with suppress(ImportError):  # else the first connection loads them, one on the event loop: 60 ms
        import_module("anyio._backends._asyncio")
        import_module("encodings.idna")

    secure = base_url.startswith("https:")
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    # Where both are set, the client by itself looks at the file only.
    verify = ssl.create_default_context(cafile=file, capath=folder) if secure and file and folder else True
    # A transport of our own keeps the proxies of the environment out; certificates are not for plain HTTP.
    direct = httpx2.AsyncHTTPTransport(verify=verify, trust_env=secure) if is_loopback(base_url) else None
    return httpx2.AsyncClient(
        verify=verify,
        timeout=httpx2.Timeout(None, connect=20.0),
        follow_redirects=False,
        transport=direct,
        headers=ENCODINGS,
    )

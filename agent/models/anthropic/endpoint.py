"""Where requests go and with which key: base URLs with or without `/v1`, keys checked before use."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit, urlunsplit

from agent.core.model import ModelError

OFFICIAL = "https://api.anthropic.com"
_HIDDEN = "(hidden)"


def normalise_base_url(url: str) -> str:
    """Return `url` without surrounding space, trailing slashes and a trailing `/v1` or `/v1/messages`."""
    url = url.strip().rstrip("/")
    for ending in ("/v1/messages", "/v1"):
        if url.endswith(ending):
            return url.removesuffix(ending).rstrip("/")
    return url


def check_base_url(url: str) -> ModelError | None:
    """Return why `url` cannot be a base URL, or None when it can."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if "@" in url or (usable and parts.query):
        # The transport would send them in place of the key, and they would be named in every message.
        message = (
            "The base URL must have no user, password or query in it; give the key as ANTHROPIC_API_KEY."
        )
        return ModelError("client", message)
    if usable and url.isprintable() and " " not in url:
        return None
    shown = "".join(char for char in hide_secrets(url) if char.isprintable())[:100]
    return ModelError(
        "client",
        f"The base URL {shown} is not usable; write it like http://127.0.0.1:8080 or https://example.org.",
    )


def hide_secrets(url: str) -> str:
    """Return `url` as it may be shown: without user, password, query and fragment.

    Nothing of it is shown where an `@` stands elsewhere than between password and host: a password may end anywhere.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return _HIDDEN if "@" in url else url.partition("?")[0]
    if "@" in f"{parts.scheme}{parts.path}{parts.query}{parts.fragment}":
        return _HIDDEN
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_official(url: str) -> bool:
    """Whether `url` is Anthropic's own API."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host == "api.anthropic.com" or host.endswith(".anthropic.com")


def is_loopback(url: str) -> bool:
    """Whether `url` is on this machine (proxies of the environment are not for it)."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_for(url: str) -> str:
    """Return the proxy of the environment that requests to `url` go through, with the variable that names it, or ""."""
    from urllib.request import (
        getproxies,
        proxy_bypass,
    )  # slow to load, and wanted only where something failed

    parts, proxies = urlsplit(url), getproxies()
    name = next((name for name in (parts.scheme, "all") if proxies.get(name)), "")
    if not name or is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return ""
    proxy = proxies[name]
    return f"{hide_secrets(proxy if '://' in proxy else f'http://{proxy}')} ({_variable(name, proxy)})"


def proxy_variables(scheme: str = "") -> str:
    """Return the variables that name proxies whose addresses begin with `scheme`, with commas, or "" for none."""
    from urllib.request import getproxies

    return ", ".join(
        _variable(name, proxy)
        for name, proxy in getproxies().items()
        if name in ("http", "https", "all") and proxy.lower().startswith(scheme)
    )


def _variable(name: str, proxy: str) -> str:
    """Return the variable that names a proxy for the scheme `name`."""
    variables = (f"{name}_proxy", f"{name}_proxy".upper())
    return next((one for one in variables if os.environ.get(one) == proxy), "the system's settings")


def check_key(key: str | None, key_name: str) -> tuple[str | None, ModelError | None]:
    """Return the key stripped of surrounding space, or why it cannot be sent. Never shows the key.

    Args:
        key: as the person gave it, or None.
        key_name: the setting it came from, for the message.
    """
    if key is None:
        return None, None
    stripped = key.strip()
    wrong = ""
    if not stripped:
        wrong = "is empty"
    elif any(char.isspace() for char in stripped):
        wrong = "has a line break or a space in it"
    elif not stripped.isascii() or not stripped.isprintable():
        wrong = "has a character that no key has"
    if not wrong:
        return stripped, None
    return None, ModelError("authentication", f"The key in {key_name} {wrong}; copy it again, on one line.")

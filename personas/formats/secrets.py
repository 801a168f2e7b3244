"""What must not enter a home with a file: keys, passwords, accounts. Pure."""

from __future__ import annotations

import re
from typing import Any

from personas.key_shapes import KEY_SHAPES

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SECRETS = re.compile(
    r"(?:\w+_)?(?:api_?key|access_?key|secret_?key|private_?key|secrets?|passwords?|passwd|passphrase|credentials?|"
    r"authorization|cookies?)|(?!(?:\w+_)?(?:bos|eos|pad|unk|sep|cls|mask|stop|start|end|max|min|per)_token)(?:\w+_)?token"
)
_ACCOUNTS = re.compile(r"(?:\w+_)?(?:e_?mails?|user_?id|account_?id|org_?id|organization_?id|owner_?id)")
_ADDRESS = re.compile(r"(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+\.[A-Za-z]{2,}>?")
_ADDRESS_IN_WORDS = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,}")
_REFERENCE = re.compile(r"\$\{?\{?\s*[\w.:-]+\s*\}?\}?")


def is_secret(key: str, value: Any) -> str:
    """Return why a value is not kept: it is a key, a password or an account; empty where it is none of that.

    Args:
        key: its name.
        value: plain data; a reference to a variable, such as `$KEY`, is none.
    """
    name = "_".join(_WORDS.findall(key)).lower()
    text = value.strip() if isinstance(value, str) else None
    if value in ("", [], {}) or isinstance(value, bool) or (text is not None and _REFERENCE.fullmatch(text)):
        return ""
    if _SECRETS.fullmatch(name):
        return "it is a key or a password"
    if _ACCOUNTS.fullmatch(name):
        return "it names an account"
    if text is not None and len(text) <= 500 and "\n" not in text:
        if holds_key(text):
            return "it looks like a key"
        if _ADDRESS.fullmatch(text):
            return "it is an e-mail address"
    return ""


def holds_key(text: str) -> bool:
    """Whether something in a text looks like a key."""
    found = (match[0] for match in KEY_SHAPES.finditer(text))
    return any(one.startswith("sk-") or any(sign.isdigit() for sign in one) for one in found)


def seen_in(text: str) -> list[str]:
    """Return what something in a text looks like that had better not be there: such words stay, and the report says so."""
    found = {"a key": holds_key(text), "an e-mail address": bool(_ADDRESS_IN_WORDS.search(text))}
    return [what for what, is_there in found.items() if is_there]

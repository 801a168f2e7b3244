"""What must not enter a home with a file: keys, passwords, accounts. Pure."""

from __future__ import annotations

import re
from typing import Any

from personas.key_shapes import KEY_SHAPES

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SECRETS = re.compile(
    r"token|pass|pwd|pat|o?auth|authorization|authentication|jwt|cred|cookie|bearer|"
    r"\w*(?:password|passwd|passphrase|passcode|secret|credential)|\w*(?:api|access|secret|private|ssh|auth)key"
)
_NUMBERS = re.compile(r"token|\w*(?:password|passwd)|pwd")
_NO_TOKENS = re.compile(r"bos|eos|pad|unk|sep|cls|mask|stop|start|end|max|min|per|special|budget|count|limit")
_NO_KEYS = re.compile(
    r"second\w*|primary|trigger|activation|optional|extra|other|sort|hot|short|map|match|use|required"
)
_ACCOUNTS = re.compile(r"(?:\w+_)?(?:e_?mails?|(?:user|account|org|organization|owner|group)_?ids?)")
_ADDRESS = re.compile(r"(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+\.[A-Za-z]{2,}>?")
_ADDRESS_IN_WORDS = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,}")
_SET = re.compile(
    r"""(?:^|\s)(?:-H|--header)[\s=]*['"]?(?P<header>[\w-]+):\s*(?P<said>[^\s'"]+)|"""
    r"""(?:^|\s)(?:--?(?P<flag>[\w-]+)(?:=|\s+)|(?P<name>[\w-]+)=)['"]?(?P<value>[^\s'"]+)"""
)
_HEADER = re.compile(r"""(?P<name>[\w-]+):\s*(?P<value>\S+(?:\s\S+)?)""")
_FLAG = re.compile(r"--?([\w-]+)")
_URL = re.compile(r"\b[a-zA-Z][\w+.-]{0,20}://\S+")
_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_QUERY = re.compile(r"[?&;#]([\w.-]+)=([^&;#\s]*)")
_LINE = 2000
"""Most characters of a line that is looked at for what it sets."""
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
    if _names_secret(name, value):
        return "it is a key or a password"
    if _ACCOUNTS.fullmatch(name) or (name == "user" and isinstance(value, dict)):
        return "it names an account"
    if text is not None and len(text) <= 500 and "\n" not in text:
        if holds_key(text):
            return "it looks like a key"
        if all(_ADDRESS.fullmatch(one.strip()) for one in re.split("[,;]", text)):
            return "it is an e-mail address"
    return ""


def _names_secret(name: str, value: Any) -> bool:
    """Whether one of a name's words is that of a secret; `key` is one behind another word, and a number seldom is."""
    words = [word.removesuffix("s") if len(word) > 4 or word == "keys" else word for word in name.split("_")]
    while len(words) > 1 and words[-1].isdigit():
        del words[-1]
    if words[-1] == "key" and len(words) > 1:
        is_known = words[-2] in ("api", "access", "secret", "private", "ssh", "auth")
        return (is_known or isinstance(value, str)) and not any(map(_NO_KEYS.fullmatch, words))
    if "token" in words and any(map(_NO_TOKENS.fullmatch, words)):
        words = [word for word in words if word != "token"]
    if isinstance(value, int | float):
        return bool(words and _NUMBERS.fullmatch(words[-1]))
    return any(map(_SECRETS.fullmatch, words))


def sets_secret(text: str) -> bool:
    """Whether a line, such as a command or a header, gives a secret: `--token=x`, `--token x`, `TOKEN=x`, `Token: x`."""
    if "\n" in text or len(text) > _LINE:
        return False
    found = [*_SET.finditer(text), *filter(None, [_HEADER.fullmatch(text)])]
    pairs = [[one for one in match.groups() if one is not None] for match in found]
    return any(is_secret(name, value) for name, value in pairs)


def is_secret_flag(text: Any) -> bool:
    """Whether an item of a list is a flag whose secret is the next item."""
    found = _FLAG.fullmatch(text) if isinstance(text, str) else None
    return found is not None and bool(is_secret(found[1], "x"))


def without_logins(text: str) -> str:
    """Return a text whose URLs have no user and no password, and no secret in their queries."""

    def bare(url: re.Match[str]) -> str:
        return _QUERY.sub(
            lambda one: one[0][: -len(one[2])] if one[2] and is_secret(one[1], one[2]) else one[0],
            _USER.sub("", url[0]),
        )

    return _URL.sub(bare, text)


def holds_key(text: str) -> bool:
    """Whether something in a text looks like a key."""
    found = (match[0] for match in KEY_SHAPES.finditer(text))
    return any(one.startswith("sk-") or any(sign.isdigit() for sign in one) for one in found)


def seen_in(text: str) -> list[str]:
    """Return what something in a text looks like that had better not be there: such words stay, and the report says so."""
    found = {"a key": holds_key(text), "an e-mail address": bool(_ADDRESS_IN_WORDS.search(text))}
    return [what for what, is_there in found.items() if is_there]

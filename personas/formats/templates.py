"""Templates of other programs (Nunjucks, Jinja): filling what is plain in one, and keeping a text as it stands in one. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from personas.formats.secrets import is_secret
from personas.formats.text import plain_text
from personas.formats.types import Unreadable

Chat = list[dict[str, str]]
"""Messages with `role` and `content`."""

_PLAIN = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}")
_SIGNS = re.compile(r"\{[{%#]")
_BLOCKS = re.compile(r"\{[%#]")
_RAW = re.compile(r"\{%-?\s*raw\s*-?%\}(.*)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
_RAW_MARK = re.compile(r"\{%-?\s*(?:end)?raw\s*-?%\}")


def has_signs(text: str) -> bool:
    """Whether a text is more than its words to Nunjucks or Jinja."""
    return _SIGNS.search(text) is not None


def names_in(template: str) -> list[str]:
    """Return the names that a template has as `{{name}}`, each once, in their order."""
    return list(dict.fromkeys(_PLAIN.findall(template)))


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Return a template with each `{{name}}` as its value, where that is a text or a number.

    All else stays as it stands: a name without a value, or of a password or an account, a filter, a call; and all of a
    template that has blocks.
    """
    if _BLOCKS.search(template):
        return template
    return _PLAIN.sub(lambda found: _said(found[1], values.get(found[1]), found[0]), template)


def _said(name: str, value: Any, literal: str) -> str:
    if is_secret(name, value):
        return literal
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else literal


def raw(text: str, what: str) -> str:
    """Return a text as a template that gives this text back, whatever is in it.

    Args:
        text: to be kept as it stands.
        what: it is, for the message.

    Raises:
        Unreadable: it has a mark that begins or ends such a block itself.
    """
    if found := _RAW_MARK.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise Unreadable(f"{what} has `{found[0]}`, which no template can keep unchanged", line)
    return f"{{% raw %}}{text}{{% endraw %}}" if has_signs(text) else text


def without_raw(template: str) -> str | None:
    """Return the text that a template of one raw block keeps, None where it is another template."""
    found = _RAW.fullmatch(template)
    return None if found is None or _RAW_MARK.search(found[1]) else found[1]


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Return a template filled, or the text that its raw block keeps."""
    plain = without_raw(template)
    return plain_text(fill(template, values)) if plain is None else plain


def is_talk(chat: Chat) -> bool:
    """Whether messages are a conversation that a persona can answer."""
    roles = [one["role"] for one in chat]
    return bool(roles) and roles[0] == roles[-1] == "user" and {*roles} <= {"user", "assistant"}


def said_in(chat: Chat, values: Mapping[str, Any]) -> tuple[str | Chat | None, str]:
    """Return what messages say to a persona, None where nothing, and what a person should know of it.

    Args:
        chat: the messages after the system message, as templates.
        values: of their names.
    """
    said = [{**one, "content": filled(one["content"], values)} for one in chat]
    left = any(
        has_signs(fill(one["content"], values)) and without_raw(one["content"]) is None for one in chat
    )
    why = "what has no plain value stays unchanged" if left else ""
    if len(said) > 1 and is_talk(said):
        return said, why
    last = next((one["content"] for one in reversed(said) if one["role"] == "user"), "")
    return (last, why) if last.strip() else (None, "")

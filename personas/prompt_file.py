"""A prompt in a file of its own: which file a persona names, the prompt in it, and putting another one there.

The prompt is the file's text or, where it begins with frontmatter, what stands after the frontmatter's last line. Reads no
file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from personas.errors import BrokenFile, InvalidValue
from personas.files.bundle import unpack
from personas.files.frontmatter import frontmatter_span
from personas.files.home import PRIVATE
from personas.files.text_file import decode, encode
from personas.lines import changed_regions, split_lines
from personas.toml.edit import remove_key, set_value
from personas.toml.parse import parse

KEY = "system_prompt_file"
ENDINGS = (".md", ".markdown", ".mdc", ".txt")
"""How the file's name ends: never what a shell, git or make runs."""
_OWN = frozenset(("library", "actions", *PRIVATE))
"""Folders of the home whose files are documents of their own, or what the program remembers."""


def named_file(fields: dict[str, Any]) -> str:
    """Return the path of the prompt's file as a persona's fields name it; empty for none, or one that cannot be."""
    name = fields.get(KEY)
    return name if isinstance(name, str) and fault_of(fields) is None else ""


def fault_of(fields: dict[str, Any]) -> str | None:
    """Return why the named file cannot be the prompt's, None where it can."""
    name = fields[KEY]
    if "system_prompt" in fields:
        return f"system_prompt and {KEY} are both there; keep one of them"
    if name.startswith("/") or ".." in name.split("/") or re.search(r"[\x00-\x1f\x7f\\]", name):
        return f"{KEY} must be a path inside the home, relative to it"
    if not name.lower().endswith(ENDINGS):
        return f"{KEY} must name a text: a file that ends in {', '.join(ENDINGS)}"
    if (folder := next(part for part in name.split("/") if part not in ("", "."))).casefold() in _OWN:
        return f"{KEY} must not lead into the folder {folder}, whose files are the program's own"
    return None


def resolves_to_prompt(path: Path, root: Path) -> bool:
    """Whether a file may have a prompt also by where it really is, its links followed."""
    real = Path(os.path.realpath(path))
    return real.is_relative_to(root) and fault_of({KEY: real.relative_to(root).as_posix()}) is None


def path_in(root: Path, toml: bytes) -> tuple[Path, ...]:
    """Return the prompt's file that a persona's file names, in a home; none where it names none, or cannot be read."""
    try:
        name = named_file(parse(decode(toml).text))
    except BrokenFile:
        return ()
    return (root / name,) if name else ()


def with_own_prompt(content: bytes) -> str:
    """Return the text of a persona's own file, in which the prompt stands also where it has a file of its own.

    Raises:
        BrokenFile, EditRefused: it cannot be read, or not be changed.
    """
    own, *beside = unpack(content)
    text = decode(own or b"").text
    if not beside:
        return text
    return set_value(remove_key(text, (KEY,)), ("system_prompt",), prompt_of(beside[0]))


def prompt_of(content: bytes | None) -> str:
    """Return the prompt in a file, its line ends as LF; what is no UTF-8 is replaced."""
    text = (content or b"").decode("utf-8-sig", "replace")
    return text[frontmatter_span(text)[2] :].replace("\r\n", "\n")


def with_prompt(content: bytes | None, prompt: str, name: str) -> bytes:
    """Return a file with another prompt in it. Frontmatter, lines that stay, and line ends are as they were.

    Args:
        content: of the file, None where it is not there.
        prompt: the prompt.
        name: of the file, for messages.

    Raises:
        BrokenFile: the file is not UTF-8.
        InvalidValue: the prompt cannot be stored, or its beginning would be read as frontmatter.
    """
    text, bom = decode(content or b"")
    prompt = prompt.replace("\r\n", "\n")
    end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    head, body = (text[: (at := frontmatter_span(text)[2])], text[at:])
    if head and prompt and not head.endswith("\n"):
        head += end
    old, new = split_lines(body), split_lines(prompt)
    lines, done = [head], 0
    for region in changed_regions([line.replace("\r\n", "\n") for line in old], new):
        lines += old[done : region.old_start]
        lines += [line.replace("\n", end) for line in new[region.new_start : region.new_end]]
        done = region.old_end
    written = encode("".join([*lines, *old[done:]]), bom=bom)
    if prompt_of(written) != prompt:
        raise InvalidValue(
            f"The prompt cannot begin like this: {name} would be read with frontmatter, from the first line of --- to the next."
        )
    return written

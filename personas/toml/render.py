"""Values as TOML source. Strings are ours, so that a prompt stays readable; the rest is tomli-w's.

A string that replaces another keeps its way of quoting and of escaping, and the source of what did not change: of whole
lines, and of both ends of a line that did. What would not be seen in the file is written as an escape.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any

import tomli_w

from personas.errors import InvalidValue
from personas.lines import common_length
from personas.toml.escapes import CONTROL, HIDDEN, habits, unescaped, with_hidden_escaped
from personas.toml.parse import MAX_DEPTH

_LONG = 1000  # characters of source that are better unescaped all at once
_MENDED_LINES = 2000  # where more lines changed, the text is another one
_LINE_LIMIT = 100  # a new array longer than this takes one line for each element

_QUOTE_RUN = re.compile(r'"{3,}')
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")

# One decoded line: a backslash at the end of a source line swallows the newline and the blanks after it.
_SOURCE_LINE = re.compile(r"[^\\\n]*+(?:\\(?:[ \t]*\r?\n[ \t\r\n]*+|[^\n])[^\\\n]*+)*+\n?")
_ESCAPE = re.compile(
    r"\\(?:(?P<blank>[ \t]*\r?\n[ \t\r\n]*)|u(?P<u>[0-9A-Fa-f]{4})|U(?P<U>[0-9A-Fa-f]{8})"
    r"|x(?P<x>[0-9A-Fa-f]{2})|(?P<one>.))"
)
_NAMED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}


def render_string(value: str, newline: str = "\n", old: str | None = None) -> str:
    r"""Return a TOML string that reads back as `value`.

    Args:
        value: any text; a CR in it is written as `\r`, since TOML readers drop it before a newline.
        newline: the line ending of the file, used for real newlines in the result.
        old: the source of the string that is replaced, whose style is kept where it can be.

    Raises:
        InvalidValue: the value holds half a surrogate pair, which no file can hold.
    """
    _refuse_surrogates(value)
    if old is None:
        return _fresh_block(value, newline, {}) if "\n" in value else render_line(value)
    if old.startswith("'''"):
        body = _literal_block(value, newline, old)
        return body if body is not None else _fresh_block(value, newline, {})
    if old.startswith('"""'):
        return _changed_block(value, newline, old)
    if old.startswith("'"):
        if "\n" in value:
            return _fresh_block(value, newline, {})
        return f"'{value}'" if "'" not in value and _may_be_literal(value, old) else render_line(value)
    written = habits(old[1:-1], _decode)
    if "\n" in value:
        return _fresh_block(value, newline, written)
    return f'"{_mended(old[1:-1], value, lambda text: _escape_line(text, written))}"'


def render_line(value: str) -> str:
    """Return a basic string on one line, newlines escaped.

    Raises:
        InvalidValue: the value holds half a surrogate pair.
    """
    _refuse_surrogates(value)
    return f'"{_escape_line(value, {})}"'


def render_key(key: str) -> str:
    """Return one part of a key, quoted if it must be."""
    return key if _BARE_KEY.fullmatch(key) else render_line(key)


def render_value(value: Any, newline: str = "\n", old: str | None = None) -> str:
    """Return any value as TOML source: tables in braces, long arrays one element a line.

    Args:
        value: what `plain` returns.
        newline: the line ending of the file.
        old: the source of the value that is replaced; only strings make use of it.

    Raises:
        InvalidValue: TOML has no such value.
    """
    if isinstance(value, str):
        quoted = old is not None and old[:1] in ('"', "'")
        return render_string(value, newline, old if quoted else None)
    if isinstance(value, list):
        items = [render_value(item, newline) for item in value]
        line = f"[{', '.join(items)}]"
        if len(line) <= _LINE_LIMIT or len(items) < 2:
            return line
        return f"[{newline}" + "".join(f"    {item},{newline}" for item in items) + "]"
    if isinstance(value, dict):
        pairs = [f"{render_key(key)} = {render_value(item, newline)}" for key, item in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as `tomllib` would give it: str, int, float, bool, dates, list, dict.

    Args:
        depth: how many lists and dicts it lies in.

    Raises:
        InvalidValue: TOML has no such value, or it nests too deeply to be read again.
    """
    if depth > MAX_DEPTH:
        raise InvalidValue(f"The value nests deeper than {MAX_DEPTH} levels.")
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        _refuse_surrogates(value)
        return str.__str__(value)
    if isinstance(value, int):
        number = int(value)
        if number.bit_length() > 14_000:  # near the most digits Python converts from text
            raise InvalidValue("A number of that many digits cannot be written to a TOML file.")
        return number
    if isinstance(value, float):
        return float(value)
    if isinstance(value, datetime):
        offset = value.utcoffset()
        if offset is not None and offset.total_seconds() % 60:
            raise InvalidValue("A time zone offset with seconds cannot be written to a TOML file.")
        return value
    if isinstance(value, time) and value.tzinfo is not None:
        raise InvalidValue("A time of day with a time zone cannot be written to a TOML file.")
    if isinstance(value, date | time):
        return value
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise InvalidValue("The keys of a table in a TOML file must be strings.")
        return {plain(key): plain(item, depth + 1) for key, item in value.items()}
    raise InvalidValue(f"A value of type {type(value).__name__} cannot be written to a TOML file.")


def _refuse_surrogates(value: str) -> None:
    if _SURROGATE.search(value):
        raise InvalidValue("The text holds half of a surrogate pair, which cannot be written to a file.")


def _escape_line(value: str, written: Mapping[str, str]) -> str:
    """Escape what cannot stand in a basic string on one line."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return with_hidden_escaped(escaped, written)


def _escape_block(value: str, written: Mapping[str, str]) -> str:
    """Escape what cannot stand in a block; newlines stay, lone quotes too."""
    escaped = _QUOTE_RUN.sub(lambda run: '\\"' * len(run[0]), value.replace("\\", "\\\\"))
    return with_hidden_escaped(escaped, written)


def _escape_last(value: str, written: Mapping[str, str]) -> str:
    """Escape the last line of a block: quotes at its end would run into the closing ones."""
    body = value.rstrip('"')
    return _escape_block(body, written) + '\\"' * (len(value) - len(body))


def _fresh_block(value: str, newline: str, written: Mapping[str, str]) -> str:
    first, last_break, last = value.rpartition("\n")
    body = _escape_block(first, written) + last_break + _escape_last(last, written)
    return f'"""{newline}{body.replace(chr(10), newline)}"""'


def _may_be_literal(value: str, old: str) -> bool:
    """Whether a value can stand without escapes: nothing in it is hidden but what stood so before."""
    if re.search(CONTROL, value):
        return False
    return not re.search(HIDDEN, value) or not Counter(re.findall(HIDDEN, value)) - Counter(
        re.findall(HIDDEN, old)
    )


def _mended(old: str, value: str, escape: Callable[[str], str]) -> str:
    """Return source for `value` that takes what both ends have in common with the old source from there.

    Args:
        old: the inside of a basic string, or a line of one.
        escape: writes what is new.
    """
    was = _decode(old)
    if was == value:
        return old
    head = common_length(was, value)
    tail = common_length(was[head:][::-1], value[head:][::-1])
    start, end = _place(old, head), _place(old, len(was) - tail)
    return old[:start] + escape(value[head : len(value) - tail]) + old[end:]


def _place(source: str, offset: int) -> int:
    """Return where in a source the character stands that is at `offset` of what it stands for."""
    at = position = 0
    for found in _ESCAPE.finditer(source):
        run = found.start() - position
        if at + run >= offset:
            break
        at += run + (found["blank"] is None)
        position = found.end()
    return position + offset - at


def _opening_newline(old: str) -> str:
    """Return the newline right behind the opening quotes, or nothing."""
    return "\r\n" if old.startswith("\r\n", 3) else "\n" if old.startswith("\n", 3) else ""


def _literal_block(value: str, newline: str, old: str) -> str | None:
    """Return the value in three single quotes, or None where it would need escaping."""
    if "'''" in value or not _may_be_literal(value, old):
        return None
    opening = _opening_newline(old)
    if not opening and value.startswith("\n"):
        opening = newline
    body = _with_line_ends(value, newline, old[3 + len(opening) : -3])
    return f"'''{opening}{body}'''"


def _with_line_ends(value: str, newline: str, old_body: str) -> str:
    """Join lines by the file's newline, but where old lines at either end are equal, by theirs."""
    lines, olds = value.split("\n"), old_body.split("\n")
    limit = min(len(lines), len(olds)) - 1
    head = 0
    while head < limit and lines[head] == olds[head].removesuffix("\r"):
        head += 1
    tail = 0
    while tail < limit - head and lines[-2 - tail] == olds[-2 - tail].removesuffix("\r"):
        tail += 1
    middle = [line + ("\r" if newline == "\r\n" else "") for line in lines[head : len(lines) - 1 - tail]]
    return "\n".join([*olds[:head], *middle, *olds[len(olds) - 1 - tail : -1], lines[-1]])


def _changed_block(value: str, newline: str, old: str) -> str:
    opening = _opening_newline(old)
    old_body = old[3 + len(opening) : -3]
    written = habits(old_body, _decode)
    body = _reuse_lines(value, newline, old_body, written)
    if body.startswith(("\n", "\r\n")) and not opening:
        opening = newline
    elif not opening and body.startswith('"'):
        body = "\\" + body
    result = f'"""{opening}{body}"""'
    if _decode(body) != value:
        return _fresh_block(value, newline, written)
    return result


def _reuse_lines(value: str, newline: str, old_body: str, written: Mapping[str, str]) -> str:
    """Write the lines of a value, taking the source of lines that were there before.

    Equal lines at the start and at the end keep their own source; between them a line takes the source of an
    old line of the same text, in order. What is left on both sides are lines that changed, taken in order.
    """
    sources = _SOURCE_LINE.findall(old_body)
    if sources and not sources[-1]:
        sources.pop()
    decoded = [_decode(source) for source in sources]
    last_old = last_text = ""
    if sources and not (sources[-1].endswith("\n") and decoded[-1].endswith("\n")):
        last_old, last_text = sources.pop(), decoded.pop()

    head = 0  # old lines kept at the start
    start = 0  # where the rest of the value starts
    while head < len(sources) and value.startswith(decoded[head], start):
        start += len(decoded[head])
        head += 1

    end = len(value)  # where the tail starts
    tail = len(sources)
    last = ""
    rest_has_last = value.endswith(last_text, start) and (
        end - len(last_text) == start or value[end - len(last_text) - 1] == "\n"
    )
    if rest_has_last:
        end -= len(last_text)
        last = last_old
        while tail > head and value.endswith(decoded[tail - 1], start, end):
            before = end - len(decoded[tail - 1])
            if before > start and value[before - 1] != "\n":
                break
            end = before
            tail -= 1

    spare: dict[str, deque[int]] = {}
    for number in range(head, tail):
        spare.setdefault(decoded[number], deque()).append(number)
    pieces = value[start:end].split("\n")
    same = [taken.popleft() if (taken := spare.get(f"{piece}\n")) else None for piece in pieces[:-1]]
    left = sorted(number for numbers in spare.values() for number in numbers)
    changed = iter([sources[number].removesuffix("\n").removesuffix("\r") for number in left[:_MENDED_LINES]])
    middle = [
        _change_line(next(changed, ""), piece, written) + newline if number is None else sources[number]
        for piece, number in zip(pieces, same, strict=False)
    ]
    if rest_has_last:
        middle.append(_change_line(next(changed, ""), pieces[-1], written) if pieces[-1] else "")
    else:
        middle.append(_change_line(last_old, pieces[-1], written, last=True))
    return "".join([*sources[:head], *middle, *sources[tail:], last])


def _change_line(old: str, text: str, written: Mapping[str, str], *, last: bool = False) -> str:
    """Return a line of a block, with its unchanged ends as they stood; no newline at its end.

    Args:
        old: the source of the line that it takes the place of.
        text: what it stands for.
        last: whether the closing quotes follow.
    """

    def fresh(value: str) -> str:
        return _escape_last(value, written) if last else _escape_block(value, written)

    if "\\" not in old and not re.search(HIDDEN, old):
        return fresh(text)  # what is new is written as that was
    line = _mended(old, text, fresh)
    bare = _ESCAPE.sub("x", line) if '"' in line else ""
    runs_on = '"""' in bare or (last and bare.endswith('"'))
    return fresh(text) if runs_on or _decode(line) != text else line


def _decode(source: str) -> str:
    """Return what a block's source stands for."""
    text = source.replace("\r\n", "\n")
    if len(text) > _LONG and (value := unescaped(text, block=True)) is not None:
        return value
    return _ESCAPE.sub(_decode_escape, text) if "\\" in text else text


def _decode_escape(found: re.Match[str]) -> str:
    if found["blank"] is not None:
        return ""
    if found["one"] is not None:
        return _NAMED.get(found["one"], found[0])
    code = int(found["u"] or found["U"] or found["x"], 16)
    return chr(code) if code < 0x110000 else found[0]

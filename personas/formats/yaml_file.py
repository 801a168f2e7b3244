"""YAML of other programs as plain data, and data as YAML that every reader takes for the same. Pure; PyYAML is imported on use.

Only texts, numbers, true, false, null, lists and mappings come out. `yes`, dates and numbers of unusual shape stay the text
that stands there; a tag is refused, since a tag asks for an object to be made.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from personas.formats.text import plain_text
from personas.formats.types import Unreadable

LONGEST = 4 * 1024 * 1024
"""Most characters of a YAML text, and of its values, each counted as often as an alias repeats it."""
DEEPEST = 50
MOST_VALUES = 200_000
"""Most values, each counted as often as an alias repeats it."""

_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,2})?")
_SAFE_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_/.,()*;-]*(?: [A-Za-z0-9_/.,()*;-]+)*")
_ENDS = re.compile("[\r\x85\u2028\u2029]")
"""What YAML, or some of its readers, takes as a line end besides LF: it stays as it is in double quotes alone."""
_WIDE = re.compile("[\U00010000-\U0010ffff]")
_READ_AS_ELSE = re.compile(r"(?i)true|false|yes|no|on|off|y|n|null|~|\.?(?:inf|nan)")


def load_yaml(text: str, *, first_line: int = 1) -> Any:
    """Return the data of one YAML document; of an empty text None.

    Args:
        text: line ends as LF.
        first_line: the line of the file at which the text begins, for messages.

    Raises:
        Unreadable: it is not YAML, or asks for more than plain data.
    """
    import yaml

    if len(text) > LONGEST:
        raise Unreadable(f"its YAML is longer than {LONGEST // (1024 * 1024)} million characters")
    try:
        # The one in C is thirty times faster, and has a limit of its own to nesting.
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return None if node is None else _Reader(first_line).value(node, 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else first_line + mark.line
        raise Unreadable(f"it is not YAML: {error.problem or error.context}", line) from None
    except yaml.reader.ReaderError as error:
        found = yaml.reader.Reader.NON_PRINTABLE.search(text)
        line = None if found is None else first_line + text.count("\n", 0, found.start())
        raise Unreadable(
            f"it is not YAML: it holds a character that is not allowed ({error.reason})", line
        ) from None
    except RecursionError:
        raise Unreadable("it nests too deeply to be read") from None


class _Reader:
    """Makes plain data of the nodes of one text."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self._count = self._length = 0

    def value(self, node: Any, depth: int) -> Any:
        """Return what a node says."""
        import yaml

        self._count += 1
        if depth > DEEPEST:
            raise Unreadable(f"it nests deeper than {DEEPEST} levels", self._line(node))
        if self._count > MOST_VALUES:
            raise Unreadable(f"it has more than {MOST_VALUES} values", self._line(node))
        kind = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.ScalarNode):
            self._length += len(node.value)
            if self._length > LONGEST:
                raise Unreadable(f"its values are longer than {LONGEST // (1024 * 1024)} million characters")
            return self._scalar(node, kind)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.value(one, depth + 1) for one in node.value]
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, depth)
        raise self._refused(node)

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, depth + 1)
            if isinstance(key, dict | list):
                raise Unreadable("a key is a list or a mapping", self._line(key_node))
            name = key if isinstance(key, str) else key_node.value
            value = self.value(value_node, depth + 1)
            if key_node.tag == f"{_TAG}merge":
                for one in value if isinstance(value, list) else [value]:
                    for merged, said in one.items() if isinstance(one, dict) else ():
                        found.setdefault(merged, said)
            elif name in found and not any(other.tag == f"{_TAG}merge" for other, _ in node.value):
                raise Unreadable(f"the key {name[:60]!r} is there twice", self._line(key_node))
            else:
                found[name] = value
        return found

    def _scalar(self, node: Any, kind: str) -> Any:
        text = plain_text(node.value)
        if node.style or kind in ("str", "merge", "value", "timestamp"):
            if kind not in ("str", "merge", "value", "timestamp"):
                raise self._refused(node)
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return {"true": True, "false": False}.get(text.lower(), text)
        if kind in ("int", "float"):
            if _INTEGER.fullmatch(text):
                return int(text)
            return float(text) if _NUMBER.fullmatch(text) else text
        raise self._refused(node)

    def _refused(self, node: Any) -> Unreadable:
        return Unreadable(f"the tag {node.tag[:60]!r} is not read: it is not plain data", self._line(node))

    def _line(self, node: Any) -> int:
        return int(self._first_line + node.start_mark.line)


def dump_yaml(value: Any, *, blocks: bool = True) -> str:
    """Return data as YAML in which every text is a text to every reader.

    Args:
        value: plain data.
        blocks: whether a text of several lines is a block, where it can be one; else it stands on one line, in quotes.
    """
    import yaml

    dumper = _dumper(blocks)
    return str(yaml.dump(value, Dumper=dumper, allow_unicode=True, sort_keys=False, width=1 << 30, indent=2))


@cache
def _dumper(blocks: bool) -> Any:
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes texts so that no reader takes one for something else, and nothing twice by a name."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

        def text(self, value: str) -> Any:
            style: str | None = '"'
            if _SAFE_PLAIN.fullmatch(value) and not _READ_AS_ELSE.fullmatch(value):
                style = None
            elif _ENDS.search(value):
                style = '"'
            elif "\n" in value:
                style = "|" if blocks else '"'
            elif _WIDE.search(value):
                style = "'"  # in double quotes PyYAML would escape them
            return self.represent_scalar(f"{_TAG}str", value, style=style)

    Dumper.add_representer(str, Dumper.text)
    return Dumper

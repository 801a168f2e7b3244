"""Patterns: text and nothing else, line ends of both kinds."""

from tests.personas.formats.examples.example import Example

_TEXT = "# IDENTITY and PURPOSE\n\nYou extract {{input}} and {{plugin:text:upper x}}.\n\n# INPUT:\n\nINPUT:\n"

EXAMPLES = [
    Example(
        "fabric", "extract_wisdom/system.md", _TEXT.encode(), says=("extract_wisdom", _TEXT), is_exact=True
    ),
    Example(
        "fabric",
        "Ünïcode pattern/system.md",
        b"\xef\xbb\xbf" + _TEXT.replace("\n", "\r\n").encode() + "é ---\r\n---\r\n".encode(),
        says=(_TEXT, "Ünïcode pattern"),
    ),
]

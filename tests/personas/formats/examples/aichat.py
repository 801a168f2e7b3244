"""Roles: all fields with examples of talks, a field that aichat drops, a body with rules."""

from tests.personas.formats.examples.example import Example

_FULL = """---
model: openai:gpt-4o
temperature: 0.2
top_p: 0.9
use_tools: fs_ls,web
---

Convert to emoji. {{char}} {{__os__}} 👩‍💻
---
not metadata
---
### INPUT:
Hello $x
### OUTPUT:
__INPUT__
"""

EXAMPLES = [
    Example(
        "aichat",
        "roles/emoji.md",
        b"\xef\xbb\xbf" + _FULL.replace("\n", "\r\n").encode(),
        says=(
            "emoji",
            "openai:gpt-4o",
            "0.2",
            "0.9",
            "fs_ls,web",
            "Convert to emoji. {{char}} {{__os__}} 👩‍💻\n---\nnot metadata\n---\n### INPUT:\nHello $x\n### OUTPUT:\n__INPUT__",
        ),
    ),
    Example(
        "aichat",
        "roles/short.md",
        b"---\ntemperature:\nmodel: [a]\n---\nBe brief.",
        says=("Be brief.", "temperature"),
    ),
]

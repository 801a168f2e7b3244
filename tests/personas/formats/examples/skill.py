"""Skills: with all fields, with what real ones have, and with bare minimum."""

from tests.personas.formats.examples.example import Example

_FULL = """---
name: pdf-forms
description: Fills in forms of PDF files. Use it when somebody has a form "to fill in": now
license: Apache-2.0
compatibility: Needs python3
metadata:
  author: Jane Doe
  version: "1.10"
  contact: jane@example.org
allowed-tools: Read Bash(python3:*)
x-own: [1, {deep: ~}]
---

# Forms

Run `scripts/fill.py`. Ünïcode 🧑🏽‍🚀 and {{braces}}.
"""

EXAMPLES = [
    Example(
        "skill",
        "pdf-forms/SKILL.md",
        _FULL.encode(),
        says=(
            "pdf-forms",
            'Fills in forms of PDF files. Use it when somebody has a form "to fill in": now',
            "Apache-2.0",
            "Needs python3",
            "1.10",
            "Read Bash(python3:*)",
            "# Forms\n\nRun `scripts/fill.py`. Ünïcode 🧑🏽‍🚀 and {{braces}}.\n",
            "files beside it",
            "x-own.1.deep",
        ),
        never=("jane@example.org",),
    ),
    Example(
        "skill",
        "brief/SKILL.md",
        b"---\nname: brief\ndescription: Says little\nlicense: MIT\n---\n\nBe brief.\n",
        says=("brief", "Says little", "MIT", "Be brief."),
        is_exact=True,
    ),
]

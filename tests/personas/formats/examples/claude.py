"""Subagents as they are found: valid, with an unquoted colon, with a text over several lines, with keys in them."""

from tests.personas.formats.examples.example import Example

_FULL = """---
name: code-reviewer
description: "Looks at changes: finds what is wrong.\\nUse it after each change. # not a comment"
tools: Read, Grep
disallowedTools: [Write]
model: inherit
permissionMode: plan
maxTurns: 7
memory: user
background: false
color: red
unknown-key: {a: [1, 2.5, null, yes, 2024-01-01, 0x1F]}
mcpServers:
  git:
    env: {GIT_TOKEN: hunter2hunter2, GITHUB_TOKEN: ghp_abcdefghijklmnopqrstuvwxyz0123, HOME: $HOME}
---

You review changes. {{char}} $x {% raw %}

---
Above is a rule: *not* the end. 👩‍💻 e\u0301 \u202e
\ttabs "quotes" \\ back """

_UNQUOTED = """---
name: rapid-prototyper
description: Use this agent when: a prototype is wanted. Examples:

<example>
Context: a new app
user: "Build it"
</example>
color: green
tools: Write, Bash
---

You build: fast.
"""

EXAMPLES = [
    Example(
        "claude",
        "agents/code-reviewer.md",
        _FULL.encode(),
        says=(
            "code-reviewer",
            "Looks at changes: finds what is wrong.\nUse it after each change. # not a comment",
            "Read, Grep",
            "inherit",
            "2024-01-01",
            "0x1F",
            "yes",
            "unknown-key.a.2",
            "$HOME",
            "You review changes. {{char}} $x {% raw %}\n\n---\nAbove is a rule: *not* the end. 👩‍💻 e\u0301 \u202e\n\ttabs",
        ),
        never=("ghp_abcdefghijklmnopqrstuvwxyz0123",),
    ),
    Example(
        "claude",
        "agents/rapid-prototyper.md",
        b"\xef\xbb\xbf" + _UNQUOTED.replace("\n", "\r\n").encode(),
        says=(
            'Use this agent when: a prototype is wanted. Examples:\n\n<example>\nContext: a new app\nuser: "Build it"\n</example>',
            "green",
            "Write, Bash",
            "You build: fast.",
        ),
    ),
    Example(
        "claude",
        "agents/strange.md",
        b"---\nname: [a, list]\ndescription: 5\ntools:\nmodel: {}\n---\nBody",
        says=("strange", "it is not text", "tools", "Body"),
    ),
    Example(
        "claude",
        "agents/plain.md",
        b"---\nname: plain\ndescription: Says little\nmodel: opus\n---\n\nBe brief.\n",
        says=("plain", "Says little", "opus", "Be brief."),
        is_exact=True,
    ),
]

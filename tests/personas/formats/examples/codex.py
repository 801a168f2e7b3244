"""Agents of Codex, commands of Gemini CLI, customised personas of BMAD."""

from tests.personas.formats.examples.example import Example

_FULL = '''# an agent
name = "pr_explorer"
description = "Reads code: \\"only\\" # reads"
nickname_candidates = ["Atlas", "Delta"]
model = "gpt-5.4"
model_reasoning_effort = "medium"
sandbox_mode = "read-only"
web_search = true
since = 2026-01-02
developer_instructions = """
Stay in exploration mode. {{x}} $y 👩‍💻
\\u202e"""

[mcp_servers.docs]
url = "https://example.org/mcp"
bearer_token = "abcdef"
startup_timeout_sec = 20

[[skills.config]]
path = "/skills/docs/SKILL.md"
enabled = false
'''
_GEMINI = 'description = "Commits"\nprompt = """\nLook at !{git diff} and @{notes.md}, then {{args}}.\n"""\n'
_BMAD = """[agent]
name = "Mary"
title = "Analyst"
icon = "📊"
role = "Finds out what is needed."
identity = "Treasure hunter."
communication_style = "Thrilled by each clue."
principles = ["Evidence first.", "Every voice counts."]
persistent_facts = ["file:{project-root}/notes.md"]

[[agent.menu]]
code = "BP"
skill = "brainstorm"
"""

EXAMPLES = [
    Example(
        "codex",
        "agents/pr-explorer.toml",
        _FULL.encode(),
        says=(
            "pr_explorer",
            'Reads code: "only" # reads',
            "Atlas",
            "gpt-5.4",
            "read-only",
            "2026-01-02",
            "Stay in exploration mode. {{x}} $y 👩‍💻\n\u202e",
            "https://example.org/mcp",
            "/skills/docs/SKILL.md",
        ),
        never=("abcdef",),
    ),
    Example(
        "codex",
        "agents/plain.toml",
        b'\xef\xbb\xbfname = "plain"\r\ndescription = "Says little"\r\ndeveloper_instructions = "Be brief."\r\n',
        says=("plain", "Says little", "Be brief."),
    ),
    Example(
        "codex",
        "commands/commit.toml",
        _GEMINI.encode(),
        says=(
            "commit",
            "Commits",
            "Look at !{git diff} and @{notes.md}, then {{args}}.\n",
            "it runs a command",
        ),
    ),
    Example(
        "codex",
        "custom/bmad-agent-analyst.toml",
        _BMAD.encode(),
        says=(
            *(
                "Mary",
                "Analyst",
                "📊",
                "Finds out what is needed.",
                "Treasure hunter.",
                "Thrilled by each clue.",
            ),
            *("Evidence first.\nEvery voice counts.", "file:{project-root}/notes.md", "brainstorm"),
        ),
        comes_back=False,
    ),
]

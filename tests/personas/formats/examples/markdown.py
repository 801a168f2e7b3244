"""Markdown: files known by their names, with and without frontmatter."""

from tests.personas.formats.examples.example import Example

_AGENTS = (
    "# How to work here\n\n- Run `make test` first. $HOME {{x}}\n---\nname: this is no frontmatter\n---\n🧪\n"
)
_SOUL = "---\nname: Vesper\nversion: 1.2\ntags: [calm, dry]\napi_key: sk-abcdef1234567890\n---\n\nYou are Vesper: \u201ccalm\u201d.\n"

EXAMPLES = [
    Example("markdown", "shop/AGENTS.md", _AGENTS.encode(), says=("How to work here", _AGENTS)),
    Example(
        "markdown",
        "workspace/SOUL.md",
        _SOUL.replace("\n", "\r\n").encode(),
        says=("Vesper", "1.2", "calm", "dry", "You are Vesper: \u201ccalm\u201d.\n"),
        never=("sk-abcdef1234567890",),
    ),
    Example(
        "markdown",
        "shop/CLAUDE.md",
        b"<!-- persona-editor: shop -->\nBe brief.\n<!-- persona-editor: end -->\n",
        says=("shop", "Be brief."),
        is_exact=True,
    ),
]

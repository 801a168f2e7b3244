"""Hypothesis strategies: TOML documents that mix everything a hand-written file may hold, and hostile values."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

HOSTILE = [
    "",
    '"""',
    '""""""',
    'ends with a quote"',
    'ends with two""',
    "it's",
    "'''",
    "ends with '",
    "back\\slash\\",
    "\\\n\\",
    "\r\n",
    "a\r\nb\rc\n",
    "\n",
    "\n\n\nx",
    "tab\there",
    "\x00\x07\x1b[2J\x7f\x85\u2028",
    "\N{SLIGHTLY SMILING FACE} \N{FAMILY} e\u0301",
    "{{user}} [[test_inputs]] # no comment",
    'name = "x"\n[model]\n',
    "\ufeff",
    "right\u202eto left\u2069 \u200b\U000e0041",
    "line one\nline two \\\n   line three\n",
]

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text(alphabet="ab\"'\\\n\r\t# ", max_size=20),
)

values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        texts,
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.dates(),
        st.times(),
        st.datetimes(),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=5,
)

_ONE_LINE = [
    '""',
    '"plain"',
    "'literal \\ text'",
    '"\\u00e9 \\"quoted\\" \\\\"',
    "0x1F",
    "1_000",
    "-0.0",
    "nan",
    "-inf",
    "6.02e23",
    "true",
    "1979-05-27 07:32:00Z",
    "1979-05-27T00:32:00.999999-07:00",
    "1979-05-27",
    "07:32:00",
    "[]",
    "[ 1, 2 ,3 ]",
    '["a", "b",]',
    "[[1, 2], ['x']]",
    "{}",
    '{ a = 1, b.c = "x" }',
    "{x=[{y=1}, {y=2}]}",
]
_MANY_LINES = [
    '"""\nYou are \\"kind\\".\n\\u00e9t\\u00e9 ""two""\n"""',
    '"""one \\\n     line\n\n# not a comment\n[not.a.table]"""',
    '"""ends with quotes"""""',
    "'''\nraw \\ text\n\n  # not a comment\n'''",
    "'''one ''quoted'' '''",
    '[\n  "a", # COMMENT\n  # COMMENT\n  "b" # COMMENT\n]',
    "[ # COMMENT\n  1,\n  2,\n  # COMMENT\n]",
    "[\n]",
    "[1,\n 2, 3]",
    '[{ id = "a", content = """\nx\ny""" },\n { id = "b" }]',
]
_KEYS = [
    "name",
    "description",
    "tags",
    "summary",
    "system_prompt",
    '"dotted.key"',
    "''",
    '"\\u00e9 x"',
    "1-2",
]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A valid TOML text; each comment in it holds the word COMMENT."""
    lines: list[str] = []

    def add_trivia() -> None:
        lines.extend(
            draw(st.lists(st.sampled_from(["", "  ", "# COMMENT", '  # COMMENT """ [x] =']), max_size=2))
        )

    def add_entries(keys: list[str], most: int) -> None:
        for key in draw(st.lists(st.sampled_from(keys), unique=True, max_size=most)):
            add_trivia()
            indent = draw(st.sampled_from(["", "", "  ", "\t"]))
            equals = draw(st.sampled_from([" = ", "=", "   = "]))
            comment = draw(st.sampled_from(["", "", " ", "  # COMMENT", "# COMMENT"]))
            value = draw(st.sampled_from(_ONE_LINE) | st.sampled_from(_MANY_LINES))
            lines.append(f"{indent}{key}{equals}{value}{comment}")

    def add_header(header: str) -> None:
        add_trivia()
        lines.append(header + draw(st.sampled_from(["", "", " # COMMENT"])))

    add_entries(_KEYS, 4)
    dotted = draw(st.booleans())
    if dotted:
        add_entries(["model.name", "model . effort", 'model."max tokens"', "model.deep.er"], 3)
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from(["", "# COMMENT"])))
        lines.append(draw(st.sampled_from(_INLINE_INPUTS)))
        kinds = ["arc", "arcs", "super"]
    else:
        kinds = ["arc", "arcs", "super", "test_inputs", "test_inputs", "test_inputs"]
    for kind in draw(st.permutations([*kinds, "arcs", *([] if dotted else ["model"])])):
        if not draw(st.booleans()):
            continue
        if kind == "test_inputs":
            add_header(draw(st.sampled_from(["[[test_inputs]]", "[[ test_inputs ]]", "  [['test_inputs']]"])))
            add_entries(["id", "content", "more.id", "more.x"], 3)
        elif kind == "arcs":
            add_header("[[arcs]]")
            add_entries(["name", "x.y"], 2)
            if draw(st.booleans()):
                add_header("[arcs.parts.x]")
                add_entries(_KEYS, 2)
            for _ in range(draw(st.integers(0, 2))):
                add_header("[[arcs.stage]]")
                add_entries(_KEYS, 2)
        elif kind == "super":
            add_header("[top.middle.low]")
            add_entries(_KEYS, 2)
            if draw(st.booleans()):
                add_header("[top]")
                add_entries(_KEYS, 2)
        else:
            add_header(f"[{kind}]")
            add_entries(["name", "stage", "inner.x", "inner.y"], 3)
    add_trivia()
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(lines).replace("\n", newline)
    return draw(st.sampled_from(["", "", "\ufeff"])) + text + draw(st.sampled_from(["", newline]))


_INLINE_INPUTS = [
    "test_inputs = []",
    'test_inputs = [{ id = "a", content = "x" }]',
    'test_inputs = [{id="a"},{id="b"},]',
    'test_inputs = [\n    { id = "a" }, # COMMENT\n    # COMMENT\n    { id = "b", content = "x" },\n]',
    'test_inputs = [\n  {id = "a"},\n  {id = "b"} # COMMENT\n  # COMMENT\n]',
]

"""What the formats share: what is kept out, YAML that every reader takes for the same, frontmatter that is no YAML."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from personas.formats.frontmatter import read_header, split
from personas.formats.secrets import holds_key, is_secret
from personas.formats.text import text_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Unreadable
from personas.formats.yaml_file import dump_yaml, load_yaml


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("apiKey", "x"), ("OPENAI_API_KEY", "x"), ("X-Api-Key", "1"), ("token", 5), ("password", 1234)),
        *(("HUGGINGFACE_TOKEN", "x"), ("secrets", {"a": 1}), ("userId", 3), ("email", "a"), ("x", "a@b.co")),
        *(
            ("GITHUB_PAT", "x"),
            ("DB_PASS", "x"),
            ("PGPASSWORD", "x"),
            ("OPENAI_KEY", "x"),
            ("pwd", "x"),
            ("auth", "x"),
        ),
        *(
            ("X-Auth", "x"),
            ("apikeys", "x"),
            ("api_keys", {"a": "x"}),
            ("tokens", "x"),
            ("access_tokens", {"a": "x"}),
        ),
        *(
            ("OPENAI_API_KEY_2", "x"),
            ("secretValue", "x"),
            ("jwt", "x"),
            ("ssh_key", "x"),
            ("user_ids", ["x"]),
        ),
        *(("contact", "Jane <jane@x.org>, bob@x.org"), ("user", {"name": "x"})),
        *(("author", "Jane <jane@x.org>"), ("x", "sk-abcdefgh1234"), ("x", "Bearer abc123def")),
    ],
)
def test_keys_passwords_and_accounts_are_known(key: str, value: Any) -> None:
    assert is_secret(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(
            ("max_tokens", 5),
            ("eos_token", "</s>"),
            ("keys", ["a"]),
            ("secondary_keys", ["x"]),
            ("key", "door"),
            ("author", "x"),
            ("pass_threshold", 0.5),
            ("max_new_tokens", "5"),
        ),
        *(
            ("tokenBudget", 5),
            ("x", "the bearer of news"),
            ("GITHUB_TOKEN", "${GITHUB_TOKEN}"),
            ("token", ""),
        ),
        *(("description", "write to me@x.org please"), ("background", False)),
    ],
)
def test_what_only_looks_like_a_key_is_kept(key: str, value: Any) -> None:
    assert not is_secret(key, value)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (["-y", "--api-key", "hunter2"], ["-y", "--api-key"]),
        (["--token=hunter2", "--header", "X-Auth: hunter2", "GITHUB_PAT=hunter2"], ["--header"]),
        ([{"name": "OPENAI_API_KEY", "value": "hunter2"}, {"key": "A", "value": "b"}],
         [{"name": "OPENAI_API_KEY"}, {"key": "A", "value": "b"}]),
        (["curl -H 'Api-Token: hunter2' x", "npx x --token hunter2"], []),
        ("https://u:hunter2@host/?api_key=hunter2&q=1", "https://host/?api_key=&q=1"),
        ("postgres://u:hunter2@h/db", "postgres://h/db"),
        (["Say: hello, you there", "--max-tokens=5", "--token=$TOKEN", "She said: a token of love"],
         ["Say: hello, you there", "--max-tokens=5", "--token=$TOKEN", "She said: a token of love"]),
    ],
)  # fmt: skip
def test_what_gives_a_secret_is_left_out_and_said(value: Any, kept: Any) -> None:
    found, notes = toml_ready({"x": value}, "x.y")
    assert found == {"x": kept} and (kept == value or any(note.went_to is None for note in notes))


def test_words_are_looked_at_for_keys() -> None:
    assert holds_key("Use ghp_abcdefghijklmnopqrstuvwxyz0123 for it") and not holds_key("A bearer of gifts")


TEXTS = [
    *("true", "Yes", "null", "~", "1e3", "0o7", "12:30:45", "1_000", "2024-01-01", "=", "<<", "", " x", "x "),
    *(
        "# no",
        "- a",
        "a: b",
        "x #y",
        "@x",
        "`x`",
        "*a",
        "&a",
        "!a",
        "%a",
        "|",
        ">",
        "'",
        '"',
        "\\",
        "{a}",
        "[a]",
    ),
    *(
        "é 👩‍💻: 'x'",
        "a\n👩‍💻\n",
        "\n",
        "\n\na",
        "a\n\n",
        " a\nb",
        "a \nb",
        "\ta\n",
        "\u202e\x85\u2028\x7f",
        "a\x85b\n\u2028c\u2029\n",
        "👩\x85b\u2028",
        "---\n---",
    ),
]


def test_every_text_stays_a_text_in_yaml() -> None:
    data = {"texts": TEXTS, **{text: text for text in TEXTS}}
    for blocks in True, False:
        written = dump_yaml(data, blocks=blocks)
        assert load_yaml(written) == data
        assert yaml.safe_load(written) == data
        assert yaml.load(written, yaml.BaseLoader)["texts"] == TEXTS
    assert dump_yaml({"a": "x", "b": "x: y\nz"}, blocks=False) == 'a: x\nb: "x: y\\nz"\n'


def test_yaml_is_read_as_plain_data() -> None:
    text = "a: yes\nb: 1.5\nc: 2024-01-01\nd: 0x1F\ne: ~\nf: !!str 5\ng: &g [1]\nh: *g\ni: {<<: {x: 1, y: 1}, y: 2}\n"
    expected = {"a": "yes", "b": 1.5, "c": "2024-01-01", "d": "0x1F", "e": None, "f": "5", "g": [1], "h": [1]}
    assert load_yaml(text) == {**expected, "i": {"x": 1, "y": 2}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a: 1\nb: !!python/object/apply:os.system [x]",
            "the tag 'tag:yaml.org,2002:python/object/apply:os.system'",
        ),
        ("a: 1\na: 2", "the key 'a' is there twice (line 2)"),
        ("&a [*a]", "nests deeper"),
        ("a: " + "[" * 5000, "it is not YAML"),
        ("a:\n  - b: c: d", "mapping values are not allowed"),
        ("é: 1\nb: \x07", "a character that is not allowed"),
        (
            "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]" for n in range(1, 9))]),
            "more than 200000 values",
        ),
        (f"a: &a {'x' * 1000}\nb: [{'*a,' * 5000}]", "its values are longer than 4 million characters"),
        ("a: b\n---\nc: d", "it is not YAML"),
    ],
)
def test_yaml_that_asks_for_more_is_refused(text: str, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        load_yaml(text)
    assert said in str(refused.value) and str(refused.value).endswith(".")


def test_frontmatter_that_is_no_yaml_is_read_by_its_lines() -> None:
    header, body = split(
        '---\nname: a\ndescription: Use: now\nuser: "x"\n\nmore\ncolor: red\nown: 5\n---\nBody\n---\n'
    )
    assert header is not None and body == "Body\n---\n"
    fields, notes = read_header(header, ("name", "description", "color"))
    assert fields == {"name": "a", "description": 'Use: now\nuser: "x"\n\nmore', "color": "red", "own": 5}
    assert "line by line" in notes[0].why and "(line 3)" in notes[0].why
    assert split("---\nno end\n") == (None, "---\nno end\n")


def test_secrets_in_frontmatter_that_is_no_yaml_are_left_out() -> None:
    header = "description: Use this: when\nserver:\n  apiKey: S1\n  password:\n    deep: S2\n  email: S3\n  port: 5\n"
    fields, notes = read_header(header, ("description", "server"))
    assert fields == {"description": "Use this: when", "server": {"port": 5}}
    assert [note.field for note in notes[1:]] == ["line 4: apiKey", "line 5: password", "line 7: email"]


def test_bytes_that_are_no_text_are_refused() -> None:
    assert text_of(b"\xef\xbb\xbfa\r\nb\rc") == "a\nb\nc"
    for content, said in ((b"\xff\xfea\0", "UTF-16"), (b"a\nb\xff", "(line 2)"), (b"a\0", "NUL")):
        with pytest.raises(Unreadable) as refused:
            text_of(content)
        assert said in str(refused.value)

"""What is special in the formats of programs that run and test prompts; the common rules are in `test_every_format`."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from llm.templates import Template

from personas.exporting import export
from personas.formats.registry import format_named
from personas.formats.types import ImportedPersona, Unreadable
from personas.importing import Importer, read_path
from personas.store import Store
from tests.personas.formats.examples import promptfoo

HOSTILE = (
    "You are {{char}}. {% if x %} {# note #} $HOME $$ 'quotes' \"both\" 👩‍💻\n---\nkey: value # no comment\n"
)


def read(form: str, content: str, name: str = "bot.yaml") -> ImportedPersona:
    found = format_named(form).read
    assert found is not None
    (persona,) = found(content.encode(), name).personas
    return persona


def written(store: Store, text: str, form: str, name: str = "bot") -> str:
    """The main file of a persona with this TOML in a format."""
    (store.home.root / "personas").mkdir(exist_ok=True)
    (store.home.root / f"personas/{name}.toml").write_text(text, encoding="utf-8")
    exported = export(store, name, form)
    return next(iter(exported.files.values())).decode()


def toml(prompt: str, more: str = "") -> str:
    return f"system_prompt = {json.dumps(prompt, ensure_ascii=False)}\n{more}"


# -- promptfoo ----------------------------------------------------------------------------------------

_INPUTS = """
[model]
name = "claude-opus-5"
max_tokens = 900
[judge]
name = "claude-haiku-5-5"

[[test_inputs]]
id = "refund"
content = "I want {{money}} back."
samples = 3
expect = [
  { type = "icontains", value = "{{sorry}}", metric = "tone" },
  { type = "char-count", max = 80 },
  { type = "not-char-count", value = 7 },
  { type = "word-count", min = 1, max = 9 },
  { type = "word-count", value = 5 },
  { type = "regex", value = '(?P<year>\\d+)' },
  { type = "contains-any", value = ["a", "{%"] },
  { type = "is-json" },
  { type = "similar", value = "x" },
]

[[test_inputs]]
id = "talk"
messages = [
  { role = "user", content = "Where?" },
  { role = "assistant", content = "{{here}}" },
  { role = "user", content = "Sure?" },
]
"""


def test_a_persona_becomes_a_configuration_that_sends_its_very_words(store: Store) -> None:
    config = yaml.safe_load(written(store, toml(HOSTILE, _INPUTS), "promptfoo"))
    assert set(config) == {"prompts", "providers", "defaultTest", "tests"}
    main, talk = config["prompts"]
    system, user = json.loads(main["raw"])
    assert system == {"role": "system", "content": f"{{% raw %}}{HOSTILE}{{% endraw %}}"}
    assert user == {"role": "user", "content": "{{input}}"}
    assert [one["content"] for one in json.loads(talk["raw"])[1:]] == [
        "Where?",
        "{% raw %}{{here}}{% endraw %}",
        "Sure?",
    ]
    assert config["providers"] == [{"id": "anthropic:messages:claude-opus-5", "config": {"max_tokens": 900}}]
    assert config["defaultTest"] == {"options": {"provider": "anthropic:messages:claude-haiku-5-5"}}
    refund, conversation = config["tests"]
    assert refund["vars"] == {"input": "I want {{money}} back."} and refund["prompts"] == [main["label"]]
    assert conversation["prompts"] == [talk["label"]] and "vars" not in conversation
    assert refund["assert"] == [
        {"type": "icontains", "value": "{% raw %}{{sorry}}{% endraw %}", "metric": "tone"},
        {"type": "javascript", "value": "[...output].length >= 0 && [...output].length <= 80"},
        {"type": "not-javascript", "value": "[...output].length >= 7 && [...output].length <= 7"},
        {"type": "word-count", "value": {"min": 1, "max": 9}},
        {"type": "word-count", "value": 5},
        {"type": "regex", "value": r"(?P<year>\d+)"},
        {"type": "contains-any", "value": ["a", "{% raw %}{%{% endraw %}"]},
        {"type": "is-json"},
        {"type": "similar", "value": "x"},
    ]
    why = {note.field: note.why for note in export(store, "bot", "promptfoo").report}
    assert (
        "JavaScript" in why["test_inputs.refund.expect"] and "--repeat" in why["test_inputs.refund.samples"]
    )


def test_what_promptfoo_says_of_a_persona_comes_back_the_same(store: Store) -> None:
    text = written(store, toml(HOSTILE, _INPUTS), "promptfoo")
    again = read("promptfoo", text)
    assert again.fields["system_prompt"] == HOSTILE
    refund, talk = again.fields["test_inputs"]
    assert refund["id"] == "refund" and refund["content"] == "I want {{money}} back."
    assert refund["expect"][:3] == [
        {"type": "icontains", "value": "{{sorry}}", "metric": "tone"},
        {"type": "char-count", "min": 0, "max": 80},
        {"type": "not-char-count", "min": 7, "max": 7},
    ]
    assert talk["messages"][1] == {"role": "assistant", "content": "{{here}}"}
    assert again.kept["tests"]["refund"]["assert"] == [{"type": "similar", "value": "x"}]


def test_edits_after_an_import_reach_the_configuration(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    path.write_bytes(promptfoo.EXAMPLES[0].content)
    found = read_path(path)
    assert found is not None
    (done,) = Importer(store).add(found)
    text = store.text(done.id).replace('content = "I want my Acme money back."', 'content = "Money!"')
    text = text.replace("You help {{company}}.", "Be {{kind}}.")
    (store.home.root / f"personas/{done.id}.toml").write_text(text, encoding="utf-8")
    config = yaml.safe_load(next(iter(export(store, done.id, "promptfoo").files.values())))
    system, user = json.loads(config["prompts"][0]["raw"])
    assert system["content"].startswith("Be {{kind}}.\n{% if") and user["content"] == "{{question}}"
    test = config["tests"][0]
    assert test["vars"]["question"] == "Money!" and test["vars"]["when"] == "2024-01-01"
    assert {"type": "javascript", "value": "output.includes('x')"} in test["assert"]
    assert config["prompts"][1:] == ["file://other.txt", "Another prompt: {{question}}"]


@pytest.mark.parametrize(
    ("test", "content"),
    [
        ("{vars: {question: 'Who are {{ name }}?', name: Ann}}", "Who are Ann?"),
        ("{vars: {question: 7}}", "7"),
        ("{vars: {question: true}}", "true"),
        ("{vars: {question: [a, b]}}", "{{question}}"),
        ("{vars: {other: x}}", "{{question}}"),
        ("{vars: {question: 'Mail {{email}}', email: jane@example.com}}", "Mail {{email}}"),
        ("{description: Says hello, vars: {question: ' '}}", "Says hello"),
    ],
)
def test_variables_become_what_is_said_where_they_are_plain(test: str, content: str) -> None:
    chat = '[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "{{question}}"}]'
    persona = read("promptfoo", f"prompts: ['{chat}']\ntests: [{test}]\n")
    assert persona.fields["test_inputs"][0]["content"] == content


def test_a_prompt_in_a_file_leaves_the_tests_and_they_reach_the_persona_again(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(
        "prompts: [file://p.txt]\nproviders: [echo]\ndefaultTest: {vars: {past: file://past.txt}}\n"
        "tests: [{vars: {body: Hello}}, {vars: {body: file://b.txt}, description: From a file}]\n"
    )
    found = read_path(path)
    assert found is not None
    (done,) = Importer(store).add(found)
    assert [one.content for one in store.get(done.id).test_inputs] == ["Hello", "From a file"]
    config = yaml.safe_load(next(iter(export(store, done.id, "promptfoo").files.values())))
    assert config["prompts"][1:] == ["file://p.txt"]
    assert [one["vars"] for one in config["tests"]] == [
        {"body": "Hello", "input": "Hello"},
        {"body": "file://b.txt", "input": "From a file"},
    ]


def test_assertions_of_the_default_test_hold_for_each_input_and_stay_the_defaults(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    text = """
prompts: [Hi]
providers: [echo]
defaultTest: {assert: [{type: contains, value: "{{q}}"}, {type: python, value: ok()}]}
tests: [{vars: {q: a}}, {vars: {q: b}, assert: [{type: contains, value: c}]}, {vars: {q: d}, options: {disableDefaultAsserts: true}}]
"""
    path.write_text(text)
    found = read_path(path)
    assert found is not None
    (done,) = Importer(store).add(found)
    expect = [[one.value for one in test.expect] for test in store.get(done.id).test_inputs]
    assert expect == [["a"], ["c", "b"], []]

    def exported() -> dict[str, Any]:
        config = yaml.safe_load(next(iter(export(store, done.id, "promptfoo").files.values())))
        assert config["defaultTest"] == yaml.safe_load(text)["defaultTest"]
        return {test["vars"]["q"]: test for test in config["tests"]}

    assert [exported()[q] for q in "abd"] == yaml.safe_load(text)["tests"]
    file = store.home.root / f"personas/{done.id}.toml"
    file.write_text(file.read_text().replace('value = "a"', 'value = "other"'))
    test = exported()["a"]
    assert test["assert"] == [{"type": "contains", "value": "other"}]
    assert test["options"] == {"disableDefaultAsserts": True}


@pytest.mark.parametrize("mark", ["{% endraw %}", "{%- raw -%}"])
def test_a_prompt_with_the_mark_of_a_raw_block_is_refused_with_its_line(store: Store, mark: str) -> None:
    with pytest.raises(Unreadable, match=r"raw -?%}`.*\(line 2\)\."):
        written(store, toml(f"One\nTwo {mark}"), "promptfoo")


# -- llm ----------------------------------------------------------------------------------------------


def sent(template: dict[str, Any], **values: str) -> str:
    """What llm itself sends as the system prompt; it refuses keys that it does not know."""
    system: str = Template(name="bot", **template).evaluate("Hi", values)[1]
    return system


def test_a_persona_becomes_a_template_that_says_its_very_words(store: Store) -> None:
    template = yaml.safe_load(
        written(store, toml(HOSTILE, '[[test_inputs]]\nid = "prompt"\ncontent = "x"'), "llm")
    )
    assert set(template) == {"system"} and sent(template) == HOSTILE
    assert "|-" in written(store, toml("One\nTwo"), "llm"), "lines stand as lines"


def test_what_came_from_llm_keeps_its_values(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("system: Be $what for $$5\nprompt: 'Say $input'\nodd: 1\nfunctions: 'import os'\n")
    found = read_path(path, "llm")
    assert found is not None
    (done,) = Importer(store).add(found)
    template = yaml.safe_load(next(iter(export(store, done.id, "llm").files.values())))
    assert sent(template, what="kind") == "Be kind for $5" and template["prompt"] == "Say $input"
    assert set(template) == {"system", "prompt", "functions"}, "llm refuses a key that it does not know"
    assert any(
        note.field == "x.llm.odd" and not note.went_to for note in export(store, done.id, "llm").report
    )


def test_a_text_is_a_template_too_and_a_number_is_none() -> None:
    assert read("llm", "Summarize this").fields["test_inputs"][0]["content"] == "Summarize this"
    with pytest.raises(Unreadable, match="its system is not text"):
        read("llm", "system: 5\n")


# -- Ollama -------------------------------------------------------------------------------------------


def test_a_persona_becomes_a_modelfile_in_which_its_words_are_as_they_are(store: Store) -> None:
    text = written(store, toml(HOSTILE), "ollama")
    assert f'SYSTEM """{HOSTILE}"""\n' in text and text.startswith("FROM ")
    assert read("ollama", text, "Modelfile").fields["system_prompt"] == HOSTILE
    why = {note.field: note.why for note in export(store, "bot", "ollama").report}
    assert "leaves out 1 of its characters" in why["system_prompt"], "the joiner of an emoji"


@pytest.mark.parametrize("prompt", ['ends with "', '"', '""', 'two "" of them', "", " blank ", "\n"])
def test_quotes_and_blanks_come_back(store: Store, prompt: str) -> None:
    text = written(store, toml(prompt), "ollama")
    assert read("ollama", text, "Modelfile").fields.get("system_prompt", "") == prompt


def test_a_prompt_with_three_quotes_is_refused_with_its_line(store: Store) -> None:
    with pytest.raises(Unreadable, match=r'""".*\(line 2\)\.'):
        written(store, toml('One\nTwo """ three'), "ollama")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SYSTEM a\n", "no FROM"),
        ('FROM x\nSYSTEM """a\n', "not closed (line 2)"),
        ("FROM x\nHELLO there\n", "'HELLO' is not a command of a Modelfile, or has no value (line 2)"),
        ("FROM x\n\nMESSAGE tool a\n", "system, user or assistant (line 3)"),
        ("FROM x\nPARAMETER stop\n", "no value (line 2)"),
    ],
)
def test_a_modelfile_that_ollama_refuses_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read("ollama", text, "Modelfile")
    assert why in str(refused.value)


# -- aichat -------------------------------------------------------------------------------------------


def as_aichat_reads(text: str) -> str:
    """The prompt that aichat takes out of a role: what is behind the first two rules, wherever they stand."""
    found = re.search(r"(?s)-{3,}\s*(.*?)\s*-{3,}\s*(.*)", text)
    return text.strip() if found is None else found[2].strip()


def test_a_role_has_a_frontmatter_and_no_rules_of_a_text_from_elsewhere(store: Store) -> None:
    prompt = "One\n---\nTwo\n---\nThree | --- |"
    text = written(store, toml(prompt), "aichat")
    assert as_aichat_reads(text) == prompt.replace("---\n", "***\n")
    assert any("***" in note.why for note in export(store, "bot", "aichat").report)
    assert as_aichat_reads(written(store, toml(HOSTILE), "aichat")) == HOSTILE.strip(), "one rule stays"
    kept = "[x.aichat]\nmodel = 'ollama:x'\n"
    assert as_aichat_reads(written(store, toml(prompt, kept), "aichat")) == prompt


# -- Prompty ------------------------------------------------------------------------------------------


def test_a_persona_becomes_a_prompt_with_its_words_in_a_raw_block(store: Store) -> None:
    text = written(store, toml(HOSTILE, _INPUTS), "prompty")
    assert f"system:\n{{% raw %}}{HOSTILE}{{% endraw %}}\n\nuser:\n{{{{input}}}}\n" in text
    (value,) = yaml.safe_load(text.split("---\n")[1])["inputs"]
    assert value == {"name": "input", "kind": "string", "default": "I want {{money}} back."}
    again = read("prompty", text, "bot.prompty")
    assert again.fields["system_prompt"] == HOSTILE
    assert again.fields["test_inputs"] == [{"id": "i-want-money-back", "content": "I want {{money}} back."}]


@pytest.mark.parametrize("line", ["user:", "  # System :", 'assistant[name="x"]:'])
def test_a_prompt_with_a_line_that_is_a_role_is_refused_with_its_line(store: Store, line: str) -> None:
    with pytest.raises(Unreadable, match=r"begins a message in Prompty \(line 2\)\."):
        written(store, toml(f"One\n{line}\nTwo"), "prompty")


def test_an_edited_test_input_is_what_the_user_says(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "bot.prompty"
    path.write_text("---\nsample: {q: Hi}\n---\nsystem:\nBe kind.\n\nuser:\n{{q}}\n")
    found = read_path(path)
    assert found is not None
    (done,) = Importer(store).add(found)
    file = store.home.root / f"personas/{done.id}.toml"
    file.write_text(file.read_text().replace('content = "Hi"', 'content = "{{Bye}}"'))
    text = next(iter(export(store, done.id, "prompty").files.values())).decode()
    assert "user:\n{% raw %}{{Bye}}{% endraw %}\n" in text


# -- Open WebUI, CSV, Inspect -------------------------------------------------------------------------


def test_a_persona_becomes_a_model_with_an_id_of_its_own(store: Store) -> None:
    more = '[[test_inputs]]\nid = "a"\ncontent = "Hi"\nexpect = [{ type = "equals", value = "x" }]\n'
    (model,) = json.loads(written(store, 'tags = ["t"]\n' + toml(HOSTILE, more), "openwebui", "海賊"))
    assert re.fullmatch(r"[a-z0-9-]+", model["id"]) and model["params"] == {"system": HOSTILE}
    assert model["meta"] == {"suggestion_prompts": [{"content": "Hi"}], "tags": [{"name": "t"}]}
    assert not {"user", "user_id", "access_control", "access_grants"} & set(model)


def test_a_collection_is_listed_until_all_are_wanted_and_its_faults_name_the_line() -> None:
    form = format_named("prompts-csv")
    assert form.read is not None
    many = "act,prompt\n" + "".join(f'"Act {at}","Say {at}\nand more"\n' for at in range(500))
    assert len(form.read(many.encode(), "p.csv").personas) == 500
    for text, why in (
        ('act,prompt\nA,"not closed\n\n', "line 3"),
        ("act,text\nA,b\n", r"act and prompt \(line 1\)"),
    ):
        with pytest.raises(Unreadable, match=why):
            form.read(text.encode(), "p.csv")
    assert len(form.read(f"act,prompt\nLong,{'x' * 300_000}\n".encode(), "p.csv").personas) == 1


def test_a_persona_becomes_a_task_that_says_its_very_words_and_checks_as_here(store: Store) -> None:
    more = _INPUTS.replace(
        '{ type = "similar", value = "x" },', '{ type = "llm-rubric", value = "Is kind." },'
    )
    text = written(store, 'description = "Says \\"\\"\\" {it}\\\\"\n' + toml(HOSTILE, more), "inspect")
    tree = ast.parse(text)
    values = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert ast.literal_eval(values["SYSTEM"]) == HOSTILE
    assert [one.name for one in tree.body if isinstance(one, ast.FunctionDef)][-2:] == ["bot", "bot_rubrics"]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "Sample"]
    samples = {
        _called(call) + ast.literal_eval(call.keywords[0].value): {
            one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg not in ("id", "input")
        }
        for call in calls
    }
    assert len(calls) == 3 and samples["Sampletalk"] == {"metadata": {"expect": []}}
    checks = eval(compile(ast.Expression(values["CHECKS"]), "checks", "eval"), _helpers(tree))
    assert checks["word-count"]("a b", None, {"min": 3}) is False and checks["char-count"](
        "ab", 2, {"value": 2}
    )
    assert checks["is-json"]("{}", None, {}) and not checks["icontains-any"]("ABC", ["x"], {})


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _helpers(tree: ast.Module) -> dict[str, Any]:
    """The plain functions of a task's file, without what needs Inspect."""
    names: dict[str, Any] = {"json": json, "re": re}
    plain = [one for one in tree.body if isinstance(one, ast.FunctionDef) and not one.decorator_list]
    exec(compile(ast.Module(plain, []), "helpers", "exec"), names)
    return names

"""`promptfoo`: a configuration of promptfoo, a program that tests prompts: its prompt, tests and assertions.

Code, files and providers that a configuration names are kept as they stand, and never run, read or asked. A prompt is
written into the configuration as a chat in JSON, in which promptfoo renders each text by itself, and once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from personas.formats.common import input_id, losses
from personas.formats.json_file import load_json
from personas.formats.templates import (
    Chat,
    fill,
    filled,
    has_signs,
    is_talk,
    names_in,
    raw,
    said_in,
    without_raw,
)
from personas.formats.text import folder_of, one_line, plain_text, stem_of, text_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable
from personas.formats.yaml_file import dump_yaml, load_yaml
from personas.test_inputs import COUNT_TYPES, JSON_TYPES, LIST_TYPES, NEGATED, fault_of

_TABLE = "x.promptfoo"
_OURS = frozenset({"prompt", "is_text", "chat", "is_template", "test_files"})
"""Keys of `[x.promptfoo]` that no configuration has; `tests` in it is a table by the ids of the test inputs."""
_ROLES = ("system", "developer", "user", "assistant")
_NOT_A_TEXT = ("file://", "exec:", "package:", "langfuse://", "portkey://", "helicone://", "http:", "https:")
_FILE = re.compile(r"[^\n]*(?:\*|\.(?:txt|jsonl?|ya?ml|md|j2|csv|tsv|xlsx|py|[cm]?[jt]s)(?::\w+)?)\s*")
_CODE = frozenset({"javascript", "python", "ruby", "webhook"})
_WHYS = {
    "providers": "no provider is asked; which model tries the persona is said by [model]",
    "targets": "no provider is asked; which model tries the persona is said by [model]",
    "scenarios": "scenarios are not made into test inputs",
    "extensions": "code is kept and never run",
    "nunjucksFilters": "code is kept and never run",
}
_ALONE = "disableDefaultAsserts"
_LONGEST_NAME = 80
"""Most characters of a description that becomes the persona's name."""
_NOTHING_SAID = "Begin."
"""What the persona is told where a test has no words for it."""

_LENGTH = "[...output].length"
_CHAR_COUNT = re.compile(rf"{re.escape(_LENGTH)} >= (\d{{1,9}}) && {re.escape(_LENGTH)} <= (\d{{1,9}})")
_MOST = 999_999_999
_OF_PYTHON = re.compile(r"\(\?P|\(\?[aiLmsux]+\)|\\[AZ]")
_MODEL = "claude-sonnet-5-5"


def read(content: bytes, name: str) -> Imported:
    """Return the persona that a configuration tests: its prompt, and a test input for each test."""
    text = text_of(content)
    config = load_json(text) if name.lower().endswith(".json") else load_yaml(text)
    if not isinstance(config, dict) or not config.keys() & {"prompts", "tests", "scenarios", "defaultTest"}:
        raise Unreadable("it is not a configuration of promptfoo: it has neither prompts nor tests")
    return Imported((_Reading(config).persona(name),))


class _Reading:
    """Reads one configuration."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        default = config.get("defaultTest")
        self.default: Mapping[str, Any] = default if isinstance(default, dict) else {}
        self.report: list[Note] = []
        self.label: str | None = None
        self.system = ""
        self.chat: Chat = []  # what follows the system message, as templates
        self.kept: dict[str, Any] = {}
        self.conversations: dict[str, Chat] = {}  # by the label of their prompt
        self.used: set[str] = set()  # those that a test names

    def persona(self, name: str) -> ImportedPersona:
        rest = _without(self.config, "prompts", "tests")
        fields: dict[str, Any] = {}
        if isinstance(described := rest.get("description"), str):
            del rest["description"]
            fields["description"] = plain_text(described)
            self.report.append(Note("description", "description"))
        prompts = self.prompts()
        inputs, tests, files = self.tests()
        others = self.others(prompts)
        if inputs and isinstance(self.default.get("assert"), list):
            self.report.append(
                Note("defaultTest.assert", "test_inputs", "what can be checked is copied into each of them")
            )
        kept, notes = toml_ready(
            {
                **rest,
                **({"prompts": others} if others else {}),
                **({"chat": self.chat} if self.chat else {}),
                **self.kept,
                **({"tests": tests} if tests else {}),
                **({"test_files": files} if files else {}),
            },
            _TABLE,
        )
        self.report += [
            Note(one.field, one.went_to, one.why or _WHYS.get(one.field, ""))
            for one in notes
            if one.field not in _OURS and (one.went_to is None or one.field not in ("prompts", "tests"))
        ]
        fields |= {"system_prompt": self.system, "test_inputs": self.ready(inputs)}
        stem = stem_of(name)
        described = one_line(str(fields.get("description", "")))
        known = self.label or (described if len(described) <= _LONGEST_NAME else "")
        known = known or (folder_of(name) if stem.startswith("promptfooconfig") else "") or stem
        return ImportedPersona(
            name=one_line(plain_text(known)),
            fields={key: value for key, value in fields.items() if value},
            kept=kept,
            report=tuple(self.report),
        )

    def ready(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return test inputs as TOML can hold them."""
        found = []
        for one in inputs:
            table, notes = toml_ready({"expect": one.get("expect", [])}, "test_inputs", f"tests.{one['id']}")
            self.report += [note for note in notes if note.went_to is None]
            found.append({**one, **(table if table["expect"] else {})})
        return found

    # -- prompts --------------------------------------------------------------------------------------

    def prompts(self) -> list[tuple[int, Any]]:
        """Take the first prompt that is written out, and return the others with their places."""
        rest, is_taken = [], False
        for at, entry in enumerate(_listed(self.config.get("prompts"))):
            text = _text_of_prompt(entry)
            if text is None:
                rest.append((at, entry))
            elif not is_taken:
                is_taken = True
                self.prompt(entry, text, f"prompts.{at}")
            else:
                rest.append((at, entry))
                chat = _chat_of(text) or []
                system = chat.pop(0)["content"] if chat and chat[0]["role"] == "system" else ""
                label = _label(entry)
                if label is not None and (without_raw(system) or system) == self.system and is_talk(chat):
                    self.conversations[label] = chat
        return rest

    def prompt(self, entry: Any, text: str, field: str) -> None:
        """Take the persona's prompt."""
        self.label = _label(entry)
        if isinstance(entry, dict) and (
            more := {key: one for key, one in entry.items() if key not in ("raw", "label")}
        ):
            self.kept["prompt"] = more
            self.report += [Note(f"{field}.{key}", f"{_TABLE}.prompt.{key}") for key in more]
        chat = _chat_of(text)
        if chat is None:
            self.kept["is_text"] = True
            system = text
        else:
            system = chat.pop(0)["content"] if chat and chat[0]["role"] in _ROLES[:2] else ""
            self.chat = [] if chat == [_USER] else chat
        plain = without_raw(system)
        self.system = system if plain is None else plain
        why = ""
        if plain is None and has_signs(system):
            self.kept["is_template"] = True
            why = "it is a template: what is between {{ }} stays unchanged"
        self.report.append(Note(field, "system_prompt", why))

    def others(self, prompts: list[tuple[int, Any]]) -> list[Any]:
        """Return the prompts that no test input holds, and say where each went."""
        others = []
        for at, entry in prompts:
            if _label(entry) in self.used:
                self.report.append(Note(f"prompts.{at}", "test_inputs"))
                continue
            others.append(entry)
            is_file = _text_of_prompt(entry) is None
            why = "files and programs are not read" if is_file else "the persona has the first prompt"
            self.report.append(Note(f"prompts.{at}", f"{_TABLE}.prompts", why))
        return others

    # -- tests ----------------------------------------------------------------------------------------

    def tests(self) -> tuple[list[dict[str, Any]], dict[str, Any], list[Any]]:
        """Return test inputs, what is kept of the tests by their ids, and what stands for tests elsewhere."""
        inputs: list[dict[str, Any]] = []
        kept: dict[str, Any] = {}
        files: list[Any] = []
        for at, test in enumerate(_listed(self.config.get("tests"))):
            field = f"tests.{at}"
            if not _is_test(test):
                files.append(test)
                self.report.append(Note(field, f"{_TABLE}.test_files", "files and programs are not read"))
                continue
            inputs.append(self.test(test, field, [one["id"] for one in inputs], kept))
        if self.used:
            for rest in kept.values():
                if rest.get("prompts") == [self.label]:
                    del rest["prompts"]
        return inputs, {one: rest for one, rest in kept.items() if rest}, files

    def test(
        self, test: Mapping[str, Any], field: str, taken: list[str], kept: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the test input of a test, and put into `kept` what is left of it."""
        values = values_of(self.default, test)
        named = test.get("prompts")
        label = next((one for one in self.conversations if named == [one]), None)
        talk = None if label is None else self.conversations[label]
        self.used |= set() if label is None else {label}
        chat, text = self.chat if talk is None else talk, self.system if "is_text" in self.kept else ""
        content, why = content_of(chat, text, self.default, test)
        described = test.get("description")
        words = plain_text(described) if isinstance(described, str) and described.strip() else ""
        if content is None:
            content, why = words or _NOTHING_SAID, "it has no input text, so this is used"
        own_id = input_id(words or _last(content), taken)
        self.report.append(Note(field, f"test_inputs.{own_id}", why))
        expect, left = self.asserts(test, field, own_id, values)
        rest = _without(test, "assert", *(["prompts"] if talk is not None else []))
        if rest.get("description") == own_id:
            del rest["description"]
        if not chat and not text and content == _value(values, "input") and "input" in _vars(test):
            rest["vars"] = _without(_vars(test), "input")  # the content says it
            if not rest["vars"]:
                del rest["vars"]
        if left:
            rest["assert"] = left
        kept[own_id] = rest
        if test.get("threshold") is not None:
            where = f"{_TABLE}.tests.{own_id}"
            self.report.append(Note(f"{field}.threshold", where, "here all expectations must hold"))
        said = {"content": content} if isinstance(content, str) else {"messages": content}
        return {"id": own_id, **said, **({"expect": expect} if expect else {})}

    def asserts(
        self, test: Mapping[str, Any], field: str, own_id: str, values: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Return the expectations that a test's assertions are, and the assertions that are none."""
        own, where = test.get("assert", []), f"{_TABLE}.tests.{own_id}"
        expect, left = [], []
        if not isinstance(own, list):
            self.report.append(Note(f"{field}.assert", where, "it is not a list"))
            left = own
        for at, one in enumerate(own if isinstance(own, list) else []):
            found, why = expectation_of(one, values)
            if found is None:
                left.append(one)
            else:
                expect.append(found)
            if why:
                went_to = where if found is None else f"test_inputs.{own_id}"
                self.report.append(Note(f"{field}.assert.{at}", went_to, why))
        return [*expect, *default_expectations(self.default, test, values)], left


def default_expectations(
    default: Mapping[str, Any], test: Mapping[str, Any], values: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the expectations that the default test's assertions are for a test, none where it does without them."""
    options, asserts = test.get("options"), default.get("assert")
    if not isinstance(asserts, list) or (isinstance(options, dict) and options.get(_ALONE) is True):
        return []
    found = [expectation_of(one, values)[0] for one in asserts]
    ready, _ = toml_ready({"expect": [one for one in found if one is not None]}, "")
    return list(ready["expect"])


def values_of(*tests: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a test behind those of the default one, with what one of them says of another put in."""
    values = {key: value for test in tests for key, value in _vars(test).items()}
    return {key: fill(value, values) if isinstance(value, str) else value for key, value in values.items()}


def content_of(
    chat: Chat, text: str, default: Mapping[str, Any], test: Mapping[str, Any]
) -> tuple[str | Chat | None, str]:
    """Return what a test says to the persona, None where nothing, and what a person should know of it.

    Args:
        chat: the messages of the prompt after its system message, as templates; none: the persona is told `input`, or
            what variables the test has.
        text: the prompt, where it is no chat.
        default, test: the default test, and the test.
    """
    values = values_of(default, test)
    if chat:
        said_here, why = said_in(chat, values)
        names = [name for one in chat for name in names_in(one["content"])]
        if any(str(values.get(name)).startswith("file://") for name in names):
            why = "; ".join(filter(None, (why, "files are not read: it has their paths")))
        return said_here, why
    if not text and (said := _value(values, "input")).strip():
        return said, ""
    names = [name for name in names_in(text) if name in values] or list(_vars(test)) or list(values)
    found = {name: value for name in names if (value := _value(values, name)).strip()}
    lost = [name for name in names if name not in found and str(values.get(name) or "").strip()]
    why = (
        f"{', '.join(lost)} is not in it: files are not read, and only a plain value is put in"
        if lost
        else ""
    )
    if len(found) == 1:
        return next(iter(found.values())), why
    if found:
        by_name = "\n".join(f"{name}: {value}" for name, value in found.items())
        return by_name, "; ".join(filter(None, ("its vars are in it by name", why)))
    return None, ""


def expectation_of(said: Any, values: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return an assertion as an expectation, None where there is none like it, and what a person should know of it."""
    if not isinstance(said, dict) or not isinstance(said.get("type"), str):
        return None, "an assertion without a type, such as a reference, is kept unchanged"
    found = {key: value for key, value in said.items() if value is not None}
    kind, value = str(said["type"]), found.get("value")
    base = kind.removeprefix(NEGATED)
    if base == "javascript" and isinstance(value, str) and (counts := _CHAR_COUNT.fullmatch(value)):
        found |= {"type": kind.replace(base, "char-count"), "min": int(counts[1]), "max": int(counts[2])}
        return {key: one for key, one in found.items() if key != "value" and one != _MOST}, ""
    if base in _CODE or "transform" in found or "contextTransform" in found:
        return None, "code is kept and never run"
    if type(found.get("weight")) in (int, float) and found["weight"] == 0:
        return None, "with weight 0 it counts for nothing"
    if isinstance(value, str) and value.startswith("file://"):
        return None, "files and programs are not read"
    if base == "word-count" and isinstance(value, dict) and value.keys() <= {"min", "max"}:
        del found["value"]
        found |= value
    elif base in JSON_TYPES and isinstance(value, str):
        found["value"] = _schema_of(value)
    elif base in LIST_TYPES and isinstance(value, str):
        found["value"] = [one.strip() for one in value.split(",") if one.strip()]
    elif base not in ("equals", *COUNT_TYPES) and type(value) in (int, float):
        found["value"] = str(value)
    if base in LIST_TYPES and isinstance(found.get("value"), list):
        found["value"] = [str(one) if type(one) in (int, float) else one for one in found["value"]]
    texts = found.get("value") if isinstance(found.get("value"), list) else [found.get("value")]
    for text in texts or ():
        if isinstance(text, str) and without_raw(text) is None and has_signs(fill(text, values)):
            return None, "its value is a template"
    found = {
        key: _each(one, lambda text: filled(text, values)) if key == "value" else one
        for key, one in found.items()
    }
    if base == "regex" and isinstance(found.get("value"), str):
        try:
            re.compile(found["value"])
        except (re.error, RecursionError, OverflowError):
            return None, "Python does not read its regular expression"
    if fault := fault_of(found):
        return None, fault
    if base == "llm-rubric" and "threshold" in found:
        return found, "here a rubric holds or does not, whatever its threshold"
    if "provider" in found or "rubricPrompt" in found:
        return found, "here the model that [judge] names judges it, in its own way"
    return found, ""


_USER = {"role": "user", "content": "{{input}}"}


def _chat_of(text: str) -> Chat | None:
    """Return the messages of a prompt that is a chat in JSON or YAML, None where it is none."""
    start = text.lstrip()
    if not start.startswith(("[", "- ")):
        return None
    try:
        data = load_json(text) if start[0] == "[" else load_yaml(text)
    except Unreadable:
        return None
    if not isinstance(data, list) or not data:
        return None
    for one in data:
        if not isinstance(one, dict) or set(one) != {"role", "content"} or one["role"] not in _ROLES:
            return None
        if not isinstance(one["content"], str):
            return None
    return [{"role": one["role"], "content": plain_text(one["content"])} for one in data]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text_of_prompt(entry: Any) -> str | None:
    """Return a prompt that is written out, None for one that is a file or a program."""
    text = entry.get("raw") if isinstance(entry, dict) else entry
    if not isinstance(text, str) or not text.strip():
        return None
    return None if text.startswith(_NOT_A_TEXT) or _FILE.fullmatch(text) else plain_text(text)


def _is_test(test: Any) -> bool:
    """Whether a test is written out; else it names a file, or a program that makes tests."""
    return isinstance(test, dict) and "path" not in test


def _without(table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


def _label(entry: Any) -> str | None:
    label = entry.get("label") if isinstance(entry, dict) else None
    return label if isinstance(label, str) and label.strip() else None


def _vars(test: Any) -> dict[str, Any]:
    values = test.get("vars") if isinstance(test, dict) else None
    return values if isinstance(values, dict) else {}


def _last(content: str | Chat) -> str:
    return content if isinstance(content, str) else content[-1]["content"]


def _value(values: Mapping[str, Any], name: str) -> str:
    """Return the value of a variable as a text, empty where it is none or not plain."""
    template = f"{{{{{name}}}}}"
    found = plain_text(fill(template, values))
    return "" if found == template or found.startswith("file://") else found


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """Return a text, or a list, with each text changed."""
    if isinstance(value, list):
        return [change(one) if isinstance(one, str) else one for one in value]
    return change(value) if isinstance(value, str) else value


def _schema_of(text: str) -> Any:
    try:
        return load_yaml(text)
    except Unreadable:
        return text


# -- writing ------------------------------------------------------------------------------------------


def write(source: Source) -> Exported:
    """Return a configuration with the effective prompt and the test inputs of a persona."""
    return _Writing(source).exported()


class _Writing:
    """Writes one configuration."""

    def __init__(self, source: Source) -> None:
        self.source = source
        kept = dict(source.kept)
        self.is_text = kept.pop("is_text", False) is True
        self.is_template = kept.pop("is_template", False) is True
        self.chat: Chat = kept.pop("chat", [])
        self.more_of_prompt: Mapping[str, Any] = kept.pop("prompt", {})
        self.kept_tests: Mapping[str, Any] = kept.pop("tests", {})
        self.test_files: list[Any] = kept.pop("test_files", [])
        self.prompts: list[Any] = kept.pop("prompts", [])
        default = kept.get("defaultTest")
        self.default: Mapping[str, Any] = default if isinstance(default, dict) else {}
        self.kept = kept
        self.prompt = source.prompt if self.is_template else raw(source.prompt, "the prompt")
        self.report: list[Note] = []
        self.conversations: dict[str, Chat] = {}  # by label

    def exported(self) -> Exported:
        persona, label = self.source.persona, self.source.persona.name
        text = self.prompt if self.is_text else self.chat_text(self.chat or [_USER])
        self.report += [Note("name", "prompts.0.label"), Note("system_prompt", "prompts.0.raw")]
        tests = self.tests()
        if self.conversations:
            for test in tests:
                test.setdefault("prompts", [label])
        talks = [{"label": name, "raw": self.chat_text(chat)} for name, chat in self.conversations.items()]
        config: dict[str, Any] = {
            "description": persona.description,
            "prompts": [{"label": label, "raw": text, **self.more_of_prompt}, *talks, *self.prompts],
            **self.kept,
        }
        if persona.description:
            self.report.append(Note("description", "description"))
        elif "description" not in self.kept:
            del config["description"]
        self.report += [Note(f"{_TABLE}.{key}", key) for key in self.kept]
        had = ["test_inputs"]
        if not self.kept.keys() & {"providers", "targets"}:
            had.append("model")
            config["providers"] = [self.provider()]
        if persona.judge and "defaultTest" not in config:
            had.append("judge")
            config["defaultTest"] = {"options": {"provider": f"anthropic:messages:{persona.judge}"}}
            self.report.append(Note("judge", "defaultTest.options.provider"))
        if tests or self.test_files:
            config["tests"] = [*tests, *self.test_files]
        self.report += losses(self.source, but=tuple(had))
        return Exported({"promptfooconfig.yaml": dump_yaml(config).encode()}, tuple(self.report))

    def chat_text(self, chat: Chat) -> str:
        """Return messages after the system message as the JSON that promptfoo renders text by text."""
        system = [{"role": "system", "content": self.prompt}] if self.prompt else []
        return json.dumps([*system, *chat], ensure_ascii=False, indent=2)

    def provider(self) -> Any:
        model = self.source.persona.model
        why = "promptfoo has no effort" if model.effort else ""
        if model.name is None:
            why = f"the persona names no model, so {_MODEL} is used"
        self.report.append(Note("model", "providers", why))
        provider = f"anthropic:messages:{model.name or _MODEL}"
        return {"id": provider, "config": {"max_tokens": model.max_tokens}} if model.max_tokens else provider

    def tests(self) -> list[dict[str, Any]]:
        """Return the tests of all inputs that say something."""
        tests: list[dict[str, Any]] = []
        taken: list[str] = []
        for table in self.source.fields.get("test_inputs", []):
            content = table.get("messages", table.get("content"))
            where = f"test_inputs.{table['id']}"
            if not content:
                self.report.append(Note(where, None, "it says nothing"))
                continue
            self.report.append(Note(where, "tests"))
            tests.append(self.test(table, content, taken))
            taken.append(table["id"])
            self.report += [
                Note(f"{where}.{key}", None, "promptfoo repeats all tests: `promptfoo eval --repeat N`")
                for key in ("samples", "min_pass")
                if key in table
            ]
        gone = [one for one in self.kept_tests if one not in taken]
        self.report += [Note(f"{_TABLE}.tests.{one}", None, "no test input has this id") for one in gone]
        return tests

    def test(self, table: Mapping[str, Any], content: str | Chat, taken: list[str]) -> dict[str, Any]:
        own_id: str = table["id"]
        kept = self.kept_tests.get(own_id)
        kept = dict(kept) if isinstance(kept, dict) else {}
        said = self.said(own_id, content, kept)
        words = _last(content)
        test = {"description": own_id, **kept, **said}
        if "description" not in {*kept, *said} and input_id(words, taken) == own_id:
            del test["description"]  # the id follows from the words
        default, expect = self.default, list(table.get("expect", []))
        values = values_of(default, kept) | ({"input": content} if isinstance(content, str) else {})
        known = default_expectations(default, kept, values)
        if all(one in expect for one in known):
            for one in known:  # the default test says it
                if one in expect:
                    expect.remove(one)
        else:
            options = kept.get("options")
            test["options"] = {**(options if isinstance(options, dict) else {}), _ALONE: True}
            why = "it has not all of what the default test expects, so none of it holds there"
            self.report.append(Note(f"test_inputs.{own_id}.expect", f"options.{_ALONE}", why))
        asserts, left = [self.assertion(one, own_id) for one in expect], kept.get("assert", [])
        if asserts:
            test["assert"] = [*asserts, *(left if isinstance(left, list) else [left])]
        return test

    def said(self, own_id: str, content: str | Chat, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables that make what an input says, or the prompt that holds its conversation."""
        values, text = _vars(kept), self.source.prompt if self.is_text else ""
        made, _ = content_of(self.chat, text, self.default, kept)
        if self.chat or text:
            if made == content or (made is None and content in (kept.get("description"), _NOTHING_SAID)):
                return {}
            if made is None and content == own_id:
                return {"description": own_id}
        if not isinstance(content, str):
            label = f"conversation {own_id}"
            self.conversations[label] = [
                {**one, "content": raw(one["content"], f"the test input {own_id}")} for one in content
            ]
            return {"prompts": [label]}
        if not isinstance(kept.get("vars", {}), dict):
            why = "its vars are in a file, which needs the prompt's variable"
            self.report.append(Note(f"test_inputs.{own_id}.content", None, why))
            return {}
        names = names_in(self.chat[-1]["content"] if self.chat else text or "{{input}}")
        if len(names) != 1:
            why = "the prompt has no one variable for what is said; it needs {{input}}"
            self.report.append(Note(f"test_inputs.{own_id}.content", "vars.input", why))
        return {"vars": {**values, names[0] if len(names) == 1 else "input": content}}

    def assertion(self, expect: Mapping[str, Any], own_id: str) -> dict[str, Any]:
        """Return an expectation as an assertion; a broken one stays as it stands."""
        found = dict(expect)
        if fault_of(expect):
            return found
        kind = str(expect["type"])
        base = kind.removeprefix(NEGATED)
        if base in COUNT_TYPES:
            bounds = {key: found.pop(key) for key in ("min", "max") if key in found}
            if base == "word-count":
                return {**found, **({"value": bounds} if bounds else {})}
            exact = found.pop("value", None)
            least, most = bounds.get("min", exact or 0), bounds.get("max", _MOST if exact is None else exact)
            value = f"{_LENGTH} >= {least} && {_LENGTH} <= {most}"
            return {**found, "type": kind.replace(base, "javascript"), "value": value}
        if base == "regex" and _OF_PYTHON.search(expect["value"]):
            why = "promptfoo reads it as JavaScript does, not as Python"
            self.report.append(Note(f"test_inputs.{own_id}.expect", "assert", why))
        if "value" in found:
            found["value"] = _each(found["value"], lambda text: raw(text, f"the test input {own_id}"))
        return found


_KEYS = re.compile(
    rb"""(?:^|[{,]\s*|^[ \t]+(?="))["']?(prompts|tests|providers|targets|defaultTest|scenarios)["']?[ ]*:""",
    re.MULTILINE,
)


def fits(content: bytes, name: str) -> bool:
    """Whether a file is called like a configuration, or has prompts, and tests or providers."""
    base = name.rpartition("/")[2].lower()
    if not base.endswith((".yaml", ".yml", ".json")):
        return False
    keys = set(_KEYS.findall(content[:1_000_000]))
    return base.startswith("promptfooconfig") or (b"prompts" in keys and len(keys) > 1)


FORMATS = (
    Format(
        name="promptfoo",
        label="promptfoo configuration, with its tests",
        suffix=".yaml",
        read=read,
        write=write,
        fits=fits,
    ),
)

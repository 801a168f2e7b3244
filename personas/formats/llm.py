"""`llm`: a template of the command line tool `llm`: YAML with a system prompt, a prompt and how to run them.

In it `$name` stands for a value and `$$` for `$`. What comes from such a template stays as it is; text from elsewhere
has its `$` doubled on the way out.
"""

from __future__ import annotations

import re
from typing import Any

from personas.formats.common import losses
from personas.formats.text import one_line, plain_text, stem_of, text_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable
from personas.formats.yaml_file import dump_yaml, load_yaml

_TABLE = "x.llm"
_KEYS = (
    *("name", "prompt", "system", "attachments", "attachment_types", "model", "defaults", "options"),
    *("extract", "extract_last", "schema_object", "fragments", "system_fragments", "tools", "functions"),
)
"""All keys that `llm` knows; with any other it refuses the template."""
_INPUT = "prompt"
"""The id of the test input that a template's prompt becomes."""
_OURS = frozenset({"is_template", "input"})
"""Keys of `[x.llm]` that no template has: whether `$` means something in its texts, and which test input is its prompt."""
_WHYS = {
    "functions": "code is kept and never run",
    "fragments": "what it names is not read",
    "system_fragments": "it belongs to the system prompt, and what it names is not read",
    "attachments": "what it names is not read",
    "attachment_types": "what it names is not read",
    "defaults": "values of its variables, which are not filled in",
    "model": "which model tries the persona is said by [model]",
}


def read(content: bytes, name: str) -> Imported:
    """Return the persona of a template; its prompt, in which `$input` stands for what is piped in, is a test input."""
    template = load_yaml(text_of(content))
    if isinstance(template, str):
        template = {"prompt": template}
    if not isinstance(template, dict) or not {"system", "prompt"} & template.keys():
        raise Unreadable("it is not a template of llm: it has neither system nor prompt")
    rest, report, fields = dict(template), list[Note](), dict[str, Any]()
    texts = {key: rest.pop(key) for key in ("system", "prompt") if rest.get(key) is not None}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise Unreadable(f"its {key} is not text")
    has_values = any("$" in text for text in texts.values())
    why = "$name and $$ stay unchanged" if has_values else ""
    if system := texts.get("system"):
        fields["system_prompt"] = plain_text(system)
        report.append(Note("system", "system_prompt", why))
    if (prompt := plain_text(texts.get("prompt", ""))).strip():
        fields["test_inputs"] = [{"id": _INPUT, "content": prompt}]
        report.append(Note("prompt", f"test_inputs.{_INPUT}", why))
    elif "prompt" in texts:
        report.append(Note("prompt", None, "it is blank"))
    display = stem_of(name)
    if isinstance(said := rest.get("name"), str) and said.strip():
        display = one_line(said)
        report.append(Note("name", "name"))
        del rest["name"]
    ours = {**({"is_template": True} if has_values else {}), **({"input": _INPUT} if prompt.strip() else {})}
    kept, notes = toml_ready({**rest, **ours}, _TABLE)
    unknown = "llm refuses a template with this key"
    for note in notes:
        key = note.field.partition(".")[0]
        why = note.why or _WHYS.get(key, "" if key in _KEYS else unknown)
        if key not in _OURS:
            report.append(Note(note.field, note.went_to, why))
    return Imported((ImportedPersona(name=display, fields=fields, kept=kept, report=tuple(report)),))


def write(source: Source) -> Exported:
    """Return a template with the effective prompt of a persona."""
    kept = dict(source.kept)
    is_template, prompt_id = kept.pop("is_template", False) is True, kept.pop("input", None)
    report = [Note("name", "the file's name"), Note("system_prompt", "system")]
    system = source.prompt if is_template else source.prompt.replace("$", "$$")
    if system != source.prompt:
        report[-1] = Note("system_prompt", "system", "each $ is doubled, as a template wants it")
    name = source.persona.name
    template: dict[str, Any] = {"name": name} if name != source.persona.id else {}
    inputs = source.persona.test_inputs
    prompt = next((one.content for one in inputs if one.id == prompt_id), "")
    if system or not prompt:
        template["system"] = system
    if prompt:
        template["prompt"] = prompt if is_template else prompt.replace("$", "$$")
        report.append(Note(f"test_inputs.{prompt_id}", "prompt"))
    for key, value in kept.items():
        if key in _KEYS:
            template[key] = value
            report.append(Note(f"{_TABLE}.{key}", key))
        else:
            report.append(Note(f"{_TABLE}.{key}", None, "llm refuses a template with this key"))
    report += [
        *losses(source, but=("test_inputs",)),
        *(
            Note(f"test_inputs.{one.id}", None, "the format has no tests")
            for one in inputs
            if one.id != prompt_id
        ),
    ]
    if source.persona.description:
        report.append(Note("description", None, "the format has no description"))
    return Exported({f"{source.persona.id}.yaml": dump_yaml(template).encode()}, tuple(report))


_TOP_KEY = re.compile(rb"^([A-Za-z_]\w*):", re.MULTILINE)


def fits(content: bytes, name: str) -> bool:
    """Whether a YAML file has a system prompt or a prompt, and no key that such a template has not."""
    if not name.endswith((".yaml", ".yml")):
        return False
    keys = {key.decode() for key in _TOP_KEY.findall(content[:1_000_000].removeprefix(b"\xef\xbb\xbf"))}
    return bool(keys & {"system", "prompt"}) and keys <= {*_KEYS}


FORMATS = (Format(name="llm", label="llm template", suffix=".yaml", read=read, write=write, fits=fits),)

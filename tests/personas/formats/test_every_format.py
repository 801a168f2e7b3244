"""The rules that hold for every format, on the examples of each and on what is left of them when they are damaged."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import tomli_w
import yaml

from personas.errors import PersonaError
from personas.exporting import export
from personas.formats.registry import MODULES, format_named, format_of, formats
from personas.formats.types import Format, ImportedPersona
from personas.importing import ImportedFile, Importer, read_path
from personas.store import Store
from personas.toml.parse import parse
from tests.personas.formats.examples.example import Example
from tests.support.examples import THOROUGH, examples

EXAMPLES: list[Example] = [
    example
    for module in MODULES
    for example in import_module(f"tests.personas.formats.examples.{module}").EXAMPLES
]
SAID_ANEW = {"spec", "spec_version"}
"""Fields that only say which format it is."""
OF_THE_FILE = {"source_hash", "file", "copies", "is_text", "is_template"}
"""Keys of kept tables that say nothing of a persona, so that no export to another format tells of them."""
DAMAGED = examples(10)
"""Damaged variants of each example."""


def put(folder: Path, example: Example, content: bytes | None = None) -> Path:
    path = folder / example.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(example.content if content is None else content)
    return path


def bring_in(store: Store, path: Path, form: str | None) -> list[ImportedFile]:
    found = read_path(path, form)
    assert found is not None
    return Importer(store).add(found)


def everything(home: Path) -> dict[str, bytes]:
    """The personas and the library of a home by path."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for folder in ("personas", "library")
        for path in sorted((home / folder).rglob("*"))
        if path.is_file()
    }


def said(value: Any) -> str:
    """All texts, numbers and keys of plain data."""
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{said(one)}" for key, one in value.items())
    return "\n".join(map(said, value)) if isinstance(value, list) else str(value)


def fields_of(example: Example) -> Any:
    """The data of a file as other readers than ours take it; None where it is none, or they refuse it."""
    text = example.content.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").replace("\r\n", "\n")
    suffix = example.name.rpartition(".")[2]
    read = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load, "md": yaml.safe_load}.get(
        suffix
    )
    if suffix == "md":
        text = text.split("---\n", 2)[1] if text.startswith("---\n") else ""
    try:
        return None if read is None else read(text)
    except (ValueError, yaml.YAMLError):
        return None


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each text and number in plain data, with the keys that lead to it."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, str(key)))
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one, path)
    elif isinstance(value, str) and value.startswith(
        "["
    ):  # a prompt of promptfoo that is a JSON text of its own
        yield from leaves(json.loads(value), path)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value).replace("\r\n", "\n").replace("\r", "\n")
        yield path, re.sub("[\0\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.format}-{one.name}")
def test_nothing_is_dropped_and_nothing_is_written_twice(
    store: Store, tmp_path: Path, example: Example
) -> None:
    form, home = format_named(example.format), store.home.root
    path, before = put(tmp_path / "files", example), everything(home)
    trial = read_path(path, example.format)
    assert trial is not None
    assert Importer(store, is_trial=True).add(trial) and everything(home) == before

    first = bring_in(store, path, example.format)
    made = everything(home)
    for one in first:
        persona = store.get(one.id)
        assert persona.error is None and all(test.error is None for test in persona.test_inputs)
        assert all(note.went_to or note.why for note in one.report), "what is left out says why"
        assert json.loads(json.dumps(one.to_record())) == one.to_record()
    reports = said([one.to_record() for one in first])
    everywhere = said([parse(content.decode()) for content in made.values()]) + reports
    for text in example.says:
        assert text in everywhere
    for text in example.never:
        assert text not in everywhere
    left_out = [note.field for one in first for note in one.report if note.went_to is None]
    for keys, text in leaves(fields_of(example)):
        if keys[-1] in SAID_ANEW:
            continue
        assert text in everywhere or any(key in field for key in keys for field in left_out), keys

    second = bring_in(store, path, example.format)
    for one, again in zip(first, second, strict=True):
        assert again.id != one.id
        assert store.text(again.id) == store.text(one.id), "the same file gives the same bytes"
        assert again.documents == one.documents
    assert {name: everything(home)[name] for name in made} == made, "nothing that was there is another"

    for done in (second, first):
        store.undo(done[0].id)
    assert everything(home) == before, "one undo takes an import back"
    assert form.read is not None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.format}-{one.name}")
def test_an_export_gives_back_what_was_imported(store: Store, tmp_path: Path, example: Example) -> None:
    form = format_named(example.format)
    assert form.read is not None
    for at, one in enumerate(bring_in(store, put(tmp_path / "files", example), example.format)):
        other = "fabric" if form.name != "fabric" else "codex"
        left_out = [note.field for note in export(store, one.id, other).report if note.went_to is None]
        for key in parse(store.text(one.id)).get("x", {}).get(form.table, {}):
            place = f"x.{form.table}.{key}"
            assert key in OF_THE_FILE or any(field.startswith(place) for field in left_out), place
        if form.write is None:
            with pytest.raises(PersonaError, match="only read"):
                export(store, one.id, form.name)
            continue
        image = example.content if form.name == "card-png" else None
        exported = export(store, one.id, form.name, image=image)
        name, content = next(iter(exported.files.items()))
        if example.is_exact:
            assert content == example.content
        known, (again, *_) = (
            form.read(example.content, example.name).personas[at],
            form.read(content, name).personas,
        )
        is_named = any(note.went_to == "name" and note.field != "folder" for note in known.report)
        assert again.name == known.name or not (is_named and example.comes_back)
        assert comparable(again) == comparable(known) or not example.comes_back
        assert export(store, one.id, form.name, image=image) == exported


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.format}-{one.name}")
def test_what_an_import_kept_may_be_changed_by_hand(store: Store, tmp_path: Path, example: Example) -> None:
    form = format_named(example.format)
    if form.write is None:
        return
    done = bring_in(store, put(tmp_path / "files", example), example.format)[0]
    path, image = store.path(done.id), example.content if form.name == "card-png" else None
    text = path.read_text(encoding="utf-8")
    wrongs = ("a text", 7, ["a text"], [{"name": 7}], {"entries": "a text"})
    for number, (key, value) in enumerate(parse(text).get("x", {}).get(form.table, {}).items()):
        for wrong in (*wrongs, {key: value}) if THOROUGH > 1 else (wrongs[number % 5], {key: value}):
            if wrong == value:
                continue
            fields = parse(text)
            fields["x"][form.table][key] = wrong
            path.write_text(tomli_w.dumps(fields), encoding="utf-8")
            with suppress(PersonaError):
                export(store, done.id, form.name, image=image)


def comparable(one: ImportedPersona) -> Any:
    """What an imported persona says, but for its name, and blanks at the ends of its texts."""
    fields = {key: value.strip() if isinstance(value, str) else value for key, value in one.fields.items()}
    documents = [
        (new.kind, new.name, {key: str(value).strip() for key, value in new.fields.items()}, new.order)
        for new in one.documents
    ]
    return fields, dict(one.kept), documents


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.format}-{one.name}")
def test_a_damaged_file_is_imported_by_the_rules_or_refused(
    store: Store, tmp_path: Path, example: Example
) -> None:
    chance, home = random.Random(example.name), store.home.root
    before, trial = everything(home), Importer(store, is_trial=True)
    for number in range(DAMAGED):
        path = put(tmp_path / "files", example, damaged(example.content, chance))
        importer = trial if number % 5 else Importer(store)
        format_of(path.read_bytes(), example.name)
        try:
            found = read_path(path, example.format)
            assert found is not None
            done = importer.add(found)
        except PersonaError as error:
            assert str(error).endswith(".") and "\n" not in str(error)
            done = []
        if done and importer is not trial:
            assert all(store.get(one.id).error is None for one in done)
            store.undo(done[0].id)
        assert importer is trial or everything(home) == before
    assert everything(home) == before


def damaged(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content))
    end = min(len(content), at + chance.randrange(1, 40))
    strange = chance.choice(
        [b"\0", b"\xff\xfe", b"{", b"---\n", b'"', b"\n", b"[" * 5000, b": &a [*a]", b"NaN", b"\\ud83d"]
    )
    return chance.choice(
        [
            content[:at],
            content[:at] + content[end:],
            content[:at] + strange + content[end:],
            content[:at] + content[at:end] * 2 + content[end:],
            content[at:],
        ]
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.format}-{one.name}")
def test_a_file_is_recognised(example: Example) -> None:
    found = format_of(example.content, example.name)
    assert found is not None and found.name == example.format


def test_each_format_has_a_name_of_its_own_an_example_and_a_row_in_the_readme() -> None:
    names = [one.name for one in formats()]
    assert len(set(names)) == len(names)
    assert {one.name for one in formats() if one.read is not None} == {example.format for example in EXAMPLES}
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \|.+\| (yes|no) \| (yes|no) \|$", readme, re.MULTILINE)
    told = {name: ways for names, *ways in rows for name in re.findall("`(.+?)`", names)}
    yes = {True: "yes", False: "no"}
    assert told == {one.name: [yes[one.read is not None], yes[one.write is not None]] for one in formats()}


def test_every_format_writes_any_persona(store: Store, written: Format) -> None:
    """A persona that came from nowhere is written, or refused in a sentence."""
    store.create('Ünïcode: "quotes" # sign')
    (persona_id,) = store.ids()
    try:
        exported = export(store, persona_id, written.name)
    except PersonaError as error:
        assert str(error).endswith(".")
    else:
        assert exported.files


@pytest.fixture(params=[one.name for one in formats() if one.write is not None])
def written(request: pytest.FixtureRequest) -> Format:
    return format_named(request.param)

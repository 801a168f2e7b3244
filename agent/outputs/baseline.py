"""What a person blessed: `baselines/<persona>.toml`, made for reading in a pull request, and what broke since."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.core.turns import utc_now
from agent.outputs.report import PersonaReport
from agent.outputs.variant import Variant
from personas.errors import InvalidValue, StorageError
from personas.files.home import Home
from personas.files.slug import is_id
from personas.files.text_file import read_regular, replace_file, storage_error


@dataclass(frozen=True, slots=True)
class BaselineDiff:
    """What is different from the baseline, by input id.

    Attributes:
        broke: passed then, fails now.
        fixed: did not pass then, passes now.
    """

    broke: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


def baseline_path(home: Home, persona_id: str) -> Path:
    """Return where a persona's baseline lies.

    Raises:
        InvalidValue: the id is no plain file name.
    """
    if not is_id(persona_id):
        raise InvalidValue(f"{persona_id!r} cannot be a persona's id.")
    return home.root / "baselines" / f"{persona_id}.toml"


def bless(home: Home, variant: Variant, report: PersonaReport) -> Path:
    """Write the baseline of a persona; return where.

    Raises:
        PersonaError: the disk refused, or the path leads out of the home.
    """
    import tomli_w

    path = baseline_path(home, report.id)
    record: dict[str, Any] = {
        "persona": report.id,
        "blessed_at": utc_now(),
        "prompt_hash": variant.prompt_hash,
        "settings_hash": variant.settings_hash(variant.model),
        "model": variant.model or "",
        "inputs": [
            {
                "id": one.id,
                "verdict": one.verdict,
                "passed": one.passed,
                "samples": one.samples,
                "input_hash": next((output.input_hash for output in one.outputs.values()), ""),
                "answers": [_writable(one.outputs[sample].text) for sample in sorted(one.outputs)],
            }
            for one in report.inputs
        ],
    }
    note = f"# What {report.id} answered when a person blessed it: `persona test` names what broke since.\n"
    text = note + tomli_w.dumps(record, multiline_strings=True)
    home.inside(path.parent)
    try:
        path.parent.mkdir(mode=0o755, exist_ok=True)
    except OSError as error:
        raise storage_error(error, "create", path.parent) from None
    replace_file(path, text.encode(), root=home.root)
    return path


def blessed_hashes(home: Home, persona_id: str) -> tuple[object, object]:
    """Return the hashes of prompt and settings that a baseline was blessed with; empty ones where it has none."""
    try:
        then = _read(home, persona_id) or {}
    except InvalidValue:
        then = {}
    return then.get("prompt_hash"), then.get("settings_hash")


def since_baseline(home: Home, report: PersonaReport) -> BaselineDiff | None:
    """Return what broke and was fixed since the baseline, None where there is none.

    Raises:
        InvalidValue: the baseline cannot be read.
    """
    then = _read(home, report.id)
    if then is None:
        return None
    listed = then.get("inputs")
    inputs = listed if isinstance(listed, list) else []
    was: Mapping[Any, Any] = {one["id"]: one.get("verdict") for one in inputs
                              if isinstance(one, dict) and isinstance(one.get("id"), str)}  # fmt: skip
    broke = tuple(one.id for one in report.inputs if was.get(one.id) == "pass" and one.verdict == "fail")
    fixed = tuple(one.id for one in report.inputs if was.get(one.id) == "fail" and one.verdict == "pass")
    return BaselineDiff(broke, fixed)


def _read(home: Home, persona_id: str) -> dict[str, Any] | None:
    path = baseline_path(home, persona_id)
    try:
        return tomllib.loads(read_regular(path, root=home.root).decode())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError, StorageError) as error:
        raise InvalidValue(f"The baseline {path} cannot be read ({error}); bless a new one.") from None


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()

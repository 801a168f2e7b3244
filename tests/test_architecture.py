"""What import-linter cannot say of the structure: every module says what is in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", ["personas", "agent", "tui"])
def test_every_module_says_what_is_in_it(package: str) -> None:
    silent = [
        str(source.relative_to(ROOT))
        for source in sources(package)
        if source.read_text(encoding="utf-8").strip()
        and ast.get_docstring(ast.parse(source.read_text("utf-8"))) is None
    ]
    assert silent == []


def test_private_modules_of_textual_are_imported_in_one_place() -> None:
    compat = ROOT / "tui" / "terminal" / "textual_compat"
    found = []
    for source in sources("tui"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any(name.startswith("textual.") and "._" in name for name in names):
                found.append(source)
    assert [str(source) for source in found if compat not in source.parents] == []

"""The direction of imports: tui -> agent -> personas, and the line around the core."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = (
    *("turns", "events", "tool", "config", "state", "limits", "error_text"),
    *(
        "loop",
        "steps",
        "patience",
        "reach",
        "asking",
        "answer",
        "calls",
        "one_call",
        "checks",
        "run",
        "interrupts",
        "unfinished",
        "alarm",
        "left_behind",
        "agent",
        "saying",
        "beginning",
        "listeners",
    ),
    *("messages", "sent", "stretch", "read_only", "repair", "session", "session_records", "quick"),
)


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported_modules(source: Path) -> set[str]:
    """Every module a file imports, anywhere in it, as dotted absolute names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = source.relative_to(ROOT).with_suffix("").parts
            base = ".".join(package[: len(package) - node.level]) + "." if node.level else ""
            module = (base + (node.module or "")).rstrip(".")
            found.add(module)
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def breaches(package: str, forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{source.relative_to(ROOT)} imports {module}"
        for source in sources(package)
        for module in imported_modules(source)
        if module.split(".")[0] in forbidden
    ]


def test_personas_knows_nothing_of_agents_or_screens() -> None:
    assert breaches("personas", ("agent", "tui", "textual", "anthropic", "click")) == []


def test_agent_knows_nothing_of_screens() -> None:
    assert breaches("agent", ("tui", "textual", "click")) == []


def test_nothing_imports_the_sdk() -> None:
    for package in ("agent", "personas", "tui"):
        assert breaches(package, ("anthropic",)) == []


def test_only_the_http_client_and_its_bodies_import_the_http_library() -> None:
    offenders = [line for package in ("agent", "personas", "tui") for line in breaches(package, ("httpx2",))]
    allowed = ("agent/models/http_client.py ", "agent/models/bodies.py ", "agent/models/anthropic.py ")
    assert all(line.startswith(allowed) for line in offenders), offenders
    assert offenders, "the rule must see the allowed imports"


def is_core(source: Path) -> bool:
    relative = source.relative_to(ROOT / "agent")
    return relative.parts[0] == "models" or (len(relative.parts) == 1 and relative.stem in CORE)


def test_the_core_uses_of_the_documents_only_the_journal_and_of_the_tools_nothing() -> None:
    allowed = ("personas.journal", "personas.errors")
    offenders = [
        f"{source.relative_to(ROOT)} imports {module}"
        for source in sources("agent")
        if is_core(source)
        for module in imported_modules(source)
        if (module.split(".")[0] == "personas" and module != "personas" and not module.startswith(allowed))
        or (module.startswith("agent.") and module.split(".")[1] not in (*CORE, "models"))
    ]
    assert offenders == []


@pytest.mark.parametrize("package", ["personas", "agent", "tui"])
def test_rooms_stay_readable_in_one_sitting(package: str) -> None:
    long = {
        str(source.relative_to(ROOT)): lines
        for source in sources(package)
        if (lines := len(source.read_text(encoding="utf-8").splitlines())) > 450
    }
    assert long == {}


@pytest.mark.parametrize("package", ["personas", "agent", "tui"])
def test_every_module_says_what_is_in_it(package: str) -> None:
    silent = [
        str(source.relative_to(ROOT))
        for source in sources(package)
        if source.read_text(encoding="utf-8").strip()
        and ast.get_docstring(ast.parse(source.read_text("utf-8"))) is None
    ]
    assert silent == []


@pytest.mark.parametrize("package", ["personas", "agent", "tui"])
def test_every_module_stands_in_the_table_of_the_house(package: str) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    named = {word for row in rows for told in row.split("`")[1::2] for word in re.findall(r"\w+", told)}
    modules = {path.stem for path in (ROOT / package).glob("*.py") if not path.stem.startswith("__")}
    assert modules <= named

"""What import-linter cannot say of the structure: every module says what is in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest
import textual

ROOT = Path(__file__).parent.parent
TEXTUAL = Path(textual.__file__).parent


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def tree(source: Path) -> ast.Module:
    return ast.parse(source.read_text("utf-8"))


@cache
def statements() -> list[tuple[Path, ast.AST]]:
    """Each import and class of the screen, wherever it stands."""
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef)
    return [(one, node) for one in sources("tui") for node in ast.walk(tree(one)) if isinstance(node, kinds)]


@pytest.mark.parametrize("package", ["personas", "agent", "tui"])
def test_every_module_says_what_is_in_it(package: str) -> None:
    silent = [
        str(source.relative_to(ROOT))
        for source in sources(package)
        if source.read_text(encoding="utf-8").strip() and ast.get_docstring(tree(source)) is None
    ]
    assert silent == []


def test_private_modules_of_textual_are_imported_in_one_place() -> None:
    compat = ROOT / "tui" / "terminal" / "textual_compat"
    found = []
    for source, node in statements():
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if any(name.startswith("textual.") and "._" in name for name in names):
            found.append(source)
    assert [str(source) for source in found if compat not in source.parents] == []


def test_private_attributes_of_textual_are_used_in_one_place() -> None:
    """Names that ours have too are not told apart, nor what a widget of ours has from the one that it derives from."""
    ours = [source for source in sources("tui") if "textual_compat" not in source.parts]
    foreign = private_names(TEXTUAL.rglob("*.py")) - private_names(ours)
    found = [
        f"{source}:{node.lineno}: {node.attr}"
        for source in ours
        for node in ast.walk(tree(source))
        if isinstance(node, ast.Attribute)
        and node.attr in foreign
        and ast.unparse(node.value) not in ("self", "os")
    ]
    assert found == []


def private_names(sources: Iterable[Path]) -> set[str]:
    """Return the private attributes and methods that the classes in some modules have."""
    text = "\n".join(source.read_text("utf-8") for source in sources)
    return set(re.findall(r"(?:self\.|def |^    )(_[a-z]\w*)", text, re.MULTILINE))


def test_no_more_than_two_modules_import_one_another() -> None:
    for circle in (*circles("tui"), *circles("agent"), *circles("personas")):
        assert len(circle) <= 2, circle


def circles(package: str) -> Iterator[list[str]]:
    """Find the modules that import one another over any number of steps, those imported for types among them."""
    graph = grimp.build_graph(package, cache_dir=None)
    ahead = {one: graph.find_upstream_modules(one) for one in graph.modules}
    left = set(graph.modules)
    while left:
        first = left.pop()
        circle = [first, *(one for one in left if one in ahead[first] and first in ahead[one])]
        left.difference_update(circle)
        if len(circle) > 1:
            yield sorted(circle)


def test_no_class_of_the_screen_has_more_than_one_mixin() -> None:
    """Behaviour is put together from parts; a class has one widget or screen as its base, and at most one mixin."""
    several = [
        f"{source.name}: {node.name}"
        for source, node in statements()
        if isinstance(node, ast.ClassDef) and len(node.bases) > 2
    ]
    assert several == []


def test_every_type_that_a_style_is_for_is_a_class() -> None:
    classes = {node.name for _, node in statements() if isinstance(node, ast.ClassDef)}
    for source in (*(TEXTUAL / "widgets").glob("*.py"), *TEXTUAL.glob("*.py")):
        classes |= set(re.findall(r"^class (\w+)", source.read_text("utf-8"), re.M))
    styles = [source.read_text("utf-8") for source in (ROOT / "tui").rglob("*.tcss")]
    for source in sources("tui"):
        styles += re.findall(r'CSS\b[^=\n]*= f?"""(.*?)"""', source.read_text("utf-8"), re.S)
    selectors = re.findall(
        r"([^{};]*)\{", "\n".join(re.sub(r"/\*.*?\*/", "", one, flags=re.S) for one in styles)
    )
    types = {name for one in selectors for name in re.findall(r"(?<![\w.#:$-])[A-Z]\w+", one)}
    assert {"DocumentEditor", "TooSmallOverlay"} <= types <= classes, types - classes

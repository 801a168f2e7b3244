"""The looks of the program, each once on a small and on a large terminal, as they were when somebody looked at them.

One theme is enough. That it can be read is measured on the way; `tests/tui/test_contrast.py` measures the other one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gallery import SIZES, settle, walk
from tests.snapshots.conftest import Check
from tests.support.screen_svg import draw
from tests.tui.test_contrast import faint_texts

ALIKE = {
    *("start", "panel-empty", "panel-after-a-run", "stopped", "a-task-is-done", "panel-hidden"),
    *("persona-empty", "test-input-with-a-long-name", "personas-filtered", "help-second-page", "confirm"),
    *("setting-being-typed", "pane-prompt", "wait", "ask-secret", "connect"),
}
"""Looks made of the same parts as others."""


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_program_looks_as_before(
    size: tuple[int, int], tmp_path: Path, looks_as_before: Check
) -> None:
    pictures: dict[str, str] = {}
    faint: dict[str, list[tuple[str, float, float]]] = {}
    async for name, p in walk(tmp_path, size):
        if size == SIZES[0] and (found := faint_texts(p)):
            faint[name] = found
        if name in ALIKE:
            continue
        if p.prompt.scroll_offset.y:  # where it stands after a run depends on when each change met the panel
            p.prompt.scroll_to(y=0, animate=False, force=True)
            await settle(p, messages=name == "commands-and-messages")
        assert p.app.size == size
        pictures[name] = draw(p.app)
    assert len(pictures) >= 30
    assert faint == {}, "it cannot be read"
    looks_as_before(pictures)

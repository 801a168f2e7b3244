"""Handlers that are looked up once are those that Textual would find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.message_pump import MessagePump

from agent.models.scripted import answer
from tests.support.program import make_store, program
from tui.terminal.textual_compat import handlers


class Base(MessagePump):
    def on_paste(self, event: events.Paste) -> None:
        """Take it."""


class Nearer(Base):
    def on_paste(self, event: events.Paste) -> None:
        event.prevent_default()


async def test_each_message_comes_to_the_handlers_that_textual_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = set()

    def both(pump: MessagePump, name: str, message: Any) -> list[Any]:
        found = [*handlers._dispatch_methods(pump, name, message)]
        assert found == [*handlers._look_up(pump, name, message)]
        compared.add(name)
        return found

    async with program(make_store(tmp_path), answer("Done.")) as p:
        monkeypatch.setattr(MessagePump, "_get_dispatch_methods", both)
        await p.run_to_end("hello")
        await p.pilot.click("#setting-name")
        await p.write("x")
        assert {"on_key", "on_idle", "on_click", "on_update"} <= compared


def test_a_class_nearer_to_the_widget_prevents_what_its_bases_do() -> None:
    widget = Nearer()
    for prevents in (False, True, False):
        event = events.Paste("text")
        owners = []
        for owner, handler in handlers._dispatch_methods(widget, "on_paste", event):
            owners.append(owner)
            if prevents:
                handler(event)
        assert owners == ([Nearer] if prevents else [Nearer, Base])
        assert not prevents or [*handlers._dispatch_methods(widget, "on_paste", event)] == []

"""What the agent leaves behind, headless and on the screen: signals are seen by nobody, and what they made is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agent.core.model import BlockDelta, BlockEnd, BlockStart, Done
from agent.models.scripted import answer
from personas.action_store import get_action
from personas.assets import list_assets
from personas.measurements import Measurement, add_measurement, read_measurements
from tests.support.messages_answers import Answer, Text
from tests.support.messages_server import MessagesServer
from tests.support.persona_agent import Backend, Workplace, send_agent_message
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.screens.dialogs.picker import Picker
from tui.widgets.virtual_list import VirtualList

SCORE = 'STORE_MEASUREMENT\n---\n{"dimension": "warmth", "score": 4, "notes": "kind"}\n'
ASSET = 'GENERATE_ASSET\n---\n{"name": "plan", "kind": "md", "content": "# Plan"}\n'
ACTION = 'GENERATE_ACTIONS\n---\n{"actions": [{"title": "Nightly", "instructions": "", "kind": "test"}]}\n'


def test_signals_are_kept_out_of_every_output_without_a_screen(tmp_path: Path) -> None:
    texts = [SCORE, f"Scored.\n{SCORE}{ASSET}{ACTION}", "Done.", "GENERATE_ASSET\n---\n{}\n", "Then."]
    with MessagesServer(lambda _body: Answer((Text(texts.pop(0)),), delta=1, write=7)) as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        place = Workplace(tmp_path / "home", Backend("loopback", env, here=True))
        (place.store.home.personas / "kept.toml").write_text(
            'system_prompt = "You are kept."\n[[test_inputs]]\nid = "a"\ncontent = "Hi"\n'
        )
        assert place.run_here("run", "kept").returncode == 0  # in the persona's own answer it is text
        (output,) = json.loads(place.run_here("outputs", "kept", "--json").stdout)
        assert output["text"] == SCORE and read_measurements(place.store.home, "kept") == []
        reply = send_agent_message(place, "kept", "score it")
        deltas = "".join(event["content"] for event in reply.events if event["type"] == "text_delta")
        assert deltas == "Scored.\nDone." and reply.text == "Scored.\n\nDone."
        assert reply.called() == ["store_measurement", "create_asset", "create_action"]
        assert [one.score for one in read_measurements(place.store.home, "kept")] == [4]
        assert get_action(place.store, "nightly").kind == "test"
        done = place.run_here("chat", "kept", "again")
        assert b"GENERATE_ASSET\n---\n{}" in done.stdout and b"Nothing was done for the signal" in done.stderr
        assert len(list_assets(place.store.home)) == 1
        assert place.run_here("undo", "kept").returncode == 0
        assert place.run_here("action", "show", "nightly").returncode == 1


async def test_no_piece_of_a_signal_is_painted_and_what_it_made_is_shown_and_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    for score in (1, 2):
        hostile = Measurement("tone\x1b[2J", score, "\x1b]0;x\x07so", "me", "2026-01-01T00:00:00Z")
        add_measurement(store.home, "one", hostile)
    gates = [Gate() for _ in range(5)]
    pieces = [SCORE[at : at + 16] for at in range(0, len(SCORE), 16)]
    held = [one for piece, gate in zip(pieces, gates, strict=True) for one in (BlockDelta(0, piece), gate)]
    text = [BlockStart(0, "text"), BlockDelta(0, "Scored.\n"), *held, BlockDelta(0, ASSET), BlockEnd(0)]
    model = GatedModel([[*text, Done("end_turn")], answer("Done.")])  # type: ignore[list-item]
    async with program(store, model=model, size=(110, 40)) as p:
        await p.say("score it")
        await p.until(lambda: "Scored." in painted(p))
        for gate in gates:
            assert not re.search("STORE|---|dimension|kind", painted(p))
            gate.set()
            await p.pilot.pause()
        talk = p.main.conversation.current
        assert talk is not None
        await p.until(lambda: not talk.running and "Done." in painted(p))
        assert "STORE" not in painted(p) and "store_measurement  warmth" in painted(p)

        await p.say("/measurements")
        dialog = await p.dialog(Picker)
        rows = dialog.query_one(VirtualList).rows
        assert [(row.head, row.tail) for row in rows] == [("warmth", "▄"), ("tone\x1b[2J", "▁█")]
        await p.until(lambda: "2 (1 to 2)" in painted(p))
        await p.press("enter")
        await p.until(lambda: p.app.screen is not dialog and "kind" in painted(p))
        await p.press("escape")
        await p.until(lambda: p.app.screen is not p.main and "Measurements of" in painted(p))
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)

        opened: list[Path] = []

        async def edit(_app: object, path: Path) -> bool:
            opened.append(path)
            return True

        monkeypatch.setattr(p.app.external_editor, "run", edit)
        await p.say("/assets")
        await p.dialog(Picker)
        await p.until(lambda: "plan.md" in painted(p) and "6 B" in painted(p))
        await p.press("enter")
        await p.until(lambda: opened)
        assert opened == [store.home.assets / "one" / "plan.md"]
        await p.open("two")
        await p.say("/assets")
        await p.notified("No assets yet")
        await p.say("/measurements")
        await p.notified("No measurements yet")


def painted(p: Program) -> str:
    return "\n".join("".join(part.text for part in row) for row in p.app.screen._compositor.render_strips())

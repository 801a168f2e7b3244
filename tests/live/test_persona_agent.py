"""The test cases the persona agent was specified by, each with every model (`PERSONA_LIVE=1` adds the real service)."""

from __future__ import annotations

import json

from tests.support.elsewhere import held_elsewhere
from tests.support.persona_agent import (
    Workplace,
    create_test_persona,
    expect_turn_sequence,
    send_agent_message,
)

PROMPT = "You are a marine biologist who loves tide pools.\nKeep it short.\n"
MATH = "What is 7 times 8? Show the math."
POEM = "Write a poem about the sea."


class TestBasicFlow:
    def test_responds_to_a_simple_message(self, place: Workplace) -> None:
        persona = create_test_persona(place, name="Coral")
        reply = send_agent_message(place, persona.id, "What is this persona's name?")
        assert reply.code == 0
        assert reply.called() == ["get_persona"]
        assert "Coral" in reply.text
        assert reply.types[-1] == "done"
        assert reply.turns[0]["type"] == "user"
        assert {turn["type"] for turn in reply.turns} >= {
            "user",
            "tool_call",
            "tool_result",
            "assistant_text",
        }

    def test_milestone_one_says_who_it_is(self, place: Workplace) -> None:
        place.run_here("list")
        reply = send_agent_message(place, "optimist", "Hello, who are you?")
        assert reply.code == 0
        assert "text_delta" in reply.types
        assert reply.types[-1] == "done" and reply.types.count("done") == 1


class TestReading:
    def test_uses_get_persona_when_asked_about_the_prompt(self, place: Workplace) -> None:
        persona = create_test_persona(place, system_prompt=PROMPT)
        reply = send_agent_message(place, persona.id, "Show me the current system prompt")
        assert reply.called() == ["get_persona"]
        assert "marine biologist who loves tide pools" in reply.text
        order = [kind for kind in reply.types if kind in ("tool_call", "tool_result", "text_complete")]
        assert order[order.index("tool_call") :][:2] == ["tool_call", "tool_result"]
        assert order[-1] == "text_complete"

    def test_uses_list_test_inputs(self, place: Workplace) -> None:
        persona = create_test_persona(place, inputs=[MATH, POEM])
        reply = send_agent_message(place, persona.id, "What test inputs do I have?")
        assert reply.called() == ["list_test_inputs"]
        assert "7 times 8" in reply.text and "poem about the sea" in reply.text


class TestWriting:
    def test_changes_the_name(self, place: Workplace) -> None:
        persona = create_test_persona(place)
        before = place.store.text(persona.id)
        reply = send_agent_message(place, persona.id, "Change the name to 'Helpful Assistant'")
        (call,) = reply.calls("update_persona_name")
        assert call["input"] == {"name": "Helpful Assistant"}
        assert place.store.get(persona.id).name == "Helpful Assistant"
        assert "Helpful Assistant" in reply.text
        after = place.store.text(persona.id)
        changed = [
            pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]
        ]
        assert changed == [('name = "Test Persona"', 'name = "Helpful Assistant"')]

    def test_changes_the_system_prompt_after_reading_it(self, place: Workplace) -> None:
        persona = create_test_persona(place, system_prompt=PROMPT)
        reply = send_agent_message(place, persona.id, "Add 'Be concise' to the system prompt")
        names = reply.called()
        assert names[0] == "get_persona"
        assert names[-1] in ("update_system_prompt", "edit_system_prompt")
        now = place.store.get(persona.id).system_prompt
        assert "Be concise" in now and "marine biologist who loves tide pools" in now

    def test_creates_a_test_input(self, place: Workplace) -> None:
        persona = create_test_persona(place)
        reply = send_agent_message(place, persona.id, "Add a test input: 'What is 2+2?'")
        (call,) = reply.calls("create_test_input")
        assert call["input"] == {"content": "What is 2+2?"}
        (result,) = [event for event in reply.events if event["type"] == "tool_result"]
        created = json.loads(result["output"])
        (stored,) = place.store.get(persona.id).test_inputs
        assert (stored.id, stored.content) == (created["id"], "What is 2+2?")

    def test_deletes_a_test_input_found_by_content(self, place: Workplace) -> None:
        persona = create_test_persona(place, inputs=[MATH, POEM])
        reply = send_agent_message(place, persona.id, "Delete the test input about math")
        assert reply.called() == ["list_test_inputs", "delete_test_input"]
        assert [test_input.content for test_input in place.store.get(persona.id).test_inputs] == [POEM]


class TestLoop:
    def test_does_several_steps_in_one_run(self, place: Workplace) -> None:
        persona = create_test_persona(place, inputs=[MATH])
        reply = send_agent_message(
            place, persona.id, "Show me all test inputs and add a new one about coding"
        )
        assert reply.called() == ["list_test_inputs", "create_test_input"]
        assert len(place.store.get(persona.id).test_inputs) == 2
        assert reply.types.count("done") == 1

    def test_loops_until_end_turn(self, place: Workplace) -> None:
        persona = create_test_persona(place, system_prompt=PROMPT)
        reply = send_agent_message(place, persona.id, "Add 'Be concise' to the system prompt")
        assert len(reply.calls()) >= 2
        assert reply.events[-1]["stop_reason"] == "end_turn"
        session = place.home / "agent-sessions" / f"{place.store.session_of(persona.id)}.jsonl"
        records = [json.loads(line) for line in session.read_text(encoding="utf-8").splitlines()]
        reasons = [record["stop_reason"] for record in records if record["type"] == "step_end"]
        assert len(reasons) >= 3
        assert set(reasons[:-1]) == {"tool_use"} and reasons[-1] == "end_turn"
        results = [turn["tool_use_id"] for turn in reply.turns if turn["type"] == "tool_result"]
        calls = [turn["tool_use_id"] for turn in reply.turns if turn["type"] == "tool_call"]
        assert results == calls and len(set(calls)) == len(calls)


class TestStreaming:
    def test_text_arrives_in_deltas_before_it_is_complete(self, place: Workplace) -> None:
        persona = create_test_persona(place)
        reply = send_agent_message(place, persona.id, "Hello, who are you?")
        first_complete = reply.types.index("text_complete")
        deltas = [
            event["content"] for event in reply.events[:first_complete] if event["type"] == "text_delta"
        ]
        assert len(deltas) > 1
        assert "".join(deltas) == reply.events[first_complete]["content"]

    def test_calls_and_results_come_in_order(self, place: Workplace) -> None:
        persona = create_test_persona(place, system_prompt=PROMPT)
        reply = send_agent_message(place, persona.id, "Show me the current system prompt")
        call, result = reply.types.index("tool_call"), reply.types.index("tool_result")
        after = reply.types[result + 1 :]
        assert call + 1 == result
        assert set(reply.types[:call]) <= {"text_delta", "text_complete"}
        assert after[0] == "text_delta" and after[-1] == "done"
        expect_turn_sequence(
            [turn for turn in reply.turns if turn["type"] != "assistant_text" or turn is reply.turns[-1]],
            ["user", "tool_call", "tool_result", "assistant_text"],
        )


class TestPersistence:
    def test_remembers_across_requests(self, place: Workplace) -> None:
        persona = create_test_persona(place)
        first = send_agent_message(place, persona.id, "Hello! Remember the word pomegranate.")
        second = send_agent_message(place, persona.id, "What did I say before?")
        assert "pomegranate" in second.text.lower()
        assert second.turns[: len(first.turns)] == first.turns
        assert [turn["content"] for turn in second.turns if turn["type"] == "user"] == [
            "Hello! Remember the word pomegranate.",
            "What did I say before?",
        ]

    def test_clear_starts_fresh(self, place: Workplace) -> None:
        persona = create_test_persona(place)
        send_agent_message(place, persona.id, "Hello! Remember the word pomegranate.")
        old = place.store.session_of(persona.id)
        cleared = place.run("clear", persona.id)
        new = cleared.stdout.decode().strip()
        assert cleared.returncode == 0 and new and new != old
        shown = json.loads(place.run("show", persona.id, "--json").stdout)
        assert shown["agent_chat_session_id"] == new
        reply = send_agent_message(place, persona.id, "What did I say before?")
        assert "pomegranate" not in reply.text.lower()
        assert [turn["content"] for turn in reply.turns if turn["type"] == "user"] == [
            "What did I say before?"
        ]


class TestErrors:
    def test_a_tool_error_is_a_result_the_agent_answers_to(self, place: Workplace) -> None:
        persona = create_test_persona(place)
        before = place.store.text(persona.id)
        # Another process holds the persona, longer than the tool waits: it fails for real.
        lock = place.store.home.locks / f"persona-{persona.id}.lock"
        with held_elsewhere(lock):
            reply = send_agent_message(place, persona.id, "Change the name to 'Helpful Assistant'")
        results = [event for event in reply.events if event["type"] == "tool_result"]
        assert any(result["is_error"] and "busy" in result["output"] for result in results)
        assert [turn["is_error"] for turn in reply.turns if turn["type"] == "tool_result"].count(True) >= 1
        assert reply.types[-1] == "done" and reply.text
        assert place.store.text(persona.id) == before
        again = send_agent_message(place, persona.id, "Change the name to 'Helpful Assistant'")
        assert again.types[-1] == "done"
        assert place.store.get(persona.id).name == "Helpful Assistant"

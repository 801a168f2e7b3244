"""The test server's brain behaves like a model on the test cases of the specification, from the request alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.messages_answers import Call, Text
from tests.support.messages_brain import ToolUsingBrain
from tests.support.messages_rules import violations

TOOLS = (
    "get_persona", "update_persona_name", "update_system_prompt", "list_test_inputs", "get_test_input",
    "create_test_input", "update_test_input", "delete_test_input", "edit_system_prompt",
)  # fmt: skip
PERSONA = {"name": "Optimist", "system_prompt": "You are sunny.\n", "test_input_ids": ["sum"]}
INPUTS = {"test_inputs": [{"id": "sky", "content": "Why blue?"}, {"id": "sum", "content": "What is 2+2?"}]}


def tool_output(name: str) -> str:
    return json.dumps({"get_persona": PERSONA, "list_test_inputs": INPUTS}.get(name, {"ok": True}))


def converse(*said: str, outputs: Any = tool_output) -> tuple[list[tuple[str, Any]], str]:
    """Say one thing after the other; return the calls and the last text of the last answer."""
    messages: list[dict[str, Any]] = []
    calls: list[tuple[str, Any]] = []
    text = ""
    for task in said:
        calls = []
        content: Any = task
        while True:
            messages.append({"role": "user", "content": content})
            body = {"model": "m", "max_tokens": 9, "messages": messages}
            assert violations(body) == []
            answer = ToolUsingBrain()({**body, "tools": [{"name": name} for name in TOOLS]})
            blocks: list[dict[str, Any]] = []
            content = []
            for block in answer.blocks:
                if isinstance(block, Text):
                    text = block.text
                    blocks.append({"type": "text", "text": text})
                elif isinstance(block, Call):
                    use_id = f"t{len(messages)}"
                    calls.append((block.name, block.input))
                    blocks.append(
                        {"type": "tool_use", "id": use_id, "name": block.name, "input": block.input}
                    )
                    content.append(
                        {"type": "tool_result", "tool_use_id": use_id, "content": outputs(block.name)}
                    )
            messages.append({"role": "assistant", "content": blocks})
            if not content:
                break
    return calls, text


@pytest.mark.parametrize(
    ("task", "calls", "in_the_answer"),
    [
        ("Hello, who are you?", [], "edit this persona"),
        ("What is this persona's name?", [("get_persona", {})], "Optimist"),
        ("Show me the current system prompt", [("get_persona", {})], "You are sunny."),
        ("What is this personas system prompt?", [("get_persona", {})], "You are sunny."),
        ("What test inputs do I have?", [("list_test_inputs", {})], "What is 2+2?"),
        (
            "Change the name to 'Helpful Assistant'",
            [("update_persona_name", {"name": "Helpful Assistant"})],
            "Done",
        ),
        ("Change the name to Super Optimist", [("update_persona_name", {"name": "Super Optimist"})], "Done"),
        (
            "Add 'Be concise' to the system prompt",
            [
                ("get_persona", {}),
                ("update_system_prompt", {"system_prompt": "You are sunny.\nBe concise\n"}),
            ],
            "Done",
        ),
        ("Add a test input: 'What is 2+2?'", [("create_test_input", {"content": "What is 2+2?"})], "Done"),
        (
            "Delete the test input about math",
            [("list_test_inputs", {}), ("delete_test_input", {"id": "sum"})],
            "Done",
        ),
        (
            "Show me all test inputs and add a new one about coding",
            [
                ("list_test_inputs", {}),
                ("create_test_input", {"content": "Write a Python function that reverses a string."}),
            ],
            "Why blue?",
        ),
        (
            "Change the test input about math to 'What is 3*3?'",
            [("list_test_inputs", {}), ("update_test_input", {"id": "sum", "content": "What is 3*3?"})],
            "Done",
        ),
        (
            "Replace 'sunny' with 'calm' in the system prompt",
            [("edit_system_prompt", {"old": "sunny", "new": "calm"})],
            "Done",
        ),
        ("Delete the test input about dragons", [("list_test_inputs", {})], "no test input"),
    ],
)
def test_it_calls_the_tools_a_competent_model_would(task: str, calls: list[Any], in_the_answer: str) -> None:
    made, text = converse(task)
    assert made == calls
    assert in_the_answer in text


def test_it_remembers_only_what_the_request_holds() -> None:
    assert "my dog is Rex" in converse("Hello, my dog is Rex.", "What did I say before?")[1]
    assert "anything before" in converse("What did I say before?")[1]
    assert "Rex" in converse("Hello, my dog is Rex.", "What is my dog?")[1]


def test_it_tells_of_a_failed_tool() -> None:
    body = {
        "messages": [
            {"role": "user", "content": "Change the name to X"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "update_persona_name", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "disk full", "is_error": True}]},
        ]
    }  # fmt: skip
    assert ToolUsingBrain()(body).blocks == (Text("That did not work: disk full"),)


def test_it_does_not_call_a_tool_that_is_not_offered() -> None:
    answer = ToolUsingBrain()({"messages": [{"role": "user", "content": "Change the name to X"}]})
    assert [type(block) for block in answer.blocks] == [Text]

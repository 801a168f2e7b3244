"""A small room to try the offline model in: a persona in memory, the tools on it, and a loop that runs them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.core.model import BlockDelta, BlockEnd, BlockStart, Done, Failed, Request, ToolSpec
from agent.models.offline import OfflineModel

PROMPT = (
    "You are an optimist.\nYou always find the upside.\nUse short sentences.\nNever mention the weather.\n"
)
INPUTS = (
    ("sum", "What is 2+2? Explain the math."),
    ("rain", "It has been raining all week and my picnic is cancelled."),
    ("code", "Write a Python function that reverses a list."),
)
TOOLS = (
    "get_persona", "update_persona_name", "update_system_prompt", "edit_system_prompt", "list_test_inputs",
    "get_test_input", "create_test_input", "update_test_input", "delete_test_input", "undo",
    "keep_output_visible",
)  # fmt: skip


@dataclass
class Room:
    """A persona, what was said about it, and the calls that were made."""

    name: str = "Optimist"
    prompt: str = PROMPT
    inputs: list[tuple[str, str]] = field(default_factory=lambda: list(INPUTS))
    tools: Sequence[str] = TOOLS
    fail: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    called: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    deltas: list[str] = field(default_factory=list)
    stop_reasons: list[str] = field(default_factory=list)
    before: list[tuple[str, str, list[tuple[str, str]]]] = field(default_factory=list)

    def state(self) -> tuple[str, str, list[tuple[str, str]]]:
        return self.name, self.prompt, list(self.inputs)

    async def say(self, message: str) -> str:
        """Send a message, run the loop to its end, and return the last text."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": message}]})
        start = self.state()
        for _ in range(60):
            answer, text = await self._step()
            self.messages.append({"role": "assistant", "content": answer})
            results = []
            for block in answer:
                if block["type"] == "tool_use":
                    output, is_error = self._run(block["name"], block["input"])
                    result = {"type": "tool_result", "tool_use_id": block["id"], "content": output}
                    results.append({**result, "is_error": True} if is_error else result)
            if not results:
                if self.state() != start:
                    self.before.append(start)
                return text
            self.messages.append({"role": "user", "content": results})
        raise AssertionError("the model never came to an end")

    async def _step(self) -> tuple[list[dict[str, Any]], str]:
        request = Request(
            system="You help.",
            messages=self.messages,
            tools=[ToolSpec(name, name, {"type": "object"}) for name in self.tools],
        )
        blocks: dict[int, dict[str, Any]] = {}
        async for event in OfflineModel().stream(request):
            if isinstance(event, BlockStart):
                blocks[event.block] = (
                    {"type": "text", "text": ""}
                    if event.kind == "text"
                    else {"type": "tool_use", "id": event.tool_use_id, "name": event.tool_name, "input": ""}
                )
            elif isinstance(event, BlockDelta):
                blocks[event.block]["text" if "text" in blocks[event.block] else "input"] += event.text
                self.deltas.append(event.text)
            elif isinstance(event, BlockEnd):
                if "input" in blocks[event.block]:
                    assert blocks[event.block]["input"] == event.input_json
                    blocks[event.block]["input"] = json.loads(event.input_json)
            elif isinstance(event, Done):
                self.stop_reasons.append(event.stop_reason)
            elif isinstance(event, Failed):
                raise AssertionError(event.error.message)
        answer = [blocks[k] for k in sorted(blocks)]
        return answer, "".join(block.get("text", "") for block in answer)

    def _run(self, name: str, given: dict[str, Any]) -> tuple[str, bool]:
        self.called.append((name, given))
        assert name in self.tools
        if name in self.fail:
            return self.fail[name], True
        ids = [identity for identity, _ in self.inputs]
        if name == "get_persona":
            return self._json(name=self.name, system_prompt=self.prompt, test_input_ids=ids), False
        if name == "list_test_inputs":
            rows = [{"id": identity, "content": content} for identity, content in self.inputs]
            return self._json(test_inputs=rows), False
        if name == "update_persona_name":
            self.name = given["name"]
        elif name == "update_system_prompt":
            self.prompt = given["system_prompt"]
        elif name == "edit_system_prompt":
            if self.prompt.count(given["old"]) != 1 or not given["old"]:
                return "The old text does not occur exactly once.", True
            self.prompt = self.prompt.replace(given["old"], given["new"])
        elif name == "create_test_input":
            identity = f"new-{len(self.called)}"
            self.inputs.append((identity, given["content"]))
            return self._json(id=identity, content=given["content"]), False
        elif name in ("update_test_input", "delete_test_input"):
            if given["id"] not in ids:
                return "There is no test input of this id.", True
            at = ids.index(given["id"])
            self.inputs[at : at + 1] = [(given["id"], given["content"])] if "content" in given else []
        elif name == "undo":
            if not self.before:
                return "There is nothing to undo.", True
            self.name, self.prompt, self.inputs = self.before.pop()
            return "Undone: the last change.", False
        return "Done.", False

    @staticmethod
    def _json(**record: Any) -> str:
        return json.dumps(record, ensure_ascii=False)

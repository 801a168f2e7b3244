"""The rules the Messages API documents for a request body, checked strictly and independently of our conversion.

Tests and the loopback server ask `violations(body)`; a real server answers 400 for each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MAX_CACHE_MARKS = 4
USER_BLOCKS = {"text", "tool_result", "image", "document", "search_result"}
ASSISTANT_BLOCKS = {"text", "tool_use", "thinking", "redacted_thinking"}


def violations(request_body: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each rule the request breaks; empty when a server would accept it."""
    found = list(_envelope(request_body))
    found.extend(_strings(request_body, "body"))
    messages = request_body.get("messages")
    if not isinstance(messages, list):
        return [*found, "messages: must be a list"]
    if not messages:
        return [*found, "messages: at least one message is required"]
    shaped = True
    for index, message in enumerate(messages):
        faults = list(_shape(message, f"messages.{index}"))
        shaped = shaped and not faults
        found.extend(faults)
    if shaped:
        found.extend(_order(messages))
        found.extend(_tool_use(messages))
    marks = sum(1 for item in _walk(request_body) if isinstance(item, Mapping) and item.get("cache_control"))
    if marks > MAX_CACHE_MARKS:
        found.append(f"cache_control: {marks} marks, at most {MAX_CACHE_MARKS} are allowed")
    return found


def _envelope(body: Mapping[str, Any]) -> Iterator[str]:
    """What stands beside the messages."""
    if "model" in body and (not isinstance(body["model"], str) or not body["model"]):
        yield "model: must be a non-empty string"
    if "max_tokens" in body:
        limit = body["max_tokens"]
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            yield "max_tokens: must be a positive integer"
    system = body.get("system")
    if isinstance(system, list):
        for index, block in enumerate(system):
            text = block.get("text") if isinstance(block, Mapping) else None
            if not isinstance(text, str) or not text.strip():
                yield f"system.{index}: text content blocks must be non-empty"
    elif system is not None and not isinstance(system, str):
        yield "system: must be a string or a list of text blocks"
    for gone in ("temperature", "top_p", "top_k"):
        if gone in body:
            yield f"{gone}: sampling parameters are not accepted"
    names = []
    for index, tool in enumerate(body.get("tools") or ()):
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
            yield f"tools.{index}.name: must match {TOOL_NAME.pattern}"
            continue
        names.append(name)
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            yield f"tools.{index}.input_schema.type: must be object"
    if len(names) != len(set(names)):
        yield "tools: tool names must be unique"


def _walk(value: Any) -> Iterator[Any]:
    """Every value inside a JSON document, keys included."""
    stack = [value]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, Mapping):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)


def _strings(body: Mapping[str, Any], where: str) -> Iterator[str]:
    """The body must be JSON, in UTF-8, without NUL."""
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"{where}: not JSON ({error})"
    for item in _walk(body):
        if isinstance(item, str):
            if "\0" in item:
                yield f"{where}: a string contains NUL"
            if any("\ud800" <= char <= "\udfff" for char in item):
                yield f"{where}: a string contains a lone surrogate"


def _shape(message: Any, where: str) -> Iterator[str]:
    """One message by itself: role, content and the shape of each block."""
    if not isinstance(message, Mapping):
        yield f"{where}: must be an object"
        return
    if set(message) - {"role", "content"}:
        yield f"{where}: extra inputs are not permitted ({', '.join(sorted(set(message) - {'role', 'content'}))})"
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        yield f"{where}.role: must be user or assistant"
        return
    if isinstance(content, str):
        if not content.strip():
            yield f"{where}.content: must be non-empty"
        return
    if not isinstance(content, list) or not content:
        yield f"{where}.content: must be a string or a non-empty list"
        return
    for index, block in enumerate(content):
        yield from _block(block, role, f"{where}.content.{index}")
    last = content[-1]
    if isinstance(last, Mapping) and last.get("type") in ("thinking", "redacted_thinking"):
        yield f"{where}: the final block in an assistant message cannot be thinking"


def _block(block: Any, role: str, where: str) -> Iterator[str]:
    if not isinstance(block, Mapping):
        yield f"{where}: must be an object"
        return
    kind = block.get("type")
    if kind not in (USER_BLOCKS if role == "user" else ASSISTANT_BLOCKS):
        yield f"{where}.type: {kind!r} is not allowed in a {role} message"
        return
    if kind == "text":
        text = block.get("text")
        if not isinstance(text, str) or not text.strip():
            yield f"{where}.text: text content blocks must contain non-whitespace text"
    elif kind == "tool_use":
        if not _full(ID, block.get("id")):
            yield f"{where}.id: must match {ID.pattern}"
        if not _full(TOOL_NAME, block.get("name")):
            yield f"{where}.name: must match {TOOL_NAME.pattern}"
        if not isinstance(block.get("input"), dict):
            yield f"{where}.input: must be an object"
    elif kind == "tool_result":
        yield from _result(block, where)
    elif kind == "thinking":
        if not isinstance(block.get("thinking"), str):
            yield f"{where}.thinking: must be a string"
        if not isinstance(block.get("signature"), str) or not block["signature"]:
            yield f"{where}.signature: field required"
    elif kind == "redacted_thinking" and (not isinstance(block.get("data"), str) or not block["data"]):
        yield f"{where}.data: field required"


def _result(block: Mapping[str, Any], where: str) -> Iterator[str]:
    if not _full(ID, block.get("tool_use_id")):
        yield f"{where}.tool_use_id: must match {ID.pattern}"
    if not isinstance(block.get("is_error", False), bool):
        yield f"{where}.is_error: must be a boolean"
    content = block.get("content", "")
    if isinstance(content, list):
        for index, part in enumerate(content):
            text = part.get("text") if isinstance(part, Mapping) else None
            if not isinstance(text, str) or not text.strip():
                yield f"{where}.content.{index}: text content blocks must be non-empty"
    elif not isinstance(content, str):
        yield f"{where}.content: must be a string or a list of blocks"
    if block.get("is_error") is True and not content:
        yield f"{where}.content: cannot be empty if is_error is true"


def _full(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _order(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    """Who speaks when."""
    if messages[0]["role"] != "user":
        yield "messages.0: the first message must use the user role"
    if messages[-1]["role"] != "user":
        yield "messages: the conversation must end with a user message (no prefill)"
    for index in range(1, len(messages)):
        if messages[index]["role"] == messages[index - 1]["role"]:
            yield f"messages.{index}: roles must alternate between user and assistant"
    for index in range(len(messages) - 1, -1, -1):
        if messages[index]["role"] == "assistant":
            last = _blocks(messages[index])[-1]
            if last.get("type") == "text" and last["text"] != last["text"].rstrip():
                yield f"messages.{index}: final assistant content cannot end with trailing whitespace"
            break


def _tool_use(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    """Each call is answered once, in the very next message, first in it and in the order of the calls."""
    seen: set[str] = set()
    asked: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        blocks = _blocks(message)
        if message["role"] == "assistant":
            if asked:
                yield f"{where}: tool_use ids without tool_result blocks immediately after: {', '.join(asked)}"
            asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
            for name in asked:
                if name in seen:
                    yield f"{where}: tool_use ids must be unique ({name})"
                seen.add(name)
            continue
        kinds = [block["type"] for block in blocks]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if "tool_result" in kinds[len(answered) :]:
            yield f"{where}: tool_result blocks must come first"
        for name in answered:
            if name not in asked:
                yield f"{where}: unexpected tool_use_id in tool_result blocks: {name}"
        if len(answered) != len(set(answered)):
            yield f"{where}: each tool_use must have a single result"
        missing = [name for name in asked if name not in answered]
        if missing:
            yield f"{where}: tool_use ids without tool_result blocks immediately after: {', '.join(missing)}"
        elif answered != asked and sorted(answered) == sorted(asked):
            yield f"{where}: tool_result blocks must be in the order of the calls"
        asked = []
    if asked:
        yield f"messages: tool_use ids without tool_result blocks immediately after: {', '.join(asked)}"

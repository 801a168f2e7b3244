"""Ready-made actions: the fields that `persona action new --from NAME` begins with. They are as dormant as any new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEMPLATES: Mapping[str, Mapping[str, Any]] = {
    "nightly-tests": {
        "description": "Runs all test inputs and reports what changed since the last run",
        "kind": "test",
        "schedule": "0 3 * * *",
        "report": "changes",
    },
    "weekly-review": {
        "description": "Reviews the prompt and proposes better words",
        "kind": "agent",
        "schedule": "0 8 * * 1",
        "edits": "propose",
        "instructions": (
            "Review this persona's system prompt. Read it, and run its test inputs where it has some. Look for passages "
            "that contradict each other, say the same twice, or are so vague that two readers would follow them "
            "differently, and for what made a test input fail. Make the few small edits that matter most, keep the "
            "owner's voice, and run the test inputs again. Where nothing needs a change, change nothing.\n"
        ),
        "expected_output": "What you found, each edit with its reason, and what the test inputs say before and after.",
    },
    "check-in": {
        "description": "Measures how the persona does, for a line over time",
        "kind": "agent",
        "schedule": "0 9 * * 5",
        "edits": "propose",
        "instructions": (
            "Measure how this persona does; change nothing. Run its test inputs, read the answers, and call "
            "store_measurement once for each of these dimensions, with a score from 0 to 10 and one sentence of notes: "
            "clarity (are the answers easy to follow), character (do they sound like this persona), helpfulness (would "
            "they help who asks), brevity (is nothing in them too much). Score as you would have last week, so that the "
            "scores can be compared.\n"
        ),
        "expected_output": "The scores in one line, and what stands out against the last ones.",
    },
}
"""By name."""

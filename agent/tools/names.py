"""The names of all tools, for whoever must know them without loading the tools."""

from __future__ import annotations

TOOL_NAMES = frozenset(
    {
        *("get_persona", "update_persona_name", "update_system_prompt", "edit_system_prompt", "undo"),
        *(
            "list_test_inputs",
            "get_test_input",
            "create_test_input",
            "update_test_input",
            "delete_test_input",
        ),
        *("keep_output_visible", "task_complete", "ask_user", "send_update", "begin_task"),
    }
)
"""Every tool a model may be given, those of tasks among them."""

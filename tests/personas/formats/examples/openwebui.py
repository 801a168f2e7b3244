"""Exports: one model with all fields, several, odd types."""

import json

from tests.personas.formats.examples.example import Example

_MODEL = {
    "id": "pirate-bot",
    "user_id": "0a1b2c3d-user",
    "base_model_id": "llama3:8b",
    "name": "Pirate 海賊 🏴‍☠️",
    "params": {
        "system": "Arr, {{ USER_NAME }}!\r\nIt is {{CURRENT_DATE}}.",
        "temperature": 0.7,
        "stop": ["a"],
        "custom_params": {"api_key": "abcdefgh12345678"},
        "seed": None,
    },
    "meta": {
        "profile_image_url": "data:image/png;base64,AAAABBBB",
        "description": "Talks like a pirate",
        "capabilities": {"vision": True},
        "suggestion_prompts": [{"content": "Who are you?", "title": ["Who", "are you"]}, {"content": "Sing"}],
        "tags": [{"name": "fun"}, {"name": "sea"}],
        "toolIds": ["calc"],
        "knowledge": [
            {
                "id": "k1",
                "user_id": "0a1b2c3d-user",
                "name": "Ships",
                "user": {"id": "u7-owner", "role": "admin-of-it"},
                "access_control": {"read": {"group_ids": ["g7-group"]}},
            }
        ],
    },
    "access_grants": [{"principal_id": "0a1b2c3d-user"}],
    "access_control": {"read": {"user_ids": ["0a1b2c3d-user"]}},
    "is_active": True,
    "created_at": 1735689600,
    "updated_at": 1735689601,
    "user": {"id": "0a1b2c3d-user", "name": "Jane", "email": "jane@example.com"},
    "extra": 123456789012345678901234567890,
}
_PLAIN = {
    "id": "",
    "name": "Plain",
    "base_model_id": None,
    "params": {"system": "Be plain."},
    "meta": {
        "suggestion_prompts": None,
        "description": None,
        "tags": ["a"],
        "profile_image_url": "/static/f.png",
    },
}

EXAMPLES = [
    Example(
        "openwebui",
        "exports/models.json",
        b"\xef\xbb\xbf" + json.dumps([_MODEL], indent=1).replace("\n", "\r\n").encode(),
        says=(
            "Pirate 海賊 🏴‍☠️",
            "Arr, {{ USER_NAME }}!\nIt is {{CURRENT_DATE}}.",
            "llama3:8b",
            "0.7",
            "Talks like a pirate",
            "vision",
            "Who are you?",
            "are you",
            "Sing",
            "sea",
            "calc",
            "Ships",
            "params.seed",
            "access_grants",
            "created_at",
            "123456789012345678901234567890",
        ),
        never=(
            "0a1b2c3d-user",
            "u7-owner",
            "admin-of-it",
            "g7-group",
            "jane@example.com",
            "Jane",
            "abcdefgh12345678",
            "AAAABBBB",
        ),
    ),
    Example(
        "openwebui",
        "exports/all.json",
        json.dumps(
            [_PLAIN, {"id": "x", "owned_by": "ollama", "info": {**_MODEL, "name": "Second"}}]
        ).encode(),
        says=("Plain", "Be plain.", "/static/f.png", "Second", "owned_by"),
        never=("jane@example.com",),
    ),
]

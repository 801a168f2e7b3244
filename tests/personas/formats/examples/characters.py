"""Personas of SillyTavern's users, a character of text-generation-webui, a character of elizaOS."""

import json

from tests.personas.formats.examples.example import Example

_USERS = {
    "personas": {"user-default.png": "Me", "1700-a b.png": "Nobody\nelse", "no text.png": "Third"},
    "persona_descriptions": {
        "user-default.png": {"description": "I am {{user}}, tall.\r\n", "position": 0, "depth": 2, "role": 0},
        "1700-a b.png": {
            "description": "",
            "position": 4,
            "lorebook": "Eldoria",
            "connections": [{"id": "x"}],
        },
        "alone.png": "just a text",
    },
    "default_persona": "user-default.png",
    "extra": None,
}

_CHIHARU = """name: "Chiharu: Yamada"
context: "Chiharu's Persona: {{char}} is an engineer."
greeting: |-
  *smiles*
  Hello!
example_dialogue: |-
  {{user}}: How?
  {{char}}: So.
your_name: You
"""

_ELIZA = {
    "name": "Eliza",
    "id": "4f1d-account",
    "username": "eliza_account",
    "system": "You are {{agentName}}.",
    "description": "An agent",
    "modelProvider": "anthropic",
    "clients": ["discord"],
    "plugins": ["@elizaos/plugin-node"],
    "clientConfig": {
        "discord": {"botId": "bot-account", "guildId": "guild-account", "login": "log-account", "x": 1}
    },
    "settings": {
        "env": [{"key": "DISCORD_PAT", "value": "hunter4"}],
        "secrets": {"KEY": "hunter2hunter2"},
        "voice": {"model": "en_US"},
        "model": "large",
        "apiKey": "hunter3",
    },
    "bio": "One line of life.",
    "lore": ["was born", "learned\nto speak"],
    "knowledge": ["knows Go", {"path": "shared/facts.md"}],
    "adjectives": ["curious", "brief"],
    "topics": ["philosophy"],
    "style": {"all": ["short"], "chat": ["ask back"], "post": ["no hashtags"], "other": 5},
    "messageExamples": [
        [
            {"user": "{{user1}}", "content": {"text": "Who are you?"}},
            {"user": "Eliza", "content": {"text": "Eliza.", "action": "NONE"}},
        ],
        [{"name": "{{name1}}", "content": {"text": "Hey"}}],
        "strange",
    ],
    "postExamples": ["A post\nof two lines"],
    "twitterProfile": {"username": "eliza_account", "bio": "account's words"},
    "people": [],
}

EXAMPLES = [
    Example(
        "sillytavern-personas",
        "backups/personas.json",
        json.dumps(_USERS).encode(),
        says=(
            *("Me", "I am {{user}}, tall.", "Nobody else", "Third", "just a text", "Eldoria"),
            *("user-default.png", "extra", "it describes the user"),
        ),
    ),
    Example(
        "oobabooga",
        "characters/Chiharu.yaml",
        _CHIHARU.replace("\n", "\r\n").encode(),
        says=(
            *("Chiharu: Yamada", "Chiharu's Persona: {{char}} is an engineer.", "*smiles*\nHello!", "You"),
            *("{{user}}: How?\n{{char}}: So.", "a first message is not part of a prompt"),
        ),
    ),
    Example(
        "eliza",
        "characters/eliza.character.json",
        json.dumps(_ELIZA).encode(),
        says=(
            *("You are {{agentName}}.", "An agent", "anthropic", "discord", "en_US", "One line of life."),
            *("was born\nlearned\nto speak", "knows Go", "shared/facts.md", "curious, brief", "philosophy"),
            *("short", "ask back", "no hashtags", "{{user1}}: Who are you?\nEliza: Eliza.", "{{name1}}: Hey"),
            *("NONE", "strange", "A post\nof two lines", "settings.secrets", "twitterProfile", "people"),
        ),
        never=(
            "hunter2hunter2",
            "hunter3",
            "hunter4",
            "bot-account",
            "guild-account",
            "log-account",
            "eliza_account",
            "4f1d-account",
            "account's words",
        ),
    ),
]

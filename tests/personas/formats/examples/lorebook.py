"""World info of SillyTavern, and the lorebook of V3."""

import json

from tests.personas.formats.examples.card import BOOK
from tests.personas.formats.examples.example import Example

_ENTRY = {
    "uid": 0,
    "key": ["eldoria", "forest"],
    "keysecondary": [],
    "comment": "Eldoria",
    "content": "{{char}} guards Eldoria.\r\nIt is a forest.",
    "constant": False,
    "selective": True,
    "order": 100,
    "position": 4,
    "disable": False,
    "scanDepth": None,
    "automationId": "",
}
_WORLD = {
    "entries": {
        "0": _ENTRY,
        "1": {**_ENTRY, "uid": 1, "comment": "", "content": "Shadowfangs prowl.", "order": 10},
        "2": {**_ENTRY, "uid": 2, "disable": True, "content": "Nobody knows."},
        "3": {**_ENTRY, "uid": 3, "content": None, "key": "no list"},
        "4": "no entry",
        "5": None,
    },
    "extensions": {"own": 1},
}

EXAMPLES = [
    Example(
        "worldinfo",
        "worlds/Eldoria.json",
        json.dumps(_WORLD).encode(),
        says=(
            *("Eldoria", "{{char}} guards Eldoria.\nIt is a forest.", "Shadowfangs prowl.", "Nobody knows."),
            *("no list", "no entry", "entries.0.scanDepth", "nothing here looks for them"),
        ),
    ),
    Example(
        "worldinfo",
        "worlds/forest.json",
        json.dumps({"spec": "lorebook_v3", "data": {**BOOK, "name": "The\nforest\ud800"}}).encode(),
        says=("The forest\\ud800", "The glade is safe.", "Wolves are asleep.", "before_char", "lorebook_v3"),
    ),
]

"""Character cards: V1, V2 as SillyTavern writes it, V3, in pictures and in a zip file, and with what real cards get wrong."""

import base64
import io
import json
import struct
import zipfile
import zlib
from typing import Any

from tests.personas.formats.examples.example import Example

V1 = {
    "name": "Ada",
    "description": "{{char}} counts.\r\nShe is exact.",
    "personality": "dry",
    "scenario": "",
    "first_mes": "*looks up* Yes?",
    "mes_example": "<START>\n{{user}}: One?\n{{char}}: Two.",
    "create_date": "2023-1-1",
}

BOOK: dict[str, Any] = {
    "name": "The forest",
    "description": "",
    "scan_depth": 4,
    "recursive_scanning": False,
    "extensions": {"agnai": {"kept": True}},
    "entries": [
        {
            "keys": ["glade", "refuge"],
            "secondary_keys": [],
            "content": "The glade is safe.\n\n@@depth 4 is no decorator here.",
            "enabled": True,
            "insertion_order": 100,
            "comment": "Glade: a/b",
            "constant": False,
            "use_regex": False,
            "position": "before_char",
            "extensions": {"probability": 100, "depth": 4},
            "id": 7,
        },
        {
            "keys": ["wolf"],
            "content": "Wolves are asleep.",
            "enabled": False,
            "insertion_order": 1,
            "extensions": {},
            "use_regex": False,
            "constant": False,
        },
        {
            "keys": ["river"],
            "content": "The river comes first.",
            "enabled": True,
            "insertion_order": 1,
            "extensions": {},
            "use_regex": False,
            "constant": True,
        },
    ],
}

DATA: dict[str, Any] = {
    "name": "Séra 守護者 👩‍💻",
    "description": 'A guardian of {{user}}.\n\n  Indented "quotes" \\\\ and \u202e.',
    "personality": "kind, {{random:calm,wild}}",
    "scenario": "A forest, {{// a note}} at night.",
    "first_mes": "*smiles* Hello, {{user}}.",
    "mes_example": "<START>\n{{user}}: Hi\n{{char}}: Hello.\n<START>\n{{user}}: Bye\n",
    "creator_notes": "Use with temperature 1. MUST NOT REACH THE PROMPT",
    "system_prompt": "Write as {{char}}. {{original}}",
    "post_history_instructions": "Stay in character. {{original}}",
    "alternate_greetings": ["*waves*", "Oh."],
    "tags": ["fantasy", "Wäld", "a, b"],
    "creator": "somebody",
    "character_version": "1.10",
    "extensions": {
        "talkativeness": "0.5",
        "fav": False,
        "depth_prompt": {"prompt": "never forget", "depth": 4, "role": "system"},
        "regex_scripts": [{"findRegex": "/a/g", "promptOnly": True}],
    },
    "character_book": BOOK,
    "group_only_greetings": [],
}
TEXTS = (
    DATA["name"],
    DATA["description"],
    DATA["personality"],
    DATA["scenario"],
    DATA["first_mes"],
    DATA["mes_example"],
    DATA["creator_notes"],
    DATA["system_prompt"],
    DATA["post_history_instructions"],
    "*waves*",
    "Wäld",
    "1.10",
    "never forget",
    "The glade is safe.\n\n@@depth",
    "Wolves are asleep.",
    "The river comes first.",
    "before_char",
)
SILLY = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "name": DATA["name"],
    "description": DATA["description"],
    "creatorcomment": DATA["creator_notes"],
    "avatar": "none",
    "talkativeness": "0.5",
    "create_date": "2024-12-01 @10h 02m",
    "data": DATA,
}
V3 = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {
        **DATA,
        "nickname": "Sera",
        "creator_notes_multilingual": {"de": "Notizen"},
        "source": ["https://example.invalid/sera"],
        "group_only_greetings": ["Hello all."],
        "creation_date": 1720000000,
        "modification_date": 1720000001,
        "assets": [
            {"type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png"},
            {"type": "icon", "uri": "embeded://assets/icon/images/2.png", "name": "2", "ext": "png"},
            {"type": "other", "uri": "data:image/png;base64," + "A" * 70_000, "name": "big", "ext": "png"},
        ],
    },
}
WRONG = """{"spec": "chara_card_v2", "spec_version": 2, "data": {
    "name": "Two\\nlines, with / in it", "description": ["a", "list"], "personality": null,
    "scenario": "Half \\ud83d of a sign, nul \\u0000", "first_mes": 5, "tags": "one, two", "alternate_greetings": "Hey",
    "character_version": 1.5, "creator": "me@example.invalid", "depth": "", "character_book": null,
    "extensions": {"api_key": "hunter2", "n": 123456789012345678901234567890, "x": [null, 1.5, true]}}}"""


def as_json(card: Any) -> bytes:
    return json.dumps(card, ensure_ascii=False).encode()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def picture(**texts: bytes) -> bytes:
    """A picture of one pixel with texts, and with chunks that nobody knows."""
    chunks = [
        chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        chunk(b"tEXt", b"Software\0by hand"),
        chunk(b"zTXt", b"Comment\0\0no zlib"),
        *(chunk(b"tEXt", keyword.encode() + b"\0" + text) for keyword, text in texts.items()),
        chunk(b"prIv", b"\0\xff"),
        chunk(b"IDAT", zlib.compress(b"\0\x7f")),
        chunk(b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + b"what follows the end"


def encoded(card: Any) -> bytes:
    return base64.b64encode(as_json(card))


def archive(card: bytes, **others: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("card.json", card)
        file.writestr("../../outside.txt", b"never written")
        for name, content in others.items():
            file.writestr(name, content)
    return out.getvalue()


EXAMPLES = [
    Example(
        "card",
        "cards/ada.json",
        b"\xef\xbb\xbf" + as_json(V1),
        says=("{{char}} counts.\nShe is exact.", "dry", "*looks up* Yes?", V1["mes_example"], "2023-1-1"),
    ),
    Example("card", "cards/sera.json", as_json(SILLY), says=(*TEXTS, "2024-12-01 @10h 02m")),
    Example(
        "card",
        "cards/sera-v3.json",
        as_json(V3),
        says=(
            *TEXTS,
            "Notizen",
            "https://example.invalid/sera",
            "Hello all.",
            "1720000001",
            "embeded://assets",
        ),
    ),
    Example(
        "card",
        "cards/wrong.json",
        WRONG.encode(),
        says=(
            *("Two lines, with / in it", "Half \\ud83d of a sign, nul \\u0000", "one", "two", "Hey", "1.5"),
            *(
                "123456789012345678901234567890",
                "data.personality",
                "data.creator",
                "data.extensions.api_key",
            ),
        ),
        never=("hunter2", "me@example.invalid"),
    ),
    Example("card-png", "cards/sera.png", picture(Chara=encoded(SILLY)), says=TEXTS),
    Example(
        "card-png",
        "cards/both.png",
        picture(chara=encoded(V1), ccv3=encoded(V3)),
        says=(*TEXTS, "chara", "Notizen"),
    ),
    Example(
        "charx",
        "cards/sera.charx",
        archive(as_json(V3), **{"assets/icon/images/2.png": b"not looked at"}),
        says=(*TEXTS, "assets/icon/images/2.png", "../../outside.txt"),
    ),
]

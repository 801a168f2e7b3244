"""The dialogs that pictures are taken of: how each is opened, with which text, and in which two looks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.snapshots.scenes import HOSTILE, SCENES
from tests.snapshots.shots import LARGE, MIDDLE, SMALL, TINY, Look
from tests.tui.program import Program
from tui.document.merge import Clash, meet
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ChooseText
from tui.screens.dialogs.connect_controller import Connecting
from tui.screens.dialogs.connect_dialog import AskSecret, Wait
from tui.screens.dialogs.quit_dialog import Leaving
from tui.screens.dialogs.text_prompt import AskLine, AskText
from tui.settings.live_settings import Preferences
from tui.settings.schema import load_settings

EVIL = HOSTILE.run.message
MODELS = {"plain": "claude-sonnet-5-5", "wide": "qwen3-旅行 🧭", "hostile": f"[/] {EVIL}"}
NAMES = {"plain": "Optimist", "wide": "旅行ガイド 🧭", "hostile": "[/] [red]x\x1b[31m"}
TEXTS = {
    "plain": "I moved to a new city.\nI know nobody.",
    "wide": "京都で半日、どこへ行けばいいですか？ 🍵\nשלום עולם",
    "hostile": f"{EVIL}\n{'x' * 200}",
}
FILES = {
    "plain": 'model = "claude-sonnet-5-5"\nthinking = "low"\n',
    "wide": 'model = "qwen3-旅行 🧭"\neditor = "エディタ --wait"\n',
    "hostile": 'mouse = "[/] \\u001b[2J"\nnosuch = 1\n[keys]\n"[b + ]" = "f1"\n',
}
"""The settings file of each text."""


def preferences_of(text: str) -> Preferences:
    """Write the settings file of a text into the folder where the program runs; return what it leads to."""
    path = Path("config.toml")
    path.write_text(FILES[text], encoding="utf-8")
    env = {"PERSONA_CONFIG": str(path)}
    return Preferences(load_settings(env), env=env)


def clash(text: str) -> Clash:
    """Return two changes of one line."""
    both = meet("one\ntwo\nthree\n", f"one\n{TEXTS[text]}\nthree\n", f"one\n{NAMES[text]}\nthree\n")
    assert isinstance(both, Clash)
    return both


async def _never() -> None:
    await asyncio.Event().wait()


def _key(key: str) -> Callable[[Program, str], object]:
    """Return what presses a key."""
    return lambda p, _text: p.main.start(p.press(key))


def _show(make: Callable[[str], Dialog[Any]]) -> Callable[[Program, str], object]:
    """Return what shows the dialog that is made of a text."""
    return lambda p, text: p.app.push_screen(make(text))


def _welcome(p: Program, _text: str) -> None:
    assert p.app.preferences is not None
    p.main.start(Connecting(p.main, p.app.preferences).greet())


DIALOGS: dict[str, Callable[[Program, str], object]] = {
    "help": _key("f1"),
    "switcher": _key("ctrl+p"),
    "find": _key("ctrl+f"),
    "recall": _key("ctrl+r"),
    "last-change": _key("f5"),
    "commands": lambda p, _text: p.main.action_switch_persona(">"),
    "model": lambda p, _text: p.main.action_choose_model(),
    "settings": lambda p, _text: p.main.action_program_settings(),
    "welcome": _welcome,
    "conflict": _show(lambda text: ChooseText(clash(text), ours="Yours", theirs="On disk")),
    "confirm": _show(lambda text: Confirm("Begin a new conversation?", "The old one stays.", deed="Clear", keep="Keep")),
    "confirm-danger": _show(
        lambda text: Confirm(f"Delete {NAMES[text]}?", "Its versions are kept.", deed="Delete", danger=True)
    ),
    "line": _show(
        lambda text: AskLine("Rename persona", text=NAMES[text], explanation=f"Its id stays: {SCENES[text].recording.persona_id}")
    ),
    "text": _show(lambda text: AskText("New test input", text=TEXTS[text])),
    "secret": _show(lambda text: AskSecret("The key", f"It is sent to {MODELS[text]} and nowhere else.")),
    "wait": _show(lambda text: Wait(f"Trying {MODELS[text]} at Anthropic's API …", _never())),
    "leaving": _show(lambda text: Leaving([NAMES[text], "Optimist"])),
}  # fmt: skip
"""By name: what opens it, given the program and which text it is to show."""

PLAIN_DARK, WIDE_LIGHT = ("plain", Look(SMALL, "dark")), ("wide", Look(MIDDLE, "light"))
HOSTILE_DARK, PLAIN_LIGHT = ("hostile", Look(TINY, "dark")), ("plain", Look(LARGE, "light"))
WIDE_DARK, HOSTILE_LIGHT = ("wide", Look(TINY, "dark")), ("hostile", Look(SMALL, "light"))

LOOKS = {
    "help": (PLAIN_DARK, ("wide", Look(TINY, "light"))),
    "switcher": (("wide", Look(SMALL, "dark")), ("hostile", Look(MIDDLE, "light"))),
    "find": (PLAIN_DARK, WIDE_LIGHT),
    "recall": (("wide", Look(SMALL, "dark")), ("hostile", Look(TINY, "light"))),
    "last-change": (HOSTILE_DARK, ("plain", Look(MIDDLE, "light"))),
    "commands": (HOSTILE_DARK, PLAIN_LIGHT),
    "model": (WIDE_DARK, HOSTILE_LIGHT),
    "settings": (WIDE_DARK, HOSTILE_LIGHT),
    "welcome": (HOSTILE_DARK, ("plain", Look(SMALL, "light"))),
    "conflict": (("wide", Look(MIDDLE, "dark")), HOSTILE_LIGHT),
    "confirm": (PLAIN_DARK, ("wide", Look(TINY, "light"))),
    "confirm-danger": (("wide", Look(SMALL, "dark")), ("hostile", Look(TINY, "light"))),
    "line": (("wide", Look(LARGE, "dark")), ("plain", Look(TINY, "light"))),
    "text": (PLAIN_DARK, ("hostile", Look(MIDDLE, "light"))),
    "secret": (("hostile", Look(SMALL, "dark")), ("plain", Look(TINY, "light"))),
    "wait": (("hostile", Look(SMALL, "dark")), WIDE_LIGHT),
    "leaving": (("hostile", Look(SMALL, "dark")), ("wide", Look(TINY, "light"))),
}
"""By dialog: its two looks, each with the text it is opened in."""

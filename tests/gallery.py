"""A walk through the looks of the program: `python -m tests.gallery FOLDER [PART_OF_A_NAME]` takes a picture of each.

For people who look: alignment, contrast, wraps, what is cut off. The pictures are SVG files, and PNG files too where
`rsvg-convert` is installed. `tests/snapshots` compares pictures of the same looks, `tests/tui/test_contrast.py`
measures them. Names, messages and answers are plain, wide (CJK, emoji, right to left) and hostile (escapes, markup).
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, chdir
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textual.content import Content
from textual.events import Key
from textual.message_pump import MessagePump

from agent.models.scripted import Hang, Script, ScriptedModel, Thought, ToolUse, answer, failed
from agent.outputs.ensemble import EnsembleConversation, EnsembleLog, PersonaAnswer
from agent.outputs.version_counts import VersionCounts
from personas.files.home import EXAMPLES
from personas.versions.authorship import Author, Version
from tests.support.hostile import ESCAPES
from tests.support.program import Program, make_store, program
from tests.support.screen_svg import draw
from tui.document.merge import MergeConflict, merge_texts
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.comparison import ShowComparison
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.dialogs.connect_controller import OFFLINE_IS, WELCOME
from tui.screens.dialogs.connect_dialog import AskSecret, ConnectDialog, WaitDialog
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.screens.dialogs.text_prompt import AskLine, AskText
from tui.screens.dialogs.versions import Versions, version_rows
from tui.settings.live_settings import LiveSettings
from tui.settings.schema import Settings, load_settings
from tui.widgets.question_box import QuestionBox
from tui.widgets.text.side_by_side import TextPair

SIZES = [(80, 24), (160, 50)]
THEMES = ["textual-dark", "textual-light"]
Size = tuple[int, int]
STILL = 12
"""How often in a row all tasks of the program went on a step, and none of them left the screen anything to do."""
LONGEST = 60.0
"""Seconds to wait for a screen that stands still: a loaded machine is slow."""

LONG = "A persona whose name goes on for longer than anything that could stand on one line of a small screen"
EVIL = "".join(ESCAPES[name] for name in ("clear screen", "title", "bidi override", "8-bit CSI", "bell"))
MARKUP = "[/] [b + ] [@click=app.quit]x[/]"
HOSTILE_NAME = "[/] [red]x\x1b[31m"
WIDE_NAME = "旅行ガイド 🧭"
WIDE_TEXT = "京都で半日、どこへ行けばいいですか？ 🍵\nשלום עולם"
WIDE = (
    f'name = "{WIDE_NAME}"\ndescription = "👩‍👩‍👧 と歩く京都"\ntags = ["旅", "한국어", "עברית"]\n'
    'system_prompt = """\nあなたは親切な旅行ガイドです。短く、温かく答えてください。\n'
    "Say “ça va bien” — naïve café, Zoë, e\u0301a\u0308.\n"
    "שלום עולם, مرحبا بالعالم, नमस्ते दुनिया\n"
    '한국어 사용자에게는 존댓말을 쓰세요. 👍🏽 ❤️ 🇯🇵\n"""\n\n'
    '[[test_inputs]]\nid = "kyoto"\ncontent = "京都で半日、どこへ行けばいいですか？ 🍵"\n'
)
HOSTILE = (
    'name = "[/] [red]x \\u001b]0;owned\\u0007"\n'
    'description = "[/some/path] \\u202egnp.exe"\ntags = ["[/]", "[b + ]"]\n'
    'system_prompt = """\n[@click=app.quit]press me[/] \\u001b[2J\\u001b[5mblink\n'
    f"{'x' * 300}\n"
    'user\\u202egnp.exe \\u009b31m <example>raw</example> {{user}}\nshort\n"""\n\n'
    '[[test_inputs]]\nid = "a"\ncontent = "[/]\\u001b]52;c;eA==\\u0007 [link=file:///]x"\n'
)
ALONE = ("editor", "mentor", "newcomer", "optimist", "skeptic")  # the examples that need no library
FILES = {one: (EXAMPLES / f"{one}.toml").read_text(encoding="utf-8") for one in ALONE} | {
    "a-file-whose-stem-is-very-long-because-nobody-thought-about-the-width-of-a-list": (
        f'name = "{LONG}"\ndescription = "{LONG}, and so does what it is for"\ntags = ["one", "another-tag"]\n'
        f'system_prompt = "{LONG} writes like this."\n\n[[test_inputs]]\n'
        f'id = "an-input-whose-id-is-long-as-well"\ncontent = "{LONG}?"\n'
    ),
    "broken": 'name = "Broken\nsystem_prompt = 3\n',
    "empty": 'name = "Empty"\n',
    "evil": HOSTILE,
    "guide": WIDE,
}
PERSONA = "optimist"
BODY = """## What I changed

The second line is **warmer**, *a little*; `in one sentence` stays, and [a link](https://example.org) too.

1. First a list
2. with two items
   - and one inside

> What was quoted.

| before | after |
|---|---|
| dry | warm |

```toml
name = "Optimist"  # as it was
```
"""


def scripts() -> list[Script]:
    """Return what the model says, in the order of the walk."""
    return [
        answer(
            Thought("They want it warmer; the second line is the one."),
            "I read it first.",
            ToolUse("get_persona", {}),
            ToolUse("edit_system_prompt", {"old": "no such text", "new": "nothing"}),
        ),
        answer(ToolUse("edit_system_prompt", {"old": "You are", "new": "You are, and stay,"})),
        answer(BODY),
        [*answer("This goes on for a while")[:-1], Hang()],
        [failed("overloaded", "The server is overloaded; try again in a minute.")],
        answer("One thing first.", ToolUse("ask_user", {"question": "Which tone do you want?",
                                                       "options": ["Warm and short", "Dry", "As it is"]})),
        answer("Then that.", ToolUse("task_complete", {"summary": "Nothing was to be done."})),
        answer("This is what I would do.", ToolUse("update_persona_name", {"name": "Sunny"})),
        answer(
            Thought("「温かく」は二行目に。絵文字は一つだけ 🍵"),
            "まず読みます 📖",
            ToolUse("edit_system_prompt", {"old": "短く、温かく", "new": "古い友人のように、短く温かく 🍵 "}),
        ),
        answer("一行だけ変えました：\n\n- **温かさ**：古い友人のように 🍵\n\n| 前 | 後 |\n|---|---|\n| 短く | 友人のように 👍🏽 |\n"),
        answer(f"First {EVIL}{MARKUP}", ToolUse(f"no_such_tool {MARKUP}\x1b[31m", {"content": EVIL})),
        answer(ToolUse("edit_system_prompt", {"old": "\nshort\n", "new": f"\n[/] {EVIL}\n"})),
        answer(f"{EVIL}Done {MARKUP} <example>raw</example>\n\n```\nrm -rf / \r\x1b[2Kls\n```\n\n{'y' * 200}\n"),
        answer("", ToolUse("ask_user", {"question": f"{MARKUP} {EVIL}",
                                        "options": ["温かく 🍵", "קצר ולעניין", "[/] \x1b[2J", "x" * 300]})),
    ]  # fmt: skip


async def settle(p: Program, messages: bool = False) -> None:
    """Wait until nothing is left to be done on the screen, without messages in its corner unless they are meant."""
    if not messages:
        p.app.clear_notifications()
    p.main.show_keys()
    p.main.conversation.view.draw_frame()
    end, still = time.monotonic() + LONGEST, 0
    while still < STILL:
        assert time.monotonic() < end, "the screen never stood still"
        p.app.screen._on_timer_update()
        await asyncio.sleep(0)
        if any(_waiting(p)):
            p.main.conversation.view.draw_frame()
            still = 0
        else:
            still += 1


def _waiting(p: Program) -> Iterator[bool]:
    """Yield, for each thing that could still change the screen, whether it is about to."""
    screen = p.app.screen
    yield screen._layout_required or screen._scroll_required or screen._repaint_required
    yield bool(screen._dirty_widgets)
    pumps: list[MessagePump] = [p.app]
    for one in p.app.screen_stack:
        yield bool(one._callbacks)
        pumps += one.walk_children(with_self=True)
    yield any(pump._next_callbacks or pump.message_queue_size for pump in pumps)


@asynccontextmanager
async def running(
    folder: Path, size: Size, files: dict[str, str], persona_id: str, **options: object
) -> AsyncIterator[Program]:
    """Run the program in a new home of these files."""
    folder.mkdir()
    path = Path("config.toml")  # a short name, the same everywhere
    (folder / path).write_text('# mine\ncalm = "always"\nmodel = "claude-sonnet-5-5"\n', encoding="utf-8")
    env = {"PERSONA_CONFIG": str(path), "PERSONA_MODEL": "claude-opus-5-5"}
    settings = Settings(
        panel_seconds=600, calm="always", retries=0, approval_of={"update_persona_name": "ask"}
    )
    with chdir(folder):
        async with program(
            make_store(folder, files),
            model=ScriptedModel(scripts(), name="claude-sonnet-5-5"),
            size=size,
            settings=settings,
            persona_id=persona_id,
            preferences=LiveSettings(load_settings(env), env=env),
            config_path=path,
        ) as p:
            yield p


async def walk(folder: Path, size: Size) -> AsyncIterator[tuple[str, Program]]:
    """Go through the looks of the program; gives the name of each while it is on the screen."""
    async with running(folder / "full", size, FILES, PERSONA) as p:
        async for name in _conversation(p):
            yield name, p
        async for name in _panes(p):
            yield name, p
        async for name in _dialogs(p):
            yield name, p
        async for name in _wide_and_hostile(p):
            yield name, p
    async with running(folder / "none", size, {}, "") as p:
        await settle(p)
        yield "a-home-without-personas", p


async def _conversation(p: Program) -> AsyncIterator[str]:
    conversation = p.main.conversation
    await settle(p)
    yield "start"
    await p.press("ctrl+o")
    await settle(p)
    yield "panel-empty"
    await p.run_to_end("make it warmer")
    await settle(p)
    yield "panel-after-a-run"
    await p.press("ctrl+o")
    for _ in range(12):
        await p.press("k", "enter")
    await settle(p)
    yield "panel-reading-all-open"
    await p.press("f")
    await p.until(lambda: conversation.panel.enlarged)
    await settle(p)
    yield "panel-enlarged"
    conversation.panel_controller.enlarge()
    await p.press("escape", "escape")
    await settle(p)
    yield "panel-hidden"
    await p.press("f5")
    await p.until(lambda: p.app.screen is not p.main)
    await settle(p)
    yield "what-the-last-change-did"
    await p.press("escape")
    await p.until(lambda: p.app.screen is p.main)
    await p.say("go on")
    await p.until(lambda: conversation.current is not None and "for a while" in _said(p))
    await p.write("and shorter, please")
    await p.press("tab")
    await settle(p)
    yield "streaming-with-one-queued"
    await p.press("ctrl+p")
    await settle(p)
    yield "switcher"
    await p.press("escape")
    await p.until(lambda: p.app.screen is p.main)
    p.app.push_screen(QuitDialog([LONG, "Optimist", HOSTILE_NAME, WIDE_NAME]))
    await settle(p)
    yield "leaving"
    await p.press("escape")
    await p.until(lambda: p.app.screen is p.main)
    await p.press("escape")
    await p.until(lambda: not conversation.running)
    await settle(p)
    yield "stopped"
    p.main.chat_bar.set_draft("")
    await p.run_to_end("again")
    await settle(p)
    yield "an-error"
    await conversation.send("work on it", kind="task")
    await p.until(lambda: conversation.current is not None and conversation.current.question is not None)
    await settle(p)
    yield "a-question"
    p.main.query_one(QuestionBox)._appeared = float("-inf")  # the time of grace is over
    await p.write("1")
    await p.press("enter")
    await p.until(lambda: not conversation.running)
    await settle(p)
    yield "a-task-is-done"
    await conversation.send("another name")
    await p.until(lambda: conversation.current is not None and conversation.current.question is not None)
    await settle(p)
    yield "an-approval"
    await p.press("escape")
    await p.until(lambda: not conversation.running)


def _said(p: Program) -> str:
    return "\n".join(str(event) for event in p.main.conversation.current.events[-6:])  # type: ignore[union-attr]


async def _panes(p: Program) -> AsyncIterator[str]:
    for pane in ("prompt", "tests", "settings", "personas"):
        p.main.action_go(pane)
        await settle(p)
        yield f"pane-{pane}"
    p.main.action_go("prompt")
    await p.press("ctrl+home", "shift+down", "shift+down")
    await settle(p)
    yield "a-selection"
    await p.press("right")
    for persona_id in ("broken", "empty", next(iter(sorted(FILES)))):
        await p.open(persona_id)
        await settle(p)
        yield f"persona-{persona_id[:12]}"
    p.main.action_go("tests")
    await settle(p)
    yield "test-input-with-a-long-name"
    p.main.action_go("personas")
    await p.press("slash")
    await p.write("opt")
    await settle(p)
    yield "personas-filtered"
    await p.press("escape", "escape")
    await p.open(PERSONA)
    p.main.focus_chat()
    p.main.show_message("optimist is deleted; u in the list brings it back.")
    p.main.show_message("Cannot write the file: the disk is full. What you typed is kept.", error=True)
    await p.write("/")
    await p.press("down")
    await settle(p, messages=True)
    yield "commands-and-messages"
    p.app.clear_notifications()
    p.main.chat_bar.set_draft("")


async def _wide_and_hostile(p: Program) -> AsyncIterator[str]:
    await p.open("guide")
    p.main.action_go("prompt")
    await p.run_to_end("もっと温かく 👩‍👩‍👧 してください")
    await settle(p)
    yield "wide-text"
    await p.open("evil")
    await p.run_to_end(f"{MARKUP} {EVIL}")
    await settle(p)
    yield "hostile-text"
    conversation = p.main.conversation
    await conversation.send("ask me", kind="task")
    await p.until(lambda: conversation.current is not None and conversation.current.question is not None)
    await settle(p)
    yield "hostile-question"
    await p.press("escape")
    await p.until(lambda: not conversation.running)
    log, said = EnsembleLog(p.store.home), EnsembleConversation(to=("guide", "evil"))
    for who, name, text in (
        ("", "", WIDE_TEXT),
        ("guide", WIDE_NAME, BODY),
        ("evil", HOSTILE_NAME, f"{EVIL}{MARKUP}"),
    ):
        log.add(said, PersonaAnswer(who, name, text))
    await p.main.talk.open("guide,evil")
    await p.until(lambda: p.main.talk.talk.lines)
    await settle(p)
    yield "a-talk-with-two"
    await p.press("escape")


def _clash() -> MergeConflict:
    clash = merge_texts("one\ntwo\nthree\n", f"one\n{WIDE_TEXT}\nthree\n", f"one\n{MARKUP} {EVIL}\nthree\n")
    assert isinstance(clash, MergeConflict)
    return clash


def _comparison() -> ShowComparison:
    """Two versions on three inputs: one that broke, one with the same lines, a hostile one that still streams."""
    same = "I am sorry to hear that.\n\n- Send it back within 30 days.\n"
    pairs = [
        ("refund", "  broke", "✓ 12 words", "✗ 15 words · contains: has no “step”",
         f"{same}- The next step: write to us.", f"{same}- It is all your money, and you will have it back."),
        ("kyoto", "", "6 words · recording", "", WIDE_TEXT, ""),
        (f"evil {MARKUP}", "", "9 words", "… 9 words", f"{MARKUP}\n{EVIL}", f"{EVIL}\n{MARKUP}"),
    ]  # fmt: skip
    dialog = ShowComparison(
        f"Comparison: {WIDE_NAME}",
        ("before the agent's edit of 14:02", "now"),
        [
            TextPair(
                key,
                Content(f"── {key}{change}"),
                (Content(before), Content(after)),
                texts,
                key != pairs[2][0],
            )
            for key, change, before, after, *texts in pairs
        ],
    )
    dialog.show_sentence("broke 1, fixed 0: too few to tell; 5 more that change the same way would decide")
    return dialog


def _versions() -> Versions:
    """A day's versions, with a hostile name and request."""
    now = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
    told = [
        (12, Author("agent", "s", "r", f"make it warmer {EVIL}{MARKUP}"), 2, 1, None),
        (11, Author("user"), 1, 0, f"warm {MARKUP}{EVIL}"),
        (9, Author("external"), 30, 12, None),
        (2, Author("agent", "s", "q", f"{WIDE_TEXT} {LONG}"), 3, 3, None),
    ]
    made = [
        Version(number, by, f"2026-11-{17 + number}T14:02:00Z", "system prompt", "a" * 64, "b" * 64,
                added=added, removed=removed, name=name, note=("system prompt", "system prompt"))
        for number, by, added, removed, name in told
    ]  # fmt: skip
    dialog = Versions(WIDE_NAME, lambda _what, _number: None)
    dialog.show_rows(version_rows(made, now, all_read=True))
    dialog.show_counts({12: VersionCounts(3, 1), 9: VersionCounts(2, 0, 1), 0: VersionCounts(unjudged=4)})
    return dialog


async def _never() -> None:
    await asyncio.Event().wait()


DIALOGS: dict[str, Callable[[], Dialog[Any]]] = {
    "conflict": lambda: ConflictDialog(_clash(), ours="Yours", theirs="On disk"),
    "comparison": _comparison,
    "versions": _versions,
    "greeting": lambda: ConnectDialog("offline", WELCOME.format(model="the offline model", is_=OFFLINE_IS + " ", help="F1"),
                                greeting=True),
    "ask-secret": lambda: AskSecret("The key", "It is sent to Anthropic's API and nowhere else."),
    "ask-line": lambda: AskLine("Rename persona", text=WIDE_NAME, explanation="Its id stays: guide"),
    "ask-text": lambda: AskText("New test input", text=f"{WIDE_TEXT}\n{MARKUP} {EVIL}\n{'x' * 200}"),
    "wait": lambda: WaitDialog("Looking for model servers on this machine …", _never()),
    "confirm": lambda: Confirm("Begin a new conversation?", "The old one stays.", action="Clear", keep="Keep"),
    "confirm-danger": lambda: Confirm(f"Delete {HOSTILE_NAME}?", "Its versions are kept.", action="Delete", danger=True),
}  # fmt: skip


async def _dialogs(p: Program) -> AsyncIterator[str]:
    for name, make in DIALOGS.items():
        dialog = make()
        p.app.push_screen(dialog)
        await p.until(lambda dialog=dialog: p.app.screen is dialog)  # type: ignore[misc]
        await settle(p)
        yield name
        dialog.dismiss(None)
        await p.until(lambda: p.app.screen is p.main)
    for name, action in {
        "find": lambda: p.app.post_message(Key("ctrl+f", None)),
        "recall": lambda: p.app.post_message(Key("ctrl+r", None)),
        "help": p.main.action_help,
        "palette": lambda: p.main.action_switch_persona(">"),
        "connect": p.main.action_choose_model,
        "settings-of-the-program": p.main.action_program_settings,
    }.items():
        action()
        await p.until(lambda: p.app.screen is not p.main)
        await settle(p)
        yield name
        if name == "help":
            await p.press("pagedown")
            await settle(p)
            yield "help-second-page"
        if name == "settings-of-the-program":
            await p.press("down", "enter")
            await settle(p)
            yield "setting-being-typed"
            await p.press("escape")
            p.app.screen._trouble("max_tokens must be a whole number")  # type: ignore[attr-defined]
            await settle(p)
            yield "setting-refused"
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)


async def take(folder: Path, part: str = "") -> int:
    """Write the pictures whose names contain `part`; return how many."""
    converter, taken = shutil.which("rsvg-convert"), 0
    folder.mkdir(parents=True, exist_ok=True)
    for size in SIZES:
        with tempfile.TemporaryDirectory() as home:
            async for name, p in walk(Path(home), size):
                for theme in THEMES if part in name else []:
                    p.app.theme = theme
                    await settle(p)
                    path = folder / f"{name}-{size[0]}x{size[1]}-{theme.removeprefix('textual-')}.svg"
                    path.write_text(draw(p.app), encoding="utf-8")
                    taken += 1
                    if converter:
                        png = str(path.with_suffix(".png"))
                        subprocess.run([converter, "-z", "0.6", "-o", png, str(path)], check=True)
    return taken


def main() -> None:
    """Take the pictures."""
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m tests.gallery FOLDER [PART_OF_A_NAME]")
    taken = asyncio.run(take(Path(sys.argv[1]), *sys.argv[2:3]))
    sys.stdout.write(f"{taken} pictures in {sys.argv[1]}\n")


if __name__ == "__main__":
    main()

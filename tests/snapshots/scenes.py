"""What the pictures show: recorded runs about three kinds of personas, played in the real program and stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.core.model import BlockDelta
from agent.core.turns import AssistantTextTurn, ThinkingTurn, ToolCallTurn
from agent.models.scripted import Hang, Script, ScriptedModel, failed
from personas.files.home import EXAMPLES
from tests.hostile import ESCAPES
from tests.snapshots.shots import Size, settle, wait
from tests.tui.program import Program, make_store, program
from tui.recording.playback import TypingPace, first_change, play_run
from tui.recording.recorded_session import (
    AT_ONCE,
    FIRST_LOOK,
    RecordedRun,
    Recording,
    ReplayModel,
    Step,
    read_recording,
)
from tui.settings.live_settings import Preferences
from tui.settings.schema import Settings


@dataclass(frozen=True)
class Scene:
    """A home and what is said in it; `files` are persona files by id."""

    files: dict[str, str]
    recording: Recording

    @property
    def run(self) -> RecordedRun:
        """What the pictures of a single run show."""
        return self.recording.runs[0]


def _step(*blocks: AssistantTextTurn | ThinkingTurn | ToolCallTurn) -> Step:
    return blocks


def _text(content: str) -> AssistantTextTurn:
    return AssistantTextTurn(content=content)


def _call(number: int, name: str, **given: str) -> ToolCallTurn:
    return ToolCallTurn(tool_use_id=f"call_{number}", tool_name=name, input=given)


PLAIN = Scene(
    {path.stem: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.toml"))},
    read_recording(FIRST_LOOK),
)

WIDE = Scene(
    {
        "guide": (
            'name = "旅行ガイド 🧭"\ndescription = "👩‍👩‍👧 と歩く京都"\ntags = ["旅", "한국어", "עברית"]\n'
            'system_prompt = """\nあなたは親切な旅行ガイドです。短く、温かく答えてください。\n'
            "Say “ça va bien” — naïve café, Zoë, e\u0301a\u0308.\n"
            "שלום עולם, مرحبا بالعالم, नमस्ते दुनिया\n"
            '한국어 사용자에게는 존댓말을 쓰세요. 👍🏽 ❤️ 🇯🇵\n"""\n\n'
            '[[test_inputs]]\nid = "kyoto"\ncontent = "京都で半日、どこへ行けばいいですか？ 🍵"\n'
        ),
        "emoji": 'name = "👩‍🚀 Астронавт"\nsystem_prompt = "Kurz: größer, weiter, höher."\n',
    },
    Recording(
        "guide",
        (
            RecordedRun(
                "もっと温かく 👩‍👩‍👧 してください",
                (
                    _step(
                        ThinkingTurn(content="「温かく」は二行目に。絵文字は一つだけ 🍵"),
                        _text("まず読みます 📖"),
                        _call(1, "get_persona"),
                    ),
                    _step(
                        _call(
                            2,
                            "edit_system_prompt",
                            old="短く、温かく答えてください。",
                            new="古い友人のように、短く温かく答えてください。🍵",
                        )
                    ),
                    _step(
                        _text(
                            "一行だけ変えました：\n\n"
                            "- **温かさ**：古い友人のように 🍵\n- *그대로*: 나머지는 모두 그대로입니다 👍🏽\n\n"
                            "| 前 | 後 |\n|---|---|\n| 短く | 友人のように、短く |\n"
                        )
                    ),
                ),
            ),
        ),
    ),
)

_EVIL = "".join(ESCAPES[name] for name in ("clear screen", "title", "bidi override", "8-bit CSI", "bell"))
_MARKUP = "[/] [b + ] [@click=app.quit]x[/]"

HOSTILE = Scene(
    {
        "evil": (
            'name = "[/] [red]x \\u001b]0;owned\\u0007"\n'
            'description = "[/some/path] \\u202egnp.exe"\ntags = ["[/]", "[b + ]"]\n'
            'system_prompt = """\n[@click=app.quit]press me[/] \\u001b[2J\\u001b[5mblink\n'
            f"{'x' * 300}\n"
            'user\\u202egnp.exe \\u009b31m <example>raw</example> {{user}}\nshort\n"""\n\n'
            '[[test_inputs]]\nid = "a"\ncontent = "[/]\\u001b]52;c;eA==\\u0007 [link=file:///]x"\n'
        ),
        "broken": 'name = "Broken\nsystem_prompt = 3\n',
    },
    Recording(
        "evil",
        (
            RecordedRun(
                f"{_MARKUP} {_EVIL}",
                (
                    _step(
                        _text(f"First {_EVIL}{_MARKUP}"),
                        _call(1, "get_persona"),
                        _call(2, f"no_such_tool {_MARKUP}\x1b[31m", content=_EVIL),
                    ),
                    _step(_call(3, "edit_system_prompt", old="\nshort\n", new=f"\n[/] {_EVIL}\n")),
                    _step(
                        _text(
                            f"{_EVIL}Done {_MARKUP} <example>raw</example>\n\n"
                            f"```\nrm -rf / \r\x1b[2Kls\n```\n\n{'y' * 200}\n"
                        )
                    ),
                ),
            ),
        ),
    ),
)

SCENES = {"plain": PLAIN, "wide": WIDE, "hostile": HOSTILE}


def cut(script: Script, deltas: int) -> Script:
    """Return a script that hangs after so many deltas."""
    kept: list[object] = []
    for event in script:
        kept.append(event)
        deltas -= isinstance(event, BlockDelta)
        if deltas == 0:
            break
    return [*kept, Hang()]  # type: ignore[list-item]


def overloaded() -> Script:
    """Return the answer of a server that has no time, with words that are not harmless."""
    return [failed("overloaded", f"The server is overloaded {_EVIL}{_MARKUP}; try again in a minute.")]


@asynccontextmanager
async def running(
    scene: Scene,
    folder: Path,
    size: Size,
    *answers: Script,
    persona_id: str | None = None,
    listed: bool = True,
    approval: str = "auto",
    name: str = "claude-sonnet-5-5",
    preferences: Preferences | None = None,
) -> AsyncIterator[Program]:
    """Run the program in a scene, with nothing that moves by itself; by default the model gives the recorded run.

    `listed`: whether there are personas at all; `approval`: when the agent asks before it acts; `name`: of the model.
    """
    settings = Settings(panel_seconds=600, calm="always", retries=0, approval=approval)
    store = make_store(folder, scene.files)
    scripted = ScriptedModel(answers, name=name)
    model = scripted if answers else ReplayModel(scene.recording, scripted, AT_ONCE, name=name)
    async with program(
        store,
        model=model,
        size=size,
        settings=settings,
        persona_id=(persona_id or scene.recording.persona_id) if listed else None,
        config_path=Path("config.toml"),
        preferences=preferences,
        ready=False,
    ) as p:
        await wait(lambda: p.main.conversing.settled.is_set() and not p.main._tasks)
        assert (p.main.conversing.talk is not None) is listed
        yield p


async def play_to_end(p: Program, scene: Scene) -> None:
    """Play the recorded run as the demonstration does, until the agent is done."""
    talk = p.main.conversing.talk
    assert talk is not None
    assert await play_run(p.main, scene.run, talk, TypingPace(0.0, 0.0, 0.0))
    await settle(p)


async def open_change(p: Program) -> None:
    """Pin the panel and open the first change."""
    p.main.conversing.panel_event("show_output")
    talk = p.main.conversing.talk
    assert talk is not None
    place = first_change(p.main, talk)
    assert place is not None
    p.main.conversing.view.toggle(place)
    await settle(p)

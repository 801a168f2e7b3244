"""The program in a test: a home on disk, a scripted model, a screen without a terminal, and what one does to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from textual._compositor import Compositor
from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.widgets import Input

import tui.app.app
import tui.screens.main.screen
import tui.widgets.run_strip
from agent.core.model import BlockEvent, Model, Request
from agent.models.scripted import ScriptedModel
from personas.files.home import Home, open_home
from tests.support.faulty_store import FaultyStore
from tests.support.rest import is_at_rest, paint_what_is_put_off, unpainted, until_rest
from tests.support.waiting import begin_at_once
from tui.app.app import PersonaApp
from tui.screens.main.screen import MainScreen
from tui.settings.schema import Settings
from tui.terminal.textual_compat import diff_rendering
from tui.widgets.text.document_editor import DocumentEditor

ONE = 'name = "One"\nsystem_prompt = """\nfirst line\nsecond line\nthird line\n"""\n'
TWO = 'name = "Two"\nsystem_prompt = "I am two."\n\n[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n'


def make_store(root: Path, files: Mapping[str, str] | None = None) -> FaultyStore:
    """Make a home with these persona files (id to text), by default `one` and `two`."""
    folder = root / "home" / "personas"
    folder.mkdir(parents=True)
    for name, text in ({"one": ONE, "two": TWO} if files is None else files).items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8", newline="")
    return FaultyStore(open_home(root / "home", env={"PERSONA_CONFIG": str(root / "config.toml")}))


class Gate(asyncio.Event):
    """A place in an answer of `GatedModel` at which it waits to be let on."""


class GatedModel(ScriptedModel):
    """A scripted model that waits at gates."""

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        async for item in super().stream(request):
            if isinstance(item, Gate):
                await item.wait()
            else:
                yield item


class Program:
    """A running program and its pilot."""

    def __init__(self, app: PersonaApp, pilot: Pilot[Any], store: FaultyStore) -> None:
        self.app, self.pilot, self.store = app, pilot, store
        self._notified: list[
            str
        ] = []  # since a key was last pressed; a later message may have taken its place
        notify = app.notify

        def note(message: str, **named: Any) -> None:
            self._notified.append(message)
            notify(message, **named)

        app.notify = note  # type: ignore[method-assign]

    @property
    def main(self) -> MainScreen:
        screen: MainScreen = self.app.main
        return screen

    @property
    def prompt(self) -> DocumentEditor:
        return self.main.prompt

    @property
    def messages(self) -> list[str]:
        """What was told and is still on the screen."""
        return [notification.message for notification in self.app._notifications]

    @property
    def state(self) -> str:
        assert self.main.documents is not None
        return self.main.documents.state

    def on_disk(self, persona_id: str) -> str:
        return self.store.get(persona_id).system_prompt

    def file(self, persona_id: str) -> Path:
        return self.store.path(persona_id)

    async def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Let the program work until `condition` holds.

        Args:
            seconds: counted as far as this process got them: a busy machine lets no test fail.
        """
        begun, slept, looks = time.thread_time(), 0.0, 0
        with unpainted(self.app):
            while not condition():
                passed = time.thread_time() - begun + slept
                assert passed < seconds, f"never came true; told: {self.messages}"
                await self.pilot.pause()
                if (
                    not condition()
                ):  # it hangs on what is not known here: a server, a process, a timer, a file
                    await asyncio.sleep(LOOK_EVERY)
                    slept += LOOK_EVERY
                    if (looks := looks + 1) % LOOKS == 0:
                        self._look()
        await self.pilot.pause()

    def _look(self) -> None:
        """Have the program look for changes outside, as it does each second, unless the test has it look less often."""
        main = self.app.main
        if tui.screens.main.screen.LOOK_EVERY <= 1 and any(
            one._callback == main._look for one in main._timers
        ):
            with self.app._context():
                main._look()

    async def notified(self, text: str) -> None:
        """Let the program work until a message with `text` is shown, or was since a key was last pressed."""
        await self.until(lambda: any(text in message for message in (*self.messages, *self._notified)))

    async def press(self, *keys: str) -> None:
        self._notified.clear()
        with unpainted(self.app):  # that is done where the test waits for what they do
            await self.pilot.press(*keys)

    async def write(self, text: str) -> None:
        """Type `text` into what has the focus."""
        with unpainted(self.app):
            await self.pilot.press(*["space" if c == " " else "enter" if c == "\n" else c for c in text])

    async def say(self, text: str) -> None:
        """Send a message."""
        self.main.focus_chat()
        self.main.chat_bar.set_draft(text)
        await self.pilot.press("enter")
        await self.pilot.pause()

    async def run_to_end(self, text: str) -> None:
        """Send a message and wait until the agent is done."""
        await self.say(text)
        talk = self.main.conversation.current
        assert talk is not None
        before = talk.earlier
        await self.until(
            lambda: not talk.running and (talk.events or talk.failure or talk.earlier is not before)
        )

    async def open(self, persona_id: str) -> None:
        await self.main.view.open_persona(persona_id)
        await self.until(lambda: self.main.documents is not None and self.main.documents.id == persona_id)

    async def answer(self, text: str) -> None:
        """Fill the line a dialog asks for."""
        await self.until(lambda: self.app.screen is not self.main and self.app.screen.query(Input))
        self.app.screen.query_one(Input).value = text
        await self.pilot.press("enter")
        await self.until(lambda: self.app.screen is self.main)

    async def dialog(self, kind: type) -> Any:
        """Wait for a dialog, past its time of grace."""
        await self.until(lambda: isinstance(self.app.screen, kind))
        screen: Any = self.app.screen
        screen._appeared = float("-inf")
        return screen


LOOK_EVERY = 0.005
"""Seconds after which a condition is looked at again, where the program is at rest and it does not hold."""
LOOKS = 10
"""Looks at a condition after which the program looks at its files."""

STAYS = 600.0
"""Seconds for which panel and messages stay in a test that says nothing of it: a loaded machine may be slow to look."""
tui.app.app.MESSAGE_SECONDS = tui.app.app.ERROR_SECONDS = tui.widgets.run_strip.ENDED_SECONDS = STAYS


PAINTS_PER_SECOND = 4
"""How often a program that does not come to rest is laid out; one that rests is laid out and painted at once."""


_parsed: dict[tuple[tuple[str, str], ...], Any] = {}


def share_what_is_parsed() -> None:
    """Read each style sheet once for all programs of a process, not once for each: the rules are not changed."""

    def share(sheet: Stylesheet) -> None:
        sheet._parse_cache = _parsed.setdefault(tuple(sorted(sheet._variables.items())), LRUCache(1024))

    def begin(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
        first_begin(sheet, variables=variables)
        share(sheet)

    def set_variables(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._parse_cache = LRUCache(1)  # the next line empties the one that it finds
        first_set_variables(sheet, variables)
        share(sheet)

    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign] # the same, and asked for a million times
    first_begin, first_set_variables = Stylesheet.__init__, Stylesheet.set_variables
    Stylesheet.__init__ = begin  # type: ignore[method-assign]
    Stylesheet.set_variables = set_variables  # type: ignore[method-assign]


share_what_is_parsed()


@contextmanager
def painted_at_rest() -> Iterator[None]:
    """Lay out and paint what changed once, when the program has come to rest, not for each frame before it.

    All frames are painted where a test is about frames (`frames` of `program`).
    """
    paint, pace = Compositor.render_update, diff_rendering.PAINTS_PER_SECOND

    def put_off(compositor: Compositor, full: bool = False, **options: Any) -> Any:
        if full or is_at_rest():
            return paint(compositor, full=full, **options)
        return None  # what is dirty stays so

    Compositor.render_update = put_off  # type: ignore[method-assign,assignment]
    diff_rendering.PAINTS_PER_SECOND = PAINTS_PER_SECOND
    try:
        yield
    finally:
        Compositor.render_update = paint  # type: ignore[method-assign]
        diff_rendering.PAINTS_PER_SECOND = pace


@asynccontextmanager
async def program(
    store: FaultyStore,
    *answers: Any,
    model: Model | None = None,
    size: tuple[int, int] = (110, 30),
    persona_id: str | None = None,
    settings: Settings | None = None,
    open_store: Callable[[], Any] | None = None,
    ready: bool = True,
    frames: bool = False,
    make_model: Callable[[str], Model] | None = None,
    **options: Any,
) -> AsyncIterator[Program]:
    """Run the program on a home, with a model that gives these answers; it is ready when the body begins.

    The screen is painted each time that the test has waited for something; `frames`: each frame before that is too.
    """
    used = model or ScriptedModel(answers)
    app = PersonaApp(
        open_store or (lambda: store),
        MainScreen,
        make_model=make_model or (lambda _name: used),
        name_model=lambda: used.name,
        settings=settings or Settings(panel_seconds=STAYS),
        persona_id=persona_id,
        env={},
        **options,
    )
    if not ready:
        begin_at_once(app)
    with nullcontext() if frames else painted_at_rest(), ExitStack() as not_ready:
        if ready:
            not_ready.enter_context(unpainted(app))
        async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            running = Program(app, pilot, store)
            if ready:
                await running.until(lambda: running.main.documents is not None)
            if ready and store.ids():
                await running.until(lambda: running.main.conversation.current is not None)
            not_ready.close()
            yield running
            paint_what_is_put_off(app)
    # As a process waits for its threads: what they write is there for the next program.
    await until_rest(None)


def ids(items: Iterable[Any]) -> list[str]:
    return [item.id for item in items]


__all__ = ["ONE", "TWO", "Home", "Program", "ids", "make_store", "program"]

"""The demo: the program with a new home, a recording that plays, and then the offline model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import InvalidValue
from tui.app.app import PersonaApp
from tui.commands.registry import sentence
from tui.recording.locate import persona_at_start
from tui.recording.playback import DEMO_TYPING, TypingPace, play
from tui.recording.recorded_session import (
    FIRST_LOOK,
    HUMAN,
    PlaybackSpeed,
    Recording,
    ReplayModel,
    read_recording,
)
from tui.screens.main.screen import MainScreen
from tui.settings.schema import OFFLINE, Settings

if TYPE_CHECKING:
    from agent.core.model import Model
    from personas.files.home import Home
    from personas.store import Store

YOURS = "The program is yours now: ask for a change in plain words, or {} to leave."


class DemoApp(PersonaApp):
    """The real program, in which a recording of a conversation about an example plays.

    Args:
        folder: an empty folder, for everything that is written.
        settings: the person's settings, for looks; their model is not used.
        recording: what plays; by default the recording that comes with the program.
        origin: the home the recording was made in, if that is known; it is only read.
        pace, hands: how fast it plays.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        *,
        recording: Recording | None = None,
        origin: Home | None = None,
        pace: PlaybackSpeed = HUMAN,
        hands: TypingPace = DEMO_TYPING,
    ) -> None:
        from agent.models.offline import OfflineModel

        self._folder = folder
        self._offline = OfflineModel()
        self.recording = read_recording(FIRST_LOOK) if recording is None else recording
        self._persona_id, self._text = persona_at_start(self.recording, origin)
        self.replay = ReplayModel(self.recording, self._offline, pace)
        self._hands = hands
        super().__init__(
            self._open,
            MainScreen,
            make_model=self._choose,
            name_model=lambda: self.replay.name,
            settings=settings._replace(approval="auto"),  # recorded approvals are not asked for again
            persona_id=self._persona_id,
        )
        self.state_folder = folder / "state"

    def _open(self) -> Store:
        from personas.files.home import open_home
        from personas.store import Store

        # The list of trusted homes is stored beside the settings: for this home, in its own folder.
        home = open_home(self._folder / "home", {"PERSONA_CONFIG": str(self._folder / "config.toml")})
        if self._text is not None:
            (home.personas / f"{self._persona_id}.toml").write_text(self._text, encoding="utf-8", newline="")
        return Store(home)

    def _choose(self, name: str) -> Model:
        if name not in ("", OFFLINE):
            raise InvalidValue("The demo has the offline model only; `persona` has the others.")
        return self._offline if name else self.replay

    def on_mount(self) -> None:
        self.main.start(self._play())

    async def _play(self) -> None:
        whole = await play(self.main, self.recording, self.replay, self._hands)
        await self.use_model(OFFLINE)
        self.main.chat_bar.set_hint("Your turn: try “replace short with brief”")
        leaving = sentence("copy", self.settings.keys, "press {} twice", "choose Quit")
        self.show_message(f"The recording {'is over' if whole else 'has stopped'}. {YOURS.format(leaving)}")

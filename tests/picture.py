"""The README's picture: `python -m tests.picture` plays the recorded run and writes `docs/screen.svg`.

The program is the real one; the picture shows it when the first change has been opened to be read.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.support.screen_svg import draw
from tui.recording.demo_app import DemoApp
from tui.recording.playback import TypingPace, first_change
from tui.recording.recorded_session import AT_ONCE
from tui.settings.schema import Settings
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.text import document_editor
from tui.widgets.text.document_editor import DocumentEditor

PICTURE = Path(__file__).parent.parent / "docs" / "screen.svg"
SIZE = (110, 32)
SCROLLED = 4
"""The first row of the prompt in the picture, so that the changed lines stand above the panel."""


async def take(folder: Path) -> str:
    """Return the picture; `folder` is an empty one for the demonstration's home."""
    document_editor.FRESH = 3600.0  # what was changed last stays lit
    hands = TypingPace(before_message=0.0, key=0.0, reading=3600.0)
    app = DemoApp(folder, Settings(theme="textual-dark", calm="always"), pace=AT_ONCE, hands=hands)
    async with app.run_test(size=SIZE) as pilot:
        conversation = app.main.conversation

        def read() -> bool:
            return bool(conversation.current and conversation.current.events and not conversation.running)

        while not read():
            await pilot.pause(0.05)
        place = first_change(app.main, conversation.current)
        assert place is not None
        conversation.view.toggle(place)
        conversation.sync()
        await pilot.pause(0.2)
        # Where the editor stands depends on when each change met the panel's height; the picture has one place.
        app.main.query_one(PromptPane).query_one(DocumentEditor).scroll_to(
            y=SCROLLED, animate=False, force=True
        )
        before, picture = "", draw(app)
        while picture != before:
            await pilot.pause(0.2)
            before, picture = picture, draw(app)
        return picture


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        picture = asyncio.run(take(Path(folder)))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture, encoding="utf-8")
    sys.stdout.write(f"{PICTURE}: {len(picture)} bytes\n")


if __name__ == "__main__":
    main()

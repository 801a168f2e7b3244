"""Finding a recording, and the persona as it was when the recording began. Nothing is written."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import BrokenFile, PersonaError
from personas.files.current_sessions import current_sessions, is_session_id
from personas.files.slug import is_id
from personas.folder import with_prompt_file
from personas.prompt_file import with_own_prompt

if TYPE_CHECKING:
    from personas.files.home import Home
    from tui.recording.recorded_session import Recording


def find_recording(home: Home, wanted: str) -> tuple[Path, bool]:
    """Return the session file meant by a path, a session's id, or a persona's id, and whether it is of this home.

    Raises:
        BrokenFile: there is none.
    """
    if wanted.endswith(".jsonl") or "/" in wanted:
        try:
            return Path(wanted).expanduser().resolve(), False
        except (OSError, ValueError, RuntimeError):
            raise BrokenFile(f"There is no recording {wanted}.") from None
    for session_id in (wanted, current_sessions(home).get(wanted, "")):
        path = home.sessions / f"{session_id}.jsonl"
        if is_session_id(session_id) and path.is_file():
            return path, True
    raise BrokenFile(
        f"There is no session {wanted!r} in {home.root}; it can also be a file that ends in .jsonl."
    )


def persona_at_start(recording: Recording, home: Home | None) -> tuple[str, str | None]:
    """Return the id and the text of a recording's persona before its first change; None for an example's own text.

    Args:
        recording: the recording.
        home: the home it was made in, if that is known.
    """
    from personas.files.home import EXAMPLES

    persona_id = recording.persona_id if is_id(recording.persona_id) else "recorded"
    if home is not None and (text := _before_session(home, persona_id, recording.session_id)) is not None:
        return persona_id, text
    if recording.prompt is None and (EXAMPLES / f"{persona_id}.toml").is_file():
        return persona_id, None
    return persona_id, _new_text(recording.name or persona_id, recording.prompt or "")


def _before_session(home: Home, persona_id: str, session_id: str) -> str | None:
    """Return the text before the first change of a session; the present one where it changed nothing or it is unknown.

    Reading versions may record changes from outside, so it is done in a copy.
    """
    from personas.files.home import Home
    from personas.store import Store

    with tempfile.TemporaryDirectory(prefix="persona-demo-", ignore_cleanup_errors=True) as folder:
        copy = Home(Path(folder) / "home")
        try:
            for source, target in (
                (home.personas / f"{persona_id}.toml", copy.personas / f"{persona_id}.toml"),
                (home.versions / persona_id, copy.versions / persona_id),
            ):
                target.parent.mkdir(parents=True, exist_ok=True)
                if source.is_dir():
                    shutil.copytree(source, target, symlinks=True)
                elif source.is_file():
                    shutil.copyfile(source, target)
            store = Store(copy)
            made = [one for one in store.log(persona_id) if one.by.session_id == session_id]
            content = store.file(persona_id).versions.load(made[-1].before) if made else None
            if content is None:
                content = with_prompt_file(home, store.path(persona_id).read_bytes())
            return with_own_prompt(content)
        except (PersonaError, OSError, shutil.Error):
            return None


def _new_text(name: str, prompt: str) -> str:
    """Return the text of a persona file; what no file can hold is left out."""
    import json

    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in (name, prompt)]
    name, prompt = (json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f") for text in clean)
    return f"name = {name}\nsystem_prompt = {prompt}\n"

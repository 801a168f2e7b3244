"""Files outside of the home, in the platform's folder for state: the log of a fault, and text that could be saved
nowhere else. Only this person can read them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from personas.files.home import private


def write_fault(text: str) -> Path | None:
    """Write a traceback in place of the one before; None if that is not possible. Blocking."""
    for folder in _folders():
        path = folder / "fault.log"
        try:
            with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=private) as file:
                file.write(text)
        except OSError:
            continue
        return path
    return None


def write_texts(texts: Mapping[str, str]) -> Path | None:
    """Write texts into a new file, each below what it is; None if that is not possible. Blocking."""
    content = "\n".join(f"--- {name} ---\n{text}\n" for name, text in texts.items())
    for folder in _folders():
        path = folder / f"unsaved-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        try:
            with open(path, "x", encoding="utf-8", errors="surrogatepass", opener=private) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            path.unlink(missing_ok=True)  # of a full disk: a later start would name it
            continue
        return path
    return None


def find_saved_texts() -> list[Path]:
    """Return the files that `write_texts` made and nobody has dealt with, oldest first. Blocking."""
    from platformdirs import user_state_path

    folder = user_state_path("persona-editor", appauthor=False)
    try:
        return sorted(path for path in folder.glob("unsaved-*.txt") if path.is_file())
    except OSError:
        return []


def recovery_message(left: Sequence[Path]) -> str:
    """Return what is said of such files; empty where there are none."""
    if not left:
        return ""
    more = f" ({len(left)} such files are there)" if len(left) > 1 else ""
    return f"unsaved text is in {left[-1]}{more}; copy what you need, then delete the file"


def _folders() -> Iterator[Path]:
    """Yield the folder for state, then, where that cannot be written, the one for temporary files."""
    from platformdirs import user_state_path

    folder = user_state_path("persona-editor", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield folder
    except OSError:
        pass
    from tempfile import mkdtemp

    try:
        yield Path(mkdtemp(prefix="persona-editor-"))
    except OSError:
        return

"""What the personas of a home are for: its optional `about.md`, quoted as data because nobody knows who wrote it."""

from __future__ import annotations

import re

from personas.errors import BrokenFile, StorageError
from personas.files.home import Home
from personas.files.text_file import decode, read_regular
from personas.toml.escapes import HIDDEN

ABOUT_LIMIT = 8_000
"""Most characters: all of it goes to the model with each request."""


def read_about(home: Home) -> str:
    """Return what `about.md` says, without the blanks around it; empty where there is no such file.

    Characters that nobody sees, or that a terminal obeys, are taken out: a person can read all that a model is sent.

    Raises:
        BrokenFile: it is not UTF-8.
        StorageError: it is too long, or cannot be read.
        OutsideHome: it leads out of the home, or is no regular file.
    """
    try:
        text = decode(read_regular(home.about, root=home.root)).text
    except FileNotFoundError:
        return ""
    except BrokenFile as error:
        raise BrokenFile(f"{home.about}: {error.message}", error.line, error.column) from None
    text = re.sub(HIDDEN, "", "\n".join(text.splitlines())).strip()
    if len(text) > ABOUT_LIMIT:
        raise StorageError(f"{home.about} has more than {ABOUT_LIMIT} characters; shorten it.")
    return text

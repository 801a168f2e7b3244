"""The folder of persona files: what is in it, and reading all of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from personas.errors import OutsideHome, StorageError, UnknownPersona
from personas.files.bundle import pack
from personas.files.home import Home
from personas.files.slug import command, is_id, shown_id
from personas.files.text_file import read_link, read_regular, remove_file, storage_error
from personas.persona import Persona, broken_persona, read_persona
from personas.toml.parse import parsing_once


def stems(home: Home) -> list[str]:
    """Return the stems of all persona files, sorted without regard to case; also of those that are no ids.

    Raises:
        OutsideHome: the folder leads out of the home.
        StorageError: it cannot be read.
    """
    found = [name[:-5] for name, is_persona in _names(home) if is_persona]
    return sorted(sorted(found), key=str.casefold)


def strays(home: Home) -> list[str]:
    """Return the names of what lies in the folder and is no persona file, sorted; hidden files are none of them.

    Raises:
        OutsideHome, StorageError: see `stems`.
    """
    return sorted(name for name, is_persona in _names(home) if not is_persona)


def _names(home: Home) -> list[tuple[str, bool]]:
    """Return each name in the folder, but hidden ones, and whether it is that of a persona file."""
    folder = home.inside(home.personas)
    try:
        with os.scandir(folder) as entries:
            return [
                (entry.name, entry.name.endswith(".toml") and not entry.is_dir(follow_symlinks=False))
                for entry in entries
                if not entry.name.startswith(".")
            ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise storage_error(error, "read", folder) from None


def read_file(home: Home, path: Path) -> bytes:
    """Return the bytes of a document's file.

    Raises:
        FileNotFoundError: nothing is there, or a link that leads to nothing.
        OutsideHome: it leads out of the home, or is no regular file; of a link the message says what to do with it.
        StorageError: it is too large or cannot be read.
    """
    if path in home.instead:
        if (content := home.instead[path]) is None:
            raise FileNotFoundError(path)
        return content
    try:
        return read_regular(path, root=home.root)
    except OutsideHome:
        if (target := read_link(path)) is None:
            raise
        with_what = f" with `{command('rm', path.stem)}`" if path.parent == home.personas else ""
        raise OutsideHome(
            f"{path} is a link to {target}, which is not a file in {home.root}: put the file itself in its place, or remove "
            f"the link{with_what}."
        ) from None


def prompt_files(home: Home, toml: bytes) -> tuple[Path, ...]:
    """Return the file that has the prompt of a persona, which its own file names; none where that has the prompt itself."""
    if b"system_prompt_file" not in toml:
        return ()
    from personas.prompt_file import path_in

    return path_in(home.root, toml)


def read_beside(home: Home, path: Path) -> bytes | None:
    """Return the bytes of a file that a document names, None for one that is not there, or is no text in the home.

    Raises:
        StorageError: it is too large or cannot be read.
    """
    try:
        require_beside(home, path)
        return read_file(home, path)
    except (FileNotFoundError, OutsideHome):
        return None


def require_beside(home: Home, path: Path) -> None:
    """Check that a file that a document names is a text in the home also where its links lead.

    Raises:
        OutsideHome: it is not.
    """
    from personas.prompt_file import resolves_to_prompt

    if not resolves_to_prompt(path, home.root):
        raise OutsideHome(f"{path} leads to {os.path.realpath(path)}, which cannot have a prompt.")


def prompt_in(home: Home, name: str) -> str:
    """Return the prompt in a file that a persona names; empty where there is no such file in the home.

    Raises:
        StorageError: see `read_beside`.
    """
    from personas.prompt_file import prompt_of

    return prompt_of(read_beside(home, home.root / name))


def with_prompt_file(home: Home, toml: bytes) -> bytes:
    """Return the content of a persona: its file, with that of its prompt where there is one."""
    return pack([toml, *(read_beside(home, path) for path in prompt_files(home, toml))])


def remove_dead_link(home: Home, persona_id: str) -> bool:
    """Remove a persona's file where it is a link that leads to no file of the home; return whether it was one.

    Raises:
        StorageError: the disk refused.
    """
    path = home.personas / f"{persona_id}.toml"
    if read_link(path) is None:
        return False
    try:
        read_file(home, path)
    except (FileNotFoundError, OutsideHome):
        remove_file(path, root=home.root)
        return True
    return False


def read_all(home: Home, sessions: Mapping[str, str]) -> list[Persona]:
    """Return every persona in the order of `stems`; whatever is wrong with one becomes its `error`.

    Args:
        home: the home.
        sessions: the current conversation by persona id.
    """
    folder = home.inside(home.personas)
    personas = []
    for stem in stems(home):
        session_id = sessions.get(stem)
        try:
            if not is_id(stem):
                raise OutsideHome(
                    "The file's name is not UTF-8, or has characters that nobody sees; rename it."
                )
            path = folder / f"{stem}.toml"
            # The folder is checked already; only a symlink in it can lead elsewhere.
            is_link = os.path.islink(path)  # noqa: PTH114 - never raises; reading says what is wrong
            is_apart = is_link or path in home.instead
            content = read_file(home, path) if is_apart else read_regular(path, root=folder)
            with parsing_once():
                personas.append(read_persona(stem, with_prompt_file(home, content), session_id))
        except FileNotFoundError:
            gone = StorageError("The file is missing, or a symlink that leads nowhere.")
            personas.append(broken_persona(stem, gone, session_id=session_id))
        except (OutsideHome, StorageError) as error:
            personas.append(broken_persona(shown_id(stem), error, session_id=session_id))
    return personas


def taken_ids(home: Home) -> set[str]:
    """Return, case folded, all ids a new persona cannot have: those in use and those that have versions."""
    taken = {stem.casefold() for stem in stems(home)}
    folder = home.inside(home.versions)
    try:
        with os.scandir(folder) as entries:
            taken.update(entry.name.casefold() for entry in entries)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise storage_error(error, "read", folder) from None
    return taken


def unknown_persona(home: Home, persona_id: str, *, has_versions: bool) -> UnknownPersona:
    """Return the error for an id without a file, with the ids that look like it."""
    from difflib import get_close_matches

    folded = {stem.casefold(): stem for stem in stems(home) if is_id(stem)}
    near = get_close_matches(persona_id.casefold(), folded, n=3)
    if read_link(home.personas / f"{persona_id}.toml") is not None:
        hint = f"its file is a link that leads nowhere: `{command('rm', persona_id)}` removes the link."
    elif has_versions:
        hint = (
            f"its versions are kept: `{command('log', persona_id)}` lists them, "
            f"and `{command('restore', persona_id)} VERSION` brings one back."
        )
    elif near:
        hint = f"did you mean {' or '.join(folded[name] for name in near)}?"
    else:
        hint = "`persona list` shows all of them."
    return UnknownPersona(f"There is no persona {persona_id!r}; {hint}")

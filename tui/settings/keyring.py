"""The model's key in the system's keyring, by the package `keyring` where the person has installed it.

Blocking: a keyring may ask the person for its password and wait.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from personas.errors import PersonaError
from tui.settings.schema import APP, ConfigError

ENTRY = "api-key"

NOT_INSTALLED = "the package keyring is not installed; install it, or unset api_key_in_keyring"
NO_KEYRING = "there is no keyring on this system; set ANTHROPIC_API_KEY or api_key_command instead"
LOCKED = "the keyring is locked; unlock it and try again"

KEEP_NOTHING = ("keyring.backends.fail", "keyring.backends.null")
"""What the package chooses where the system has no keyring, and where it was turned off."""


class KeyringRefused(PersonaError):
    """The keyring did not do what it was asked; the message begins small, to stand after a colon."""


def available() -> bool:
    """Return whether there is a keyring that keeps what it is given; it is looked for, which may load its system's."""
    if find_spec("keyring") is None:
        return False
    try:
        return _ask(lambda ring: type(ring.get_keyring()).__module__) not in KEEP_NOTHING
    except KeyringRefused:
        return False


def store_key(key: str) -> None:
    """Put the key into the keyring.

    Raises:
        PersonaError: there is no keyring, it refuses, or it does not have the key afterwards.
    """

    def put(ring: Any) -> bool:
        ring.set_password(APP, ENTRY, key)
        return bool(ring.get_password(APP, ENTRY) == key)

    try:
        kept = _ask(put)
    except KeyringRefused as error:
        raise PersonaError(f"The key is not kept for the next start: {error}.") from None
    if not kept:
        raise PersonaError(
            "The key is not kept for the next start: the keyring accepted it but did not return it."
        )


def stored_key() -> str:
    """Return the key from the keyring.

    Raises:
        ConfigError: there is no keyring, it refuses, or it has none.
    """
    try:
        key = _ask(lambda ring: ring.get_password(APP, ENTRY))
    except KeyringRefused as error:
        raise ConfigError(str(error)) from None
    if not key:
        raise ConfigError("the keyring has no key; paste it again, or unset api_key_in_keyring")
    return str(key)


def forget_key() -> None:
    """Take the key out of the keyring, if it is in there.

    Raises:
        PersonaError: it may still be there.
    """

    def drop(ring: Any) -> None:
        if ring.get_password(APP, ENTRY) is not None:
            ring.delete_password(APP, ENTRY)

    try:
        _ask(drop)
    except KeyringRefused as error:
        if str(error) in (NOT_INSTALLED, NO_KEYRING):
            return
        raise PersonaError(f"The key may still be in the keyring: {error}.") from None


def _ask(call: Callable[[Any], Any]) -> Any:
    """Return what the keyring answers.

    Raises:
        KeyringRefused: it is not there, locked, or refuses; nothing of its own words is passed on.
    """
    try:
        ring = _ring()
    except ImportError:
        raise KeyringRefused(NOT_INSTALLED) from None
    try:
        return call(ring)
    except Exception as error:  # noqa: BLE001 - its backends raise what they like
        raise KeyringRefused(_why(error)) from None


def _why(error: Exception) -> str:
    """Return what is wrong by the kind of an error; its words may hold anything."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "NoKeyringError" in kinds:
        return NO_KEYRING
    if "KeyringLocked" in kinds:
        return LOCKED
    return f"the keyring refuses ({type(error).__name__})"


def _ring() -> Any:
    return importlib.import_module("keyring")

"""The model's key in the system's keyring, by the package `keyring` where the person has installed it. Blocking."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from personas.errors import PersonaError
from tui.config import APP, ConfigError

ENTRY = "api-key"


def available() -> bool:
    """Return whether there is a keyring to ask; nothing is loaded for that."""
    return find_spec("keyring") is not None


def store_key(key: str) -> None:
    """Put the key into the keyring.

    Raises:
        PersonaError: there is no keyring, or it refuses.
    """
    ring = _ring()
    try:
        ring.set_password(APP, ENTRY, key)
    except Exception as error:  # noqa: BLE001 - its backends raise what they like
        raise PersonaError(f"The keyring did not take the key ({type(error).__name__}).") from None


def stored_key() -> str:
    """Return the key from the keyring.

    Raises:
        ConfigError: there is no keyring, it refuses, or it has none.
    """
    ring = _ring()
    try:
        key = ring.get_password(APP, ENTRY)
    except Exception as error:  # noqa: BLE001 - its backends raise what they like
        raise ConfigError(
            f"the keyring did not give the key ({type(error).__name__}); is it unlocked?"
        ) from None
    if not key:
        raise ConfigError("the keyring has no key; paste it again, or unset api_key_in_keyring")
    return str(key)


def _ring() -> Any:
    try:
        return importlib.import_module("keyring")
    except ImportError:
        raise ConfigError(
            "the package keyring is not installed; install it, or unset api_key_in_keyring"
        ) from None

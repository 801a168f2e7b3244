"""The key in the system's keyring: kept, read, taken out, and what is said where the keyring does not do it."""

from __future__ import annotations

from typing import Any

import pytest

from personas.errors import PersonaError
from tui.settings import keyring
from tui.settings.schema import ConfigError

SECRET = "sk-ant-not-to-be-told"


class NoKeyringError(RuntimeError):
    """As the package's, raised where the system has none."""


class KeyringLocked(Exception):
    """As the package's, raised where the person did not unlock it."""


class Ring:
    """Stands for the package `keyring` with one backend."""

    def __init__(
        self,
        module: str = "keyring.backends.macOS",
        *,
        fails: type[Exception] | None = None,
        keeps: bool = True,
    ) -> None:
        self._kept: dict[tuple[str, str], str] = {}
        self._module, self._fails, self._keeps = module, fails, keeps

    def get_keyring(self) -> Any:
        return type("Keyring", (), {"__module__": self._module})()

    def _do(self) -> None:
        if self._fails is not None:
            raise self._fails(f"its own words with {SECRET}")

    def set_password(self, service: str, name: str, value: str) -> None:
        self._do()
        if self._keeps:
            self._kept[service, name] = value

    def get_password(self, service: str, name: str) -> str | None:
        self._do()
        return self._kept.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        self._do()
        del self._kept[service, name]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(ring: Ring) -> Ring:
        monkeypatch.setattr(keyring, "_ring", lambda: ring)
        monkeypatch.setattr(keyring, "find_spec", lambda _name: object())
        return ring

    return use


def test_a_key_is_kept_read_and_taken_out(use: Any) -> None:
    use(Ring())
    assert keyring.available()
    keyring.store_key(SECRET)
    assert keyring.stored_key() == SECRET
    keyring.forget_key()
    keyring.forget_key()
    with pytest.raises(ConfigError, match="the keyring has no key; paste it again"):
        keyring.stored_key()


@pytest.mark.parametrize("module", ["keyring.backends.fail", "keyring.backends.null"])
def test_a_keyring_that_keeps_nothing_is_not_offered(module: str, use: Any) -> None:
    use(Ring(module))
    assert not keyring.available()


def test_a_keyring_that_takes_the_key_and_forgets_it_is_noticed(use: Any) -> None:
    use(Ring(keeps=False))
    with pytest.raises(PersonaError, match="accepted it but did not return it"):
        keyring.store_key(SECRET)


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        (NoKeyringError, keyring.NO_KEYRING),
        (KeyringLocked, keyring.LOCKED),
        (OSError, "the keyring refuses (OSError)"),
    ],
)
def test_what_is_wrong_is_said_without_the_keyrings_own_words(
    fails: type[Exception], said: str, use: Any
) -> None:
    use(Ring(fails=fails))
    calls = [lambda: keyring.store_key(SECRET), keyring.stored_key]
    if fails is NoKeyringError:
        keyring.forget_key()  # where there is none, no key is in it
    else:
        calls.append(keyring.forget_key)
    for call in calls:
        with pytest.raises(PersonaError) as told:
            call()
        assert said in str(told.value)
        assert SECRET not in f"{told.value} {told.value.__cause__}"


def test_without_the_package_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise ImportError

    monkeypatch.setattr(keyring, "_ring", missing)
    with pytest.raises(ConfigError, match="the package keyring is not installed; install it"):
        keyring.stored_key()

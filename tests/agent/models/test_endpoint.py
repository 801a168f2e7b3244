"""Base URLs and keys, before anything is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.endpoint import (
    OFFICIAL,
    check_base_url,
    check_key,
    connection_from,
    hide_secrets,
    is_loopback,
    is_official,
    normalise_base_url,
)


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/messages", " \n"])
def test_a_base_url_may_end_as_people_write_it(ending: str) -> None:
    assert normalise_base_url("http://host:8080/gateway" + ending) == "http://host:8080/gateway"


def test_nothing_that_shows_has_a_secret_in_it() -> None:
    assert hide_secrets("https://user:pass@host:1/path?key=x#y") == "https://host:1/path"


@pytest.mark.parametrize(
    ("url", "loopback", "official"),
    [
        ("http://127.0.0.1:8080", True, False),
        ("http://localhost", True, False),
        ("http://[::1]:1", True, False),
        ("https://api.anthropic.com", False, True),
        ("https://api.anthropic.com.evil.example", False, False),
        ("http://127.0.0.1.evil.example", False, False),
        ("http://[", False, False),
    ],
)
def test_what_kind_of_server_a_url_is(url: str, loopback: bool, official: bool) -> None:
    assert (is_loopback(url), is_official(url)) == (loopback, official)


def test_the_environment_describes_a_connection() -> None:
    assert connection_from({}) is None
    assert connection_from({"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": " "}) is None
    keyed = connection_from({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"})
    assert keyed is not None
    assert (keyed.base_url, keyed.api_key, keyed.auth_token) == (OFFICIAL, "k", None)
    token = connection_from({"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_BASE_URL": "http://x/v1/"})
    assert token is not None
    assert (token.base_url, token.api_key, token.auth_token, token.key_name) == (
        "http://x",
        None,
        "t",
        "ANTHROPIC_AUTH_TOKEN",
    )
    local = connection_from({"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"})
    assert local is not None
    assert (local.api_key, local.auth_token) == (None, None)
    assert "'k'" not in repr(keyed)


def test_a_key_is_stripped() -> None:
    assert check_key(" sk-1\n", "K") == ("sk-1", None)
    assert check_key(None, "K") == (None, None)


@given(st.text())
def test_a_key_either_can_be_sent_or_is_told_without_showing_it(key: str) -> None:
    checked, problem = check_key(key, "MY_KEY")
    if problem is None:
        assert checked is not None
        assert checked.isascii()
        assert checked.isprintable()
        assert " " not in checked
    else:
        assert checked is None
        assert problem.kind == "authentication"
        assert "MY_KEY" in problem.message
        assert len(key.strip()) < 3 or key.strip() not in problem.message


@given(st.text(max_size=40))
def test_any_text_is_a_base_url_or_a_message(url: str) -> None:
    problem = check_base_url(normalise_base_url(url))
    assert problem is None or problem.message.isprintable()

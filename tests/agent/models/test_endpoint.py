"""Base URLs and keys, before anything is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.anthropic.endpoint import (
    check_base_url,
    check_key,
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
    "url",
    [
        "user:hunter2@host",
        "https:/user:hunter2@host",
        "https://user:x/hunter2@host",
        "https://user:x#hunter2@host",
        "https://user:x?hunter2@host",
        "https://user:1/hunter2@host",
        "https://user:p@hunter2/x@host",
        "https://user:p@hunter2?x@host",
        "https://host/?key=hunter@2hunter2",
        "http://[user:hunter2@host",
        "https://user:hunter2@host",
    ],
)
def test_a_password_is_shown_nowhere_wherever_the_address_is_wrong(url: str) -> None:
    url = normalise_base_url(url)
    problem = check_base_url(url)
    assert problem is not None and "hunter2" not in problem.message + hide_secrets(url)


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

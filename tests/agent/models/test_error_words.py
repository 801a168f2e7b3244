"""What a person reads of an error: plain words, said once, with the next thing to do."""

from __future__ import annotations

import pytest

from agent.core.model import ModelError
from agent.models.anthropic.error_mapping import (
    SEND_AGAIN,
    Where,
    explain_event,
    explain_exception,
    explain_page,
    explain_status,
    with_next_step,
)

WHERE = Where("http://x", "m")


def named(name: str, text: str = "", base: type[BaseException] = Exception) -> BaseException:
    return type(name, (base,), {})(text)


TRANSPORT = type("TransportError", (Exception,), {})


@pytest.mark.parametrize(
    ("error", "words", "jargon"),
    [
        (
            named("RemoteProtocolError", "peer closed connection (incomplete chunked read)", TRANSPORT),
            "closed before the answer was whole",
            "chunked",
        ),
        (named("ConnectError", "[Errno 111] Connection refused"), "the connection was refused", "Errno"),
        (named("ConnectError", "[Errno -2] Name or service not known"), "name is not known", "Errno"),
        (named("ReadError", "[Errno 104] Connection reset by peer", TRANSPORT), "other side closed", "Errno"),
    ],
)
def test_a_broken_connection_is_told_in_plain_words(error: BaseException, words: str, jargon: str) -> None:
    told = with_next_step(explain_exception(error, WHERE))
    assert words in told
    assert jargon not in told
    assert told.endswith((f". {SEND_AGAIN}", f"? {SEND_AGAIN}"))


class _Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError("sk-ant-a-key")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("sk-ant-a-key")

    __hash__ = None  # type: ignore[assignment]


def test_an_exception_that_cannot_speak_is_told_all_the_same() -> None:
    error = named("ConnectError")
    error.__cause__ = _Broken()
    assert "http://x" in explain_exception(error, WHERE).message


def test_a_server_that_only_repeats_itself_is_quoted_no_further() -> None:
    told = explain_event({"type": "overloaded_error", "message": "Overloaded"}, WHERE)
    assert told.message == "The server at http://x is overloaded."
    told = explain_event({"type": "overloaded_error", "message": "Until noon"}, WHERE)
    assert told.message == "The server at http://x is overloaded: Until noon"
    assert with_next_step(told) == f"The server at http://x is overloaded: Until noon. {SEND_AGAIN}"


def test_an_error_that_has_to_be_mended_says_no_more_than_that() -> None:
    mend = ModelError("authentication", "Check the key.")
    assert with_next_step(mend) == "Check the key."
    cut = ModelError("incomplete", "It was cut off; send a message to go on.", retryable=True)
    assert with_next_step(cut) == cut.message
    assert with_next_step(None).endswith(SEND_AGAIN)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mRED\x1b[0m \x1b]0;pwn\x07!", "RED !"),
        ("a\x9b31mb\x1b(Bc\x1bPq\x1b\\d\x9d0;t\x9ce\x1bcf", "abcdef"),
        ("never ended \x1b]0;title", "never ended 0;title"),
        ("\x1b[2Jkey sk-\x1b[1msecret-\x00key \x1b[", "key [key]"),
    ],
)
def test_no_rest_of_an_escape_sequence_stands_in_a_message_and_none_hides_a_key(
    text: str, shown: str
) -> None:
    where = Where(secrets=("sk-secret-key",))
    assert where.clean(text) == shown
    for error in (
        explain_status(400, {"error": {"type": "invalid_request_error", "message": text}}, where),
        explain_event({"type": "api_error", "message": text}, where),
        explain_page(text, text.encode(), where),
    ):
        assert shown in error.message


def test_no_half_of_a_key_is_shown_where_a_body_was_cut_within_it() -> None:
    key = "sk-ant-0123456789-abcdefghij"
    where = Where(secrets=(key,))

    for kept in range(len(key)):  # how much of the key comes before the cut
        page = explain_page("text/html", b"\n" * 200 + f"key: {key[:kept]}".encode(), where)
        nested = {"error": {"message": [" " * (4000 - len('["') - kept) + key]}}
        for error in (
            page,
            explain_status(500, " " * 60_000 + f"key: {key[:kept]}", where),
            explain_status(500, nested, where),
        ):
            assert "0123" not in error.message

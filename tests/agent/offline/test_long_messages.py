"""A very long message is read by its head: the long rest is content and is never cut into words."""

from __future__ import annotations

import pytest

from agent.models.offline.long import LONGEST_READ, abridged, block_after
from agent.models.offline.split import understand
from tests.agent.offline.room import PROMPT, Room

LONG = "Be kind and “nice”: always.\nNever {{user}} rude.\n" * (2 * LONGEST_READ // 40)
PLAIN = "Be kind and nice.\n" * (2 * LONGEST_READ // 15)


def accept_all(_whole: object) -> bool:
    return True


@pytest.mark.parametrize(
    "head", ["set the system prompt to: ", "Please set the prompt to:\n", "change the prompt to:\n\n"]
)
async def test_a_long_prompt_after_a_colon_is_set_word_for_word(head: str) -> None:
    room = Room()
    await room.say(head + LONG)
    assert room.prompt == LONG.strip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('set the prompt to "', '"'),
        ("set the prompt to:\n```\n", "\n```\n"),
        ("set the prompt to:\n```md\n", "```"),
    ],
)
async def test_a_long_quoted_prompt_is_set_without_its_quotes(before: str, after: str) -> None:
    room = Room()
    await room.say(before + PLAIN + after)
    assert room.prompt.strip() == PLAIN.strip()


async def test_what_follows_a_long_quote_is_part_of_the_request() -> None:
    room = Room()
    await room.say(f'add """{PLAIN}""" at the start of the prompt')
    assert room.prompt.startswith(PLAIN[:100])
    assert room.prompt.endswith(PROMPT)


async def test_a_step_before_the_long_text_is_done_too() -> None:
    room = Room()
    await room.say("rename it to Bob and set the prompt to: " + LONG)
    assert (room.name, room.prompt) == ("Bob", LONG.strip())


async def test_a_long_test_input_is_kept_whole_and_read_back_in_part() -> None:
    room = Room()
    told = await room.say("add a test input: " + LONG)
    assert room.inputs[-1][1] == LONG.strip()
    assert len(told) < 5000
    assert str(len(LONG.strip())) in told


async def test_a_long_answer_to_a_question_is_its_text() -> None:
    room = Room()
    await room.say("change the prompt")
    await room.say(LONG)
    assert room.prompt == LONG.strip()


@pytest.mark.parametrize(
    "piece", ["a\n", "a b ", '"', "a: ", "- rename it to Bob\n", "`", "x", "don't “", "\n"]
)
async def test_a_long_message_that_asks_for_nothing_changes_nothing(piece: str) -> None:
    room = Room()
    start = room.state()
    told = await room.say(piece * (2 * LONGEST_READ))
    assert room.state() == start
    assert len(told) < 5000


async def test_a_long_text_that_may_end_at_two_places_is_not_guessed() -> None:
    room = Room()
    await room.say(f'set the prompt to "{PLAIN}" and add a test input: "hi"')
    assert room.state() == Room().state()


def test_only_the_edges_of_a_long_message_are_cut_into_tokens() -> None:
    for message in ("set the prompt to: " + "a " * 10**6, 'set the prompt to "' + "a " * 10**6 + '" please'):
        whole = abridged(message, accept_all)
        assert whole is not None
        assert len(whole) < 20


def test_a_short_message_is_read_as_ever() -> None:
    assert (
        understand("set the prompt to: hi there").intents
        == understand("set the prompt to:  hi there \n").intents
    )


def test_blank_lines_around_a_block_go_and_the_indent_of_its_first_line_stays() -> None:
    assert block_after(" \n\n  one\n two\n\n") == "  one\n two"
    assert block_after("  one ") == "one"

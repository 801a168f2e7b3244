"""An answer holds for what the question was about: where that has been changed since, it is asked anew."""

from __future__ import annotations

import pytest

from tests.agent.offline.room import PROMPT, Room


async def test_a_yes_does_not_empty_a_prompt_that_was_never_asked_about() -> None:
    room = Room()
    await room.say("clear the system prompt")
    room.prompt = "Written by hand meanwhile."
    told = await room.say("yes")
    assert room.prompt == "Written by hand meanwhile."
    assert "changed since I asked" in told
    assert "Written by hand meanwhile." in told
    await room.say("yes")
    assert room.prompt == ""


async def test_the_new_question_holds_for_the_new_text_only() -> None:
    room = Room()
    await room.say("clear the system prompt")
    room.prompt = "Second."
    await room.say("yes")
    room.prompt = "Third."
    await room.say("yes")
    assert room.prompt == "Third."


async def test_a_yes_to_an_unchanged_prompt_is_done_at_once() -> None:
    room = Room()
    await room.say("clear the system prompt")
    await room.say("yes")
    assert room.prompt == ""


async def test_a_change_of_the_name_does_not_matter_to_a_question_about_the_prompt() -> None:
    room = Room()
    await room.say("clear the system prompt")
    room.name = "Renamed by hand"
    await room.say("yes")
    assert room.prompt == ""


async def test_a_place_picked_in_a_list_is_not_used_on_another_text() -> None:
    room = Room(prompt="Speak of you.\nAsk for you.\nThank you.\n")
    await room.say('replace "you" with "me"')
    room.prompt = "Thank you.\nSpeak of you.\nAsk for you and you.\n"
    told = await room.say("2")
    assert room.prompt == "Thank you.\nSpeak of you.\nAsk for you and you.\n"
    assert "changed since I asked" in told


async def test_a_test_input_rewritten_by_hand_is_not_deleted_by_an_old_answer() -> None:
    room = Room()
    await room.say("clear the second test")
    room.inputs[1] = ("rain", "Precious words.")
    told = await room.say("yes")
    assert ("rain", "Precious words.") in room.inputs
    assert "changed since I asked" in told


async def test_a_deletion_asked_about_is_not_done_on_a_list_that_was_reordered() -> None:
    room = Room()
    await room.say("delete the second test?")
    room.inputs.reverse()
    room.inputs.pop()
    await room.say("yes")
    assert [identity for identity, _ in room.inputs] == ["code", "rain"]


async def test_an_offered_undo_does_not_take_back_a_change_made_meanwhile() -> None:
    room = Room()
    await room.say("rename it to Bob")
    await room.say("rename it back")
    room.prompt = "Written by hand meanwhile."
    told = await room.say("yes")
    assert (room.name, room.prompt) == ("Bob", "Written by hand meanwhile.")
    assert "changed since I asked" in told


async def test_an_offered_undo_is_done_when_nothing_came_between() -> None:
    room = Room()
    await room.say("rename it to Bob")
    await room.say("rename it back")
    await room.say("yes")
    assert (room.name, room.prompt) == ("Optimist", PROMPT)


@pytest.mark.parametrize("request_", ["be more polite", "You should be kind", "answer in French"])
async def test_a_request_said_again_is_no_yes_to_the_question_about_it(request_: str) -> None:
    room = Room()
    asked = await room.say(request_)
    assert "Did you mean" in asked
    assert await room.say(f" {request_.upper()}") == asked
    assert await room.say(request_) == asked and room.prompt == PROMPT
    await room.say("yes")
    assert room.prompt != PROMPT


async def test_what_is_said_behind_a_text_that_was_read_back_begins_its_line() -> None:
    told = await Room().say("remove the line about cats")
    assert told.endswith("\n\nI have changed nothing so far.")

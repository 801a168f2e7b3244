"""A talk with one or several personas themselves: what is said, and their answers as they come. Knows no widget.

What was said lies in the log that `persona ask` writes too; nothing of the personas is changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from personas.errors import PersonaError
from tui.outputs.controller import NO_MODEL

if TYPE_CHECKING:
    from agent.core.model import Usage
    from agent.outputs.ensemble import EnsembleConversation, EnsembleLog, PersonaAnswer
    from agent.outputs.evaluator import Evaluator
    from agent.outputs.variant import Variant
    from personas.changes import AddTestInput
    from personas.store import Store
    from tui.chat.view import ChatHost
    from tui.document.controller import DocumentController

AGAIN = "/continue asks again."
STOPPED = f"Stopped. {AGAIN}"


@dataclass
class TalkLine:
    """One thing in a talk.

    Attributes:
        key: names it.
        persona_id, name: who says it; empty for the person and the program.
        text: what is said so far.
        state: `notice` and `error` are the program's.
        place: where it stands in the conversation; None where it is no part of it.
    """

    key: str
    persona_id: str
    name: str
    text: str
    state: Literal["whole", "arriving", "stopped", "notice", "error"] = "whole"
    place: int | None = None


class TalkView(Protocol):
    """What shows a talk."""

    def show_lines(self, speakers: Sequence[str], lines: list[TalkLine]) -> None:
        """Show these lines of these personas and no others."""

    def begin(self, line: TalkLine) -> None:
        """A line is new, the last of them."""

    def extend(self, line: TalkLine, text: str) -> None:
        """More text of a line arrived."""

    def end(self, line: TalkLine) -> None:
        """A line is whole now, or was stopped."""


class PersonaTalk:
    """The talk on the screen.

    Args:
        host: the main screen.
        documents: what is open; None before the home is read.
        evaluator: gives what asks the models, by the settings and the connection as they are now; may block.
        changed: told whenever something else than a line changed.
        restore_message: takes a message that could not be sent.

    Attributes:
        ids: whom the talk is with; none while there is no talk.
        at_once: whether nobody hears this round's other answers.
    """

    def __init__(
        self,
        host: ChatHost,
        documents: Callable[[], DocumentController | None],
        evaluator: Callable[[], Evaluator],
        *,
        changed: Callable[[], None],
        restore_message: Callable[[str], None],
    ) -> None:
        self._host, self._documents, self._evaluator = host, documents, evaluator
        self._changed, self._restore_message = changed, restore_message
        self.view: TalkView
        self.ids: tuple[str, ...] = ()
        self.at_once = False
        self.lines: list[TalkLine] = []
        self._conversation: EnsembleConversation | None = None
        self._cleared: set[tuple[str, ...]] = set()
        self._round: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._saying = asyncio.Lock()
        self._numbered = 0
        self._models = ""
        self._usage: Usage | None = None
        self._cost: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a talk."""
        return bool(self.ids)

    @property
    def answering(self) -> bool:
        """Whether somebody is answering."""
        return self._round is not None

    @property
    def note(self) -> str:
        """Which models answer, and what their answers took so far."""
        from agent.models.prices import spent_parts
        from tui.chat.labels import LONGEST_NAME
        from tui.terminal.sanitise import both_ends

        parts = [both_ends(self._models or self._host.program.model_name, LONGEST_NAME)]
        return " · ".join(parts + (spent_parts(self._usage, self._cost) if self._usage is not None else []))

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Who has not answered the last message."""
        said = self._conversation.said if self._conversation is not None else []
        last = next((place for place, one in reversed([*enumerate(said)]) if not one.persona_id), len(said))
        answered = {one.persona_id for one in said[last:]}
        return tuple(one for one in self.ids if one not in answered) if last < len(said) else ()

    # -- which conversation ---------------------------------------------------------------------------------

    def open(self, ids: Sequence[str]) -> None:
        """Talk to these personas; goes on with the last conversation with just them, once that is read."""
        self.leave()
        self.ids, self._models, self._usage, self._cost = tuple(ids), "", None, 0.0
        self._changed()
        self._begin_reading()

    def leave(self) -> None:
        """End the talk; what was said is kept."""
        self.stop()
        self._round = self._conversation = None
        self.ids, self.lines = (), []
        self._changed()

    def clear(self) -> None:
        """Begin a new conversation with the same personas."""
        self.stop()
        self._cleared.add(self.ids)
        self._begin_reading()
        self._host.show_message("A new conversation begins. /unclear brings the old one back.")

    def unclear(self) -> None:
        """Go back to the last conversation in which something was said."""
        self.stop()
        self._cleared.discard(self.ids)
        self._begin_reading()

    def _begin_reading(self) -> None:
        self._reading = self._host.start(self._read())

    async def _read(self) -> None:
        from agent.outputs.ensemble import EnsembleConversation

        ids, self._conversation, last = self.ids, None, None
        if ids not in self._cleared:
            last = await asyncio.to_thread(lambda: self._log.last(ids))
        is_connected = await self._is_connected()
        if ids != self.ids:
            return
        self._conversation = last or EnsembleConversation()
        self._conversation.to = ids
        self.lines = [
            TalkLine(self._key(), one.persona_id, one.name, one.text, place=place)
            for place, one in enumerate(self._conversation.said)
        ]
        if not is_connected:
            self.lines.append(TalkLine(self._key(), "", "", NO_MODEL, "notice"))
        self.view.show_lines(ids, self.lines)
        self._changed()

    # -- asking ---------------------------------------------------------------------------------------------

    async def send(self, text: str) -> None:
        """Say something to the personas; what could not be said comes back."""
        is_said = False
        try:
            async with self._saying:
                is_said = await self._say(text)
        finally:
            if not is_said:
                self._restore_message(text)

    async def _say(self, text: str) -> bool:
        from agent.outputs.ensemble import PersonaAnswer

        if self._reading is not None:
            await asyncio.wait({self._reading})
        if (conversation := self._conversation) is None:
            return False
        if self.answering:
            self._host.show_message("Wait for the answer, or stop it.")
            return False
        if not await self._is_connected():
            self._host.show_message(NO_MODEL, error=True)
            return False
        await asyncio.to_thread(self._log.add, conversation, PersonaAnswer("", "", text))
        self._cleared.discard(self.ids)
        if conversation is self._conversation:
            self._add(TalkLine(self._key(), "", "", text, place=len(conversation.said) - 1))
            self._begin_round()
        return True

    def ask_again(self) -> None:
        """Have those answer who have not."""
        if self.answering or not self.unanswered:
            self._host.show_message("Everybody has answered.")
        else:
            self._begin_round()

    def stop(self) -> None:
        """Stop the answers that are arriving."""
        if self._round is not None:
            self._round.cancel()

    def toggle_at_once(self) -> None:
        """Let several answer all at once, or in turn."""
        self.at_once = not self.at_once
        self._changed()

    def _begin_round(self) -> None:
        assert self._conversation is not None
        task = self._round = self._host.start(self._ask(self._conversation, self.unanswered))
        task.add_done_callback(self._round_ended)
        self._changed()

    def _round_ended(self, task: asyncio.Task[None]) -> None:
        if task is self._round:
            self._round = None
            self._changed()

    async def _ask(self, conversation: EnsembleConversation, ids: Sequence[str]) -> None:
        """Have these personas answer."""
        from agent.outputs.ensemble import ask_all

        arriving: dict[str, TalkLine] = {}

        def begin(variant: Variant) -> None:
            name = variant.persona_name
            if (line := arriving.get(variant.persona_id)) is None:
                line = arriving[variant.persona_id] = TalkLine(
                    self._key(), variant.persona_id, name, "", "arriving"
                )
                self._add(line)
            elif line.text:  # an attempt failed; this one begins anew
                line.text = ""
                self.view.show_lines(self.ids, self.lines)

        def extend(variant: Variant, text: str) -> None:
            line = arriving[variant.persona_id]
            line.text += text
            self.view.extend(line, text)

        def end(answer: PersonaAnswer) -> None:
            line = arriving.pop(answer.persona_id)
            line.state = "whole" if answer.error is None else "stopped"
            if answer.error is None:
                line.text, line.place = answer.text, len(conversation.said) - 1
            self._end(line)
            if answer.error is not None:
                error = f"{answer.name}: {answer.error} {AGAIN}"
                self._add(TalkLine(self._key(), answer.persona_id, "", error, "error"))

        evaluator = await asyncio.to_thread(self._evaluator)
        pace = evaluator.pace()
        try:
            await self._flush()
            variants = await asyncio.to_thread(self._variants, evaluator, ids)
            self._models = ", ".join(dict.fromkeys(one.model or "" for one in variants))
            await ask_all(
                self._log, conversation, variants, evaluator.model_of, pace,
                at_once=self.at_once, on_answer=end, on_start=begin, on_text=extend,
            )  # fmt: skip
        except asyncio.CancelledError:
            for line in arriving.values():
                line.state = "stopped"
                self._end(line)
            if conversation is self._conversation:
                whose = next(reversed(arriving), "")
                self._add(TalkLine(self._key(), whose, "", STOPPED, "notice"))
        except PersonaError as error:
            self._add(TalkLine(self._key(), "", "", f"{error} {AGAIN}", "error"))
        finally:
            self._usage = pace.usage if self._usage is None else self._usage + pace.usage
            known = self._cost is not None and pace.cost is not None
            self._cost = self._cost + pace.cost if known else None  # type: ignore[operator]

    async def _is_connected(self) -> bool:
        return await asyncio.to_thread(lambda: self._evaluator().is_connected)

    async def _flush(self) -> None:
        """Save what is typed: the personas answer by the prompt that is on the screen.

        Raises:
            PersonaError: the prompt could not be saved.
        """
        if (documents := self._documents()) is None:
            return
        await documents.flush()
        if documents.id in self.ids and documents.document is not None and documents.document.prompt.dirty:
            raise PersonaError(f"The prompt is not saved: {documents.trouble or 'see its pane.'}")

    @staticmethod
    def _variants(evaluator: Evaluator, ids: Sequence[str]) -> list[Variant]:
        from agent.outputs.variant import read_runnable

        variants = [evaluator.variant(read_runnable(evaluator.store, one)) for one in ids]
        for variant in variants:
            evaluator.model_of(variant)  # here, since a command may be asked for the key
        return variants

    # -- test inputs ----------------------------------------------------------------------------------------

    def test_input(self, line: TalkLine | None, persona_id: str) -> AddTestInput | None:
        """Return the change that makes a message a test input of a persona, with what came before; None for none.

        Args:
            line: the message, or an answer to it; None for the last one.
            persona_id: as whom the persona sees the others' answers.
        """
        from agent.outputs.ensemble import EnsembleConversation
        from personas.changes import AddTestInput

        said = self._conversation.said if self._conversation is not None else []
        end = line.place if line is not None and line.place is not None else len(said) - 1
        while end >= 0 and said[end].persona_id:
            end -= 1
        if end < 0:
            return None
        messages = EnsembleConversation(said=said[: end + 1]).messages_for(persona_id)
        return AddTestInput(said[end].text, messages=messages if len(messages) > 1 else ())

    # -- shared ---------------------------------------------------------------------------------------------

    @property
    def _log(self) -> EnsembleLog:
        from agent.outputs.ensemble import EnsembleLog

        return EnsembleLog(self._store.home)

    @property
    def _store(self) -> Store:
        documents = self._documents()
        assert documents is not None  # else there is no talk
        return documents.workspace.store

    def _add(self, line: TalkLine) -> None:
        self.lines.append(line)
        self.view.begin(line)

    def _end(self, line: TalkLine) -> None:
        """A line gets no more text; one that has none goes."""
        if line.text or line not in self.lines:
            self.view.end(line)
        else:
            self.lines.remove(line)
            self.view.show_lines(self.ids, self.lines)

    def _key(self) -> str:
        self._numbered += 1
        return f"talk-{self._numbered}"

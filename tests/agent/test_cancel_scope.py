"""Code outside of a run is waited for until it ends, is cancelled, or has had its time."""

from __future__ import annotations

import asyncio

import pytest

from agent.core.cancellation import GRACE, CancelScope, OwnedTask, race
from agent.core.errors import GaveUpWaiting
from tests.support.virtual_time import run_virtually


class Work:
    """Takes a hundred seconds, cancelled or not."""

    def __init__(self, *, obeys: bool) -> None:
        self.cancelled = False
        self.ended = False
        self._obeys = obeys

    async def go(self) -> str:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            self.cancelled = True
            if self._obeys:
                raise
            await asyncio.sleep(100)
        self.ended = True
        return "done"


def wait(
    work: Work, *, cut_at: float | None = None, within: float | None = None, cancels: bool = True
) -> tuple[str, float]:
    """What came of it, and after how many seconds."""

    async def main() -> tuple[str, float]:
        scope = CancelScope()
        loop = asyncio.get_running_loop()
        began = loop.time()
        if cut_at is not None:
            loop.call_later(cut_at, scope.cancel)
        try:
            came = await scope.wait(work.go(), within=within, cancels=cancels)
        except GaveUpWaiting as cut:
            came = str(cut)
        took = loop.time() - began
        await asyncio.sleep(500)
        return came, round(took, 3)

    return run_virtually(main())


def test_what_ends_in_time_gives_what_it_returns() -> None:
    assert wait(Work(obeys=True), cut_at=200, within=200) == ("done", 100)


@pytest.mark.parametrize("obeys", [True, False])
def test_what_is_cut_off_is_cancelled_and_has_the_grace_period(obeys: bool) -> None:
    work = Work(obeys=obeys)
    assert wait(work, cut_at=5) == ("it was stopped", 5 if obeys else 5 + GRACE)
    assert work.cancelled


def test_what_takes_too_long_is_given_up() -> None:
    assert wait(Work(obeys=True), within=3) == ("it took longer than 3 s", 3)


def test_what_is_not_to_be_cancelled_goes_on_unattended() -> None:
    work = Work(obeys=True)
    assert wait(work, cut_at=5, cancels=False) == ("it was stopped", 5)
    assert (work.cancelled, work.ended) == (False, True)


def test_what_cancels_itself_is_no_cancellation_of_who_waits() -> None:
    async def main() -> str:
        async def give_up() -> None:
            raise asyncio.CancelledError

        with pytest.raises(GaveUpWaiting) as caught:
            await CancelScope().wait(give_up())
        return str(caught.value)

    assert run_virtually(main()) == "it cancelled itself"


def test_what_is_waited_for_after_the_cut_never_begins() -> None:
    begun: list[str] = []

    async def act() -> None:
        begun.append("acted")

    async def main() -> None:
        scope = CancelScope()
        scope.cancel()
        with pytest.raises(GaveUpWaiting):
            await scope.wait(act())
        await asyncio.sleep(1)

    run_virtually(main())
    assert not begun


async def test_what_is_cut_off_is_cancelled_at_once() -> None:
    scope, begun = CancelScope(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.sleep(100)

    waiting = asyncio.ensure_future(scope.wait(work()))
    await begun.wait()
    (task,) = (one for one in asyncio.all_tasks() if "_begin" in str(one.get_coro()))
    scope.cancel()
    assert task.cancelling() == 1
    with pytest.raises(GaveUpWaiting):
        await waiting


def test_a_scope_is_cancelled_with_its_parent_unless_it_was_closed() -> None:
    async def main() -> tuple[bool, bool]:
        parent = CancelScope()
        child, closed = CancelScope(parent), CancelScope(parent)
        closed.close()
        parent.cancel()
        assert CancelScope(parent).is_cancelled
        return child.is_cancelled, closed.is_cancelled

    assert run_virtually(main()) == (True, False)


def test_cancelling_an_owned_task_asks_it_to_stop_and_it_ends_by_itself() -> None:
    async def main() -> str:
        stop = CancelScope()

        async def work() -> str:
            await race(None, stop)
            await asyncio.sleep(1)
            return "all closed"

        task = OwnedTask(work(), stop.cancel)
        assert task.cancel()
        said = await task
        assert not task.cancel()
        return said

    assert run_virtually(main()) == "all closed"

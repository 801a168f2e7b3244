"""No two turns have the same id, whoever made them."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.core.turns import UserTurn


def _ids(number: int) -> list[str]:
    return [UserTurn(content="x").id for _ in range(number)]


def test_ids_are_told_apart_in_every_thread() -> None:
    with ThreadPoolExecutor(4) as threads:
        found = [turn_id for ids in threads.map(_ids, [700] * 8) for turn_id in ids]
    assert len(set(found)) == len(found)
    assert all(len(turn_id) == len("turn_") + 24 for turn_id in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_does_not_go_on_with_the_ids_of_its_parent() -> None:
    _ids(1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - in the other process
        os.write(writing, " ".join(_ids(3)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        theirs = pipe.read().split()
    os.waitpid(child, 0)
    assert len(theirs) == 3
    assert not set(theirs) & set(_ids(70))

"""The drafts database: what ended programs left is found once, and nothing ever keeps a person from typing."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from personas.errors import StorageError
from tests.support import forked
from tui.drafts.draft import STASH, OutboxMessage
from tui.drafts.store import DATABASE, DraftStore


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "persona-editor"


@pytest.fixture
def store(home: Path, folder: Path) -> Iterator[DraftStore]:
    store = DraftStore(home, folder)
    yield store
    store.close()


def texts(drafts: object) -> list[str]:
    return [draft.text for draft in drafts]  # type: ignore[attr-defined]


PROGRAM = """
import sys
from pathlib import Path
from tui.drafts.draft import OutboxMessage
from tui.drafts.store import DraftStore
store = DraftStore(Path(sys.argv[1]), Path(sys.argv[2]))
for number in range(int(sys.argv[4]) or sys.maxsize):
    if number == 1 and sys.argv[4] == "0":
        print("ready", flush=True)
    store.save("helper", "prompt", f"{sys.argv[3]} {number}", base="as it was")
store.put_in_outbox(OutboxMessage("helper", f"turn-{sys.argv[3]}", "say it", session="s1"))
print("ready", flush=True)
sys.stdin.read()
"""


def program(home: Path, folder: Path, text: str, times: int = 1) -> subprocess.Popen[str]:
    """Start a program that stores a draft some times (0: without end) and a message, and waits to be killed."""
    return forked.Popen(
        [sys.executable, "-c", PROGRAM, str(home), str(folder), text, str(times)],
        env=forked.ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_until_ready(running: subprocess.Popen[str]) -> None:
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"


def end(running: subprocess.Popen[str]) -> None:
    running.kill()
    running.communicate()


# -- one program --------------------------------------------------------------------------------------------


def test_a_draft_is_stored_replaced_and_deleted(store: DraftStore) -> None:
    store.save("helper", "prompt", "first", base="stored")
    store.save("helper", "prompt", "second\n\x00 and a half \ud83d", base="stored", sending="first")
    store.save("helper", "input:a", "other")
    prompt = next(draft for draft in store.own() if draft.slot == "prompt")
    assert (prompt.base, prompt.text) == ("stored", "second\n\x00 and a half ?")
    assert prompt.sending == "first"
    store.delete("helper", "prompt")
    assert texts(store.own()) == ["other"]


def test_each_home_has_its_own_drafts(store: DraftStore, folder: Path, tmp_path: Path) -> None:
    other = DraftStore(tmp_path / "another", folder)
    store.save("helper", "prompt", "here")
    assert other.own() == other.orphans() == []
    store.close()
    assert other.orphans() == []
    other.close()


def test_a_home_is_the_same_by_a_link_to_it(
    store: DraftStore, folder: Path, home: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(home)
    store.save("helper", "prompt", "here")
    store.close()
    by_link = DraftStore(link, folder)
    assert texts(by_link.orphans()) == ["here"]
    by_link.close()


def test_only_the_person_can_read_it(store: DraftStore, folder: Path) -> None:
    store.save("helper", "prompt", "private")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_it_lies_in_the_state_folder_of_the_person(home: Path) -> None:
    assert DraftStore(home).path == Path(os.environ["XDG_STATE_HOME"]) / "persona-editor" / DATABASE


def test_what_was_discarded_in_an_older_program_is_a_stash(
    store: DraftStore, home: Path, folder: Path
) -> None:
    store.leave("helper", "prompt", "not wanted", base="")
    store.leave("helper", "prompt", "typed", base="")
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE drafts SET status = 'discarded' WHERE text = 'not wanted'")
    store.close()
    newer = DraftStore(home, folder)
    found = {draft.text: draft for draft in newer.orphans("helper")}
    newer.close()
    assert found["typed"].slot == "prompt" and found["not wanted"].slot.startswith(STASH)
    assert found["not wanted"].base.endswith("Z")


def test_drafts_that_are_released_are_found_like_those_of_an_ended_program(store: DraftStore) -> None:
    store.save("helper", "prompt", "typed")
    store.release("helper", ["prompt"])
    assert store.own() == []
    assert texts(store.orphans("helper")) == ["typed"]


def test_what_was_found_elsewhere_is_like_what_an_ended_program_left(store: DraftStore) -> None:
    for text in ("first", "second"):
        store.leave("helper", "prompt", text, base="as it was")
    assert sorted(texts(store.orphans("helper"))) == ["first", "second"]
    assert store.own() == []


def test_the_outbox_keeps_the_order_of_sending(store: DraftStore) -> None:
    for name in ("one", "two", "three"):
        store.put_in_outbox(OutboxMessage("", name, f"message {name}"))
    store.put_in_outbox(OutboxMessage("helper", "one", "message one", session="s1", status="queued"))
    store.remove_from_outbox("two")
    assert [(m.turn_id, m.persona, m.status) for m in store.outbox()] == [
        ("one", "helper", "queued"),
        ("three", "", "sent"),
    ]


# -- several programs ---------------------------------------------------------------------------------------


def test_what_a_running_program_has_belongs_to_it(home: Path, folder: Path, store: DraftStore) -> None:
    running = program(home, folder, "theirs")
    wait_until_ready(running)
    assert store.orphans() == []
    assert store.unsent() == []
    end(running)


def test_a_killed_program_leaves_its_drafts_to_the_next(home: Path, folder: Path, store: DraftStore) -> None:
    running = program(home, folder, "typed", times=3)
    wait_until_ready(running)
    os.kill(running.pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while not (orphans := store.orphans("helper")) and time.monotonic() < deadline:
        time.sleep(0.01)  # it is found although nobody has waited for the process
    assert [(draft.base, draft.text) for draft in orphans] == [("as it was", "typed 2")]
    assert store.adopt(orphans[0])
    assert not store.adopt(orphans[0])
    assert texts(store.own()) == ["typed 2"]
    (message,) = store.unsent()
    assert (message.turn_id, message.text, message.session) == ("turn-typed", "say it", "s1")
    assert store.adopt_message(message)
    assert not store.adopt_message(message)
    assert store.unsent() == []
    assert [message.text for message in store.outbox()] == ["say it"]
    store.remove_from_outbox("turn-typed")
    assert store.outbox() == []
    end(running)


def test_a_program_killed_while_it_writes_leaves_a_whole_draft(
    home: Path, folder: Path, store: DraftStore
) -> None:
    for number in range(5):
        running = program(home, folder, "x" * 100_000, times=0)
        wait_until_ready(running)
        time.sleep(0.01 * number)
        end(running)
    orphans = store.orphans("helper")
    assert len(orphans) == 5
    assert all(draft.text.startswith("x" * 100_000 + " ") for draft in orphans)
    assert store.warning == ""


def test_a_program_that_ends_by_itself_leaves_its_drafts_too(
    store: DraftStore, home: Path, folder: Path
) -> None:
    store.save("helper", "chat", "not sent")
    store.close()
    following = DraftStore(home, folder)
    assert texts(following.orphans()) == ["not sent"]
    following.close()


def test_of_two_killed_programs_both_texts_are_there(home: Path, folder: Path, store: DraftStore) -> None:
    for text in ("first", "second"):
        running = program(home, folder, text)
        wait_until_ready(running)
        end(running)
    newest, oldest = store.orphans()
    assert (newest.text, oldest.text) == ("second 0", "first 0")
    assert store.adopt(newest)
    assert not store.adopt(oldest), "the slot is taken"
    assert texts(store.orphans()) == ["first 0"]
    assert store.drop(oldest)
    assert store.orphans() == []


def test_an_orphan_is_adopted_by_one_program_alone(home: Path, folder: Path, store: DraftStore) -> None:
    for number in range(10):
        store.save("helper", f"input:{number}", "typed")
    store.close()
    followers = [DraftStore(home, folder) for _ in range(4)]

    def adopt_all(follower: DraftStore) -> int:
        return sum(follower.adopt(draft) for draft in follower.orphans())

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(adopt_all, followers)) == 10
    for follower in followers:
        follower.close()


def test_programs_that_begin_at_once_do_not_hinder_each_other(
    home: Path, folder: Path, store: DraftStore
) -> None:
    running = [program(home, folder, f"program {number}", times=40) for number in range(4)]
    for one in running:
        wait_until_ready(one)
    for one in running:
        end(one)
    assert sorted(texts(store.orphans())) == [f"program {number} 39" for number in range(4)]
    assert store.warning == ""


# -- a database that cannot be used ------------------------------------------------------------------------


def test_a_damaged_database_is_set_aside_with_a_warning(store: DraftStore, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / DATABASE).write_bytes(b"no database at all" * 100)
    (folder / DATABASE).chmod(0o600)
    store.save("helper", "prompt", "typed")
    assert texts(store.own()) == ["typed"]
    (aside,) = folder.glob("unreadable-*")
    assert aside.read_bytes().startswith(b"no database")
    assert str(aside) in store.warning


@pytest.mark.parametrize("kind", ["link", "folder", "open to others"])
def test_a_database_that_is_not_the_persons_is_set_aside(
    store: DraftStore, folder: Path, tmp_path: Path, kind: str
) -> None:
    folder.mkdir(parents=True)
    stranger = tmp_path / "elsewhere"
    if kind == "link":
        (folder / DATABASE).symlink_to(stranger)
    elif kind == "folder":
        (folder / DATABASE).mkdir()
    else:
        (folder / DATABASE).touch()
        (folder / DATABASE).chmod(0o666)
    store.save("helper", "prompt", "typed")
    assert texts(store.own()) == ["typed"]
    assert not stranger.exists()
    assert store.warning


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_database_of_another_user_is_set_aside(store: DraftStore, folder: Path) -> None:
    store.save("helper", "prompt", "theirs")
    store.close()
    os.chown(folder / DATABASE, 12345, 12345)
    store.save("helper", "prompt", "ours")
    assert texts([*store.own(), *store.orphans()]) == ["ours"]
    assert store.warning


def test_a_folder_that_cannot_be_made_is_said_in_a_sentence(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = DraftStore(home, tmp_path / "file" / "state")
    with pytest.raises(StorageError, match="cannot be stored"):
        store.save("helper", "prompt", "typed")
    store.close()


def test_a_write_after_the_end_is_found_by_the_next_program(home: Path, folder: Path) -> None:
    ending, following = DraftStore(home, folder), DraftStore(home, folder)
    ending.save("helper", "prompt", "typed")
    ending.close()
    ending.save("helper", "prompt", "typed last")
    assert texts(following.orphans("helper")) == ["typed last"]
    ending.close()
    following.close()

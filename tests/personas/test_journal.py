"""The journal: whatever happened to the file, whole records are read and the rest is reported."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from personas.errors import InvalidValue, OutsideHome, StorageError
from personas.files import journal as journal_module
from personas.files.journal import FIRST_LIMIT, Journal, Problem
from tests.support.examples import examples

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_records = st.lists(st.dictionaries(st.text(max_size=5).filter(lambda key: key != "id"), _json), max_size=8)


@settings(max_examples=50)
@given(_records)
def test_what_was_appended_is_read_back(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    journal = Journal(tmp_path_factory.mktemp("journal") / "j")
    for record in records:
        journal.append(record)
    reading = journal.read()
    assert (reading.records, reading.problems) == (records, [])


def test_a_missing_file_is_an_empty_one(tmp_path: Path) -> None:
    assert Journal(tmp_path / "none").read().records == []


def test_the_file_is_private(tmp_path: Path) -> None:
    Journal(tmp_path / "j").append({}, sync=True)
    assert (tmp_path / "j").stat().st_mode & 0o777 == 0o600


def test_half_a_character_survives(tmp_path: Path) -> None:
    Journal(tmp_path / "j").append({"a": "\ud83d"})
    assert Journal(tmp_path / "j").read().records == [{"a": "\ud83d"}]


@given(st.integers(min_value=0, max_value=40))
def test_a_torn_last_line_costs_only_itself(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("journal") / "j"
    whole = b'{"n":1}\n{"n":2}\n{"text":"abcdefghijklmn"}\n'
    path.write_bytes(whole[: max(len(whole) - cut, 0)])
    before = Journal(path).read()
    Journal(path).append({"n": 9})
    after = Journal(path).read()
    assert after.records == [*before.records, {"n": 9}]
    assert len(after.problems) == len(before.problems) <= 1


@pytest.mark.parametrize(
    ("middle", "problem"),
    [
        (b"\0" * 5000 + b"\n", Problem(2, "zero bytes")),
        (b"garbage\n", Problem(2, "the line is damaged")),
        (b'{"half": "rec\n', Problem(2, "the line is damaged")),
        (b"\xff\xfe\n", Problem(2, "the line is damaged")),
        (b"[1, 2]\n", Problem(2, "the line holds no record")),
        (b"[" * 100_000 + b"\n", Problem(2, "the line is damaged")),
        (b"9" * 10_000 + b"\n", Problem(2, "the line is damaged")),
    ],
)
def test_a_damaged_line_is_reported_and_the_rest_read(
    tmp_path: Path, middle: bytes, problem: Problem
) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"n":1}\n' + middle + b'{"n":2}\n')
    reading = Journal(path).read()
    assert reading.records == [{"n": 1}, {"n": 2}]
    assert reading.problems == [problem]


def test_a_record_behind_zero_bytes_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"n":1}\n' + b"\0" * 4096 + b'{"n":2}\n')
    reading = Journal(path).read()
    assert reading.records == [{"n": 1}, {"n": 2}]
    assert reading.problems == [Problem(2, "zero bytes around the record")]


def test_empty_lines_are_nobodys_fault(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b'\n{"n":1}\r\n\n\n{"n":2}')
    reading = Journal(tmp_path / "j").read()
    assert (reading.records, reading.problems) == ([{"n": 1}, {"n": 2}], [])


def test_the_same_record_written_twice_counts_once(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b'{"id":"a"}\n{"id":"a"}\n{"x":1}\n{"x":1}\n')
    reading = Journal(tmp_path / "j").read()
    assert reading.records == [{"id": "a"}, {"x": 1}, {"x": 1}]
    assert reading.problems == [Problem(2, "the same record twice")]


def test_an_endless_line_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "LINE_LIMIT", 1000)
    for length in (1000, 1001, 5000):  # with its newline, the first is one byte too long
        (tmp_path / "j").write_bytes(b'{"n":1}\n' + b"x" * length + b'\n{"n":2}\n')
        reading = Journal(tmp_path / "j").read()
        assert reading.records == [{"n": 1}, {"n": 2}]
        assert reading.problems == [Problem(2, "the line is too long")]
    with pytest.raises(InvalidValue):
        Journal(tmp_path / "j").append({"x": "y" * 1000})


def test_the_longest_line_is_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "LINE_LIMIT", 1000)
    journal = Journal(tmp_path / "j")
    record = {"x": "y" * (1000 - len('{"x":""}\n'))}
    journal.append(record)
    assert (tmp_path / "j").stat().st_size == 1000
    assert journal.read().records == list(journal.backwards()) == [record]


def test_the_same_record_behind_a_line_that_is_too_long_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "LINE_LIMIT", 1000)
    (tmp_path / "j").write_bytes(b'{"id":"a"}\n' + b"x" * 1000 + b'\n{"id":"a"}\n')
    problem = "the line is too long"
    reading = Journal(tmp_path / "j").read()
    assert (reading.records, reading.problems) == ([{"id": "a"}] * 2, [Problem(2, problem)])
    assert list(Journal(tmp_path / "j").backwards()) == [{"id": "a"}, Problem(-2, problem), {"id": "a"}]


def test_a_disk_that_refuses_to_sync_costs_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    journal = Journal(tmp_path / "j")
    journal.append({"n": 1})
    before = os.listdir("/dev/fd")
    journal.append({"n": 2}, sync=True)
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError):
        journal.append({"n": 3}, sync=True)
    with pytest.raises(StorageError):
        journal.sync()
    assert len(os.listdir("/dev/fd")) == len(before)


def test_what_json_cannot_say_is_refused(tmp_path: Path) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for record in ({"a": object()}, {"a": deep}):
        with pytest.raises(InvalidValue):
            Journal(tmp_path / "j").append(record)
    assert Journal(tmp_path / "j").read().records == []


def test_every_line_is_json_to_any_reader(tmp_path: Path) -> None:
    Journal(tmp_path / "j").append({"a": [1.5, float("inf"), {"b": float("nan")}], "c": (2, float("nan"))})
    strict = json.loads((tmp_path / "j").read_text(), parse_constant=pytest.fail)
    assert strict == {"a": [1.5, None, {"b": None}], "c": [2, None]}


@pytest.mark.parametrize("kept", [0, 1, 5, 7, 8])
def test_a_disk_that_fills_up_in_mid_line_is_told_and_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    journal = Journal(tmp_path / "j")
    journal.append({"n": 1})
    real = os.write
    calls = 0

    def short_write(descriptor: int, content: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == 1 and kept:
            return real(descriptor, content[:kept])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", short_write)
        if kept == 8:  # the whole line {"n":2}\n
            journal.append({"n": 2})
        else:
            with pytest.raises(StorageError, match="disk is full"):
                journal.append({"n": 2})
    journal.append({"n": 3})
    assert [record for record in journal.read().records if record != {"n": 2}] == [{"n": 1}, {"n": 3}]
    assert len(journal.read().problems) <= 1


def test_a_short_write_that_then_goes_on_keeps_the_record_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    lengths = iter([4, 1000, 1000])
    monkeypatch.setattr(os, "write", lambda fd, content: real(fd, content[: next(lengths)]))
    Journal(tmp_path / "j").append({"n": 2})
    assert Journal(tmp_path / "j").read().records == [{"n": 2}]


def test_a_record_that_comes_short_again_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, content: real(fd, content[:4]))
    with pytest.raises(StorageError, match="disk is full"):
        Journal(tmp_path / "j").append({"n": 2})


def test_a_write_that_lacks_only_its_newline_is_not_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "j")
    journal.append({"n": 1})
    real = os.write
    lengths = iter([7, 1000, 1000])
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, content: real(fd, content[: next(lengths)]))
        journal.append({"n": 2})
    journal.append({"n": 3})
    assert (tmp_path / "j").read_text() == '{"n":1}\n{"n":2}\n{"n":3}\n'


@pytest.mark.parametrize("refused", [{"x": "y" * 1000}, {"x": object()}], ids=["too long", "no JSON"])
def test_a_record_that_is_refused_does_not_block_those_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: dict[str, Any]
) -> None:
    monkeypatch.setattr(journal_module, "LINE_LIMIT", 1000)
    journal = Journal(tmp_path / "j")
    journal.append({"n": 1})
    with pytest.raises(InvalidValue):
        journal.append(refused)
    journal.append({"n": 2})
    reading = journal.read()
    assert (reading.records, reading.problems) == ([{"n": 1}, {"n": 2}], [])


def test_what_was_asked_to_last_is_synced_and_so_is_the_folder_of_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    names = {tmp_path.stat().st_ino: "folder"}

    def fsync(descriptor: int) -> None:
        inode = os.fstat(descriptor).st_ino
        synced.append(names.get(inode) or f"{os.fstat(descriptor).st_size} bytes")

    monkeypatch.setattr(os, "fsync", fsync)
    journal = Journal(tmp_path / "j")
    journal.append({"n": 1})
    assert synced == ["folder"]
    journal.append({"n": 2})
    assert synced == ["folder"], "nobody waits for the disk but who asks for it"
    journal.append({"n": 3}, sync=True)
    journal.append({"n": 4})
    journal.sync()
    assert synced == ["folder", "24 bytes", "32 bytes"]


_APPEND = """
import sys
from pathlib import Path
from personas.files.journal import Journal
journal = Journal(Path(sys.argv[1]))
for n in range(300):
    journal.append({"who": sys.argv[2], "n": n, "text": sys.argv[2] * (n * 7 % 3000)})
"""


def test_two_processes_do_not_write_into_each_others_records(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    writers = [
        subprocess.Popen([sys.executable, "-c", _APPEND, str(tmp_path / "j"), who], cwd=root) for who in "ab"
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    reading = Journal(tmp_path / "j").read()
    assert reading.problems == []
    for who in "ab":
        assert [record["n"] for record in reading.records if record["who"] == who] == list(range(300))


def test_a_tear_left_by_another_process_is_closed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.append({"n": 1})
    with (tmp_path / "j").open("ab") as other:
        other.write(b'{"torn')
    journal.append({"n": 2})
    assert journal.read().records == [{"n": 1}, {"n": 2}]


def test_a_file_removed_meanwhile_is_created_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.append({"n": 1})
    (tmp_path / "j").unlink()
    journal.append({"n": 2})
    assert journal.read().records == [{"n": 2}]


@pytest.mark.parametrize("waits", ["sync", "append", "create"])
def test_nobody_waits_for_a_disk_that_another_thread_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: str
) -> None:
    journal = Journal(tmp_path / "j")
    if waits != "create":
        journal.append({"n": 1})
    begun, over = threading.Event(), threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _descriptor: (begun.set(), over.wait(2)))
    asks = journal.sync if waits == "sync" else lambda: journal.append({"n": 2}, sync=True)
    thread = threading.Thread(target=asks)
    thread.start()
    assert begun.wait(2)
    for n in (3, 4):
        journal.append({"n": n})
        journal.close()
        assert thread.is_alive() and not over.is_set()
    over.set()
    thread.join()
    written = {1, 2, 3, 4} - {{"sync": 2, "append": 0, "create": 1}[waits]}
    assert {record["n"] for record in journal.read().records} == written


def test_pipes_and_symlinks_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "target").write_text('{"n":1}\n')
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for name in ("pipe", "link"):
        with pytest.raises(OutsideHome):
            Journal(tmp_path / name).read()
        with pytest.raises(OutsideHome):
            Journal(tmp_path / name).append({})
    assert (tmp_path / "target").read_text() == '{"n":1}\n'


def test_ten_thousand_records_are_read_at_once(tmp_path: Path) -> None:
    record = {"type": "assistant_text", "id": "", "content": "some words " * 8}
    lines = (json.dumps({**record, "id": str(n)}) + "\n" for n in range(10_000))
    (tmp_path / "j").write_text("".join(lines))
    began = time.process_time()
    assert len(Journal(tmp_path / "j").read().records) == 10_000
    assert time.process_time() - began < 0.5


# -- the first record, and from the end ---------------------------------------------------------------

_whole = st.sampled_from(
    [
        b'{"n":1}\n',
        b'{"id":"a"}\n',
        b'{"id":"a"}\n',
        b'{"text":"' + b"x" * 40_000 + b'"}\n',
        b'{"a":"\\n"}\r\n',
    ]
)
_broken = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b"\0" * 70_000,
        b'\0\0{"n":2}\0\n',
        b"noise\n",
        b"[1]\n",
        b"x" * 66_000,
        b"\xff\n",
        b"{",
        b'{"n":3}',
    ]
)
_files = st.lists(_whole | _broken | st.binary(max_size=20), max_size=8).map(b"".join)


@settings(max_examples=examples(20), deadline=None)
@example(b'{"n":3}' + b"\0" * 70_000, 200_000)
@given(_files, st.integers(0, 200_000))
def test_reading_from_the_end_and_the_first_record_agree_with_reading_all(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, cut: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "j"
    content = content[: max(len(content) - cut, 0)] if cut < len(content) else content
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_module, "LINE_LIMIT", 65_000)
        path.write_bytes(content)
        reading = Journal(path).read()
        backwards = list(Journal(path).backwards())
        count = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
        records = [item for item in backwards if not isinstance(item, Problem)]
        problems = [
            Problem(count + 1 + item.line, item.why) for item in backwards if isinstance(item, Problem)
        ]
        assert records[::-1] == reading.records
        assert sorted(problems, key=lambda problem: problem.line) == reading.problems
        first = Journal(path).first()
        path.write_bytes(content.split(b"\n", 1)[0] + b"\n")
        assert first == next(iter(Journal(path).read().records), None)


def test_a_record_longer_than_what_is_read_at_a_time_is_read_whole_from_the_end(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [{"n": 1}, {"text": "".join(map(str, range(30_000)))}, {"n": 2}]
    journal = Journal(tmp_path / "j")
    for record in records:
        journal.append(record)
    assert list(journal.backwards()) == records[::-1]


def test_reading_from_the_end_takes_no_more_than_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "j"
    path.write_bytes(b"".join(b'{"n":%d}\n' % n for n in range(100_000)))
    read: list[int] = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(size) or real(fd, size, at))
    assert next(Journal(path).backwards()) == {"n": 99_999}
    assert Journal(path).first() == {"n": 0}
    assert sum(read) < 200_000


@pytest.mark.parametrize("length", [FIRST_LIMIT - 1, FIRST_LIMIT])
def test_a_first_line_is_read_up_to_its_limit(tmp_path: Path, length: int) -> None:
    record = {"x": "y" * (length - len('{"x":""}'))}
    Journal(tmp_path / "j").append(record)
    assert Journal(tmp_path / "j").first() == (record if length < FIRST_LIMIT else None)


def test_of_a_missing_file_there_is_no_first_and_no_last(tmp_path: Path) -> None:
    assert Journal(tmp_path / "none").first() is None
    assert list(Journal(tmp_path / "none").backwards()) == []
    (tmp_path / "link").symlink_to(tmp_path / "j")
    (tmp_path / "j").write_bytes(b'{"n":1}\n')
    with pytest.raises(OutsideHome):
        Journal(tmp_path / "link").first()
    with pytest.raises(OutsideHome):
        list(Journal(tmp_path / "link").backwards())

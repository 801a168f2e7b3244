"""A PostgreSQL of a test's own: Debian's package, an unprivileged cluster on loopback, gone with the test."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

USER = "postgres"
"""Whom the server runs as where the tests run as root, as whom it does not start."""


def programs() -> Path | None:
    """Return the folder with the server's programs, None where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    there = shutil.which("initdb")
    return Path(there).parent if there else None


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """Run a server; give the address of an empty database of it, without its name at the end."""
    where = programs()
    assert where is not None
    root = os.geteuid() == 0
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    password = secrets.token_hex(8)
    (folder / "password").write_text(password)
    if root:
        owner = pwd.getpwnam(USER)
        for path in (folder, folder / "password"):
            os.chown(path, owner.pw_uid, owner.pw_gid)

    def call(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(where / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            **({"user": USER, "group": USER, "extra_groups": []} if root else {}),  # type: ignore[call-overload]
        )

    data = str(folder / "data")
    try:
        call(
            "initdb",
            "-D",
            data,
            "-U",
            "tester",
            "-A",
            "scram-sha-256",
            f"--pwfile={folder / 'password'}",
            "-N",
        )
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
        call("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://tester:{password}@127.0.0.1:{port}"
        finally:
            call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)

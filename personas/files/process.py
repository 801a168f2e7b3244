"""Processes of this machine: telling one from all others that have had its number."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path


def process_start(pid: int) -> str:
    """Return when a running process began, so that no other one with its number says the same; empty for none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return "" if Path("/proc/self/stat").exists() else _start_by_ps(pid)
    return (
        "" if fields[0] in "ZX" else f"{_boot_id()}:{fields[19]}"
    )  # Z, X: it has ended and waits to be removed


def is_running(pid: int, started: str) -> bool:
    """Whether the process with this number is still the one that began then."""
    return bool(started) and process_start(pid) == started


def is_stopped(pid: int) -> bool:
    """Whether a running process was stopped, as by Ctrl+Z, and not woken yet; False where there is no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] in "Tt"
    except OSError:
        return False


@cache
def this_machine() -> str:
    """Return what processes that see one another by their numbers have in common, until the machine starts anew."""
    numbers = ""
    with suppress(OSError):  # a container has numbers of its own
        numbers = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it names no path
    return f"{_boot_id() or os.uname().nodename} {numbers}".strip()


def _start_by_ps(pid: int) -> str:
    """`process_start` where there is no /proc."""
    try:
        found = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False, timeout=5
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()


@cache
def _boot_id() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return ""

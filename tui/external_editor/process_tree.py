"""The processes that a process has begun, as far as the system tells."""

from __future__ import annotations

from pathlib import Path


def descendants(pid: int, processes: Path = Path("/proc")) -> list[int]:
    """Return the processes that a process has begun, and that those have, and so on; none where it is not told.

    Args:
        pid: of the first.
        processes: the folder in which Linux tells of each process, as proc(5) has it.
    """
    children: dict[int, list[int]] = {}
    for stat in processes.glob("[0-9]*/stat"):
        try:
            # "pid (name) state parent …", and the name may hold anything
            parent = int(stat.read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for known in found:
        found.extend(child for child in children.pop(known, ()) if child not in found)
    return found[1:]

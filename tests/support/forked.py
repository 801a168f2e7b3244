"""`persona` as a process of its own that does not load everything again: it is forked from one that has.

Loading is three fifths of a start. A fork has its own arguments, environment, folder, streams and session, ends as
Python ends, and is a child of the test. What begins another way (in a shell, in another locale) is started as ever.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import io
import os
import pickle
import pkgutil
import runpy
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {"LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
"""What Python itself reads when it starts."""

_lock = threading.Lock()
_server: socket.socket | None = None


class Popen(subprocess.Popen[Any]):
    """A process; forked where it is `python -m MODULE …` or `python -c CODE …` on Linux in our environment."""

    def _execute_child(self, args: Any, *given: Any) -> None:
        executable, before, _close_fds, pass_fds, folder, env, _startupinfo, _flags, shell, *rest = given
        pipes, starts_session = rest[:6], rest[11]
        of_python = {
            name: text for name, text in (env or {}).items() if name.startswith(("LANG", "LC_", "PYTHON"))
        }
        is_ours = of_python == ENVIRONMENT and list(args)[:1] == [sys.executable] and args[1] in ("-m", "-c")
        if sys.platform != "linux" or not is_ours or shell or pass_fds or executable:
            super()._execute_child(args, *given)  # type: ignore[misc]
            return
        program = pickle.dumps((list(args), str(folder or os.getcwd()), env, starts_session, before))
        streams = [own if pipe == -1 else pipe for own, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        with _lock:
            server = _start_server()
            socket.send_fds(server, [len(program).to_bytes(4, "big")], streams)
            server.sendall(program)
            answer = server.recv(5, socket.MSG_WAITALL)
        assert len(answer) == 5, "the program that is forked could not be loaded"
        self.pid = int.from_bytes(answer[:4], "big")
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def _start_server() -> socket.socket:
    global _server
    if _server is None:
        # What is forked in two steps falls to the nearest ancestor that takes orphans: the test can wait for it.
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        _server, its_end = socket.socketpair()
        with its_end:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.forked", str(its_end.fileno())],
                env={"PATH": os.environ.get("PATH", ""), **ENVIRONMENT},
                pass_fds=[its_end.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(process.wait)
        atexit.register(_server.close)
    return _server


def _load_everything() -> None:
    """Import the program's modules, but for those that bring a library which few processes need."""
    for name in ("personas", "agent", "tui"):
        package = importlib.import_module(name)
        for _, module, _ in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.startswith(("agent.worker.", "tui.mcp.", "tui.__main__")):
                importlib.import_module(module)
    for module in ("textual.drivers.linux_driver", "textual.pilot", "markdown_it", "email.parser"):
        importlib.import_module(module)  # which the program loads later


def _serve(requests: socket.socket) -> None:
    """Fork what is asked for; return in each fork, as what was asked for."""
    while True:
        size, streams, *_ = socket.recv_fds(requests, 4, 3)
        if not size:
            raise SystemExit
        program = requests.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        step = os.fork()
        if not step:
            pid = os.fork()
            if not pid:
                requests.close()
                _become(streams, *pickle.loads(program))
                return
            requests.sendall(pid.to_bytes(4, "big"))
            os._exit(0)
        os.waitpid(step, 0)
        requests.sendall(b".")
        for stream in streams:
            os.close(stream)


def _become(
    streams: list[int],
    arguments: list[str],
    folder: str,
    env: dict[str, str],
    starts_session: bool,
    before: Callable[[], object] | None,
) -> None:
    """Be as a process that was just started."""
    for number, given in enumerate(streams):
        os.dup2(given, number)
        os.close(given)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        errors = "backslashreplace" if number == 2 else sys.stdout.errors
        file = open(number, f"{mode}b", closefd=False)  # noqa: SIM115 - to the end of the process
        is_line_wise = number == 2 or os.isatty(number)
        stream = io.TextIOWrapper(file, sys.stdout.encoding, errors, line_buffering=is_line_wise)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    if starts_session:
        os.setsid()
    if before is not None:
        before()
    sys.argv[:] = arguments[1:]


if __name__ == "__main__":
    _load_everything()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    kind, what, *sys.argv[1:] = sys.argv
    if kind == "-c":
        sys.argv[0] = kind
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        exec(what, vars(main))
    else:
        runpy.run_module(what, run_name="__main__", alter_sys=True)

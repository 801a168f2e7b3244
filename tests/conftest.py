"""No test sees or touches the person's own settings, homes, keys or terminal, nor has its children ignore signals."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from agent.models.anthropic.stall_timeouts import StallLimits
from tests.support.examples import examples

gc.set_threshold(
    100_000, 50, 100
)  # a fifth of the time of a test with a screen went into looking for garbage

# A slow machine is no fault of what is tested: no test measures how long one example takes to be made,
settings.register_profile(
    "ours", deadline=None, max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ours")
# and "waiting for the model" is said only where a test asks for it.
StallLimits.__init__.__defaults__ = (*StallLimits.__init__.__defaults__[:-1], 600.0)  # type: ignore[index]

# A script's background job ignores Ctrl+C and Ctrl+\, as `nohup` ignores a hang-up, and children inherit that: what tests
# start would not end where a test sends these.
_HANDLERS = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGQUIT: signal.SIG_DFL,
}
for _number, _handler in _HANDLERS.items():
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

# What survives a power cut needs none; the tests of what is given to the disk put their own in its place.
os.fsync = lambda _descriptor: None

# Rewriting the asserts of all tests takes ten seconds: once, not in each run and each process.
sys.dont_write_bytecode = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each of several processes begin with other modules: what one has rewritten and compiled, the others read."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    root = session.config.rootpath
    modules = sorted(
        path for argument in session.config.args for path in (root / argument).rglob("test_*.py")
    )
    begin = int(worker["workerid"].removeprefix("gw")) * len(modules) // worker["workercount"]
    for path in modules[begin:] + modules[:begin]:
        with suppress(Exception, pytest.skip.Exception):  # the collection will tell
            importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Look for no garbage at the end: pytest does so five times, each for a quarter of a second and more."""
    gc.freeze()


_OURS = ("ANTHROPIC_BASE_URL", "PERSONA_MODEL", "PERSONA_HOME", "NO_COLOR", "TEXTUAL_THEME")
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test quotes or logs of half a surrogate pair could not be sent to the process that prints it."""

    def sendable(text: str) -> str:
        return text.encode("utf-8", "backslashreplace").decode()

    report = yield
    if sendable(text := str(report.longrepr or "")) != text:
        report.longrepr = sendable(text)
    report.sections = [(name, sendable(text)) for name, text in report.sections]
    return report


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_the_person() -> Iterator[None]:
    """Settings, data and state lie in a folder of this run; keys are gone unless the real service is asked."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="persona-tests-") as folder:
        root = Path(folder)
        os.environ |= {
            "PERSONA_CONFIG": str(root / "config" / "config.toml"),
            "XDG_CONFIG_HOME": str(root / "config"),
            "XDG_DATA_HOME": str(root / "data"),
            "XDG_STATE_HOME": str(root / "state"),
            "XDG_CACHE_HOME": str(root / "cache"),
        }
        live = os.environ.get("PERSONA_LIVE") == "1"
        for name in () if live else (*_OURS, *_KEYS):
            os.environ.pop(name, None)
        yield
    os.environ.clear()
    os.environ |= before

"""What every test can count on, however the tests were started."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.support.forked import ROOT

CHILD = "import signal; print(*(signal.getsignal(one) is signal.SIG_IGN for one in (signal.SIGINT, signal.SIGHUP)))"


def ignore() -> None:
    """Be started as a script's background job is, under `nohup`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_what_a_test_starts_does_not_ignore_signals_though_the_tests_were_started_so() -> None:
    code = f"import subprocess, sys, tests.conftest; subprocess.run([sys.executable, '-c', {CHILD!r}])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, preexec_fn=ignore, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"False", b"False"]


def test_every_test_has_a_time_limit(pytestconfig: pytest.Config) -> None:
    assert 0 < float(pytestconfig.getini("timeout")) <= 300

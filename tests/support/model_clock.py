"""A clock that stands still until a test moves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class _Alarm:
    at: float
    callback: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """Has the shape of `agent.models.stalls.Clock`."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.alarms: list[_Alarm] = []

    def now(self) -> float:
        return self.time

    def call_later(self, seconds: float, callback: Callable[[], None]) -> _Alarm:
        alarm = _Alarm(self.time + seconds, callback)
        self.alarms.append(alarm)
        return alarm

    def advance(self, seconds: float) -> None:
        """Let time pass and ring what is due, in order."""
        end = self.time + seconds
        while due := [alarm for alarm in self.alarms if alarm.at <= end]:
            alarm = min(due, key=lambda one: one.at)
            self.alarms.remove(alarm)
            self.time = max(self.time, alarm.at)
            if not alarm.cancelled:
                alarm.callback()
        self.time = end

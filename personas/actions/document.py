"""What an action is, and reading one from the bytes of its file. Pure.

Like a persona, an action is read as far as it makes sense; what is wrong with it is in its `error`, never raised.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from personas.conflict_marks import conflict_in
from personas.errors import BrokenFile, InvalidValue, PersonaError
from personas.fields import Fields, FileError, Path, as_file_error, first_fault
from personas.files.slug import is_id
from personas.files.text_file import decode, sha256
from personas.toml.parse import parse

ActionKind = Literal["agent", "persona", "test"]
KINDS: tuple[ActionKind, ...] = ("agent", "persona", "test")
CHOICES: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "catch_up": ("once", "skip", "all"),
    "edits": ("propose", "apply"),
    "report": ("all", "changes"),
}
"""What the values of some keys may be, the default first."""

PRIORITY_LIMIT = 1000
DEFAULT_WINDOW = timedelta(days=2)
LONGEST_WINDOW = timedelta(days=366)

_WINDOW = re.compile(r"([1-9][0-9]{0,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionLimits:
    """What one run may use up. None: what the settings say."""

    max_steps: int | None = None
    max_minutes: float | None = None
    tokens: int | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action as read from its file.

    Attributes:
        id: the file's stem, a name as documents of the library have.
        title: the id where the file has none.
        persona: id of the persona it is about; empty only where that is the `error`.
        kind: `agent`: the agent works; `persona`: the persona itself answers; `test`: its test inputs are run.
        instructions: what to do; may be empty only in kind `test`.
        expected_output: shown to the agent; nobody checks it.
        priority: higher first, at most `PRIORITY_LIMIT` either way.
        schedule: a cron expression of five fields; None where there is none.
        at: when it is due once; a time without an offset is one of `timezone`.
        timezone: of `schedule` and `at`. UTC by default, not the zone of the machine: a file in git means the same
            everywhere.
        catch_up: what becomes of due times missed while nothing ran.
        window: due times longer ago than this are not caught up on.
        enabled: whether its schedule counts.
        edits: whether a run's changes become a proposal, or are written.
        report: of a run of test inputs: all of them, or those whose verdict is another one than in the last run.
        revision: SHA-256 (hex) of the file's bytes, what consent is bound to. Empty where they cannot be read.
        unknown_keys: of the file, as in `limits.max_stepz`; they are kept, and do nothing.
        error: set when the file is broken; the other fields then hold what could be read.
    """

    id: str
    title: str
    description: str = ""
    persona: str = ""
    kind: ActionKind = "agent"
    instructions: str = ""
    expected_output: str = ""
    priority: int = 0
    schedule: str | None = None
    at: datetime | None = None
    timezone: str = "UTC"
    catch_up: Literal["skip", "once", "all"] = "once"
    window: timedelta = DEFAULT_WINDOW
    enabled: bool = True
    edits: Literal["propose", "apply"] = "propose"
    report: Literal["all", "changes"] = "all"
    limits: ActionLimits = ActionLimits()
    revision: str = ""
    unknown_keys: tuple[str, ...] = ()
    error: FileError | None = None

    @property
    def is_timed(self) -> bool:
        """Whether it has a due time of its own; else it is run by hand."""
        return self.schedule is not None or self.at is not None

    def to_record(self) -> dict[str, Any]:
        """Return a dict of all fields, for JSON: `at` in ISO format, `window` as in the file."""
        record = asdict(self)
        record["at"] = self.at and self.at.isoformat()
        record["error"] = self.error and self.error._asdict()
        record["window"] = window_text(self.window)
        return record


_KEYS = Action.__dataclass_fields__.keys() - {"id", "revision", "unknown_keys", "error"}


def read_action(action_id: str, content: bytes) -> Action:
    """Return the action a file holds; faults become its `error`, never an exception.

    Args:
        action_id: the file's stem.
        content: the file's bytes.
    """
    revision = sha256(content)
    try:
        text = decode(content).text
        conflict = conflict_in(text)
        reader = _ActionFields(parse(text))
    except BrokenFile as error:
        return broken_action(action_id, error, revision=revision)
    action = Action(
        id=action_id,
        title=reader.text("title").strip() or action_id,
        description=reader.text("description"),
        persona=reader.persona(),
        kind=reader.choice("kind"),
        instructions=reader.text("instructions"),
        expected_output=reader.text("expected_output"),
        priority=reader.number((), "priority", least=-PRIORITY_LIMIT, most=PRIORITY_LIMIT) or 0,
        schedule=reader.schedule(),
        timezone=reader.timezone(),
        at=reader.at(),
        catch_up=reader.choice("catch_up"),
        window=reader.window(),
        enabled=reader.typed(reader.fields, "enabled", bool, ()) is not False,
        edits=reader.choice("edits"),
        report=reader.choice("report"),
        limits=reader.limits(),
        unknown_keys=reader.unknown_keys(),
        revision=revision,
    )
    if action.kind != "test" and not action.instructions.strip():
        reader.note(("instructions",), "it has no instructions")
    if action.schedule is not None and "at" in reader.fields:
        reader.note(("at",), "it has both schedule and at; only one of them can be")
    if conflict is not None:
        return replace(action, error=as_file_error(conflict))
    return replace(action, error=first_fault(text, reader.faults)) if reader.faults else action


def broken_action(action_id: str, error: PersonaError, *, revision: str = "") -> Action:
    """Return the action of a file of which nothing can be read."""
    return Action(id=action_id, title=action_id, revision=revision, error=as_file_error(error))


def read_window(text: str) -> timedelta:
    """Return how long a window such as `2d` is: a number of minutes (m), hours (h), days (d) or weeks (w).

    Raises:
        InvalidValue: it is none, or longer than a year.
    """
    found = _WINDOW.fullmatch(text)
    window = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None
    if window is None or window > LONGEST_WINDOW:
        raise InvalidValue('window is a number with m, h, d or w behind it, as in "2d", and at most a year')
    return window


def window_text(window: timedelta) -> str:
    """Return a window as a file has it, in its largest whole unit up to days."""
    minutes = int(window.total_seconds()) // 60
    unit, size = next((unit, size) for unit, size in (("d", 1440), ("h", 60), ("m", 1)) if not minutes % size)
    return f"{minutes // size}{unit}"


class _ActionFields(Fields):
    """Takes the fields of an action out of parsed TOML."""

    def persona(self) -> str:
        persona = self.text("persona")
        if not is_id(persona):
            self.note(
                ("persona",), f"{persona[:60]!r} is not a persona" if persona else "it names no persona"
            )
            return ""
        return persona

    def choice(self, key: str) -> Any:
        value = self.text(key)
        if value in CHOICES[key]:
            return value
        if value:
            self.note((key,), f"{key} is {value[:60]!r}, none of {', '.join(CHOICES[key])}")
        return CHOICES[key][0]

    def schedule(self) -> str | None:
        schedule = self.text("schedule")
        if not schedule:
            return None
        from personas.actions.schedule import check_cron

        try:
            check_cron(schedule)
        except InvalidValue as error:
            self.note(("schedule",), str(error))
            return None
        return schedule

    def timezone(self) -> str:
        zone = self.text("timezone")
        if not zone or zone == "UTC":
            return "UTC"
        from personas.actions.schedule import zone_of

        try:
            zone_of(zone)
        except InvalidValue as error:
            self.note(("timezone",), str(error))
            return "UTC"
        return zone

    def at(self) -> datetime | None:
        value = self.fields.get("at")
        if value is None:
            return None
        if not isinstance(value, datetime):
            kind = "a date without a time" if isinstance(value, date) else "no date and time"
            self.note(("at",), f"at must be a date and time, as in 2026-12-01T09:00:00, and is {kind}")
            return None
        if not 1970 <= value.year < 9999:  # so that it is a time in every zone
            self.note(("at",), "at must be in a year from 1970 to 9998")
            return None
        if value.tzinfo is not None:
            return value
        from personas.actions.schedule import zone_of

        zone = self.fields.get("timezone")
        try:
            return value.replace(tzinfo=zone_of(zone) if isinstance(zone, str) and zone else UTC)
        except InvalidValue:  # which `timezone` notes
            return None

    def window(self) -> timedelta:
        text = self.text("window")
        if text:
            try:
                return read_window(text)
            except InvalidValue as error:
                self.note(("window",), str(error))
        return DEFAULT_WINDOW

    def limits(self) -> ActionLimits:
        table = self.typed(self.fields, "limits", dict, ()) or {}
        above = ("limits",)
        return ActionLimits(
            max_steps=self.number(above, "max_steps", table=table, least=1),
            max_minutes=self.amount(above, "max_minutes", table),
            tokens=self.number(above, "tokens", table=table, least=1),
            dollars=self.amount(above, "dollars", table),
        )

    def unknown_keys(self) -> tuple[str, ...]:
        limits = self.fields.get("limits")
        in_limits = (
            limits.keys() - ActionLimits.__dataclass_fields__.keys() if isinstance(limits, dict) else ()
        )
        return (*sorted(self.fields.keys() - _KEYS), *(f"limits.{key}" for key in sorted(in_limits)))

    def number(
        self,
        above: Path,
        key: str,
        *,
        least: int,
        most: int | None = None,
        table: dict[str, Any] | None = None,
    ) -> int | None:
        value: int | None = self.typed(self.fields if table is None else table, key, int, above)
        if value is None or (value >= least and (most is None or value <= most)):
            return value
        allowed = f"at least {least}" if most is None else f"from {least} to {most}"
        self.note((*above, key), f"{key} must be {allowed}")
        return None

    def amount(self, above: Path, key: str, table: dict[str, Any]) -> float | None:
        value = table.get(key)
        if value is None:
            return None
        if type(value) in (int, float) and 0 < value < 1e9 and math.isfinite(value):
            return float(value)
        self.note((*above, key), f"{key} must be a number greater than 0")
        return None

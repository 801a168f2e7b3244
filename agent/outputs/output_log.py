"""What personas answered: one append-only journal a persona, `outputs/<id>.jsonl`, and what is read from it.

A record is an output or a judge's verdict on one. Texts of prompts and inputs are not repeated: hashes lead to versions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from agent.core.model import Usage
from agent.core.turns import JOB, new_id, utc_now
from agent.models.anthropic.batches import is_batch_id
from agent.outputs.expectations import Facts, Outcome, Verdict, verdict_of
from agent.outputs.variant import Variant, digest, input_hash
from personas.errors import OutsideHome
from personas.files.file_stamp import Stamp, stamp_of
from personas.files.home import Home
from personas.files.journal import Journal, encode_record
from personas.files.lock import hold
from personas.files.slug import is_id
from personas.files.text_file import replace_file, storage_error
from personas.persona import TestInput
from personas.test_inputs import Expectation

OUTPUT, VERDICT, KEPT = "output", "verdict", "keep"
BATCH, BATCH_END = "batch", "batch_end"
_LIMIT = 1e15  # of a number that can be believed
_LONGEST_WAIT = 10.0  # seconds for another program that writes
RECORDING, PASTED = "recording", "pasted"
_BEGINNING = 400  # characters in which the first line of an output is looked for
_FRAME = re.compile(r"</?\w[^<>]*>|(?:```|~~~).*|\W+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a persona answered to a test input once, or why it could not be asked.

    Attributes:
        id: of the output.
        run_id: the run it was made in.
        input_id, sample: which input, and which of its samples, from 1.
        input_hash, prompt_hash, settings_hash: of what it was made from.
        version: the number of the persona's version.
        model: the model's name.
        started_at, seconds: when the request left, and how long the answer took.
        text, thinking, stop_reason: the answer.
        usage: tokens.
        cost: US dollars, None where the price is unknown.
        error: why there is no answer.
        source: `recording` where it came with the program, `pasted` where the person brought it.
    """

    id: str = field(default_factory=lambda: new_id("output"))
    run_id: str = ""
    input_id: str
    sample: int = 1
    input_hash: str
    prompt_hash: str
    settings_hash: str
    version: int = 0
    model: str = ""
    started_at: str = field(default_factory=utc_now)
    seconds: float | None = None
    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    error: str | None = None
    source: str | None = None

    @property
    def facts(self) -> Facts:
        """What it is judged by."""
        return Facts(self.text, self.seconds, self.cost)

    @property
    def first_line(self) -> str:
        """How it begins, or why there is none; a lone tag, the fence of a code block and the like are no beginning."""
        text = self.error if self.error is not None else self.text[:_BEGINNING]
        lines = [line for line in text.splitlines() if line.strip()] or ["(empty)"]
        return next((line for line in lines if not _FRAME.fullmatch(line.strip())), lines[0])

    def to_record(self, verdicts: Iterable[Verdict] = ()) -> dict[str, Any]:
        """Return it as a JSON object, with these verdicts."""
        record: dict[str, Any] = {"type": OUTPUT, **asdict(self), "usage": self.usage.to_record()}
        record["verdicts"] = [verdict.to_record() for verdict in verdicts]
        return record


def make_output(variant: Variant, test_input: TestInput, **known: Any) -> Output:
    """Return an output of a variant, with the hashes of what it is made from."""
    return Output(
        input_id=test_input.id,
        input_hash=input_hash(test_input),
        prompt_hash=variant.prompt_hash,
        settings_hash=variant.settings_hash(variant.model),
        version=variant.version,
        model=variant.model or "",
        **known,
    )


def outdated(output: Output, variant: Variant, test_input: TestInput | None) -> list[str]:
    """Return what an output was made from that is another now: prompt, input, model, settings."""
    reasons = {
        "prompt": output.prompt_hash != variant.prompt_hash,
        "input": test_input is None or output.input_hash != input_hash(test_input),
        "model": variant.model is not None and output.model != variant.model,
        "settings": output.settings_hash != variant.settings_hash(output.model or None),
    }
    return [reason for reason, differs in reasons.items() if differs]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch at the provider whose results are not stored yet.

    Attributes:
        id: what the provider calls it.
        endpoint, model: who is asked for it.
        outputs: what will come of it, as yet without answers; their ids name the requests.
    """

    id: str
    endpoint: str
    model: str
    outputs: tuple[Output, ...]


@dataclass(slots=True)
class Stored:
    """What a log has.

    Attributes:
        outputs: oldest first, each id once.
        verdicts: of judges, by output, rubric and judge's model.
        kept: ids of the outputs that the person keeps.
        batches: those that are open, by id.
    """

    outputs: list[Output] = field(default_factory=list, init=False)
    verdicts: dict[tuple[str, str, str], Verdict] = field(default_factory=dict, init=False)
    kept: set[str] = field(default_factory=set, init=False)
    batches: dict[str, Batch] = field(default_factory=dict, init=False)
    _ids: set[str] = field(default_factory=set, init=False, repr=False)
    _of_input: dict[str, list[Output]] = field(default_factory=dict, init=False, repr=False)

    def has(self, output_id: str) -> bool:
        """Return whether there is an output of this id."""
        return output_id in self._ids

    def add(self, outputs: Iterable[Output]) -> None:
        """Add outputs that are newer than all others; those that are there already are left out."""
        for output in outputs:
            if output.id not in self._ids:
                self._ids.add(output.id)
                self.outputs.append(output)
                self._of_input.setdefault(output.input_id, []).append(output)

    def take(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add what records of the log say, the oldest first; damaged ones are left out."""
        for record in records:
            match record.get("type"):
                case "output" if (output := read_output(record)) is not None:
                    self.add((output,))
                case "verdict" if (verdict := _read_verdict(record)) is not None:
                    self.verdicts[verdict[0]] = verdict[1]
                case "keep" if isinstance(output_id := record.get("output_id"), str):
                    (self.kept.discard if record.get("kept") is False else self.kept.add)(output_id)
                case "batch" if (batch := _read_batch(record)) is not None:
                    self.batches[batch.id] = batch
                case "batch_end":
                    self.batches.pop(str(record.get("batch_id")), None)

    def of_input(self, input_id: str) -> list[Output]:
        """Return the outputs of a test input, oldest first, also those that failed."""
        return list(self._of_input.get(input_id, ()))

    def fresh(self, variant: Variant, test_input: TestInput, samples: int) -> dict[int, Output]:
        """Return the newest answer for each sample up to `samples` that the variant would give today."""
        found: dict[int, Output] = {}
        for output in self._of(test_input, samples):
            if not outdated(output, variant, test_input):
                found[output.sample] = output
        return found

    def newest(self, test_input: TestInput, samples: int) -> dict[int, Output]:
        """Return the newest answer for each sample, outdated or not."""
        return {output.sample: output for output in self._of(test_input, samples)}

    def in_batches(self, variant: Variant, test_input: TestInput) -> set[int]:
        """Return the samples that an open batch will answer as the variant would today."""
        return {
            one.sample
            for batch in self.batches.values()
            for one in batch.outputs
            if one.input_id == test_input.id and not outdated(one, variant, test_input)
        }

    def _of(self, test_input: TestInput, samples: int) -> Iterable[Output]:
        return [one for one in self.of_input(test_input.id) if one.sample <= samples and one.error is None]


class OutputLog:
    """The outputs of one persona on the disk. Several threads and processes may append at once.

    Args:
        home: the home.
        persona_id: whose.
        apart: names a log beside the one of the test inputs, for outputs of prompts that never were a version.
        folder: the folder of the logs, where it is known to be inside the home.

    Raises:
        OutsideHome: the id is no plain file name, or the folder leads out of the home.
    """

    def __init__(self, home: Home, persona_id: str, apart: str = "", *, folder: Path | None = None) -> None:
        if not is_id(persona_id):
            raise OutsideHome(f"{persona_id!r} cannot be a persona's id: an id is a plain file name.")
        name = f".{apart}-{persona_id}" if apart else persona_id  # no persona's id begins with a dot
        self._home = home
        self._name = name
        self._journal = Journal((folder or home.inside(home.outputs)) / f"{name}.jsonl")

    def append(self, output: Output) -> None:
        """Store an output; it is on the disk when this returns.

        Raises:
            StorageError: the disk refused.
        """
        self._add(output.to_record())

    def append_verdict(self, output_id: str, rubric: Expectation, judge: str, verdict: Verdict) -> None:
        """Store a judge's verdict.

        Raises:
            StorageError: the disk refused.
        """
        record = {
            "type": VERDICT,
            "output_id": output_id,
            "rubric_hash": rubric_hash(rubric),
            "judge_model": judge,
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "at": utc_now(),
        }
        self._add(record)

    def keep(self, output_id: str, *, kept: bool = True) -> None:
        """Store that the person keeps an output, or does not any more.

        Raises:
            StorageError: the disk refused.
        """
        self._add({"type": KEPT, "output_id": output_id, "kept": kept, "at": utc_now()})

    def append_batch(self, batch: Batch) -> None:
        """Store an open batch.

        Raises:
            StorageError: the disk refused.
        """
        outputs = [output.to_record() for output in batch.outputs]
        record = {"type": BATCH, "batch_id": batch.id, "endpoint": batch.endpoint, "model": batch.model}
        self._add({**record, "outputs": outputs})

    def end_batch(self, batch_id: str, outputs: Iterable[Output]) -> bool:
        """Store what came of a batch, each output once; return False where somebody else has done so.

        Raises:
            StorageError: the disk refused.
        """
        with self._lock():
            stored = self.read()
            if batch_id not in stored.batches:
                return False
            for output in outputs:
                if not stored.has(output.id):  # as by a program that was killed
                    self._journal.append(output.to_record())
            self._journal.append({"type": BATCH_END, "batch_id": batch_id})
        self._journal.sync()
        return True

    def thin(self, most: int, needed: Collection[str] = ()) -> None:
        """Drop old outputs, where an input has more than `most` and so a quarter of all would go.

        Args:
            most: how many of the newest outputs of an input stay.
            needed: ids of outputs that stay besides those that the person keeps.

        Raises:
            StorageError: the disk refused; then everything is as it was.
        """
        with self._lock():
            stored = self.read()
            stay, runs, seen = stored.kept.union(needed), set(), Counter[str]()
            dropped = set()
            for output in reversed(stored.outputs):
                seen[output.input_id] += 1
                if seen[output.input_id] > most and output.id not in stay:
                    dropped.add(output.id)
                else:
                    runs.add(output.run_id)
            if 4 * len(dropped) < len(stored.outputs) or not dropped:
                return

            def stays(record: Mapping[str, Any]) -> bool:
                match record.get("type"):
                    case "output":
                        return record.get("id") not in dropped
                    case "verdict" | "keep":
                        return record.get("output_id") not in dropped
                    case "batch" | "batch_end":
                        return record.get("batch_id") in stored.batches
                return record.get("type") != JOB or record.get("id") in runs

            lines = [encode_record(one) for one in self._journal.read().records if stays(one)]
            replace_file(self._journal.path, b"".join(lines), root=self._home.root)

    def note_job(self, record: dict[str, Any]) -> None:
        """Append a record about a run, see `agent.jobs.job_log`."""
        with self._lock():
            self._journal.append(record)

    def make_lasting(self) -> None:
        """Wait until everything written is on the disk."""
        self._journal.sync()

    def read(self) -> Stored:
        """Return what is stored; records that are damaged are left out.

        Raises:
            PersonaError: the file cannot be read at all.
        """
        stored = Stored()
        stored.take(self._journal.read().records)
        return stored

    def holds(self, word: str) -> bool:
        """Return whether a word of ASCII letters and digits, in lower case, is anywhere in the file, in any case.

        Raises:
            PersonaError: the file cannot be read at all.
        """
        return self._journal.holds(word.encode())

    def texts(self) -> list[tuple[str, str, str]]:
        """Return id, input id and text of each output, the newest first, in a third of the time of `read`.

        Raises:
            PersonaError: the file cannot be read at all.
        """
        records = (one for one in reversed(self._journal.read().records) if one.get("type") == OUTPUT)
        found = [(one.get("id"), one.get("input_id"), one.get("text")) for one in records]
        return [
            (i, j, k) for i, j, k in found if isinstance(i, str) and isinstance(j, str) and isinstance(k, str)
        ]

    def newest(self, most: int) -> list[dict[str, Any]]:
        """Return the last records, at most so many, the oldest first; the rest of the file is not read.

        Raises:
            PersonaError: the file cannot be read at all.
        """
        records = (one for one in self._journal.backwards() if isinstance(one, dict))
        return list(islice(records, most))[::-1]

    @property
    def stamp(self) -> Stamp | None:
        """What the disk says of the file, another after each change; None where there is none. Blocking."""
        return stamp_of(self._journal.path)

    def clear(self) -> None:
        """Remove the file.

        Raises:
            StorageError: the disk refused.
        """
        self.close()
        try:
            self._journal.path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error(error, "remove", self._journal.path) from None

    def close(self) -> None:
        """Close the file."""
        self._journal.close()

    def _lock(self) -> AbstractContextManager[None]:
        """Keep others from writing meanwhile. What is appended is not seen by who writes the file anew at that moment."""
        path = self._journal.path.with_name(f"{self._name}.lock")
        return hold(path, wait=_LONGEST_WAIT, what=f"The log of outputs {self._name}")

    def _add(self, record: dict[str, Any]) -> None:
        """Append a record; it is on the disk when this returns. The disk is not waited for under the lock."""
        with self._lock():
            self._journal.append(record)
        self._journal.sync()


def rubric_hash(rubric: Expectation) -> str:
    """Return the SHA-256 of what a rubric asks; `not-` asks the same and turns the answer."""
    return digest(rubric.value)


def stored_verdict(stored: Stored, output: Output, rubric: Expectation, judge: str | None) -> Verdict | None:
    """Return the verdict of a judge on an output, None where it was not asked yet.

    Args:
        stored: what the log has.
        output: the output.
        rubric: of the expectation.
        judge: the judge's model; None: whoever judged last.
    """
    wanted = rubric_hash(rubric)
    if judge is not None:
        found = stored.verdicts.get((output.id, wanted, judge))
    else:
        of_rubric = [v for key, v in tuple(stored.verdicts.items()) if key[:2] == (output.id, wanted)]
        found = of_rubric[-1] if of_rubric else None
    return None if found is None else turned(rubric, found)


def turned(rubric: Expectation, found: Verdict) -> Verdict:
    """Return a judge's verdict as that of an expectation, which may be its `not-`."""
    opposite: dict[Outcome, Outcome] = {"pass": "fail", "fail": "pass", "error": "error"}
    verdict = opposite[found.verdict] if rubric.is_negated else found.verdict
    return verdict_of(rubric, verdict, found.reason)


_TEXTS = ("id", "run_id", "input_id", "input_hash", "prompt_hash", "settings_hash", "model", "started_at",
          "text", "thinking")  # fmt: skip
_OPTIONAL = ("stop_reason", "error", "source")


def read_output(record: Mapping[str, Any]) -> Output | None:
    """Return the output a record holds, None where it holds none that can be believed."""
    fields: dict[str, Any] = {name: record.get(name, "") for name in _TEXTS}
    fields |= {name: record.get(name) for name in _OPTIONAL}
    fields |= {name: record.get(name) for name in ("sample", "version")}
    numbers = {name: record.get(name) for name in ("seconds", "cost")}
    usage = record.get("usage")
    if (
        not all(isinstance(fields[name], str) for name in _TEXTS)
        or not all(isinstance(fields[name], str | None) for name in _OPTIONAL)
        or not all(type(fields[name]) is int for name in ("sample", "version"))
        or not all(_is_amount(fields[name]) for name in ("sample", "version"))
        or not all(value is None or _is_amount(value) for value in numbers.values())
        or not (fields["id"] and fields["input_id"])
        or not isinstance(usage, dict)
    ):
        return None
    counts = {name: usage.get(name, 0) for name in Usage().to_record()}
    if not all(type(count) is int and _is_amount(count) for count in counts.values()):
        return None
    return Output(**fields | numbers | {"usage": Usage(**counts)})


def _read_verdict(record: Mapping[str, Any]) -> tuple[tuple[str, str, str], Verdict] | None:
    key = tuple(record.get(name) for name in ("output_id", "rubric_hash", "judge_model"))
    verdict, reason = record.get("verdict"), record.get("reason")
    if not all(isinstance(part, str) for part in (*key, reason)) or verdict not in ("pass", "fail", "error"):
        return None
    return key, Verdict("llm-rubric", None, verdict, str(reason))  # type: ignore[return-value]


def _read_batch(record: Mapping[str, Any]) -> Batch | None:
    batch_id, endpoint, model = (record.get(name) for name in ("batch_id", "endpoint", "model"))
    listed = record.get("outputs")
    outputs = (
        [read_output(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    )
    if not is_batch_id(batch_id) or not isinstance(endpoint, str) or not isinstance(model, str):
        return None
    return Batch(str(batch_id), endpoint, model, tuple(one for one in outputs if one is not None))


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and -_LIMIT < value < _LIMIT

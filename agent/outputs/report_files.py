"""Reports as files: JUnit XML for build servers, Markdown for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.outputs.comparison import Comparison, output_diff
from agent.outputs.report import PersonaReport

# What XML cannot hold, and what a terminal obeys that the report is printed in.
_UNFIT = re.compile(
    "[^\t\n\r -~\xa0-\u061b\u061d-\u200d\u2010-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_MARKS = {"pass": "✓", "fail": "✗", "error": "!", "none": "–"}


def junit(reports: Sequence[PersonaReport]) -> str:
    """Return the reports as JUnit XML: a suite a persona, a case an input."""
    from xml.etree import ElementTree as Xml

    top = Xml.Element("testsuites")
    for report in reports:
        inputs = report.inputs
        suite = Xml.SubElement(top, "testsuite", name=_clean(report.title), tests=str(len(inputs) + bool(report.error)),
                               failures=str(report.count("fail")), errors=str(report.count("error")),
                               skipped=str(report.count("none")))  # fmt: skip
        if report.error:
            case = Xml.SubElement(
                suite, "testcase", classname=_clean(report.title), name="the persona's file"
            )
            Xml.SubElement(case, "error", message=_clean(report.error))
        for one in inputs:
            seconds = sum(output.seconds or 0 for output in one.outputs.values())
            case = Xml.SubElement(suite, "testcase", classname=_clean(report.title), name=_clean(one.id),
                                  time=f"{seconds:.3f}")  # fmt: skip
            tag = {"fail": "failure", "error": "error", "none": "skipped"}.get(one.verdict)
            if tag is not None:
                Xml.SubElement(case, tag, message=_clean(one.sentence)).text = _clean(
                    "\n".join(f"{each.type}: {each.verdict}: {each.reason}" for each in one.expectations)
                )
            for sample in sorted(one.outputs):
                Xml.SubElement(case, "system-out").text = _clean(one.outputs[sample].text)
    Xml.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(top, encoding="unicode") + "\n"


def markdown(reports: Sequence[PersonaReport]) -> str:
    """Return the reports as Markdown."""
    lines = []
    for report in reports:
        lines += [f"## {_cell(report.title)}", ""]
        if report.error:
            lines += [f"{_MARKS['error']} {_cell(report.error)}", ""]
            continue
        lines += ["| input | verdict | why |", "|---|---|---|"]
        lines += [
            f"| {_cell(one.id)} | {_MARKS[one.verdict]} {one.verdict} | {_cell(one.sentence)} |"
            for one in report.inputs
        ]
        lines.append("")
    return "\n".join(lines)


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown, with the difference of the first outputs."""
    a, b = comparison.a.name, comparison.b.name
    lines = [f"## {_cell(a)} and {_cell(b)}", "", f"{comparison.finding.sentence}.", ""]
    lines += [f"| input | {_cell(a)} | {_cell(b)} |", "|---|---|---|"]
    rows = comparison.rows()
    for test_input, before, after in rows:
        cells = (f"{_MARKS[one.verdict]} {_cell(one.sentence)}" for one in (before, after))
        lines.append(f"| {_cell(test_input.id)} | {' | '.join(cells)} |")
    for test_input, before, after in rows:
        if diff := output_diff(before, after):
            lines += ["", f"### {_cell(test_input.id)}", "", *_fenced(diff.splitlines(), "diff")]
    return "\n".join([*lines, ""])


def _fenced(lines: Iterable[str], language: str) -> list[str]:
    """Return lines as a block of code that nothing in them can end."""
    kept = [_clean(line) for line in lines]
    longest = max((len(run) for line in kept for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *kept, fence]


def _cell(text: str) -> str:
    line = _clean(" ".join(text.split()))
    return re.sub(r"([\\|`*_<>\[\]#])", r"\\\1", line)


def _clean(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)

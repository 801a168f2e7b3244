"""One file of a format that the walk takes through everything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """One file.

    Attributes:
        format: the format's name.
        name: of the file, with its folder.
        content: its bytes.
        says: texts in it that must be found again, in what is imported or in the report.
        never: texts in it that must be found nowhere.
        comes_back: whether an export says all of it again; not where the format only reads such files.
        is_exact: whether an export gives the very bytes back.
    """

    format: str
    name: str
    content: bytes
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    comes_back: bool = True
    is_exact: bool = False

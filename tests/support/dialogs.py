"""Every dialog of the program, made of a text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agent.actions.listing import ListedAction
from agent.actions.run_log import ActionRun
from agent.outputs.bisect_run import Bisected, Probe
from personas.actions.document import Action
from personas.actions.states import ActionState
from personas.library.documents import KINDS
from personas.persona import TestInput
from personas.test_inputs import Expectation
from tests.support.settings import preferences
from tui.document.merge import MergeConflict, merge_texts
from tui.screens.actions.screen import ActionsScreen
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.bisected import ShowBisected
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.comparison import ShowComparison, outputs_pair
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.dialogs.connect_dialog import AskSecret, ConnectDialog, WaitDialog
from tui.screens.dialogs.diff import ShowDiff
from tui.screens.dialogs.expectations import EditExpectation, Expectations
from tui.screens.dialogs.help import Help
from tui.screens.dialogs.picker import Picker, PickSeveral
from tui.screens.dialogs.proposal import ShowProposal
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.screens.dialogs.search_results import SearchResults
from tui.screens.dialogs.settings import ProgramSettings
from tui.screens.dialogs.text_page import ShowText
from tui.screens.dialogs.text_prompt import AskLine, AskName, AskText
from tui.screens.dialogs.versions import Versions
from tui.screens.library.blast_radius import ShowBlastRadius
from tui.screens.library.rows import CatalogEntry
from tui.screens.library.screen import LibraryScreen
from tui.widgets.persona_list import PersonaEntry
from tui.widgets.virtual_list import Row


async def never() -> None:
    await asyncio.Event().wait()


def clash_of(text: str) -> MergeConflict:
    clash = merge_texts("base\n", f"{text} mine\n", f"{text} theirs\n")
    assert isinstance(clash, MergeConflict)
    return clash


def expecting(text: str) -> TestInput:
    return TestInput(id=text, content=text, expect=(Expectation(type="equals", value=text),) * 40)


def bisected(text: str) -> Bisected:
    return Bisected(1, 2, True, f"+{text}", (Probe(1, 2, 3),) * 40, text, text, text)


def library(text: str) -> LibraryScreen:
    """Return the library with parts of which everything but the name is this text."""

    def fill() -> None:
        place.show_names({kind: [str(n) for n in range(40)] for kind in KINDS})
        place.show_entries("part", [CatalogEntry(str(n), text, (text,), text, text) for n in range(40)])

    nothing_open = SimpleNamespace(id=None, document=None, persona=None, state="", not_saved=list)
    place = LibraryScreen(nothing_open, lambda *_: None, fill)  # type: ignore[arg-type]
    return place


def actions(text: str) -> ActionsScreen:
    """Return forty actions of which everything but the id is this text."""

    def fill() -> None:
        rows = [
            ListedAction(
                action=Action(id=str(n), title=text, persona=text, instructions=text, schedule="0 3 * * *"),
                state=ActionState.WAITING,
                approved=False,
                due=None,
                last_due=None,
                last_run=None,
                next=None,
                why=text,
            )
            for n in range(40)
        ]
        place.show_actions(rows, text)
        place.show_runs([ActionRun(id=str(n), action_id="0", why=text, versions=(text,)) for n in range(40)])

    nothing_open = SimpleNamespace(id=None, document=None, persona=None, state="", not_saved=list)
    place = ActionsScreen(nothing_open, lambda *_: None, fill)  # type: ignore[arg-type]
    return place


DIALOGS: dict[type[Dialog[Any]], Callable[[str, Path], Dialog[Any]]] = {
    Confirm: lambda text, _: Confirm(text, text, action="Delete", danger=True),
    QuitDialog: lambda text, _: QuitDialog([text, text]),
    AskLine: lambda text, _: AskLine(text, text=text, explanation=text),
    AskName: lambda text, _: AskName(text, text=text, explanation=text),
    AskText: lambda text, _: AskText(text, text=text),
    AskSecret: lambda text, _: AskSecret(text, text),
    WaitDialog: lambda text, _: WaitDialog(text, never()),
    ConnectDialog: lambda text, _: ConnectDialog(text, text, greeting=True),
    Picker: lambda text, _: Picker(text, [Row(str(n), text, head=text) for n in range(40)], filter=True),
    PickSeveral: lambda text, _: PickSeveral(text, [Row(str(n), text, head=text) for n in range(40)]),
    CommandPaletteDialog: lambda text, _: CommandPaletteDialog(
        [PersonaEntry(str(n), text) for n in range(40)], {}, None, []
    ),
    SearchResults: lambda text, _: SearchResults(text, lambda _is_regex: None, lambda key: key),
    ConflictDialog: lambda text, _: ConflictDialog(clash_of(text)),
    EditExpectation: lambda text, _: EditExpectation(text, Expectation(type="equals", value=text)),
    Expectations: lambda text, _: Expectations(expecting(text), lambda _change, _draft: None),
    ShowDiff: lambda text, _: ShowDiff(text, f"+{text}"),
    ShowProposal: lambda text, _: ShowProposal(text, f"+{text}", text),
    Help: lambda text, _: Help(text, text),
    ShowBisected: lambda text, _: ShowBisected(text, bisected(text)),
    ShowComparison: lambda text, _: ShowComparison(
        text, (text, text), [outputs_pair((text, f"{text} more"))]
    ),
    ShowBlastRadius: lambda text, _: ShowBlastRadius(text, lambda _: None, lambda: None),
    LibraryScreen: lambda text, _: library(text),
    ActionsScreen: lambda text, _: actions(text),
    ShowText: lambda text, _: ShowText(text, text),
    Versions: lambda text, _: Versions(text, lambda _what, _number: None),
    ProgramSettings: lambda text, folder: ProgramSettings(preferences(folder)),
}
"""How each dialog is made of a text."""

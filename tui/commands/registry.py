"""The registry of commands, from which bindings, footer, help and palette are made.

A command's `id` is what a keymap names; its `action` is a method `action_…` of a part of the main screen or of the
widget that `where` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from tui.commands.panes import COLUMNS, PANES

if TYPE_CHECKING:
    from textual.binding import Binding

Where = Literal[
    "anywhere", "chat", "output", "talk", "prompt", "find", "list", "personas", "tests", "composition", "compiled", "outputs",
    "expectations", "dialog", "found", "page", "buttons", "bisected", "conflict", "program", "comparison", "versions",
    "proposal", "library", "library_document", "stages", "actions", "action_document", "runs",
]  # fmt: skip

HEADINGS: dict[Where, str] = {
    "anywhere": "Anywhere",
    "chat": "Chat bar",
    "output": "Reading the agent's output",
    "talk": "Reading a talk with a persona",
    "prompt": "Prompt and test input editors",
    "find": "Find in the prompt",
    "list": "All lists",
    "personas": "Persona list",
    "tests": "Test inputs",
    "composition": "Composition",
    "compiled": "Compiled prompt",
    "outputs": "Output of a test input",
    "expectations": "Expectations of a test input",
    "dialog": "Dialogs",
    "found": "Results of find everywhere",
    "page": "Help and diffs",
    "buttons": "Dialogs with buttons",
    "bisected": "Result of bisect",
    "conflict": "Conflict: two texts to choose from",
    "program": "Settings of the program",
    "comparison": "Comparison of two versions",
    "versions": "Versions",
    "proposal": "A proposal of the agent",
    "library": "Library: the documents",
    "library_document": "Library: the open document",
    "stages": "Library: the stages of an arc",
    "actions": "Actions",
    "action_document": "Actions: the open action",
    "runs": "Actions: the runs of an action",
}
IN_DIALOGS: frozenset[Where] = frozenset(
    {"expectations", "dialog", "found", "page", "buttons", "bisected", "conflict", "program", "comparison", "versions",
     "proposal", "library", "library_document", "stages", "actions", "action_document", "runs"}
)  # fmt: skip
"""Parts of dialogs, in which the keys of "anywhere" do nothing."""


class Command(NamedTuple):
    """One thing a person can do.

    Attributes:
        id: stable name, for the keymap.
        title: what it does, for palette and help.
        keys: default keys, separated by commas; empty for palette only.
        action: the action's name, with arguments where it needs them.
        where: which part of the screen the keys work in.
        short: the word in the footer; empty keeps it out of the footer.
        priority: whether the key is taken before the focused widget sees it.
        palette: whether the palette offers it.
        slash: the command of the chat bar that does the same; the palette finds it by that name too.
    """

    id: str
    title: str
    keys: str
    action: str
    where: Where = "anywhere"
    short: str = ""
    priority: bool = True
    palette: bool = True
    slash: str = ""


COMMANDS: tuple[Command, ...] = (
    Command("persona.switch", "Switch persona", "ctrl+p,f2", "switch_persona", short="personas",
            slash="persona"),
    Command("persona.news", "Next persona with unread activity", "ctrl+n", "next_news"),
    Command("output.toggle", "Show the agent's output, read it, hide it", "ctrl+o", "output", short="output"),
    Command("output.pin", "Keep the agent's output on the screen", "", "pin_output"),
    Command("output.enlarge", "Full height for the agent's output, and back", "", "enlarge_output"),
    Command("conversation.find", "Find in the prompt or the conversation", "ctrl+f", "find"),
    Command("search.find", "Find everywhere: prompts, inputs, outputs, library", "", "find_everywhere", slash="find"),
    Command("search.replace", "Replace everywhere: prompts, inputs, library", "", "replace_everywhere", slash="replace"),
    Command("many.message", "Message to the agents of all marked personas", "", "message_marked", slash="each"),
    Command("proposals.review", "Review all proposals, one after another", "", "review", slash="review"),
    Command("conversation.clear", "Clear the conversation", "", "clear_conversation", slash="clear"),
    Command("conversation.unclear", "Bring the cleared conversation back", "", "unclear_conversation",
            slash="unclear"),
    Command("conversation.export", "Write the conversation to a file", "", "export_conversation", slash="export"),
    Command("chat.recall", "Recall a sent message", "ctrl+r", "recall"),
    Command("editor.external", "Edit in $EDITOR", "ctrl+g", "external_editor", short="$EDITOR"),
    Command("edit.undo", "Undo", "ctrl+z", "undo", priority=False, short="undo"),
    Command("edit.redo", "Redo", "ctrl+y", "redo", priority=False),
    Command("agent.undo", "Undo the agent's last run", "f8", "undo_agent", short="undo agent",
            slash="undo"),
    Command("agent.redo", "Redo the agent's last run", "f9", "redo_agent", slash="redo"),
    Command("inputs.run", "Run all test inputs", "ctrl+t", "run_inputs",
            short="run", slash="run"),
    Command("inputs.move", "Move the marked test inputs elsewhere", "", "send_inputs('move_to')", slash="move"),
    Command("inputs.copy", "Copy the marked test inputs elsewhere", "", "send_inputs('copy_to')", slash="copy"),
    Command("help", "Help", "f1", "help", short="help", slash="help"),
    *(Command(f"pane.{pane.id}", pane.go, pane.key, f"go('{pane.id}')") for pane in PANES),
    Command("composition.show", "The compiled prompt: where each line comes from", "",
            "compiled", slash="compiled"),
    Command("persona.talk", "Talk to it, not to the agent", "", "talk", slash="talk"),
    Command("persona.talk_to_several", "Talk to several of them", "", "talk_to_several"),
    Command("persona.talk_test", "Make the last message of the talk a test input", "", "talk_test_input"),
    Command("persona.new", "New persona", "", "new_persona", slash="new"),
    Command("edit.compare", "Show what the last change did", "f5", "compare"),
    Command("versions.show", "Versions: who changed what and when", "", "versions", slash="versions"),
    Command("versions.compare_last", "Compare two versions on the test inputs", "", "compare_versions",
            slash="compare"),
    Command("file.write_back", "Restore a missing persona file", "", "write_back"),
    Command("unsaved.discard", "Discard unsaved text", "", "discard_unsaved"),
    Command("pane.next", "Next pane", "tab", "next_pane", palette=False),
    Command("pane.previous", "Previous pane", "shift+tab", "previous_pane", palette=False),
    Command("stop", "Stop the agent", "", "stop_agent", slash="stop"),
    Command("inputs.stop", "Stop the running test inputs", "", "stop_inputs"),
    Command("task.mode", "Task mode: let the agent work until the job is done, or not", "", "task_mode",
            slash="task"),
    Command("task.continue", "Continue the task that stopped", "", "continue_task", slash="continue"),
    Command("back", "Close, stop, or go back to the chat bar", "escape", "back", palette=False),
    Command("copy", "Copy, stop, clear the draft, or quit", "ctrl+c", "copy_or_stop", palette=False),
    Command("pane.narrower", "Make this pane narrower", "f6", "resize_pane(-1)"),
    Command("pane.wider", "Make this pane wider", "f7", "resize_pane(1)"),
    Command("pane.alone", "Show the prompt alone, or all panes again", "f12", "prompt_alone"),
    *(Command(f"pane.{name}.hide", column.hide, "", f"hide_pane('{name}')") for name, column in COLUMNS.items()),
    Command("bisect", "Find the version that changed a verdict (bisect)", "", "bisect", slash="bisect"),
    Command("coverage", "Show which pieces of the prompt the tests cover (coverage)", "", "coverage",
            slash="coverage"),
    Command("library", "Library: parts, traits, skills, guardrails, arcs", "", "library", slash="library"),
    Command("actions", "Actions: scheduled, unattended work", "", "actions", slash="actions"),
    Command("assets", "Assets: texts that the agent wrote", "", "assets", slash="assets"),
    Command("measurements", "Measurements: scores of the persona over time", "", "measurements",
            slash="measurements"),
    Command("redraw", "Draw the screen again", "ctrl+l", "redraw"),
    Command("model", "Choose or connect the agent's model", "", "choose_model", slash="model"),
    Command("settings", "Settings of the program", "", "program_settings", slash="settings"),
    Command("quit", "Quit", "", "leave", slash="quit"),
    Command("output.next", "Next turn", "j,down", "read('next')", where="output", short="turns"),
    Command("output.previous", "Previous turn", "k,up", "read('previous')", where="output"),
    Command("output.first", "First turn", "home,g", "read('first')", where="output"),
    Command("output.open", "Open or close it: input, output, diff", "enter,d", "read('open')", where="output", short="open"),
    Command("output.copy", "Copy it", "y", "read('copy')", where="output", short="copy"),
    Command("output.undo", "Undo what the run of this turn changed", "u", "read('undo')", where="output", short="undo"),
    Command("output.find", "Find", "slash", "read('find')", where="output", short="find"),
    Command("output.find_next", "Find next", "n", "read('find_next')", where="output"),
    Command("output.find_previous", "Find previous", "N", "read('find_previous')", where="output"),
    Command("output.follow", "Follow the end again", "end,G", "read('follow')", where="output", short="follow"),
    Command("output.full", "Full height, and back", "f", "read('full')", where="output",
            short="full"),
    Command("output.page_up", "A page up", "pageup", "read('page_up')", where="output"),
    Command("output.page_down", "A page down", "pagedown", "read('page_down')", where="output"),
    Command("talk.next", "Next message", "j,down", "in_talk('next')", where="talk", short="messages"),
    Command("talk.previous", "Previous message", "k,up", "in_talk('previous')", where="talk"),
    Command("talk.test", "Make it a test input, with what came before", "t", "in_talk('test')", where="talk",
            short="test input"),
    Command("talk.copy", "Copy it", "y", "in_talk('copy')", where="talk", short="copy"),
    Command("talk.left", "Column to the left", "h,left", "in_talk('left')", where="talk"),
    Command("talk.right", "Column to the right", "l,right", "in_talk('right')", where="talk"),
    Command("talk.first", "First message", "home,g", "in_talk('first')", where="talk"),
    Command("talk.last", "Last message, and follow the end", "end,G", "in_talk('last')", where="talk"),
    Command("talk.page_up", "A page up", "pageup", "in_talk('page_up')", where="talk"),
    Command("talk.page_down", "A page down", "pagedown", "in_talk('page_down')", where="talk"),
    Command("text.start", "Beginning of the text; in the chat bar too", "ctrl+home", "text_start", where="prompt",
            priority=False),
    Command("text.end", "End of the text; in the chat bar too", "ctrl+end", "text_end", where="prompt",
            priority=False),
    Command("find.next", "Next match", "down", "step(1)", where="find", priority=False),
    Command("find.previous", "Match before", "up", "step(-1)", where="find", priority=False),
    Command("find.replace_all", "Replace all", "ctrl+j", "replace_all", where="find", priority=False,
            short="replace all"),
    Command("rows.up", "Up", "up,k", "step(-1)", where="list", priority=False),
    Command("rows.down", "Down", "down,j", "step(1)", where="list", priority=False),
    Command("rows.first", "First row", "home,g", "jump(0)", where="list", priority=False),
    Command("rows.last", "Last row", "end,G", "jump(-1)", where="list", priority=False),
    Command("rows.page_up", "A page up", "pageup", "page(-1)", where="list", priority=False),
    Command("rows.page_down", "A page down", "pagedown", "page(1)", where="list", priority=False),
    Command("rows.open", "Open or choose", "enter", "choose", where="list", priority=False),
    Command("list.new", "New persona", "n", "new", where="personas", short="new", priority=False),
    Command("list.copy", "Duplicate", "c", "duplicate", where="personas", short="copy", priority=False),
    Command("list.rename", "Rename", "r", "rename", where="personas", short="rename", priority=False),
    Command("list.delete", "Delete", "x,delete", "delete", where="personas", short="delete", priority=False),
    Command("list.restore", "Bring back a deleted persona", "u", "restore", where="personas", priority=False,
            short="restore"),
    Command("list.mark", "Mark, for copying, deleting or a message", "space", "mark", where="personas",
            priority=False),
    Command("list.mark_all", "Mark all that are shown, or none", "asterisk", "mark_all", where="personas", priority=False),
    Command("list.message", "Message to the agents of the marked", "m", "message", where="personas",
            short="message", priority=False),
    Command("list.filter", "Filter", "slash", "filter", where="personas", short="filter", priority=False),
    Command("tests.output", "Its output; Enter edits where there is none", "o,enter", "open_output",
            where="tests", short="output", priority=False),
    Command("tests.edit", "Edit", "e", "edit", where="tests", short="edit", priority=False),
    Command("tests.new", "New test input", "n", "new", where="tests", short="new", priority=False),
    Command("tests.copy", "Duplicate", "c", "duplicate", where="tests", short="copy", priority=False),
    Command("tests.move_to", "Move to another persona", "m", "send('move_to')",
            where="tests", priority=False),
    Command("tests.copy_to", "Copy to another persona", "C", "send('copy_to')", where="tests", priority=False),
    Command("tests.expectations", "Expectations: what must hold of outputs", "E", "expectations", where="tests",
            short="expectations", priority=False),
    Command("tests.delete", "Delete", "x,delete", "delete", where="tests", short="delete", priority=False),
    Command("tests.mark", "Mark, to run, copy, move or delete several", "space", "mark", where="tests",
            priority=False),
    Command("tests.up", "Move up", "K,shift+up", "move(-1)", where="tests", short="move", priority=False),
    Command("tests.down", "Move down", "J,shift+down", "move(1)", where="tests", priority=False),
    Command("composition.add", "Link a part, trait, skill, guardrail or arc", "n", "ask('add')", where="composition",
            short="link", priority=False),
    Command("composition.remove", "Remove the link", "x,delete", "ask('remove')", where="composition", short="unlink",
            priority=False),
    Command("composition.up", "Move up", "K,shift+up", "ask('up')", where="composition", short="move", priority=False),
    Command("composition.down", "Move down", "J,shift+down", "ask('down')", where="composition", priority=False),
    Command("composition.priority", "Priority of a part", "p", "ask('priority')",
            where="composition", short="priority", priority=False),
    Command("composition.stage", "Stage of its arc", "s", "ask('stage')", where="composition", short="stage",
            priority=False),
    Command("composition.try", "Try with another part or stage", "t", "ask('try')",
            where="composition", short="try with", priority=False),
    Command("composition.each_stage", "Run the test inputs on each stage", "T", "ask('each_stage')",
            where="composition", short="each stage", priority=False),
    Command("composition.compiled", "The compiled prompt", "v", "ask('compiled')",
            where="composition", short="compiled", priority=False),
    Command("compiled.open", "Go to where the line comes from", "enter", "open", where="compiled", priority=False),
    Command("outputs.older", "Older output", "left", "ask('older')", where="outputs", short="older", priority=False),
    Command("outputs.newer", "Newer output", "right", "ask('newer')", where="outputs", short="newer", priority=False),
    Command("outputs.compare", "Compare with the pinned, or older, output", "c", "ask('compare')",
            where="outputs", short="compare", priority=False),
    Command("outputs.pin", "Pin it, to compare others with it", "p", "ask('pin')", where="outputs", short="pin",
            priority=False),
    Command("outputs.expectations", "Expectations: what must hold of it", "e", "ask('expectations')",
            where="outputs", short="expectations", priority=False),
    Command("outputs.keep", "Keep it when old outputs are deleted", "k", "ask('keep')", where="outputs",
            short="keep", priority=False),
    Command("outputs.raw", "As Markdown, or as it came", "m", "raw", where="outputs", short="raw", priority=False),
    Command("outputs.request", "What is sent to the model, or the output", "s", "ask('request')", where="outputs",
            priority=False),
    Command("outputs.paste", "Paste an answer from elsewhere", "v", "ask('paste')", where="outputs",
            priority=False),
    Command("outputs.copy", "Copy it", "y", "ask('copy')", where="outputs", priority=False),
    Command("outputs.up", "A line up", "up", "scroll_lines(-1)", where="outputs", priority=False),
    Command("outputs.down", "A line down", "down,j", "scroll_lines(1)", where="outputs", priority=False),
    Command("outputs.page_up", "A page up", "pageup", "page(-1)", where="outputs", priority=False),
    Command("outputs.page_down", "A page down", "pagedown,space", "page(1)", where="outputs", priority=False),
    Command("outputs.first", "Beginning", "home,g", "edge(False)", where="outputs", priority=False),
    Command("outputs.last", "End", "end,G", "edge(True)", where="outputs", priority=False),
    Command("expectations.new", "Add an expectation", "n", "new", where="expectations", priority=False),
    Command("expectations.remove", "Remove it", "x,delete", "remove", where="expectations", priority=False),
    Command("expectations.field", "Next field", "tab", "app.focus_next", where="expectations", priority=False),
    Command("dialog.close", "Close without an answer", "escape", "cancel", where="dialog"),
    Command("dialog.up", "Row above, also from the field", "up", "step(-1)", where="dialog"),
    Command("dialog.down", "Row below, also from the field", "down", "step(1)", where="dialog"),
    Command("dialog.page_up", "A page up", "pageup", "page(-1)", where="dialog", priority=False),
    Command("dialog.page_down", "A page down", "pagedown", "page(1)", where="dialog", priority=False),
    Command("page.close", "Close", "q,enter", "cancel", where="page"),
    Command("page.up", "A line up", "k", "scroll_by(-1)", where="page", priority=False),
    Command("page.down", "A line down", "j", "scroll_by(1)", where="page", priority=False),
    Command("ask.previous", "Previous button", "left,up,shift+tab", "app.focus_previous", where="buttons",
            priority=False),
    Command("ask.next", "Next button", "right,down,tab", "app.focus_next", where="buttons", priority=False),
    Command("ask.yes", "Yes", "y", "answer(True)", where="buttons", priority=False),
    Command("ask.no", "No", "n", "answer(False)", where="buttons", priority=False),
    Command("ask.stop", "Stop the agent and quit", "s", "answer('stop')", where="buttons", priority=False),
    Command("ask.wait", "Wait for the agent, then quit", "w", "answer('wait')", where="buttons",
            priority=False),
    Command("found.regex", "As a regular expression, or not", "f2", "regex", where="found"),
    Command("bisected.revert", "Revert the change", "r", "revert", where="bisected", priority=False),
    Command("conflict.mine", "Keep mine", "1", "choose('ours')", where="conflict", priority=False),
    Command("conflict.theirs", "Take theirs", "2", "choose('theirs')", where="conflict", priority=False),
    Command("conflict.both", "Both", "3", "choose('both')", where="conflict", priority=False),
    Command("conflict.previous", "Previous button", "left", "app.focus_previous", where="conflict", priority=False),
    Command("conflict.next", "Next button", "right", "app.focus_next", where="conflict", priority=False),
    Command("conflict.up", "Scroll both texts up", "up", "scroll_sides(-1)", where="conflict", priority=False),
    Command("conflict.down", "Scroll both texts down", "down", "scroll_sides(1)", where="conflict", priority=False),
    Command("program.default", "Remove a setting from the file", "d", "default", where="program",
            priority=False),
    Command("program.file", "Edit the file in $EDITOR", "e", "open_file", where="program", priority=False),
    Command("comparison.next", "Next difference", "n", "step(1)", where="comparison", priority=False),
    Command("comparison.previous", "Previous difference", "p", "step(-1)", where="comparison", priority=False),
    Command("comparison.words", "Mark words or lines that differ", "w", "words", where="comparison",
            priority=False),
    Command("comparison.stop", "Stop what runs", "s", "stop", where="comparison", priority=False),
    Command("versions.compare", "Compare with now on the test inputs", "c", "choose('compare')", where="versions",
            priority=False),
    Command("versions.bisect", "Find what changed a verdict since (bisect)", "b", "choose('bisect')",
            where="versions", priority=False),
    Command("versions.mark", "Mark: of two it shows what differs", "space", "mark", where="versions",
            priority=False),
    Command("versions.undo", "Undo it and its run; what came later stays", "u", "choose('undo')",
            where="versions", priority=False),
    Command("versions.restore", "Restore it", "r", "choose('restore')", where="versions", priority=False),
    Command("versions.name", "Name it", "m", "choose('name')", where="versions", priority=False),
    Command("proposal.keep", "Keep it", "y", "decide('keep')", where="proposal", priority=False),
    Command("proposal.refuse", "Refuse it", "x", "decide('refuse')", where="proposal", priority=False),
    Command("proposal.edit", "Edit the prompt it proposes", "e", "decide('edit')", where="proposal", priority=False),
    Command("proposal.later", "Leave it for later: the next one", "n", "decide('later')", where="proposal",
            priority=False),
    Command("library.new", "New document", "n", "ask('new')", where="library", priority=False),
    Command("library.copy", "Copy it", "c", "ask('copy')", where="library", priority=False),
    Command("library.rename", "Rename it, and every link to it", "r", "ask('rename')", where="library",
            priority=False),
    Command("library.delete", "Delete it", "x,delete", "ask('delete')", where="library", priority=False),
    Command("library.restore", "Bring back a deleted one", "u", "ask('restore')", where="library", priority=False),
    Command("library.users", "Who uses it", "b", "ask('users')", where="library", priority=False),
    Command("library.versions", "Versions: who changed what and when", "v", "ask('versions')", where="library",
            priority=False),
    Command("library.filter", "Filter by words, type or #tag", "slash", "filter", where="library", priority=False),
    Command("library.save", "Save a document that several use", "f2", "ask('save')", where="library_document"),
    Command("library.check", "Try it on the tests of all its users", "ctrl+t", "ask('check')",
            where="library_document"),
    Command("stages.new", "New stage", "n", "ask('new')", where="stages", priority=False),
    Command("stages.rename", "Rename it", "r", "ask('rename')", where="stages", priority=False),
    Command("stages.remove", "Remove it", "x,delete", "ask('remove')", where="stages", priority=False),
    Command("actions.new", "New action", "n", "ask('new')", where="actions", priority=False),
    Command("actions.approve", "Approve it as it is now", "y", "ask('approve')", where="actions", priority=False),
    Command("actions.run", "Run it now", "r", "ask('run')", where="actions", priority=False),
    Command("actions.cancel", "Stop its runs, and take it off its schedule", "c", "ask('cancel')", where="actions",
            priority=False),
    Command("actions.delete", "Delete it", "x,delete", "ask('delete')", where="actions", priority=False),
    Command("actions.restore", "Bring back a deleted one", "u", "ask('restore')", where="actions", priority=False),
    Command("actions.versions", "Versions: who changed what and when", "v", "ask('versions')", where="actions",
            priority=False),
    Command("actions.save", "Save it", "f2", "ask('save')", where="action_document"),
    Command("runs.output", "Its result", "o", "ask('output')", where="runs", priority=False),
    Command("runs.proposal", "Its proposal, to keep or refuse", "p", "ask('proposal')", where="runs",
            priority=False),
)  # fmt: skip

# Keys that the chat bar and the editors handle themselves, for the help. The id of a command stands for its keys.
HELP_ONLY_KEYS: tuple[tuple[Where, str, str], ...] = (
    ("chat", "enter", "Send; steer while it works; reply"),
    ("chat", "ctrl+j", "New line (Shift+Enter, Alt+Enter)"),
    ("chat", "pane.next", "Accept a command; with a draft, while it works: queue it for later"),
    ("chat", "up, down", "Messages you sent before; (Shift+)Up edits what is queued"),
    ("chat", "1, 2, up, down", "When it asks: pick an answer, then Enter"),
    ("chat", "pageup, pagedown", "Scroll the agent's output"),
    ("chat", "paste", "The path of another program's file, or that file dropped here: offers its import"),
    ("chat", "end", "With nothing written: follow the end of the output again"),
    ("chat", "/", "Commands: a list to choose from; a blank before it makes a message"),
    ("output", "1, 2", "When it asks: pick an answer, in the empty chat bar"),
    ("prompt", "edit.undo, edit.redo", "Undo, redo; also the agent's runs"),
    ("find", "enter", "Next match; in the lower field: replace this one"),
    ("find", "conversation.find", "From one field to the other"),
    ("list", "back", "Clear the marks"),
    ("dialog", "space", "Mark, where several can be chosen"),
    ("list", "› ▎ ■", "The cursor, what is open or set, marked rows; a click there marks"),
    ("tests", "inputs.run", "Run the marked ones, else this one"),
    ("tests", "paste", "Lines, CSV or JSON Lines: test inputs; a single line is one"),
    ("outputs", "inputs.run", "Run this test input"),
    ("tests", "✓ ✗ !", "Under an input: its last output holds, does not, could not be made or judged"),
    ("personas", "● ? ✓ !", "Working, waiting for you, done and unread, failed or stopped"),
)


Keymap = Mapping[str, str]
"""By a command's id, its keys in place of the default ones, separated by commas; empty for none."""

NO_KEYMAP: Keymap = {}
UNBOUND = "unbound."
"""Prefix of a key that no terminal sends, for a command without a key: a keymap can then give it one."""


def keys_of(command: Command, keymap: Keymap = NO_KEYMAP) -> list[str]:
    """Return the keys of a command."""
    return [key for key in keymap.get(command.id, command.keys).split(",") if key]


BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}


def first_key(command_id: str, keymap: Keymap = NO_KEYMAP) -> str:
    """Return the first key of a command as people write it, empty for none."""
    keys = keys_of(BY_ID[command_id], keymap)
    return key_name(keys[0]) if keys else ""


def command_of(where: Where, key: str, keymap: Keymap = NO_KEYMAP) -> str:
    """Return the id of the command that a key has in one part of the screen, empty for none."""
    return next((one.id for one in COMMANDS if one.where == where and key in keys_of(one, keymap)), "")


def action_of(slash: str) -> str:
    """Return the action of a slash command, empty for none."""
    return next((one.action for one in COMMANDS if one.slash == slash), "")


def keymap_of(app: object) -> Keymap:
    """Return the keymap of the running app; the default one where it has no settings."""
    return getattr(getattr(app, "settings", None), "keys", NO_KEYMAP)


def sentence(command_id: str, keymap: Keymap, text: str, otherwise: str = "") -> str:
    """Return `text` with the first key of a command for `{}`; `otherwise` if the command has no key."""
    key = first_key(command_id, keymap)
    return text.format(key) if key else otherwise


HINTED = ("Enter", "Space", "Ctrl+J", ">")
"""Keys without a command that hints of dialogs name."""


def hint(keymap: Keymap, *parts: str | tuple[str, str]) -> list[tuple[str, str]]:
    """Return the hint line of a dialog as (text, key) parts; the key is empty for plain text.

    Args:
        keymap: the keymap.
        parts: texts as they are, of which one that begins with a key of `HINTED` presses it, and (command, word), which
            is left out where the command has no key.
    """
    shown: list[tuple[str, str]] = []
    for part in parts:
        if isinstance(part, str):
            key = part.partition(" ")[0]
            shown.append((part, key_called(key) if key in HINTED else ""))
        elif keys := keys_of(BY_ID[part[0]], keymap):
            shown.append((f"{key_name(keys[0])} {part[1]}", keys[0]))
    return [one for one in shown if one[0]]


def binding(command_id: str, action: str = "", *, priority: bool | None = None) -> Binding:
    """Return the binding of one command on its default keys; its id is the command's id.

    Args:
        command_id: which command.
        action: what its keys do where this is not the command's own action.
        priority: as in `Command`, where it differs here.
    """
    from textual.binding import Binding

    command = BY_ID[command_id]
    return Binding(
        command.keys or UNBOUND + command.id,
        action or command.action,
        command.title,
        show=bool(command.short),
        priority=command.priority if priority is None else priority,
        id=command.id,
    )


def bindings(where: Where) -> list[Binding]:
    """Return the bindings of one part of the screen."""
    return [binding(command.id) for command in COMMANDS if command.where == where]


def textual_keymap(keymap: Keymap) -> dict[str, str]:
    """Return a keymap for Textual, in which an empty text would mean the default keys."""
    return {command_id: keys or UNBOUND + command_id for command_id, keys in keymap.items()}


def heading(where: Where, keymap: Keymap = NO_KEYMAP) -> str:
    """Return the heading of a part of the screen, with the key to go there."""
    key = first_key("output.toggle", keymap) if where in ("output", "talk") else ""
    return f"{HEADINGS[where]} ({f'{key}, {key}' if where == 'output' else key})" if key else HEADINGS[where]


def keys_of_help_entry(entry: str, keymap: Keymap = NO_KEYMAP) -> list[str]:
    """Return the keys of an entry of `HELP_ONLY_KEYS`."""
    keys: list[str] = []
    for key in map(str.strip, entry.split(",")):
        keys += keys_of(BY_ID[key], keymap) if key in BY_ID else [key]
    return keys


def help_rows(keymap: Keymap = NO_KEYMAP) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return for each part of the screen its heading and (keys, what they do)."""
    rows: list[tuple[str, list[tuple[str, str]]]] = []
    for where in HEADINGS:
        lines = [
            (" ".join(key_name(key) for key in keys), command.title)
            for command in COMMANDS
            if command.where == where and (keys := keys_of(command, keymap))
        ]
        lines += [
            (" ".join(map(key_name, keys)), title)
            for place, entry, title in HELP_ONLY_KEYS
            if place == where and (keys := keys_of_help_entry(entry, keymap))
        ]
        rows.append((heading(where, keymap), lines))
    return [row for row in rows if row[1]]


def palette() -> list[Command]:
    """Return the commands the palette offers, in order."""
    return [command for command in COMMANDS if command.palette and command.where == "anywhere"]


_WRITTEN = {
    "slash": "/",
    "asterisk": "*",
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "delete": "Del",
}


def key_called(written: str) -> str:
    """Return the key for a written name, the reverse of `key_name`; empty if it is not one key."""
    if written in _WRITTEN.values():
        return next(key for key, name in _WRITTEN.items() if name == written)
    if len(written) == 1:
        return written
    return "" if written[:1].isdigit() else written.lower()


def key_name(key: str) -> str:
    """Return a key as people write it: `ctrl+p` is `Ctrl+P`, `slash` is `/`."""
    if key in _WRITTEN:
        return _WRITTEN[key]
    if len(key) == 1:
        return key
    return "+".join(part.upper() if len(part) == 1 else part.capitalize() for part in key.split("+"))

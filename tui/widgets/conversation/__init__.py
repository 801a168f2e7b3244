"""The conversation on the screen: one widget in Textual's Line API, and the modules without widgets it is made of.

The terms: an *entry* shows a turn (a tool call and its result share one). It consists of *parts*, which are drawn when
they become visible; an answer has one for each Markdown *block*. A part is drawn as *lines*, one a row of the screen; a
line is made of *text runs*, each with its style flags. A *position* names a line by entry, part and number.

`lines` wrapping text into lines; `markdown_blocks` cutting Markdown into blocks while it arrives; `markdown` drawing a
block; `render_parts` parts and streams; `entry`, `entries`, `tool_entry`, `custom_entry` what each kind
of turn looks like; `layout` rows and positions; `line_styles` lines to strips; `search` and `strip_markdown` searching;
`scroll_view`, `cursor`, `view` the widget.
"""

from __future__ import annotations

from tui.widgets.conversation.lines import Glyphs
from tui.widgets.conversation.view import ConversationView

__all__ = ["ConversationView", "Glyphs"]

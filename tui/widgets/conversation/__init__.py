"""The conversation on the screen: one widget in the Line API, and the pure rooms it is made of.

`lines` text to rows · `pieces` cutting Markdown as it arrives · `markdown` drawing it · `parts` lines drawn when
seen · `entry` `entries` `tool_entry` what each kind of turn looks like · `layout` where everything is · `paint`
lines to strips · `canvas` `reading` `view` the widget: rows, reading, feeding.
"""

from __future__ import annotations

from tui.widgets.conversation.lines import Glyphs
from tui.widgets.conversation.view import ConversationView

__all__ = ["ConversationView", "Glyphs"]

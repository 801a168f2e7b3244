"""The tools on the library and on personas as a whole, as data: the same for our agent, the commands and MCP.

They act on a whole home and know no conversation: they get the store, who asks, and the input. How our agent comes by
them is in `agent.tools.use_library`.
"""

from __future__ import annotations

from agent.tools.library.spec import LibraryTool
from agent.tools.library.tools import LIBRARY_TOOLS

__all__ = ["LIBRARY_TOOLS", "LibraryTool"]

"""The embedded default model: a deterministic interpreter of plain requests, with no network and no weights.

`words` reads a message as tokens, `split` cuts it into steps, `grammar` (with the rules of `asking`,
`changing` and `prompting`) makes intents of them, `prepare` and `plan` turn those into tool calls and
questions, `dialogue` reads the conversation, `speech` has the words, `model` streams. What is no name, no
text and no answer is told in `names`, `evasions` and `free_answer`; `stale` compares what a question was asked
about with what is there when it is answered; `long` reads a message of megabytes by its head.
"""

from __future__ import annotations

from agent.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]

"""The embedded default model: a deterministic interpreter of plain requests, with no network and no weights.

`words` reads a message as tokens, `long` one of megabytes by its head; `split` and `steps` cut it into steps; `grammar`
makes intents of them (`intents`) with the `rules/`, each a set of `patterns`; `mood` tells requests from what only
speaks of a change. What is meant: a test input in `reference` (by its subject: `topics`), a text or a place in
`content` and `prompt_text`, a name in `names`, "it" in `antecedent` and `sequel`; what gives no text and no answer in
`evasions` and `free_answer`. `plan` and `prepare` (`on_prompt`, `on_inputs`) turn intents into tool calls and questions
on what was read (`draft`); `stale` compares what a question was asked about with what is there when it is answered.
`dialogue` reads the conversation, that of a task through `task`; `speech` has the words, `model` streams.
"""

from __future__ import annotations

from agent.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]

"""Prompts of Prompty: the first version's keys, the second's with inputs, a body alone, several messages."""

from tests.personas.formats.examples.example import Example

_FIRST = """---
name: Basic Prompt
description: "Answers: with care"
authors: [alice]
model:
  api: chat
  configuration:
    type: azure_openai
    azure_endpoint: ${env:AZURE_OPENAI_ENDPOINT}
    api_key: ${env:AZURE_OPENAI_API_KEY}
  parameters: {max_tokens: 300, secret_key: hunter2hunter2}
sample:
  firstName: Jane
  question: What is {{it}}?
  docs: ${file:docs.json}
---
system:
You help {{firstName}}. 👩‍💻
{% for d in docs %}{{d}}{% endfor %}

# Customer
user text

user:
{{question}}
"""

_SECOND = """---
name: threaded
model: gpt-4o
inputs:
  - {name: question, kind: string, default: Hello}
  - {name: conversation, kind: thread}
template: {format: {kind: jinja2}, parser: prompty}
metadata: {version: "2.0"}
---

You are brief.

# user[name="Ann"]:
One
assistant:
Two
user:
{{question}} {{conversation}}
"""

EXAMPLES = [
    Example(
        "prompty",
        "prompts/basic.prompty",
        b"\xef\xbb\xbf" + _FIRST.replace("\n", "\r\n").encode(),
        says=(
            "Basic Prompt",
            "Answers: with care",
            "alice",
            "${env:AZURE_OPENAI_API_KEY}",
            "300",
            "${file:docs.json}",
            "You help {{firstName}}. 👩‍💻\n{% for d in docs %}{{d}}{% endfor %}\n\n# Customer\nuser text",
            "What is {{it}}?",
        ),
        never=("hunter2hunter2",),
    ),
    Example(
        "prompty",
        "prompts/threaded.prompty",
        _SECOND.encode(),
        says=(
            "threaded",
            "gpt-4o",
            "You are brief.",
            "One",
            "Two",
            "Hello {{conversation}}",
            "2.0",
            "jinja2",
        ),
    ),
    Example("prompty", "prompts/body.prompty", b"Just this.\n", says=("body", "Just this.")),
]

"""Configurations: a chat with all kinds of assertions, a text with variables, JSON, files only, our own conversations, odd types."""

from tests.personas.formats.examples.example import Example

_FULL = r"""# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
description: "Support answers: polite, short"
tags: {team: care}
providers:
  - id: openai:gpt-4o
    config: {temperature: 0.2, apiKey: sk-proj-abcdefghijklmnop1234, organization: $ORG}
prompts:
  - label: Support bot
    id: support-prompt
    raw: |
      [
        {"role": "system", "content": "You help {{company}}.\n{% if vip %}Be quick.{% endif %} 👩‍💻"},
        {"role": "user", "content": "{{question}}"}
      ]
  - file://other.txt
  - "Another prompt: {{question}}"
defaultTest:
  vars: {company: Acme}
  assert:
    - {type: not-contains, value: as an AI}
    - {type: python, value: "len(output) < 9"}
assertionTemplates:
  short: {type: javascript, value: output.length < 100}
scenarios:
  - config: [{vars: {language: Spanish}}]
    tests: [{assert: [{type: icontains, value: hola}]}]
evaluateOptions: {maxConcurrency: 3}
outputPath: out.json
tests:
  - description: Refund asked
    vars: {question: "I want my Acme money back.", unused: [1, {a: null}], when: 2024-01-01}
    threshold: 0.5
    metadata: {ticket: 0123}
    assert:
      - {type: icontains, value: sorry, weight: 2, metric: tone}
      - {type: contains-any, value: "refund, money"}
      - {type: contains-all, value: [a, 7]}
      - {type: equals, value: "{{company}}"}
      - {type: word-count, value: {min: 3, max: 90}}
      - {type: llm-rubric, value: Offers a next step., provider: openai:gpt-4o}
      - {type: is-json, value: {type: object, required: [a]}}
      - {type: levenshtein, value: abc, threshold: 2}
      - {type: latency, threshold: 5000}
      - {type: cost, threshold: 0.01}
      - {type: not-regex, value: '\d{3}'}
      - {type: regex, value: '(?<year>\d+)'}
      - {type: javascript, value: "output.includes('x')"}
      - {$ref: '#/assertionTemplates/short'}
      - {type: similar, value: Hi, threshold: 0.8}
      - {type: contains, value: file://expected.txt}
      - {type: contains, value: "{{missing}}"}
      - {type: contains, value: x, transform: output.trim()}
      - {type: contains, value: unweighted, weight: 0}
  - vars: {question: Yes}
  - vars: {question: "Und auf Deutsch?"}
    options: {disableDefaultAsserts: true}
  - vars: {other: 1}
"""

_TEXT = """prompts: "You are a pirate. Answer {{ name }}: {{question}}"
providers: [anthropic:messages:claude-sonnet-5]
tests:
  - vars: {name: Ann, question: "Who are you?"}
    assert: [{type: starts-with, value: Arr}]
  - vars: {question: "Only this"}
  - file://more.csv
  - path: file://make.py:tests
    config: {n: 3}
"""

_JSON = """{
  "prompts": ["Say {% raw %}{{hello}}{% endraw %} to me"],
  "targets": ["echo"],
  "tests": [{"assert": [{"type": "contains", "value": "hi\\r\\nthere \\ud83d"}]}, {"description": "Greets"}]
}"""

_OURS = """description: Talks
prompts:
  - label: Talker
    raw: |
      [{"role": "system", "content": "{% raw %}You are {{char}}.{% endraw %}"},
       {"role": "user", "content": "{{input}}"}]
  - label: conversation twice
    raw: |
      [{"role": "system", "content": "{% raw %}You are {{char}}.{% endraw %}"},
       {"role": "user", "content": "Where is it?"},
       {"role": "assistant", "content": "On its way."},
       {"role": "user", "content": "{% raw %}You said {{that}}{% endraw %}"}]
providers: [anthropic:messages:claude-opus-5]
tests:
  - description: twice
    prompts: [conversation twice]
    assert:
      - {type: javascript, value: '[...output].length >= 2 && [...output].length <= 90'}
      - {type: contains, value: '{% raw %}{{that}}{% endraw %}'}
  - prompts: [Talker]
    vars: {input: Hello there}
"""

EXAMPLES = [
    Example(
        "promptfoo",
        "support/promptfooconfig.yaml",
        _FULL.encode(),
        says=(
            "Support answers: polite, short",
            "Support bot",
            "support-prompt",
            "care",
            "openai:gpt-4o",
            "$ORG",
            "You help {{company}}.\n{% if vip %}Be quick.{% endif %} 👩‍💻",
            "file://other.txt",
            "Another prompt: {{question}}",
            "as an AI",
            "len(output) < 9",
            "output.length < 100",
            "hola",
            "out.json",
            "Refund asked",
            "I want my Acme money back.",
            "2024-01-01",
            "0123",
            "tone",
            "Offers a next step.",
            "output.includes('x')",
            "#/assertionTemplates/short",
            "similar",
            "file://expected.txt",
            "{{missing}}",
            "output.trim()",
            "unweighted",
            "Und auf Deutsch?",
            "Yes",
        ),
        never=("sk-proj-abcdefghijklmnop1234",),
    ),
    Example(
        "promptfoo",
        "pirates/promptfooconfig.yaml",
        b"\xef\xbb\xbf" + _TEXT.replace("\n", "\r\n").encode(),
        says=(
            "pirates",
            "You are a pirate. Answer {{ name }}: {{question}}",
            "name: Ann\nquestion: Who are you?",
            "Only this",
            "Arr",
            "file://more.csv",
            "file://make.py:tests",
        ),
    ),
    Example(
        "promptfoo",
        "greet/tests.json",
        _JSON.encode(),
        says=("Say {% raw %}{{hello}}{% endraw %} to me", "echo", "hi\nthere \\ud83d", "Greets", "Begin."),
    ),
    Example(
        "promptfoo",
        "talk/promptfooconfig.yml",
        _OURS.encode(),
        says=("Talker", "You are {{char}}.", "On its way.", "You said {{that}}", "Hello there"),
    ),
    Example(
        "promptfoo",
        "odd/promptfooconfig.yaml",
        b"description: [5]\nprompts: {a.txt: one}\nproviders: 3\ndefaultTest: file://default.yaml\ntests: file://tests.csv\nodd: {k: v}\n",
        says=("a.txt", "file://default.yaml", "file://tests.csv"),
    ),
    Example(
        "promptfoo",
        "odd/promptfooconfig-types.yaml",
        b"prompts: [5, {raw: 6}, '', [x]]\nproviders: p\ndefaultTest: {assert: {a: 1}, vars: [x]}\n"
        b"tests: [null, 4, {vars: file://v.yaml, assert: 7, description: 8}, {vars: {q: ''}, assert: [3, {type: 4}]}]\n",
        says=("file://v.yaml", "Begin."),
    ),
]

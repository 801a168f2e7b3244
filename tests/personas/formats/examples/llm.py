"""Templates of llm: all keys, a bare text, text from elsewhere, keys that llm refuses."""

from tests.personas.formats.examples.example import Example

_FULL = """name: Hagrid
system: |
  You are $who. Charge $$5: "always" # not a comment
  {{char}} 👩‍💻 e\u0301
prompt: "Tell me about $input in $language"
defaults: {who: Hagrid, language: English, age: 63}
model: gpt-4o
options: {temperature: 0.7, seed: 3}
extract: true
extract_last: false
schema_object: {type: object, properties: {name: {type: string}}}
fragments: ["https://example.com/a.txt", f1]
system_fragments: [house-style]
attachments: [cat.png]
attachment_types: [{type: image/png, value: dog.png}]
tools: [llm_time]
functions: |
  import os
  def wipe(): os.remove("all")
"""

EXAMPLES = [
    Example(
        "llm",
        "templates/hagrid.yaml",
        b"\xef\xbb\xbf" + _FULL.replace("\n", "\r\n").encode(),
        says=(
            "Hagrid",
            'You are $who. Charge $$5: "always" # not a comment\n{{char}} 👩‍💻 e\u0301',
            "Tell me about $input in $language",
            "English",
            "gpt-4o",
            "0.7",
            "https://example.com/a.txt",
            "house-style",
            "cat.png",
            "image/png",
            "llm_time",
            'def wipe(): os.remove("all")',
        ),
    ),
    Example(
        "llm",
        "templates/pirate.yml",
        b"system: You are a pirate\n",
        says=("pirate", "You are a pirate"),
    ),
    Example(
        "llm",
        "templates/summary.yaml",
        b"prompt: 'Summarize: $input'\nmodel:\nsystem: ''\n",
        says=("Summarize: $input", "model"),
    ),
]

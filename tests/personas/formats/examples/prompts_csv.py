"""The collection: the newer columns with CRLF rows and line ends in cells, rows that stand twice, the older columns."""

from tests.personas.formats.examples.example import Example

_NEW = (
    '"act","prompt","for_devs","type","contributor"\r\n'
    '"Linux Terminal","I want you to act as ""a terminal"".\r\n\r\nReply {{so}}, with 👩‍💻","TRUE","TEXT","f"\r\n'
    '"Poet","Write poems","FALSE","TEXT",""\r\n'
    '"Poet","Write long poems","FALSE","STRUCTURED","jane"\r\n'
    '"Poet","Write poems","TRUE","TEXT","other"\r\n'
    '"","No act here",,,\r\n'
    '"Empty","",,,\r\n'
    '"Wide","Too many cells",1,2,3,4\r\n'
)

EXAMPLES = [
    Example(
        "prompts-csv",
        "prompts/prompts.csv",
        b"\xef\xbb\xbf" + _NEW.encode(),
        says=(
            "Linux Terminal",
            'I want you to act as "a terminal".\n\nReply {{so}}, with 👩‍💻',
            "TRUE",
            "Write long poems",
            "STRUCTURED",
            "jane",
            "line 5 has this act too",
            "the same act and prompt as in line 5",
            "No act here",
            "the row has no prompt",
            "Too many cells",
            "column 1",
        ),
    ),
    Example(
        "prompts-csv", "prompts/old.csv", b"act,prompt\nPoet,Write poems\n", says=("Poet", "Write poems")
    ),
]

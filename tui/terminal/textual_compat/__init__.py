"""Every patch and private import of Textual (8.2.8) and Rich, each with its reason and what it brings.

| module | instead of | measured |
|---|---|---|
| `input_parser` | `XTermParser`: pastes stay whole and send nothing | a paste of 1 MB: 1 s -> 0.01 s |
| `nonblocking_writer` | `WriterThread`, which waits where the terminal does | a stalled terminal: hours -> 0 s |
| `diff_rendering` | sending and drawing what is there or covered | a key: 13.6 -> 0.4 KB, one that moves the focus: 12 -> 2 KB; a frame of an answer: 2.1 -> 0.2 ms |
| `cell_width` | rows sent as one text | 5 µs a row |
| `soft_wrap` | `WrappedDocument` of the text area | 1 MB: 1.05 -> 0.12 s |
| `graphemes` | `Segment._split_cells` of Rich | emoji stay whole |
| `ordered_keys` | bindings that letters overtake | order of keys |
| `sigcont` | Textual's handler, made for Ctrl+Z alone | one reading thread after `kill -STOP`, not two |
| `screen_hooks` | deciding in private methods of a screen what it forwards, focuses and parses first | – |
| `edit_history` | joining and dropping steps of undo | – |
| `terminal_app`, `colours`, `toasts`, `links` | private methods and parts of the app and the screen | – |
"""

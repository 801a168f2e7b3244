"""What narrows a list: every word has to be in what is shown, however many there are."""

from __future__ import annotations

from tui.commands.text_matching import FEW, match_all, words_of


def test_each_word_is_looked_for_once_in_whichever_letters() -> None:
    assert words_of(" Ab  STRASSE straße\nab ") == ["ab", "strasse"]
    assert (
        match_all([], "") and match_all(["b", "as"], "ab strasse") and not match_all(["b", "c"], "ab strasse")
    )


def test_a_text_of_many_words_finds_itself_quickly_and_nothing_that_lacks_a_word() -> None:
    looked = []

    class Text(str):
        def __contains__(self, word: object) -> bool:
            looked.append(word)
            return super().__contains__(word)  # type: ignore[arg-type]

    text = Text(" ".join(f"word{number}" for number in range(10_000)))
    assert match_all(words_of(text), text)
    assert len(looked) == FEW, "the others are words of it"
    assert match_all([*words_of(text), "ord9"], text), "a part of a word is in it, too"
    assert not match_all([*words_of(text), "else"], text)

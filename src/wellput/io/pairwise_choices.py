"""Reads pairwise choices: which of two systems a text means.

A text may be a place (`a`, `left`, `model_b`), a tie, or the name of a system. It is doubtful if it
means one system as a place and the other as a name, such as `a` if the second system is called a. Then
the other rows of the file decide; if they do not, the text is an error.
"""

from __future__ import annotations

from typing import NamedTuple

from wellput.core.judgment import PAIRWISE_CHOICES, PairwiseChoice

CHOICE_OF_SIDE: dict[str, PairwiseChoice] = {"left": "a", "right": "b"}
CHOICE_OF_WORD: dict[str, PairwiseChoice] = {**CHOICE_OF_SIDE, "a": "a", "b": "b", "tie": "tie"}
CHOICE_OF_COLUMN_WORD: dict[str, PairwiseChoice] = {
    **CHOICE_OF_WORD,
    "system_a": "a",
    "system_b": "b",
    "model_a": "a",
    "model_b": "b",
    "tie (bothbad)": "tie",
}
"""In tables, a choice may also be the name of a column, as in the comparisons of Chatbot Arena."""
WORDING_OF_PLACE = {
    word: wording
    for wording in ("a, b", "left, right", "system_a, system_b", "model_a, model_b")
    for word in wording.split(", ")
}
"""Each word for a place, with its wording: all words for places that a file with this word uses."""


class ChoiceMeaning(NamedTuple):
    """What a text means as a place or a tie, and as the name of a system; None if it is neither.

    >>> ChoiceMeaning.of("A", "gpt", "llama").choice, ChoiceMeaning.of("llama", "gpt", "llama").choice
    ('a', 'b')
    >>> ChoiceMeaning.of("a", "b", "a").is_doubtful, ChoiceMeaning.of("a", "a", "b").is_doubtful
    (True, False)
    """

    text: str
    by_place: PairwiseChoice | None
    by_name: PairwiseChoice | None

    @classmethod
    def of(cls, written: object, system_a: str, system_b: str) -> ChoiceMeaning:
        text = str(written).strip()
        by_place = CHOICE_OF_COLUMN_WORD.get(text.casefold())
        return cls(text, by_place, "a" if text == system_a else "b" if text == system_b else None)

    @property
    def choice(self) -> PairwiseChoice | None:
        """The meaning of a text that is not doubtful; None for a text without a meaning."""
        return self.by_place or self.by_name

    @property
    def is_doubtful(self) -> bool:
        return None not in (self.by_place, self.by_name) and self.by_place != self.by_name

    @property
    def wording(self) -> tuple[str | None, bool]:
        """How the text says a place: its wording, and whether it is in small letters."""
        return WORDING_OF_PLACE.get(self.text.casefold()), self.text.islower()

    @property
    def advice(self) -> str:
        """What is wrong with a doubtful text, and what to write."""
        if self.by_place == "tie":
            return (
                f"the choice {self.text!r} is a tie and the name of a system; give the system another "
                "name"
            )
        return (
            f"the choice {self.text!r} is the name of one system and the place of the other; write "
            "system_a for the first system or system_b for the second in every row"
        )


class FileChoices:
    """Decides what doubtful choices mean by the other choices of the same file. Every row is added
    first."""

    def __init__(self, *, is_own_column: bool) -> None:
        """`is_own_column`: the column is called `choice`, where `a`, `b` and `tie` are wellput's own
        words for the first system, the second system and a tie."""
        self._is_own_column = is_own_column
        self._has_names = False
        self._wordings: set[tuple[str | None, bool]] = set()

    def add(self, meaning: ChoiceMeaning) -> None:
        """Remembers a text that is only a name or only a place."""
        if meaning.by_place is None:
            self._has_names = True
        elif meaning.by_name is None and meaning.by_place != "tie":
            self._wordings.add(meaning.wording)

    def decided(self, meaning: ChoiceMeaning) -> PairwiseChoice | None:
        """The meaning of a doubtful text; None if the file does not decide it."""
        is_tie = meaning.by_place == "tie"
        has_places = bool(self._wordings) if is_tie else meaning.wording in self._wordings
        is_own_word = self._is_own_column and meaning.text in PAIRWISE_CHOICES
        if self._has_names:
            # In a file of names, the word tie may still be a tie.
            return None if has_places or is_tie else meaning.by_name
        return meaning.by_place if has_places or is_own_word else None

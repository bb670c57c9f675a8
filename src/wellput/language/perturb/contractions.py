"""A harmless change: two words are contracted, or a contraction is spelled out (see the module
`harmless`)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wellput.language.perturb.passage import Edit, Edits, Passage, PlacedWord, Surroundings
from wellput.language.perturb.word_lists import with_capital_of

# Auxiliaries with *not*, contracted.
CONTRACTED_NOT = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "do": "don't",
    "does": "doesn't", "did": "didn't", "has": "hasn't", "have": "haven't", "had": "hadn't",
    "will": "won't", "would": "wouldn't", "could": "couldn't", "should": "shouldn't",
    "can": "can't",
}  # fmt: skip
# Word and verb → the ending that the verb becomes.
CONTRACTED_VERB = {
    ("i", "am"): "'m", ("you", "are"): "'re", ("we", "are"): "'re", ("they", "are"): "'re",
    ("it", "is"): "'s", ("he", "is"): "'s", ("she", "is"): "'s", ("that", "is"): "'s",
    ("there", "is"): "'s", ("i", "will"): "'ll", ("you", "will"): "'ll", ("we", "will"): "'ll",
    ("they", "will"): "'ll", ("he", "will"): "'ll", ("she", "will"): "'ll", ("it", "will"): "'ll",
    ("i", "have"): "'ve", ("you", "have"): "'ve", ("we", "have"): "'ve", ("they", "have"): "'ve",
}  # fmt: skip
# Contracted ending → the verb that it stands for.
FULL_VERB = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
# What stands before *n't* → the full auxiliary.
FULL_AUXILIARY = {"ca": "can", "wo": "will"}


def contraction(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """Two words are contracted (`do not`, `don't`), or a contraction is spelled out."""
    for sentence in passage.sentences:
        words = sentence.words
        for place, word in enumerate(words[:-1]):
            after = words[place + 1]
            following = sentence.word_after(place + 1)
            has_word_after = following is not None and following.form[0].isalnum()
            between = passage.text[word.end : after.begin]
            if between not in ("", " ") or not has_word_after or sentence.is_question:
                continue
            assert following is not None
            edit = _contracted(word, after, following, between)
            edit = edit or _spelled_out(word, after, following, between)
            if edit is not None:
                yield [edit]


def _contracted(
    word: PlacedWord, after: PlacedWord, following: PlacedWord, between: str
) -> Edit | None:
    """The contraction of `word` and the word `after` it, None if they may not be contracted.
    `following` is the third word, `between` the white space between the first two."""
    # Before some words the full form is usual, because it is stressed: "not only", "they are in".
    if after.lowercase == "not" and word.lowercase in CONTRACTED_NOT:
        if following.lowercase in ("only", "just", "merely", "so", "to", "because"):
            return None
        contracted = CONTRACTED_NOT[word.lowercase]
        return Edit(word.begin, after.end, with_capital_of(word.form, contracted))
    ending = CONTRACTED_VERB.get((word.lowercase, after.lowercase))
    if ending is None or between != " " or (word.lowercase == "that" and word.relation == "mark"):
        return None
    is_main_have = after.lowercase == "have" and after.relation != "aux"
    if is_main_have or following.lowercase in (
        "to",
        "that",
        "what",
        "how",
        "if",
        "in",
        "at",
        "and",
        "or",
    ):
        return None
    if word.lowercase == "that" and word.tag != "DT":
        return None
    return Edit(word.end, after.end, ending)


def _spelled_out(
    word: PlacedWord, after: PlacedWord, following: PlacedWord, between: str
) -> Edit | None:
    """The full form of the contraction of `word` and `after`; the arguments are as for
    `_contracted`."""
    ending = after.lowercase.replace("’", "'")
    if between or not word.is_word:
        return None
    if ending == "n't":
        full = FULL_AUXILIARY.get(word.lowercase, word.lowercase)
        if full == "ai" or full == "sha":
            return None  # "ain't" and "shan't"
        spelled_out = "cannot" if full == "can" else f"{full} not"
        return Edit(word.begin, after.end, with_capital_of(word.form, spelled_out))
    if ending in FULL_VERB and word.tag in ("PRP", "EX", "DT", "WP"):
        return Edit(after.begin, after.end, f" {FULL_VERB[ending]}")
    # *'s* may also be *has* or a possessive.
    is_copula = after.tag == "VBZ" and following.tag in ("DT", "JJ", "RB", "VBG", "IN", "PRP$")
    if ending == "'s" and word.lowercase in ("it", "that", "he", "she", "there") and is_copula:
        return (
            None if following.lowercase in ("been", "got") else Edit(after.begin, after.end, " is")
        )
    return None

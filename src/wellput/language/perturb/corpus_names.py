"""Names in the texts of a corpus: where they stand, and which of them may replace each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from wellput.language.perturb.passage import Passage, PassageSentence, english_word_list
from wellput.language.perturb.word_lists import other_names

MIN_NAME_COUNT = 2
SAME_BEGINNING = 3
"""Letters that two different names do not share at their beginning."""


def corpus_names(passages: Sequence[Passage]) -> dict[str, list[str]]:
    """Names that occur at least twice: this leaves out most words that only look like names."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    for passage in passages:
        for sentence in passage.sentences:
            for first, last in name_runs(sentence):
                name = passage.covered(sentence, first, last)
                begin, end = sentence.words[first].begin, sentence.words[last].end
                if is_part_of_name(passage.text, begin, end):
                    continue
                if "  " not in name and len(name) > 2:
                    found[name_key(sentence, first, last)][name] = None
                    counts[name] += 1
    return {
        key: [name for name in names if counts[name] >= MIN_NAME_COUNT]
        for key, names in found.items()
    }


def name_runs(sentence: PassageSentence) -> Iterator[tuple[int, int]]:
    """The first and last word of each run of names."""
    first = None
    for place, word in enumerate((*sentence.words, None)):
        is_name = word is not None and word.is_name and word.is_word and word.form[0].isupper()
        if is_name and first is None:
            first = place
        elif not is_name and first is not None:
            yield first, place - 1
            first = None


def is_part_of_name(text: str, begin: int, end: int) -> bool:
    """Whether a hyphen or a slash stands in the name or beside it, as in *Coca-Cola*."""
    return any(mark in text[max(0, begin - 1) : end + 1] for mark in "-/")


def name_key(sentence: PassageSentence, first: int, last: int) -> str:
    """What names must share to stand for each other: the word before them, their number of words, and
    whether they are the head of their phrase."""
    before = sentence.words[first - 1] if first else None
    word_before = before.small if before is not None and before.is_word else ""
    after = sentence.follows(last)
    is_possessive = after is not None and after.tag == "POS"
    head = sentence.words[last]
    relation = "compound" if head.relation in ("compound", "flat") else "head"
    return f"{word_before} {last - first + 1} {relation} {head.tag} {is_possessive}"


def is_like_name(name: str, other: str) -> bool:
    """Whether another name of the corpus may be of the same kind: it ends in the same word (*Gull
    Island*, *Thorn Island*), or no word of either is listed or has a meaning of its own."""
    one, two = name.split(), other.split()
    if len(one) > 1 and one[-1] == two[-1]:
        return one[0] != two[0]
    if one[0][:SAME_BEGINNING] == two[0][:SAME_BEGINNING]:
        return False  # the same name in another spelling
    return all(_is_mere_name(word) for word in (*one, *two)) and not set(one) & set(two)


@cache
def _is_mere_name(word: str) -> bool:
    is_plain = word.isalpha() and len(word) > 2 and (word.istitle() or word.startswith("Mc"))
    return is_plain and word not in other_names() and not english_word_list().is_known(word.lower())

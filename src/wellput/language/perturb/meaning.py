"""Changes of meaning: the text stays well formed but says something else.

Each public function is a kind of change. It finds every place of a passage where the change can be
made, and yields the edits of each place. Where it is not certain that an edit makes the intended
change, the place is left out: many conditions here exclude constructions that the parser often gets
wrong. All kinds get the same arguments, used or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from wellput.language.articles import indefinite_article
from wellput.language.models.wordnet import with_capitals_of
from wellput.language.perturb.passage import (
    CLAUSE_RELATIONS,
    Edit,
    Edits,
    Passage,
    PassageSentence,
    Surroundings,
    capitalized,
    is_joined,
    without_capital,
)
from wellput.language.perturb.word_lists import (
    CATEGORY_OF_TAG,
    article_edit,
    has_right_lemma,
    in_form_of,
    is_in_phrase,
    is_like_name,
    is_part_of_name,
    name_key,
    name_runs,
    other_names,
    with_capital_of,
    word_pairs,
    word_set,
)

FINITE_TAGS = ("MD", "VBZ", "VBP", "VBD")
# If one of these words follows an auxiliary, *not* cannot stand between them, or would mean something
# else.
WORDS_THAT_FOLLOW_AN_AUXILIARY = word_set("words-that-follow-an-auxiliary")
DO_FORMS = {"VBZ": "does", "VBP": "do", "VBD": "did"}
AUXILIARIES = word_set("auxiliaries")
FULL_AUXILIARY = {"ca": "can", "wo": "will", "sha": "shall"}
"""The full form of an auxiliary that stands before *n't* (*ca* in *can't*)."""


def negation(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The main verb of a sentence is negated, or loses its negation."""
    for sentence in passage.sentences:
        if sentence.is_question:
            continue
        if sentence.has_negation:
            yield from _without_negation(passage, sentence)
        elif edit := _negating(sentence):
            yield [edit]


def _negating(sentence: PassageSentence) -> Edit | None:
    """The edit that negates the main verb, or None."""
    root = sentence.root
    verb = sentence.words[root]
    subjects = sentence.children(root, "nsubj", "nsubj:pass", "expl")
    if not subjects:
        return None
    if any(place < root for place in sentence.children(root, "ccomp", "parataxis")):
        return None  # "It rained," she said: the negation would not reach what was said
    finite = [
        place
        for place in sentence.children(root, "aux", "aux:pass", "cop")
        if sentence.words[place].tag in FINITE_TAGS
        and sentence.words[place].lowercase in AUXILIARIES
        and place < root
    ]
    if not finite and verb.lowercase in AUXILIARIES and verb.lemma == "be" and verb.tag != "VBP":
        finite = [root]
    if finite:
        return _with_not(sentence, finite[0], subjects)
    if verb.tag in DO_FORMS and subjects[-1] < root and verb.lemma != "be" and verb.is_word:
        before = sentence.words[root - 1]
        if verb.lowercase in AUXILIARIES and verb.lemma != "have":
            return None  # an auxiliary whose verb is left out or was not found
        after = sentence.word_after(root)
        if verb.form.isupper() or (after is not None and after.lowercase in ("yet", "better")):
            return None  # *had better*, *have yet to*
        if before.tag in ("RB", "MD", "TO", "CC") or before.relation in ("aux", "cop"):
            return None  # *does not* would stand in the wrong place
        if verb.lemma != "have" and not has_right_lemma(verb):
            return None
        return Edit(verb.begin, verb.end, f"{DO_FORMS[verb.tag]} not {verb.lemma}")
    return None


def _with_not(sentence: PassageSentence, place: int, subjects: list[int]) -> Edit | None:
    """The edit that puts *not* after the auxiliary at a place, or None."""
    word, after = sentence.words[place], sentence.word_after(place)
    if subjects[0] > place or after is None or after.lowercase in WORDS_THAT_FOLLOW_AN_AUXILIARY:
        return None
    if not after.form[0].isalnum() or word.lowercase in ("'d", "’d"):
        return None
    return Edit(word.end, word.end, "not" if word.lowercase == "can" else " not")  # *cannot*


def _without_negation(passage: Passage, sentence: PassageSentence) -> Iterator[Edits]:
    """Edits that remove a *not* or *n't* of the main verb."""
    for place, word in enumerate(sentence.words):
        if word.lowercase not in ("not", "n't", "n’t") or place == 0:
            continue
        before, after = sentence.words[place - 1], sentence.word_after(place)
        is_main = word.head == sentence.root
        if not is_main or before.lowercase not in AUXILIARIES or after is None:
            continue
        if after.lowercase in WORDS_THAT_FOLLOW_AN_AUXILIARY | {"yet", "any", "anymore", "until"}:
            continue
        words_after = sentence.words[place + 1 :]
        if any(
            w.lowercase
            in ("any", "anything", "anyone", "yet", "anymore", "either", "but", "much", "ever")
            for w in words_after
        ):
            continue  # these words need the negation
        if not after.form[0].isalnum() or (place > 1 and before.form[0].isupper()):
            continue  # the title of a song: *they sang "Can't Stop"*
        begin = word.begin - (passage.text[word.begin - 1] == " ")
        edits = [Edit(begin, word.end, "")]
        if full := FULL_AUXILIARY.get(before.lowercase):
            edits.append(Edit(before.begin, before.end, with_capital_of(before.form, full)))
        yield edits


def name(passage: Passage, surroundings: Surroundings, rng: np.random.Generator) -> Iterator[Edits]:
    """A name becomes another name of the same kind, or another name of the corpus."""
    text = passage.text
    for sentence in passage.sentences:
        for first, last in name_runs(sentence):
            if first == last and (others := other_names().get(sentence.words[first].form)):
                word = sentence.words[first]
                fitting = [
                    other
                    for other in others
                    if other not in text and _fits_article(sentence, first, other)
                ]
                if fitting:
                    yield [Edit(word.begin, word.end, fitting[int(rng.integers(len(fitting)))])]
                continue
            written = passage.covered(sentence, first, last)
            begin, end = sentence.words[first].begin, sentence.words[last].end
            if is_part_of_name(text, begin, end) or _is_alone(sentence, first, last):
                continue
            known = (surroundings.corpus_names or {}).get(name_key(sentence, first, last), ())
            if written not in known:
                continue  # it occurs once, and may only look like a name
            fitting = [
                other
                for other in known
                if other not in text
                and is_like_name(written, other, surroundings.name_kinds or {})
                and _fits_article(sentence, first, other)
            ]
            if fitting:
                other = fitting[int(rng.integers(len(fitting)))]
                yield [Edit(begin, end, other)]


def _is_alone(sentence: PassageSentence, first: int, last: int) -> bool:
    """Whether the sentence has no other word: then it may be an exclamation with a capital."""
    return not any(word.is_word for word in (*sentence.words[:first], *sentence.words[last + 1 :]))


def _fits_article(sentence: PassageSentence, first: int, other: str) -> bool:
    """Whether the other name can follow the article before the place `first`, if there is one."""
    before = sentence.words[first - 1].lowercase if first else ""
    return before not in ("a", "an") or indefinite_article(other) == before


PARTS_OF_PHRASES = ("compound", "flat", "fixed", "compound:prt")
"""Relations of words that have their sense only together with other words."""
WITHOUT_CLAUSE_COMPLEMENT = word_set("without-clause-complement")
"""Verbs that do not become their opposite where a clause or an adverbial phrase depends on them."""


def antonym(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A word becomes its opposite."""
    for sentence in passage.sentences:
        if sentence.has_negation:
            continue
        for place, word in enumerate(sentence.words):
            category = CATEGORY_OF_TAG.get(word.tag)
            if is_joined(passage.text, word) or word.relation in PARTS_OF_PHRASES:
                continue
            if category is None:
                is_linking = word.tag == "IN" and word.relation in ("case", "mark")
                if is_linking and not is_in_phrase("antonyms", sentence, place, word.lowercase):
                    for other in word_pairs("antonyms.tsv").get((word.lowercase, "function"), ()):
                        yield [Edit(word.begin, word.end, with_capital_of(word.form, other))]
                continue
            lemma, needs_inflection = _antonym_entry(word.lowercase, word.lemma, category)
            if is_in_phrase("antonyms", sentence, place, lemma):
                continue
            if word.tag in ("JJR", "JJS") and lemma == "great":
                continue  # *great* becomes *terrible*, but *greater* is often *larger*
            after = sentence.word_after(place)
            if category == "verb" and after is not None and after.tag == "CD":
                continue  # *lost 0:3*
            if category == "verb" and not _fits_opposite(sentence, place, lemma):
                continue
            for other in word_pairs("antonyms.tsv").get((lemma, category), ()):
                form = (
                    in_form_of(word, other, category)
                    if needs_inflection
                    else with_capitals_of(word.form, other)
                )
                if category == "adj" and lemma == "more" and _is_before_plural(sentence, place):
                    form = with_capitals_of(word.form, "fewer")
                yield [*article_edit(sentence, place, form), Edit(word.begin, word.end, form)]


def _antonym_entry(lowercase: str, lemma: str, category: str) -> tuple[str, bool]:
    """The entry of a word in the list of antonyms, and whether its opposite must be inflected: not for
    the form of an adjective or adverb that is in the list itself (*better*, *worse*)."""
    if (lowercase, category) in word_pairs("antonyms.tsv"):
        return lowercase, category not in ("adj", "adv")
    return lemma, True


def _is_before_plural(sentence: PassageSentence, place: int) -> bool:
    """Whether the word belongs to a plural noun after it (*more cars*)."""
    head = sentence.words[place].head
    return head > place and sentence.words[head].tag == "NNS"


def _fits_opposite(sentence: PassageSentence, place: int, lemma: str) -> bool:
    """Whether the words that depend on a verb also fit its opposite."""
    if sentence.children(place, "compound:prt"):
        return False
    if lemma in WITHOUT_CLAUSE_COMPLEMENT:
        return not sentence.children(place, "xcomp", "ccomp", "advcl", "obl")
    return True


PRONOUNS = {
    ("he", "PRP"): "she", ("she", "PRP"): "he", ("him", "PRP"): "her", ("her", "PRP"): "him",
    ("his", "PRP$"): "her", ("her", "PRP$"): "his", ("himself", "PRP"): "herself",
    ("herself", "PRP"): "himself",
}  # fmt: skip


BOTH_PRONOUNS = re.compile(
    r"\b(?:s?he|him|his|hers?)\b(?: ?/ ?| (?:or|and) )(?:s?he|him|his|hers?)\b", re.IGNORECASE
)
"""*He or she*: exchanging these two does not change the meaning."""


def pronoun(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """*He* and *she*, *him* and *her* and so on are exchanged in the whole text."""
    edits = [
        Edit(word.begin, word.end, with_capitals_of(word.form, other))
        for word in passage.words
        if (other := PRONOUNS.get((word.lowercase, word.tag)))
    ]
    if edits and not BOTH_PRONOUNS.search(passage.text):
        yield edits


# Verbs whose subject and object do not change places: with most of them the meaning would stay the
# same.
SYMMETRIC_VERBS = word_set("symmetric-verbs")
CLAUSE_VERBS = word_set("clause-verbs")
"""Verbs whose object may be the parser's mistake for the subject of a clause: *alleges Young flew to
Rome*."""
TIME_WORDS = word_set("time-words")
INDEFINITE_NOUNS = ("nothing", "something", "anything", "everything", "none")
TAGS_AFTER_AN_OBJECT = ("IN", "TO", ".", ",", ":")
# Longer subjects and objects do not change places.
MAX_SWAPPED_WORDS = 6


def swapped_arguments(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """Subject and object change places."""
    for sentence in passage.sentences:
        verb = sentence.words[sentence.root]
        phrases = subject_and_object(sentence)
        if phrases is None or verb.lemma in SYMMETRIC_VERBS | CLAUSE_VERBS or sentence.is_question:
            continue
        (s_first, s_last), (o_first, o_last) = phrases
        if not _are_whole_phrases(sentence, s_last, o_first, o_last):
            continue
        subject = passage.covered(sentence, s_first, s_last)
        obj = passage.covered(sentence, o_first, o_last)
        first = sentence.words[s_first]
        if any(word.lowercase in TIME_WORDS for word in sentence.words[o_first : o_last + 1]):
            continue  # a time that the parser took for an object
        if s_first and sentence.words[s_first - 1].tag == "-RRB-":
            continue  # the subject may begin before the bracket
        # After a mark, a capital may begin a quotation or title.
        is_after_mark = s_first > 0 and not sentence.words[s_first - 1].form[0].isalnum()
        if not _agrees_after_swap(sentence) or (is_after_mark and first.form[0].isupper()):
            continue
        if s_first == 0:
            subject, obj = without_capital(sentence.words[0], subject), capitalized(obj)
        yield [
            Edit(sentence.words[s_first].begin, sentence.words[s_last].end, obj),
            Edit(sentence.words[o_first].begin, sentence.words[o_last].end, subject),
        ]


def _are_whole_phrases(sentence: PassageSentence, s_last: int, o_first: int, o_last: int) -> bool:
    """Whether the two phrases that were found are the whole subject and the whole object: nothing but
    auxiliaries and adverbs stands between subject and verb, and the object has no further parts before
    or after it (as in *cut short a visit*, *managed a space first*)."""
    words, root = sentence.words, sentence.root
    obj, after = words[o_first : o_last + 1], sentence.word_after(o_last)
    return (
        all(word.relation in ("aux", "advmod") for word in words[s_last + 1 : root])
        and o_first == root + 1
        and not any(word.tag == "DT" for word in obj[1:])
        and not any(word.lowercase in INDEFINITE_NOUNS for word in obj)
        and (after is None or after.tag in TAGS_AFTER_AN_OBJECT)
    )


def subject_and_object(
    sentence: PassageSentence,
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The subject before the main verb and the object after it, each as the places of its first and
    last word, if both are short noun phrases that are not `_is_complex`; otherwise None."""
    root = sentence.root
    subjects, objects = sentence.children(root, "nsubj"), sentence.children(root, "obj")
    if not sentence.words[root].tag.startswith("VB") or len(subjects) != 1 or len(objects) != 1:
        return None
    if sentence.children(root, "iobj", "xcomp", "ccomp", "conj", "compound:prt"):
        return None
    if not subjects[0] < root < objects[0]:
        return None
    if any(word.tag == "," for word in sentence.words[subjects[0] : objects[0]]):
        return None
    phrases = []
    for head in (subjects[0], objects[0]):
        phrase = sentence.phrase(head)
        if phrase is None or not sentence.words[head].tag.startswith("NN"):
            return None
        inside = sentence.words[phrase[0] : phrase[1] + 1]
        if inside[0].tag in ("IN", "TO", "RB"):
            return None
        if len(inside) > MAX_SWAPPED_WORDS or any(
            _is_complex(word.tag, word.relation) for word in inside
        ):
            return None
        phrases.append(phrase)
    return phrases[0], phrases[1]


def _is_complex(tag: str, relation: str) -> bool:
    """Whether a word of a phrase shows that the phrase has a clause, a list, a pronoun, a number or
    punctuation in it."""
    return relation in (*CLAUSE_RELATIONS, "conj", "appos") or tag in (
        "PRP$", "PRP", ",", ":", "WDT", "WP", "CC", "``", "''", "-LRB-", "-RRB-", "CD", "HYPH",
    )  # fmt: skip


def _agrees_after_swap(sentence: PassageSentence) -> bool:
    """Whether the verb also agrees with the object: its form is the same for singular and plural, or
    subject and object have the same number."""
    root = sentence.root
    auxiliaries = [sentence.words[p] for p in sentence.children(root, "aux")]
    finite = auxiliaries[0] if auxiliaries else sentence.words[root]
    if finite.tag == "MD" or (finite.tag == "VBD" and finite.lemma != "be"):
        return True
    subject = sentence.words[sentence.children(root, "nsubj")[0]]
    obj = sentence.words[sentence.children(root, "obj")[0]]
    return (subject.tag in ("NNS", "NNPS")) == (obj.tag in ("NNS", "NNPS"))


# Phrases that are added to a text although nothing supports them.
STOCK_ADDITIONS = (
    "according to the police", "for the third time this year", "despite strong protests",
    "at a cost of two million dollars", "to the surprise of many", "as the mayor had promised",
    "on the advice of a doctor", "in front of hundreds of people", "with the help of volunteers",
    "after a long delay",
)  # fmt: skip
TEXT_END = re.compile(r"[.!]?[\"”'’)]*\s*\Z")


def addition(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator, degree: int
) -> Iterator[Edits]:
    """At degree 2 a phrase that nothing in the source supports is added at the end; at degree 3 the
    text of another item is added."""
    if degree == 2:
        bare = TEXT_END.sub("", passage.text)
        if bare[-1:].isalnum() and passage.sentences and not passage.sentences[-1].is_question:
            phrase = STOCK_ADDITIONS[int(rng.integers(len(STOCK_ADDITIONS)))]
            yield [Edit(len(bare), len(bare), f", {phrase}")]
        return
    fitting = [text for text in surroundings.others if text.strip() and text not in passage.text]
    if fitting and passage.text.strip():
        other = fitting[int(rng.integers(len(fitting)))].strip()
        end = len(passage.text.rstrip())
        yield [Edit(end, end, f" {other}")]

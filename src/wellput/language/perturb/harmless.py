"""Harmless changes: the text says the same in other words, in another order or spelling. As in the
module `meaning`, each public function finds every place where its kind of change can be made, and
yields the edits of each place."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from wellput.language.models.inflection import inflect
from wellput.language.perturb.meaning import (
    FINITE_TAGS,
    TIME_WORDS,
    subject_and_object,
)
from wellput.language.perturb.passage import (
    CLAUSE_RELATIONS,
    Edit,
    Edits,
    Passage,
    PassageSentence,
    PlacedWord,
    Surroundings,
    capitalized,
    has_clear_case,
    is_joined,
    without_capital,
)
from wellput.language.perturb.word_lists import (
    CATEGORY_OF_TAG,
    article_edit,
    in_form_of,
    is_in_phrase,
    spellings,
    with_capital_of,
    word_pairs,
    word_set,
)


def synonym(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A word becomes another one of the same meaning."""
    for sentence in passage.sentences:
        for place, word in enumerate(sentence.words):
            category = CATEGORY_OF_TAG.get(word.tag)
            if category is None or word.relation in ("compound", "flat", "fixed", "cop", "aux"):
                continue
            if sentence.children(place, "compound", "compound:prt", "fixed", "flat"):
                continue
            if is_joined(passage.text, word) or not _may_be_replaced(sentence, place, category):
                continue
            for other in word_pairs("synonyms.tsv").get((word.lemma.lower(), category), ()):
                form = in_form_of(word, other, category)
                yield [*article_edit(sentence, place, form), Edit(word.begin, word.end, form)]


# A noun after one of these words may be part of a fixed phrase.
WORDS_BEFORE_A_FIXED_PHRASE = word_set("words-before-a-fixed-phrase")


def _may_be_replaced(sentence: PassageSentence, place: int, category: str) -> bool:
    """Whether a synonym surely fits in the place of the word."""
    word = sentence.words[place]
    before = sentence.words[place - 1] if place else None
    if is_in_phrase("synonyms", sentence, place, word.lemma.lower()):
        return False
    if (
        category == "noun"
        and before is not None
        and before.lowercase in WORDS_BEFORE_A_FIXED_PHRASE
    ):
        return False
    if category == "verb" and sentence.children(place, "xcomp", "ccomp"):
        return False
    if category == "adj":
        is_modified = bool(
            sentence.children(place, "advmod", "obl", "advcl", "xcomp", "ccomp", "csubj")
        )
        return word.tag == "JJ" and not is_modified and word.relation in ("amod", "root", "xcomp")
    if category == "adv":
        return word.tag == "RB" and not sentence.children(place)
    return True


BE_FORMS = {
    ("VBD", True): "were",
    ("VBD", False): "was",
    ("VBP", True): "are",
    ("VBZ", False): "is",
    ("VBZ", True): "are",
    ("VBP", False): "is",
}
"""(Tag of the active verb, whether its object is plural) → the form of *be* in the passive."""
TAGS_OF_A_SECOND_OBJECT = ("DT", "PRP", "PRP$", "NN", "NNS", "NNP", "JJ", "CD")
PASSIVE_STOPS = ("by", "latter", "former", "than", "each", "every")
"""A sentence with one of these words is not made passive."""


def passive(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """An active sentence becomes a passive one."""
    for sentence in passage.sentences:
        root = sentence.root
        verb = sentence.words[root]
        phrases = subject_and_object(sentence)
        if phrases is None or sentence.has_negation or sentence.is_question:
            continue
        (s_first, s_last), (o_first, o_last) = phrases
        if verb.lemma not in word_set("passive-verbs") or o_first != root + 1:
            continue
        auxiliaries = sentence.children(root, "aux")
        if s_last + 1 + len(auxiliaries) != root or len(auxiliaries) > 1:
            continue  # more than one auxiliary stands between subject and verb
        form = _passive_form(sentence, auxiliaries)
        if form is None or s_first > 0:
            continue
        has_time = any(
            word.lowercase in TIME_WORDS for word in sentence.words[o_first : o_last + 1]
        )
        if has_time:
            continue  # what looks like the object may be a time: *left Monday*
        if any(word.lowercase in PASSIVE_STOPS for word in sentence.words):
            continue  # a second agent (*by*), or words whose sense depends on the order (*the latter*)
        after = sentence.word_after(o_last)
        if after is not None and after.tag == "CC":
            continue  # the subject has a second verb, or the verb a second object
        if not has_clear_case(sentence.words[0]):
            continue
        if after is not None and (after.tag in TAGS_OF_A_SECOND_OBJECT or after.lowercase == "of"):
            continue  # "provided the users a way": two objects
        if after is not None and after.tag == "TO" and verb.lemma == "cause":
            continue  # "caused the road to close": the road was not caused
        subject = without_capital(
            sentence.words[s_first], passage.covered(sentence, s_first, s_last)
        )
        obj = capitalized(passage.covered(sentence, o_first, o_last))
        end = sentence.words[o_last].end
        yield [Edit(sentence.words[s_first].begin, end, f"{obj} {form} by {subject}")]


def _passive_form(sentence: PassageSentence, auxiliaries: list[int]) -> str | None:
    """The main verb in the passive, agreeing with the object: *was seen*, *has been seen*."""
    verb = sentence.words[sentence.root]
    obj = sentence.words[sentence.children(sentence.root, "obj")[0]]
    is_plural = obj.tag in ("NNS", "NNPS")
    participle = inflect(verb.lemma, "verb", "participle")
    if auxiliaries:
        helper = sentence.words[auxiliaries[0]]
        if helper.tag == "MD" and helper.form[0].isalpha():
            return f"{helper.form} be {participle}"
        if helper.lowercase in ("has", "have", "had"):
            have = "had" if helper.lowercase == "had" else "have" if is_plural else "has"
            return f"{have} been {participle}"
        return None
    be = BE_FORMS.get((verb.tag, is_plural))
    return None if be is None else f"{be} {participle}"


# Conjunctions of clauses that may stand before or after the main clause.
MOVABLE_MARKS = word_set("movable-marks")
SUBJECT_BEGINNING_TAGS = ("PRP", "DT", "NNP", "NNS", "NN", "PRP$")
# Pronouns of the third person, and *this* and *that*.
THIRD_PERSONS = word_set("third-persons")
MIN_MAIN_WORDS = 3
"""A shorter main clause after a subordinate clause often only names the speaker (*economists
warned*), so the clause is not moved."""


def clause_order(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A subordinate clause moves from the end of its sentence to the beginning, or back."""
    for sentence in passage.sentences:
        if sentence.is_question or any(w.tag in ("``", "''", ":", "-LRB-") for w in sentence.words):
            continue
        last = len(sentence.words) - 1
        if sentence.words[last].form != "." or not _is_finite(sentence):
            continue
        for clause in sentence.children(sentence.root, "advcl"):
            places = sentence.subtree(clause)
            marks = sentence.children(clause, "mark", "advmod")
            if not marks or sentence.words[marks[0]].lowercase not in MOVABLE_MARKS:
                continue
            if not sentence.children(clause, "nsubj", "nsubj:pass", "expl"):
                continue
            if places[-1] - places[0] != len(places) - 1 or marks[0] != places[0]:
                continue  # the clause has gaps, or does not begin with its conjunction
            # With *and*, it is often unclear what belongs to the clause.
            if any(w.tag == "CC" or w.relation in ("conj", "parataxis") for w in sentence.words):
                continue
            if places[0] > sentence.root and places[-1] == last - 1:
                if _may_be_fronted(sentence, places[0], last):
                    yield _fronted(passage, sentence, places[0], last)
            elif places[0] == 0:
                yield from _moved_back(passage, sentence, places[-1], last)


def _is_finite(sentence: PassageSentence) -> bool:
    """Whether the main clause has a finite verb; the caption of a picture has none."""
    verbs = (sentence.root, *sentence.children(sentence.root, "aux", "aux:pass", "cop"))
    return any(sentence.words[place].tag in FINITE_TAGS for place in verbs)


def _may_be_fronted(sentence: PassageSentence, first: int, last: int) -> bool:
    """Whether the subordinate clause, from place `first` to before `last`, surely belongs to the main
    verb, and the main clause can stand after it."""
    words, root = sentence.words, sentence.root
    subjects = sentence.children(root, "nsubj", "nsubj:pass", "expl")
    main = words[: first - (words[first - 1].form == ",")]
    return (
        bool(subjects)
        and 0 in sentence.subtree(subjects[0])
        and words[0].tag not in ("IN", "RB")
        and not any(word.form == "," or word.relation in CLAUSE_RELATIONS for word in main)
        and not any(word.form in (",", "-", "–") for word in words[first:last])
        and main[-1].form[-1] != "."
        and words[first].lowercase != "since"  # in front it would be taken for "because"
        and main[-1].lowercase != "it"  # "I love it when it rains"
        and words[first + 1].lowercase != "that"  # "he has said before that …"
        and has_clear_case(words[0])
        and main[-1].tag not in ("IN", "TO", "RB")  # "divided on when …", "soon after …"
        and main[-1].lemma != "be"  # "it was because …"
        and words[root].lemma != "come"  # "the news came after …"
        and not any(word.lowercase == "only" for word in main)  # "he may only stay if …"
        and not _has_other_pronoun(sentence, first, subjects[0])
        and not any(map(_is_time, main[-2:]))  # "in 1914 when …", "months before …"
        and not (
            words[first].lowercase == "when"
            and words[root].lemma in word_set("verbs-that-ask-when")
        )
    )


def _has_other_pronoun(sentence: PassageSentence, first: int, subject: int) -> bool:
    """Whether the subjects of the two clauses are different pronouns of the third person. Then the
    pronoun in the subordinate clause may refer to a word of the main clause, and cannot stand before
    it: *it pays the crew if they leave*."""
    words = sentence.words
    clause_subjects = [w for w in words[first:] if w.relation in ("nsubj", "nsubj:pass")]
    main_subject = words[subject]
    return (
        bool(clause_subjects)
        and clause_subjects[0].lowercase != main_subject.lowercase
        and {clause_subjects[0].lowercase, main_subject.lowercase} <= set(THIRD_PERSONS)
        and clause_subjects[0].lowercase != "it"  # "it rained"
    )


def _is_time(word: PlacedWord) -> bool:
    """Whether the word is a number or names a time, such as *months*."""
    return (
        word.tag == "CD"
        or word.lowercase in TIME_WORDS
        or word.lowercase.removesuffix("s") in TIME_WORDS
    )


def _fronted(passage: Passage, sentence: PassageSentence, first: int, last: int) -> Edits:
    """Moves the clause that begins at place `first` to the beginning; `last` is the final full stop."""
    words = sentence.words
    is_after_comma = words[first - 1].form == ","
    main_last = first - 1 - is_after_comma
    main = without_capital(words[0], passage.covered(sentence, 0, main_last))
    clause = capitalized(passage.covered(sentence, first, last - 1))
    return [Edit(words[0].begin, words[last].begin, f"{clause}, {main}")]


def _moved_back(
    passage: Passage, sentence: PassageSentence, clause_last: int, last: int
) -> Iterator[Edits]:
    """Moves the clause at the beginning, which ends at place `clause_last`, to the end."""
    words = sentence.words
    comma = clause_last if words[clause_last].form == "," else clause_last + 1
    main = words[comma + 1 : last]
    if words[comma].form != "," or len(main) < MIN_MAIN_WORDS:
        return
    if main[0].tag not in SUBJECT_BEGINNING_TAGS:
        return
    if any(word.lowercase in THIRD_PERSONS for word in main) or any(
        word.form == "," for word in main
    ):
        return
    if any(word.relation in CLAUSE_RELATIONS for word in main):
        return
    clause_end = comma - 1
    clause = without_capital(words[0], passage.covered(sentence, 0, clause_end))
    main_text = capitalized(passage.text[main[0].begin : main[-1].end])
    yield [Edit(words[0].begin, words[last].begin, f"{main_text} {clause}")]


def spelling(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """Words in British spelling get the American one in the whole text, and the other way round."""
    edits = []
    for word in passage.words:
        if word.is_name or (other := spellings().get(word.lowercase)) is None:
            continue
        # A meter may be a device, too; a word all in capitals is perhaps a name.
        if word.lowercase == "meter" or (
            word.form != word.lowercase and word.form != capitalized(word.lowercase)
        ):
            continue
        edits.append(Edit(word.begin, word.end, with_capital_of(word.form, other)))
    if edits:
        yield edits


def quotes(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """Straight quotation marks and apostrophes become typographic ones, or the other way round."""
    text = passage.text
    straight_marks = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'"})
    if any(mark in text for mark in "“”‘’"):
        yield [Edit(0, len(text), text.translate(straight_marks))]
        return
    if text.count('"') % 2 or re.search(r"\d['\"]|''|``|(?<!\w)'|'(?!\w)", text):
        return  # inches, minutes, and marks that cannot be paired
    curly_marks = iter("“”" * text.count('"'))
    curly_text = re.sub('"', lambda _: next(curly_marks), text).replace("'", "’")
    if curly_text != text:
        yield [Edit(0, len(text), curly_text)]


CASE_MATTERS = word_set("case-matters")
"""Words that mean something else in lower case."""


def casing(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The whole text is written in lower case."""
    if not any(word.form in CASE_MATTERS for word in passage.words):
        yield [Edit(0, len(passage.text), passage.text.lower())]


def list_comma(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The comma before the last part of a list is added or left out."""
    for sentence in passage.sentences:
        for place, word in enumerate(sentence.words):
            if word.lowercase not in ("and", "or") or word.relation != "cc" or place < 3:
                continue  # before it stand at least a word, a comma and a word
            last = word.head
            first = sentence.words[last].head
            parts = sentence.children(first, "conj")
            if sentence.words[last].relation != "conj" or len(parts) != 2 or parts[1] != last:
                continue
            if not all(sentence.words[p].tag.startswith(("NN", "JJ")) for p in (first, *parts)):
                continue
            if not any(w.form == "," for w in sentence.words[first : parts[0]]):
                continue
            before = sentence.words[place - 1]
            if not _is_plain_list(sentence, first, parts):
                continue
            if before.form == ",":
                yield [Edit(before.begin, before.end, "")]
            elif before.is_word and passage.text[before.end] == " ":
                yield [Edit(before.end, before.end, ",")]


# Last words of names of companies, which look like lists.
COMPANY_ENDINGS = ("co", "company", "sons", "partners", "associates")


def _is_plain_list(sentence: PassageSentence, first: int, parts: list[int]) -> bool:
    """Whether the word `first` and the two others in `parts` are surely one list of three. In
    *according to Reuters, Harry and Meghan …* they are not: the comma ends another phrase."""
    words = sentence.words
    for part in (first, *parts):
        if words[part].is_name and sentence.children(part, "compound", "flat"):
            return False
    if any(sentence.children(part, "case") for part in parts):
        return False
    if any(word.tag in ("IN", "TO", "VBG") for word in words[first : parts[0]]):
        return False
    if len({words[part].tag[:2] for part in (first, *parts)}) > 1:
        return False
    if words[parts[-1]].lowercase.rstrip(".") in COMPANY_ENDINGS:
        return False  # *Goldman, Sachs and Co*
    begin = min(sentence.subtree(first))
    if begin and words[begin - 1].form == "," and words[begin].tag == "IN":
        return False  # *Japan, with its surplus, the symbol of …*
    phrase = sentence.phrase(parts[-1])
    after = None if phrase is None else sentence.word_after(phrase[1])
    if phrase is None or (after is not None and after.tag in (",", "CC")):
        return False
    is_before_verb = after is not None and after.tag in ("MD", "VBD", "VBP", "VBZ")
    return not (is_before_verb and sentence.children(first, "case"))

"""Damage to a text: parts left out or repeated, words in the wrong order or form, and texts that are
no answer at all. As in the module `meaning`, each public function finds every place where its kind of
change can be made, and yields the edits of each place. `surroundings` has the item's source and the
texts of other items. Some functions also take a `degree` from 1 (slight) to 3 (severe).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wellput.language.models.inflection import inflect
from wellput.language.perturb.passage import (
    Edit,
    Edits,
    Passage,
    PassageSentence,
    PlacedWord,
    Surroundings,
    capitalized,
    removal,
)
from wellput.language.perturb.word_lists import has_right_lemma, with_capital_of, word_set

# Longer phrases are not left out.
MAX_DROPPED_WORDS = 8
ADVERB_STOPS = word_set("adverb-stops")
"""Adverbs that are not left out."""
VERBS_BESIDE_BE = word_set("verbs-beside-be")
"""Verbs that are not left out after *be*, because they add little to it: *the town is located in*."""


def omitted_subject(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The subject of the main verb is left out."""
    for sentence in passage.sentences:
        for subject in sentence.children(sentence.root, "nsubj", "nsubj:pass"):
            phrase = sentence.phrase(subject)
            word = sentence.words[subject]
            if phrase is None or subject > sentence.root:
                continue
            after = sentence.word_after(phrase[1])
            is_noun_or_pronoun = word.tag.startswith(("NN", "PRP")) and word.tag != "PRP$"
            if not is_noun_or_pronoun or after is None or not after.form[0].isalnum():
                continue
            if not _begins_clause(sentence, phrase[0]):
                continue
            if phrase[1] - phrase[0] < MAX_DROPPED_WORDS:
                yield _dropped(passage, sentence, *phrase)


def _begins_clause(sentence: PassageSentence, place: int) -> bool:
    """Whether a phrase that begins at this place begins its clause and looks like a subject, so that
    the parser is surely right to call it one."""
    before = sentence.words[place - 1] if place else None
    is_first = before is None or before.form in (",", "“", '"', ":") or before.tag == "CC"
    return is_first and sentence.words[place].tag not in ("IN", "TO", "RB", "WRB", "CC", "VBG")


def omitted_verb(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The main verb of a sentence of at least five words is left out."""
    for sentence in passage.sentences:
        root = sentence.root
        has_subject = bool(sentence.children(root, "nsubj", "nsubj:pass"))
        verb = sentence.words[root]
        if verb.lemma in VERBS_BESIDE_BE and sentence.children(root, "aux:pass", "cop"):
            continue
        if verb.tag.startswith("VB") and len(sentence.words) >= 5 and has_subject:
            yield _dropped(passage, sentence, root, root)


# After one of these words an adverb is not left out.
WORDS_THAT_NEED_AN_ADVERB = ("not", "and", "but", "or", "once", "n't", "than")


def omitted_adverb(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """An adverb is left out."""
    for sentence in passage.sentences:
        for place, word in enumerate(sentence.words):
            if word.tag != "RB" or word.relation != "advmod" or word.lowercase in ADVERB_STOPS:
                continue
            before = sentence.words[place - 1] if place else None
            after = sentence.word_after(place)
            if sentence.children(place) or not word.is_word or after is None:
                continue
            if after.lowercase == "of":
                continue  # a part of a phrase: *instead of*
            if before is not None:
                if before.lowercase in WORDS_THAT_NEED_AN_ADVERB:
                    continue
                if word.form[0].isupper():
                    continue  # the word of a title
                if before.is_name and word.lowercase == "first":
                    continue  # a day: *on November first*
            # An adverb is often needed if it belongs to another adverb, a comparative, a preposition or
            # a number: *almost ten*.
            if word.head >= 0 and sentence.words[word.head].tag in ("RB", "JJR", "IN", "CD"):
                continue
            is_set_off = before is None or before.form == ","
            # The comma after the adverb is left out with it.
            last = place + 1 if after.form == "," and is_set_off else place
            yield _dropped(passage, sentence, place, last)


def omitted_phrase(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A prepositional phrase is left out."""
    for sentence in passage.sentences:
        for place, word in enumerate(sentence.words):
            cases = sentence.children(place, "case")
            phrase = sentence.phrase(place)
            if word.relation not in ("obl", "nmod") or not cases or phrase is None:
                continue
            first, last = phrase
            if sentence.words[first].tag not in ("IN", "TO") or cases[0] != first:
                continue  # the phrase does not begin with its preposition
            is_short = last - first < MAX_DROPPED_WORDS
            if first > 0 and is_short and _can_do_without(passage, sentence, place, phrase):
                yield _dropped(passage, sentence, *phrase)


def _can_do_without(
    passage: Passage, sentence: PassageSentence, head: int, phrase: tuple[int, int]
) -> bool:
    """Whether the sentence is complete without this prepositional phrase. `head` is the place of its
    noun, `phrase` the places of its first and last word."""
    first, last = phrase
    text = passage.covered(sentence, first, last)
    after, end = sentence.word_after(last), sentence.words[last].end
    inside = sentence.words[first : last + 1]
    preposition, governor = sentence.words[first], sentence.words[sentence.words[head].head]
    return (
        sentence.words[head].tag.startswith(("NN", "PRP", "CD"))  # not *at least*
        and text.count("(") == text.count(")")
        and passage.text[end : end + 2] != ".."  # before an ellipsis the phrase may be incomplete
        and not any(word.relation == "parataxis" for word in inside)
        and (after is None or after.tag != "VBG")  # *resulted in the islands becoming free*
        # *serve as a bridge*
        and not (preposition.lowercase in ("as", "like") and governor.tag.startswith("VB"))
        and not any(
            word.tag == "IN" and next_word.tag == "CC"  # *found in or linked from the page*
            for word, next_word in zip(
                sentence.words[:first], sentence.words[1:first], strict=False
            )
        )
    )


def _dropped(passage: Passage, sentence: PassageSentence, first: int, last: int) -> Edits:
    """The edits that remove the words from `first` to `last`; if they begin the sentence, the next word
    gets the capital."""
    begin, end = sentence.words[first].begin, sentence.words[last].end
    edits = [removal(passage.text, begin, end)]
    after = sentence.word_after(last)
    if first == 0 and after is not None and sentence.words[0].form[:1].isupper():
        new_first = capitalized(after.form)
        if passage.text[after.begin : after.end] != new_first:
            edit = edits[0]
            between = passage.text[edit.end : after.begin]
            new_text = between.lstrip() + new_first
            return [Edit(edit.begin, max(edit.end, after.end), new_text)]
    return edits


# Verb forms, and their forms in the other number (singular or plural).
OTHER_NUMBER = {
    "is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has",
    "does": "do", "do": "does", "am": "is",
}  # fmt: skip
# Subjects whose number is not clear, so that their verbs are not changed.
UNCLEAR_NUMBER = word_set("unclear-number")


def agreement(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A verb does not agree with its subject."""
    for sentence in passage.sentences:
        for place, word in enumerate(sentence.words):
            if word.relation not in ("nsubj", "nsubj:pass") or word.lowercase in UNCLEAR_NUMBER:
                continue
            if word.tag not in ("NN", "NNS", "NNP", "PRP") or word.head <= place:
                continue
            verb = _finite_verb(sentence, word.head)
            if verb is None or not place < verb or not sentence.words[verb].is_word:
                continue  # a verb that is written together with its subject stays: *he's*
            if len(word.form) > 1 and word.form.isupper():
                continue  # *the US have* is also right
            if word.lowercase == "you":
                continue
            if sentence.children(place, "conj", "cc", "acl", "acl:relcl"):
                continue  # the verb may agree with a word of the list or clause
            finite = sentence.words[verb]
            form = _other_number(finite, word)
            if form is not None:
                yield [Edit(finite.begin, finite.end, form)]


def _finite_verb(sentence: PassageSentence, head: int) -> int | None:
    """The place of the finite verb of a clause with this head word: its first auxiliary or copula, or
    the head itself."""
    helpers = [p for p in sentence.children(head, "aux", "aux:pass", "cop") if p < head]
    first = helpers[0] if helpers else head
    return first if sentence.words[first].tag in ("VBZ", "VBP", "VBD") else None


def _other_number(verb: PlacedWord, subject: PlacedWord) -> str | None:
    """The verb in the other number (*walk* for *walks*). None if that is the same form, or if the verb
    does not agree with this subject already, so that the parse is probably wrong."""
    takes_plural_verb = subject.tag == "NNS" or subject.lowercase in ("we", "they", "i", "you")
    if verb.lowercase in OTHER_NUMBER:
        form = OTHER_NUMBER[verb.lowercase]
        if (
            verb.lowercase in ("is", "was", "has", "does")
        ) == takes_plural_verb and verb.lowercase != "was":
            return None  # the subject was misread
        if verb.lowercase == "was" and subject.lowercase != "i" and takes_plural_verb:
            return None
    elif not has_right_lemma(verb):
        return None
    elif verb.tag == "VBZ" and not takes_plural_verb:
        form = verb.lemma
    elif verb.tag == "VBP" and takes_plural_verb and verb.is_word:
        form = inflect(verb.lemma, "verb", "third")
    else:
        return None
    return None if form == verb.lowercase else with_capital_of(verb.form, form)


# A word with one of these tags spoils the sentence if it changes places with the next word.
FIRST_OF_SWAPPED_TAGS = ("DT", "PRP$", "MD", "TO")
SWAP_STOPS = word_set("swap-stops")
"""Words that may change places with the next word without making the sentence wrong."""
MOVED_WORDS = 4
"""The number of words that change places at degree 2."""
MIN_WORDS_TO_SHUFFLE = 6
MIN_MOVED_SHARE = 0.7
"""If fewer of the words change places in a shuffle, they are shuffled again."""
MAX_SHUFFLES = 20
"""After this many shuffles the sentence is left as it is."""


def word_order(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator, degree: int
) -> Iterator[Edits]:
    """At degree 1 a function word and the word after it change places; at degree 2 four words change
    places; at degree 3 all words of a sentence are shuffled."""
    for sentence in passage.sentences:
        if degree == 1:
            for place in range(len(sentence.words) - 1):
                if _spoils_when_swapped(passage, sentence, place):
                    yield _permuted(sentence, [place, place + 1], [place + 1, place])
            continue
        places = [p for p, w in enumerate(sentence.words) if w.form[0].isalnum()]
        if len(places) < MIN_WORDS_TO_SHUFFLE:
            continue
        chosen = places if degree == 3 else sorted(rng.choice(places, MOVED_WORDS, replace=False))
        order = [int(place) for place in chosen]
        for _ in range(MAX_SHUFFLES):
            shuffled = [int(place) for place in rng.permutation(order)]
            moved = sum(a != b for a, b in zip(order, shuffled, strict=True))
            forms = {sentence.words[place].lowercase for place in order}
            if moved >= MIN_MOVED_SHARE * len(order) and len(forms) > 2:
                yield _permuted(sentence, order, shuffled)
                break


def _spoils_when_swapped(passage: Passage, sentence: PassageSentence, place: int) -> bool:
    """Whether a sentence is surely wrong when this word and the next one change places."""
    word, after = sentence.words[place], sentence.words[place + 1]
    return (
        word.tag in FIRST_OF_SWAPPED_TAGS
        and word.is_word
        and word.lowercase not in SWAP_STOPS
        and after.is_word
        and after.lowercase != word.lowercase
        and not after.tag.startswith("RB")
        and passage.text[word.end : after.begin] == " "
    )


def _permuted(sentence: PassageSentence, places: list[int], new_order: list[int]) -> Edits:
    """Edits that put at each of the places the word from the corresponding place of `new_order`."""
    edits = []
    for place, other in zip(places, new_order, strict=True):
        word, new = sentence.words[place], sentence.words[other]
        form = new.form
        if other == 0 and place != 0 and not new.is_name and form != "I":
            form = form[:1].lower() + form[1:]
        if place == 0:
            form = capitalized(form)
        edits.append(Edit(word.begin, word.end, form))
    return edits


REPEATABLE_WORDS = ("had", "that", "very", "really", "more", "many")
"""Words that may stand twice in good English."""


def repetition(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator, degree: int
) -> Iterator[Edits]:
    """At degree 1 a word is doubled; at degree 2 three words are repeated; at degree 3 the last four
    words are repeated four times, as by a generator that does not stop."""
    for sentence in passage.sentences:
        words = sentence.words
        if degree == 1:
            for word in words[1:]:
                after = passage.text[word.end : word.end + 1]
                is_long = word.is_word and len(word.form) > 2
                if is_long and word.lowercase not in REPEATABLE_WORDS and after in ("", *" .,;:!?"):
                    yield [Edit(word.end, word.end, f" {word.form}")]
            continue
        length = 3 if degree == 2 else 4
        runs = [
            (p, p + length - 1)
            for p in range(1, len(words) - length)
            if all(w.is_word for w in words[p : p + length])
            and passage.text[words[p + length - 1].end] in " .,!?"
        ]
        if runs:
            first, last = runs[-1] if degree == 3 else runs[int(rng.integers(len(runs)))]
            repeated = f" {passage.covered(sentence, first, last)}"
            end = words[last].end
            yield [Edit(end, end, repeated * (1 if degree == 2 else 4))]


CUT_SHARES = {1: 0.15, 2: 0.4, 3: 0.7}
"""Degree → the share of the words that is cut off."""
MIN_WORDS_TO_CUT = 6


def truncation(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator, degree: int
) -> Iterator[Edits]:
    """The last 15, 40 or 70 percent of the words (at degree 1, 2 or 3) are cut off."""
    words = [word for word in passage.words if word.form[0].isalnum()]
    if len(words) >= MIN_WORDS_TO_CUT:
        n_kept = min(len(words) - 1, round(len(words) * (1 - CUT_SHARES[degree])))
        yield [Edit(words[n_kept - 1].end, len(passage.text), "")]


LETTERS = "abcdefghijklmnopqrstuvwxyz"
MISSPELLED_WORDS = {1: 1, 2: 3, 3: 6}
"""Degree → the number of words that are misspelled."""
MIN_LETTERS_TO_MISSPELL = 5


def misspelling(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator, degree: int
) -> Iterator[Edits]:
    """In one, three or six words (at degree 1, 2 or 3), two letters are exchanged, or one is dropped or
    doubled."""
    long_words = [
        w
        for w in passage.words
        if w.is_word and len(w.form) >= MIN_LETTERS_TO_MISSPELL and not w.form.isupper()
    ]
    if len(long_words) >= MISSPELLED_WORDS[degree]:
        numbers = rng.choice(len(long_words), MISSPELLED_WORDS[degree], replace=False)
        chosen = [long_words[i] for i in numbers]
        yield [Edit(word.begin, word.end, _misspelled(word.form, rng)) for word in chosen]


def _misspelled(word: str, rng: np.random.Generator) -> str:
    """The word with one letter inside dropped or doubled, or two letters exchanged."""
    while True:
        # The last letter stays: without it, or with it doubled, many words are other English words.
        at = int(rng.integers(1, len(word) - 1))
        misspelled = (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )[int(rng.integers(3))]
        if misspelled != word and "-" not in word[at : at + 2]:
            return misspelled


FOREIGN_TEXTS = (
    "Der Zug nach Leipzig fährt heute zwei Stunden später ab, weil die Strecke gesperrt ist.",
    "Die Kinder spielten den ganzen Nachmittag im Garten, bis es dunkel wurde.",
    "Le maire a promis que la nouvelle école ouvrirait ses portes au printemps.",
    "Nous avons mangé dans un petit restaurant près de la gare.",
    "El gobierno anunció ayer que los impuestos no subirán este año.",
    "Mi hermana vive desde hace diez años en una ciudad pequeña cerca del mar.",
    "Il museo resta chiuso il lunedì, ma la biblioteca è aperta tutti i giorni.",
    "De trein naar Utrecht vertrekt over vijf minuten van spoor zeven.",
    "O tempo vai mudar amanhã e deve chover em todo o país.",
    "Vi åkte till stugan i fredags och stannade där hela helgen.",
)


def other_language(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A sentence in another language replaces the text."""
    text = FOREIGN_TEXTS[int(rng.integers(len(FOREIGN_TEXTS)))]
    yield [Edit(0, len(passage.text), text)]


def empty(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The text becomes empty."""
    yield [Edit(0, len(passage.text), "")]


def source_copy(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The source replaces the text."""
    if surroundings.source.strip() and surroundings.source != passage.text:
        yield [Edit(0, len(passage.text), surroundings.source)]


def unrelated(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """The text of another item replaces the text."""
    fitting = [text for text in surroundings.others if text.strip() and text != passage.text]
    if fitting:
        yield [Edit(0, len(passage.text), fitting[int(rng.integers(len(fitting)))])]

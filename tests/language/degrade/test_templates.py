"""Templates of tags, and words for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.judgment import Judgment
from wellput.core.tree import Tree, Word
from wellput.language.degrade.corpus import (
    ContextFreeGrammar,
    PhraseRule,
    TaggedCorpus,
    grammar_of_dependencies,
)
from wellput.language.degrade.degraders import (
    GrammarGenerator,
    TemplateGenerator,
    in_blocks,
    known_order,
)
from wellput.language.degrade.templates import (
    BIGRAM_WEIGHT,
    REPEATED_LOG_WEIGHT,
    GrammarTemplates,
    TagTemplates,
    WordModel,
)

WORDS = ["the dog saw a cat .", "a cat ran .", "the old dog ran .", "the dog saw the old cat ."]
TAGS = ["D N V D N .", "D N V .", "D A N V .", "D N V D A N ."]
CORPUS = TaggedCorpus.of([text.split() for text in WORDS], [text.split() for text in TAGS])


def test_templates_have_their_probability_given_the_length() -> None:
    # Sentences: X Y and X X Y. P(X|X) = 1/3, P(Y|X) = 2/3, P(end|Y) = 1: of length 3 there is only
    # X X Y, of length 2 only X Y.
    corpus = TaggedCorpus.of([["a", "b"], ["a", "a", "b"]], [["X", "Y"], ["X", "X", "Y"]])
    for length, expected in ((2, ["X", "Y"]), (3, ["X", "X", "Y"]), (4, ["X", "X", "X", "Y"])):
        drawn = TagTemplates(corpus, length=length).draw(np.random.default_rng(0))
        assert [corpus.tag_names[tag] for tag in drawn] == expected


def test_templates_are_drawn_by_probability() -> None:
    templates = TagTemplates(CORPUS, length=6)
    names = CORPUS.tag_names
    rng = np.random.default_rng(3)
    found = Counter("".join(names[tag] for tag in templates.draw(rng)) for _ in range(4000))
    # By hand: D N V D N . has 4/4 (start) x 4/6 (D N) x 4/6 (N V) x 2/4 (V D) x 4/6 (D N) x 2/6 (N .)
    # and D A N V D ... has no end in 6; D A N V is followed by . or D. Others of length 6 are none.
    assert set(found) == {"DNVDN."}


def test_no_template_of_the_length() -> None:
    corpus = TaggedCorpus.of([["a", "b"]], [["X", "Y"]])
    with pytest.raises(InputError, match="No sequence of 5 tags"):
        TagTemplates(corpus, length=5)


def best_by_hand(corpus: TaggedCorpus, template: list[int]) -> float:
    """The score of the best words, all of them tried; without repeats the kernel's is exact."""
    return max(
        score_by_hand(corpus, template, words)
        for words in product(range(len(corpus.words)), repeat=len(template))
    )


def score_by_hand(corpus: TaggedCorpus, template: list[int], words: tuple[int, ...]) -> float:
    assert corpus.tags is not None
    score = 0.0
    before = -1
    for place, (tag, word) in enumerate(zip(template, words, strict=True)):
        with_tag = corpus.tokens[corpus.tags == tag]
        share = np.mean(with_tag == word)
        after = (
            corpus.tokens[corpus.starts]
            if before < 0
            else np.array(
                [
                    b
                    for i, b in enumerate(corpus.tokens)
                    if i not in set(corpus.starts) and corpus.tokens[i - 1] == before
                ]
            )
        )
        pair = np.mean(after == word) if len(after) else 0.0
        both = share * (BIGRAM_WEIGHT * pair + (1 - BIGRAM_WEIGHT) * np.mean(corpus.tokens == word))
        if both == 0:
            return -np.inf
        score += log(both) + (float(REPEATED_LOG_WEIGHT) if word in words[:place] else 0.0)
        before = word
    return score


def test_words_are_the_best_of_all() -> None:
    template = [CORPUS.tag_names.index(tag) for tag in ["D", "N", "V", "."]]
    (words,) = WordModel.of(CORPUS).best([template])
    numbers = tuple(list(CORPUS.words).index(word) for word in words)
    assert score_by_hand(CORPUS, template, numbers) == pytest.approx(
        best_by_hand(CORPUS, template), abs=1e-9
    )


def filled_in_python(model: WordModel, template: list[int]) -> float:
    """The score of the best path to each word, looking back along it, as the kernel searches."""
    begins, words, probs = model.by_tag
    paths: list[tuple[float, list[int]]] = [(0.0, [])]
    for tag in template:
        reached = []
        for entry in range(begins[tag], begins[tag + 1]):
            word = int(words[entry])
            options = [(score + log_weight(model, path, word), path) for score, path in paths]
            score, path = max(options, key=lambda option: option[0])
            reached.append((score + float(probs[entry]), [*path, word]))
        paths = reached
    return max(score for score, _ in paths)


def log_weight(model: WordModel, path: list[int], word: int) -> float:
    """Of a word after a path: by the word before, and less if it stands in the path already."""
    begins, words, probs = model.by_word
    last = path[-1] if path else len(model.words)
    row = range(begins[last], begins[last + 1])
    seen = [float(probs[entry]) for entry in row if words[entry] == word]
    repeated = float(REPEATED_LOG_WEIGHT) if word in path else 0.0
    return max([float(model.unigrams[word]), *seen]) + repeated


@settings(max_examples=60)
@given(st.data())
def test_the_kernel_equals_the_plain_search(data: st.DataObject) -> None:
    """With a little noise on the words of a tag: which of two equal paths is kept can change what
    comes after it, and the two searches need not keep the same one."""
    pairs = st.lists(
        st.tuples(st.sampled_from("abcde"), st.sampled_from("XYZ")), min_size=1, max_size=6
    )
    sentences = data.draw(st.lists(pairs, min_size=1, max_size=6))
    corpus = TaggedCorpus.of(
        [[w for w, _ in s] for s in sentences], [[t for _, t in s] for s in sentences]
    )
    tags = st.lists(st.integers(0, len(corpus.tag_names) - 1), min_size=1, max_size=7)
    template = data.draw(tags)
    exact = WordModel.of(corpus)
    begins, words, probs = exact.by_tag
    noise = np.random.default_rng(len(template)).normal(0, 0.01, len(probs))
    model = replace(exact, by_tag=(begins, words, probs + noise))
    (found,) = model.best([template], threads=2)
    path: list[int] = []
    score = 0.0
    for tag, word in zip(template, found, strict=True):
        number = list(model.words).index(word)
        (entry,) = (e for e in range(begins[tag], begins[tag + 1]) if words[e] == number)
        score += log_weight(model, path, number) + float(model.by_tag[2][entry])
        path.append(number)
    assert score == pytest.approx(filled_in_python(model, template), abs=1e-9)


def test_repeated_words_are_discouraged() -> None:
    corpus = TaggedCorpus.of([["a", "a", "a"], ["b", "a", "c"]], [["X"] * 3, ["X"] * 3])
    (words,) = WordModel.of(corpus).best([[0, 0, 0]])
    assert len(set(words)) > 1


def test_a_grammar_derives_templates_of_the_length() -> None:
    grammar = ContextFreeGrammar(
        Counter({"S": 1}),
        Counter({PhraseRule("S", ("NP", "V")): 3, PhraseRule("NP", ("D", "N")): 2,
                 PhraseRule("NP", ("NP", "PP")): 2, PhraseRule("PP", ("P", "NP")): 2}),
        Counter({("D", "the"): 1, ("N", "dog"): 1, ("V", "ran"): 1, ("P", "of"): 1}),
    )  # fmt: skip
    for length, expected in ((3, "D N V"), (6, "D N P D N V")):
        assert (
            GrammarTemplates(grammar, length=length).draw(np.random.default_rng(0))
            == expected.split()
        )
    with pytest.raises(InputError, match="no sentence of 4 words"):
        GrammarTemplates(grammar, length=4).draw(np.random.default_rng(0))
    corpus = TaggedCorpus.of([["a", "cat"]], [["D", "N"]])
    sentences = GrammarGenerator(corpus, grammar, length=6).generate(30, np.random.default_rng(0))
    assert {sentence[0] for sentence in sentences} == {"the", "a"}
    assert {sentence[2] for sentence in sentences} == {"of"}


def test_a_grammar_that_never_ends_is_refused() -> None:
    grammar = ContextFreeGrammar(
        Counter({"S": 1}), Counter({PhraseRule("S", ("S", "S")): 1}), Counter()
    )
    with pytest.raises(InputError, match="derives no sentence"):
        GrammarTemplates(grammar)


def test_a_tag_without_words_is_named() -> None:
    grammar = ContextFreeGrammar(
        Counter({"S": 1}), Counter({PhraseRule("S", ("Q",)): 1}), Counter()
    )
    with pytest.raises(InputError, match="There are no words for Q"):
        GrammarGenerator(CORPUS, grammar, length=1)


def test_a_grammar_of_dependencies_works_too() -> None:
    tree = Tree((Word("Dogs", 2, xpos="N"), Word("bark", 0, xpos="V"), Word("!", 2, xpos=".")))
    generator = GrammarGenerator(CORPUS, grammar_of_dependencies([tree], column="xpos"), length=3)
    assert generator.templates.draw(np.random.default_rng(0)) == ["N", "V", "."]


def test_blocks_are_the_same_sentences() -> None:
    generator = TemplateGenerator(CORPUS, length=6)
    blocks = list(in_blocks(generator, 230, np.random.default_rng(5)))
    assert [len(block) for block in blocks] == [100, 100, 30]
    assert [s for b in blocks for s in b] == generator.generate(230, np.random.default_rng(5))


def test_the_known_order_is_nobodys_judgment() -> None:
    gold = known_order(1, {"sequence-1": 1, "sequence-8": 8})
    assert gold[1] == Judgment("construction", "1", "sequence-8", "size", 8.0)

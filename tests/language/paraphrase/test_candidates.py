from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.language.paraphrase.tiny_wordnet import write_wordnet
from wellput.core.errors import InputError
from wellput.language.models.wordnet import WordNet, open_wordnet
from wellput.language.paraphrase.bigrams import train_bigrams
from wellput.language.paraphrase.candidates import (
    AgreeingCandidates,
    TableCandidates,
    WordNetCandidates,
    read_table_candidates,
)
from wellput.language.paraphrase.context_filter import CONTEXT_FEATURES, fit_combination
from wellput.language.paraphrase.corpus_index import index_corpus
from wellput.language.paraphrase.sentences import Sentence
from wellput.language.paraphrase.similar_words import (
    BrownCandidates,
    LsaCandidates,
    LsaTraining,
    cooccurrences,
    frequent_words,
    train_lsa,
)

ALL = frozenset(
    [
        "replies",
        "responses",
        "solutions",
        "reply",
        "response",
        "solution",
        "replied",
        "abandoned",
        "fast",
        "automobile",
        "many",
        "ships",
        "cows",
        "horses",
        "homes",
        "home",
        "xyzzy",
        "lonely",
    ]
) | {"give up", *(f"word{chr(97 + n)}" for n in range(25))}


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return open_wordnet(write_wordnet(tmp_path_factory.mktemp("dict")))


def test_synonyms_come_inflected_with_the_share_of_their_sense(wordnet: WordNet) -> None:
    source = WordNetCandidates(wordnet)
    found = source.replacements("answers", "NNS", ALL)
    assert sorted(found) == ["replies", "responses", "solutions"]
    # 30 of the 40 sightings of the noun fall on the sense of "reply"; each sense counts half more.
    assert found["replies"].prior == pytest.approx(30.5 / 41)
    assert found["solutions"].prior == pytest.approx(10.5 / 41)
    evidence = found["replies"].evidence
    assert evidence is not None
    assert (evidence.senses, evidence.rank, evidence.members) == (2, 1, 3)
    assert (evidence.tag_count, evidence.replacement_share) == (7.5, 1.0)


def test_the_tag_decides_the_category(wordnet: WordNet) -> None:
    source = WordNetCandidates(wordnet)
    assert sorted(source.replacements("answered", "VBD", ALL)) == ["replied"]
    assert sorted(source.replacements("answer", None, ALL)) == ["reply", "response", "solution"]
    assert source.replacements("answer", "DT", ALL) == {}
    assert source.replacements("the", None, ALL) == {}


def test_phrases_are_known_by_their_head(wordnet: WordNet) -> None:
    source = WordNetCandidates(wordnet)
    assert source.may_be_phrase(("gave", "up"))
    assert not source.may_be_phrase(("gave", "in"))
    assert list(source.replacements("gave up", None, ALL)) == ["abandoned"]
    assert "give up" in source.replacements("abandon", "VB", ALL)


def test_a_table_is_read_and_bad_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ours.csv"
    path.write_text("word,replacement,weight\nCar,automobile,0.5\na lot of,many,\n")
    table = read_table_candidates(path)
    assert table.replacements("car", None, ALL)["automobile"].prior == 0.5
    assert table.may_be_phrase(("a", "lot", "of"))
    path.write_text("word,replacement,weight\ncar,,1\none two three four,x,1\ncar,auto,7\n")
    with pytest.raises(InputError, match="3 problems") as error:
        read_table_candidates(path)
    assert "line 3: more than 3 words" in str(error.value)
    path.write_text("from,to\ncar,auto\n")
    with pytest.raises(InputError, match="needs the columns word and replacement"):
        read_table_candidates(path)


def test_brown_classes_offer_their_most_frequent_words() -> None:
    words = [f"word{chr(97 + n)}" for n in range(25)]
    source = BrownCandidates([*words, "lonely"], np.array([0] * 25 + [1], np.uint16), "")
    assert sorted(source.replacements("wordb", None, ALL)) == [
        w for w in words[:20] if w != "wordb"
    ]
    assert source.replacements("wordy", None, ALL) == {}  # the 25th of its class
    assert source.replacements("lonely", None, ALL) == {}


def test_lsa_finds_words_with_the_same_company() -> None:
    text = ["boats sail over water"] * 30 + ["ships sail over water"] * 30
    text += ["cows eat grass daily"] * 30 + ["horses eat grass daily"] * 30
    index = index_corpus([text])
    how = LsaTraining(vocabulary=50, features=8, window=3, dimensions=3)
    source = LsaCandidates(train_lsa(index, how), "")
    assert (
        max(source.replacements("boats", None, ALL).values(), key=lambda r: r.prior).text == "ships"
    )
    assert source.replacements("zebra", None, ALL) == {}
    with pytest.raises(InputError, match="too small for 100 dimensions"):
        train_lsa(index, LsaTraining())


def test_cooccurrences_by_hand() -> None:
    # "a b a c": within one word of b stand two a's; of a (twice) stand b, b and c.
    index = index_corpus([["a b a c"]])
    words = frequent_words(index, 3)
    assert [index.words[n] for n in words] == ["a", "b", "c"]
    counts = cooccurrences(index, words, words, 1)
    assert counts.tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]


def test_what_differs_in_inflection_is_left_out(wordnet: WordNet) -> None:
    pairs = {("house", "homes"): 1.0, ("house", "home"): 1.0, ("house", "xyzzy"): 1.0}
    source = AgreeingCandidates(TableCandidates(pairs), wordnet)
    assert sorted(source.replacements("house", None, ALL)) == ["home", "xyzzy"]


def test_bigram_probabilities_by_hand() -> None:
    # "a b", "a b", "a c": P(b | a) = (2 − .75)/3 + left over · P(b), where pairs use (2 − .75)/3 as
    # "a c" was seen once only: left over = 1 − 1.25/3 = .58333, P(b) = 2/6. Together .61111.
    index = index_corpus([["a b", "a b", "a c"]])
    model = train_bigrams(index, frequent_words(index, 3), min_count=2)
    assert np.exp(model.log_probabilities([["a", "b"]])) == pytest.approx([0.61111], abs=1e-5)
    # Given what is unknown there is only P(c) = 1/6; an unknown word counts half a sighting: .5/6.
    assert np.exp(model.log_probabilities([["", "c"], ["", "x"]])) == pytest.approx([1 / 6, 1 / 12])


@pytest.mark.heavy
def test_the_combination_learns_products_and_its_threshold_keeps_the_recall() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((4000, len(CONTEXT_FEATURES)))
    is_right = features[:, 0] * features[:, 1] > 0  # no single feature tells
    combination = fit_combination(features, is_right, penalty=1.0, recall=0.8)
    judged = combination.probabilities(features)
    assert (judged[is_right] >= combination.threshold).mean() == pytest.approx(0.8, abs=0.01)
    assert ((judged > 0.5) == is_right).mean() > 0.9
    unknown = np.full((1, len(CONTEXT_FEATURES)), np.nan)
    assert 0 < combination.probabilities(unknown)[0] < 1


def test_quoted_text_names_and_numbers_are_fixed() -> None:
    sentence = Sentence.of("Then Bill paid “a quick reply” to NATO in 1999, he said. Quick!")
    free = [
        token for token, fixed in zip(sentence.tokens, sentence.is_fixed, strict=True) if not fixed
    ]
    assert free == ["paid", "to", "in", "he", "said", "Quick"]

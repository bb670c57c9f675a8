"""N-gram models: against a plain-Python oracle, against KenLM, through both kinds of file."""

from __future__ import annotations

import gzip
import math
import random
from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models.kneser_ney import FALLBACK, KneserNey
from wellput import _native
from wellput.core.errors import InputError
from wellput.language.models.ngram_files import load_model, save_model
from wellput.language.models.ngram_training import train
from wellput.language.models.ngrams import NgramModel

WORDS = ["the", "cat", "sat", "on", "a", "mat", ".", "Über", "<unk>", "</s>", "<s>", "🐈"]
sentences = st.lists(st.sampled_from(WORDS), max_size=7)
corpora = st.lists(sentences, min_size=1, max_size=12).filter(any)


def skewed(n: int, seed: int = 1) -> list[list[str]]:
    """Sentences whose words are as unequally frequent as in real text."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(200)]
    weights = [1 / (i + 1) for i in range(200)]
    return [rng.choices(words, weights, k=rng.randint(1, 12)) for _ in range(n)]


def joined(corpus: list[list[str]]) -> list[str]:
    return [" ".join(sentence) for sentence in corpus]


def modeled(corpus: list[list[str]], order: int, min_count: int = 1) -> NgramModel:
    return train([joined(corpus)], order=order, min_count=min_count).model


def test_a_bigram_model_worked_by_hand() -> None:
    # a b | a c: no bigram is seen three times, so discounts are 0.5, 1, 1.5.
    # Unigrams by different words before them: a 1 (<s>), b 1, c 1, </s> 2 (b, c); 5 in all.
    # Vocabulary: <unk> </s> a b c. gamma() = (3 * 0.5 + 1 * 1) / 5 = 0.5; P(b) = 0.5/5 + 0.5/5 = 0.2.
    # P(</s>) = 1/5 + 0.1 = 0.3, P(a) = 0.2, P(<unk>) = 0.1.
    # Context a: b 1, c 1; gamma = (0.5 + 0.5) / 2 = 0.5; P(b | a) = 0.5/2 + 0.5 * 0.2 = 0.35.
    # Context <s>: a 2; gamma = 1/2; P(a | <s>) = 1/2 + 0.5 * 0.2 = 0.6.
    # Context b: </s> 1; gamma = 0.5; P(</s> | b) = 0.5 + 0.5 * 0.3 = 0.65.
    training = train([["a b", "", "a c"]], order=2)
    assert training.discounts == [FALLBACK, FALLBACK]
    assert (training.sentences, training.tokens) == (3, 4)
    model = training.model
    assert model.sizes == [6, 5]
    assert model.words == ["<unk>", "<s>", "</s>", "a", "b", "c"]
    a, b, end = model.word_scores("a b")
    assert 10**a.log_prob == pytest.approx(0.6)
    assert 10**b.log_prob == pytest.approx(0.35)
    assert 10**end.log_prob == pytest.approx(0.65)
    # An unknown word after a: gamma(a) * P(<unk>); then </s> after nothing known.
    _, unknown, end = model.word_scores("a zebra")
    assert (unknown.length, unknown.is_unknown) == (1, True)
    assert 10**unknown.log_prob == pytest.approx(0.05)
    assert 10**end.log_prob == pytest.approx(0.3)
    assert model.perplexity(["a b"]) == pytest.approx((0.6 * 0.35 * 0.65) ** (-1 / 3))
    known = model.perplexity(["a zebra"], include_unknown=False)
    assert known == pytest.approx((0.6 * 0.3) ** (-1 / 2))
    assert math.isnan(model.perplexity([]))


@given(corpora, st.integers(1, 5), st.integers(1, 3), sentences)
@settings(max_examples=150)
def test_the_kernel_equals_the_oracle(
    corpus: list[list[str]], order: int, min_count: int, text: list[str]
) -> None:
    # In a text the three special names are unknown words.
    plain = [[w if w not in ("<s>", "</s>") else "<unk>" for w in s] for s in [*corpus, text]]
    oracle = KneserNey(plain[:-1], order, min_count)
    model = modeled(corpus, order, min_count)
    scores = [word.log_prob for word in model.word_scores(" ".join(text))]
    expected = [math.log10(p) for p in oracle.sentence(plain[-1])]
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_estimated_discounts_equal_the_oracle(order: int) -> None:
    corpus = skewed(600)
    training = train([joined(corpus)], order=order)
    oracle = KneserNey(corpus, order)
    np.testing.assert_allclose(training.discounts, oracle.discounts, rtol=1e-12)
    assert any(discounts != FALLBACK for discounts in training.discounts)
    for sentence in [*corpus[:20], *skewed(20, seed=2)]:
        scores = [word.log_prob for word in training.model.word_scores(" ".join(sentence))]
        np.testing.assert_allclose(scores, np.log10(oracle.sentence(sentence)), rtol=1e-5)


@given(corpora, st.integers(1, 4), sentences)
@settings(max_examples=40)
def test_probabilities_of_a_context_sum_to_one(
    corpus: list[list[str]], order: int, context: list[str]
) -> None:
    model = modeled(corpus, order)
    before = len(context)
    probs = [
        model.word_scores(" ".join([*context, word]))[before].log_prob
        for word in ["<unk>", *model.words[3:]]
    ]
    end = model.word_scores(" ".join(context))[-1].log_prob
    assert sum(10**p for p in [*probs, end]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_kenlm_reads_our_file_and_gives_the_same_scores(order: int, tmp_path: Path) -> None:
    corpus = skewed(400)
    model = modeled(corpus, order, min_count=2)
    path = tmp_path / "model.arpa"
    save_model(model, path)
    other = kenlm.Model(str(path))
    texts = [*joined(corpus[:50]), *joined(skewed(50, seed=3)), "", "w1 unseen w2", "unseen"]
    np.testing.assert_allclose(
        model.sentence_scores(texts), [other.score(text) for text in texts], atol=1e-4
    )
    for text in texts:
        ours = [(word.length, word.is_unknown) for word in model.word_scores(text)]
        assert ours == [(length, oov) for _, length, oov in other.full_scores(text)]


@given(corpora, st.integers(1, 4))
@settings(max_examples=30)
def test_files_give_the_model_back(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[list[str]], order: int
) -> None:
    folder = tmp_path_factory.mktemp("models")
    model = modeled(corpus, order)
    save_model(model, folder / "a.arpa.gz")
    from_arpa = load_model(folder / "a.arpa.gz")
    save_model(from_arpa, folder / "b.wlm")
    mapped = load_model(folder / "b.wlm")
    save_model(mapped, folder / "c.arpa")
    assert model.fingerprint == from_arpa.fingerprint == mapped.fingerprint
    assert gzip.decompress((folder / "a.arpa.gz").read_bytes()) == (folder / "c.arpa").read_bytes()
    texts = joined(corpus)
    np.testing.assert_array_equal(model.statistics(texts), mapped.statistics(texts))


@pytest.mark.parametrize("run_tokens", [1, 2, 7, 1000])
@pytest.mark.parametrize("order", [1, 3, 8])  # 8 words do not fit into one number
def test_runs_on_disk_change_nothing(run_tokens: int, order: int, tmp_path: Path) -> None:
    texts = joined(skewed(60))
    trainer = _native.NgramTrainer(order, run_tokens, str(tmp_path), 1)
    trainer.add(texts, "none")
    vocabulary, levels, _, _ = trainer.finish(2)
    assert list(tmp_path.glob("run*")) or run_tokens == 1000
    whole = train([texts[:10], texts[10:]], order=order, min_count=2).model
    assert NgramModel(vocabulary, tuple(levels)).fingerprint == whole.fingerprint


@given(st.lists(st.text(max_size=15), min_size=1, max_size=5))
@settings(max_examples=50)
def test_any_text_is_trained_on_and_scored(texts: list[str]) -> None:
    model = train([["a b c", *texts]], order=3).model
    one = model.statistics(texts, threads=1)
    np.testing.assert_array_equal(one, model.statistics(texts * 40, threads=3)[: len(texts)])
    assert np.isfinite(one).all()
    words = [text.split() for text in texts]
    np.testing.assert_array_equal(one[:, 1], [len(row) + 1 for row in words])


PRUNED = """\\data\\
ngram 1=4
ngram 2=1
ngram 3=1

\\1-grams:
-99\t<s>\t-0.5
-1.0\t</s>
-0.7\ta\t-0.3
-0.4\tb\t-0.2

\\2-grams:
-0.1\t<s> a\t-0.25

\\3-grams:
-0.05\t<s> a b

\\end\\
"""


def test_a_pruned_file_of_another_tool(tmp_path: Path) -> None:
    # It has <s> a b but not a b, and no <unk>. (KenLM finds a file this small too sparse.)
    path = tmp_path / "pruned.arpa"
    path.write_text(PRUNED)
    model = load_model(path)

    def scores(text: str) -> list[float]:
        return [word.log_prob for word in model.word_scores(text)]

    # P(</s> | a b) = backoff(b) + P(</s>) = -0.2 - 1
    assert scores("a b") == pytest.approx([-0.1, -0.05, -1.2])
    # P(b | <s>) = -0.5 - 0.4; P(a | b) = -0.2 - 0.7; P(b | a) = -0.3 - 0.4
    assert scores("b a b") == pytest.approx([-0.9, -0.9, -0.7, -1.2])
    assert scores("zebra") == pytest.approx([-100.5, -1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing\n", "not an ARPA file"),
        (PRUNED.replace("\\end\\", ""), "ends without"),
        (PRUNED.replace("<s> a\t", "<s> zebra\t"), "line 13.*2 known word"),
        (PRUNED.replace("-0.7\ta", "x\ta"), "line 9"),
        (PRUNED.replace("-0.7\ta", "-1e50\ta"), "line 9"),  # no float; 0 would make it certain
        (PRUNED.replace("-0.7\ta", "-1e-60x\ta"), "line 9"),
        (PRUNED.replace("-0.7\ta", "++0.7\ta"), "line 9"),
        (PRUNED.replace("\\3-grams:", "\\4-grams:"), "line 15.*unexpected"),
        (PRUNED.replace("ngram 2=1", "ngram 2=x"), "ngram N=COUNT"),
    ],
)
def test_bad_arpa_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.arpa"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_model(path)


@pytest.mark.parametrize("tiny", ["-1e-60", "-1e-400", "-0." + "0" * 60 + "1", "+1e-60"])
def test_a_logarithm_too_small_for_a_float_is_zero(tiny: str, tmp_path: Path) -> None:
    path = tmp_path / "tiny.arpa"
    path.write_text(PRUNED.replace("-0.7\ta", f"{tiny}\ta"))
    # P(a | b) = backoff(b) + P(a) = -0.2 + 0
    assert load_model(path).word_scores("b a")[1].log_prob == pytest.approx(-0.2)


def test_bad_binary_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.wlm"
    save_model(modeled(skewed(20), 3), path)
    good = path.read_bytes()
    for bad in (b"", good[:40], good[:-8], b"x" + good[1:], good + bytes(8)):
        path.write_bytes(bad)
        with pytest.raises(InputError, match="damaged"):
            load_model(path)
    path.write_bytes(good[:16] + b"\x09" + good[17:])
    with pytest.raises(InputError, match="version 9"):
        load_model(path)
    with pytest.raises(InputError, match="No such file"):
        load_model(tmp_path / "missing.wlm")
    with pytest.raises(InputError, match=r"ends in \.arpa"):
        load_model(tmp_path / "model.bin")


def test_nothing_to_train_on_is_refused() -> None:
    with pytest.raises(InputError, match="no words"):
        train([["", "  "]])
    with pytest.raises(InputError, match="from 1 to 20"):
        train([["a"]], order=21)


def test_words_that_are_no_text_are_refused() -> None:
    """They may stand in a forged file, whose hash is right."""
    model = train([["the cat"]], order=2).model
    offsets, text, slots = model.vocabulary
    forged = NgramModel((offsets, np.full_like(text, 255), slots), model.levels)
    with pytest.raises(InputError, match="not Unicode text"):
        _ = forged.words

"""The features of a sentence from models small enough to count by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.io.model_files import load_model_file, save_model_file
from wellput.language.models.fluency_model import (
    FLUENCY_FEATURES,
    FluencyModel,
    FluencyModels,
    skeleton,
)
from wellput.language.models.gleu_model import GleuModel
from wellput.language.models.linear_model import fit_severity
from wellput.language.models.ngram_training import train
from wellput.language.models.tagger import Tagger
from wellput.language.models.word_list import WordList
from wellput.language.models.word_network import ScoredWords, WordNetwork
from wellput.language.shipped import shipped

NAMES = list(FLUENCY_FEATURES)
TEXT = ["the dog sees the cat .", "the cat sees a dog .", "a dog has seen the cat ."] * 5
TAGS = {
    "the": "DT",
    "a": "DT",
    "dog": "NN",
    "cat": "NN",
    "sees": "VBZ",
    "has": "VBZ",
    "seen": "VBN",
}


class ByWord(Tagger):
    """Tags by a table, so that no tagger has to be trained."""

    def __init__(self) -> None:
        pass

    def tag(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        given: Sequence[Sequence[str]] = (),
        threads: int = 1,
    ) -> list[list[str]]:
        return [[TAGS.get(word.lower(), word) for word in words] for words in sentences]


LIKELY = {("the", "dog"), ("the", "cat"), ("dog", "sees"), ("sees", "the"), ("cat", ".")}


class ByPair(WordNetwork):
    """A word is ten times likelier after some words than alone, and ten times less likely after all
    others; alone its probability is e^-5."""

    def __init__(self) -> None:
        pass

    def score(self, sentences: Sequence[str]) -> list[ScoredWords]:
        found = []
        for sentence in sentences:
            words = sentence.lower().replace(".", " .").split()
            gains = [1.0 if pair in LIKELY else -1.0 for pair in pairwise(["", *words, ""])]
            alone = np.full(len(gains), -5.0)
            scores = alone + np.array(gains) * math.log(10)
            found.append(ScoredWords(tuple(words), scores, alone, np.arange(len(gains))))
        return found

    def knows(self, word: str) -> bool:
        return word.lower() == "ox"


@pytest.fixture(scope="module")
def models() -> FluencyModels:
    small = {"the", "a", "has", "."}
    skeletons = [skeleton(w := line.split(), ByWord().tag([w])[0], small) for line in TEXT]
    counts = {word: 5 for line in TEXT for word in line.split()}
    return FluencyModels(
        ByWord(),
        train([skeletons], order=4).model,
        WordList.of(counts),
        ByPair(),
    )


def features(models: FluencyModels, text: str) -> dict[str, float]:
    return dict(zip(NAMES, models.features([text])[0].tolist(), strict=True))


def test_a_skeleton_keeps_small_words() -> None:
    words, tags = ["The", "dog", "has", "seen", "Rome", "."], ["DT", "NN", "VBZ", "VBN", "NNP", "."]
    assert skeleton(words, tags, {"the", "has", ".", "dog"}) == "the NN has VBN NNP ."


def test_grammar_is_over_the_parts_of_speech_alone(models: FluencyModels) -> None:
    line = "the NN VBZ the NN ."
    scores = models.skeletons.word_scores(line)
    alone = dict(zip(models.skeletons.words, models.skeletons.levels[0][2].tolist(), strict=True))
    words = [*line.split(), "</s>"]
    gains = [s.log_prob - alone[word] for s, word in zip(scores, words, strict=True)]
    found = features(models, "The dog sees the cat.")
    assert found["grammar"] == pytest.approx(np.mean(gains))
    assert found["weakest_grammar"] == pytest.approx(
        min(sum(gains[k : k + 3]) / 3 for k in range(5))
    )
    lacking = sum(-0.2 - gain for gain in gains if gain < -0.2)
    assert found["slips"] == pytest.approx(-math.log(1 + lacking))


def test_usage_is_that_of_the_network(models: FluencyModels) -> None:
    # Gains: the −1, dog 1, sees 1, the 1, cat 1, . 1, end −1.
    found = features(models, "The dog sees the cat.")
    assert found["usage"] == pytest.approx(3 / 7)
    assert found["weakest_usage"] == pytest.approx(1 / 3)
    assert found["unusual"] == pytest.approx(-math.log(1 + 2 * 1.3))
    log_prob = -5 * 7 + 3 * math.log(10)
    assert found["likelihood"] == pytest.approx(log_prob / 2**0.8)


def test_the_words_that_fit_least_are_named(models: FluencyModels) -> None:
    # Gains: the −1, dog 1, sees 1, cat −1, the −1, . −1, end −1.
    offending = models.offending("The dog sees cat the.")
    assert offending["unusual"] == offending["likelihood"] == ("cat", "the", ".")


def test_words_of_general_english_are_no_misspellings(models: FluencyModels) -> None:
    assert features(models, "The ox sees the ax.")["spelling"] == pytest.approx(-math.log(2))  # ax


def test_order_matters_to_words_and_to_grammar(models: FluencyModels) -> None:
    better = features(models, "The dog sees the cat.")
    worse = features(models, "Cat the the sees dog.")
    for name in ("likelihood", "usage", "unusual", "grammar", "weakest_grammar"):
        assert better[name] > worse[name]
    assert better["spelling"] == worse["spelling"] == 0


def test_mistakes_are_counted(models: FluencyModels) -> None:
    found = features(models, "the teh seees the the cat")
    assert found["spelling"] == pytest.approx(-math.log(3))  # teh, seees
    assert found["near_misses"] == pytest.approx(-math.log(2))  # seees; teh is too short to tell
    assert found["repeats"] == pytest.approx(-math.log(2))
    assert (found["capital"], found["stop"]) == (0, 0)
    fine = features(models, "The cat.")
    assert (fine["capital"], fine["stop"], fine["repeats"]) == (1, 1, 0)


def test_an_unknown_name_is_no_mistake_within_a_sentence(models: FluencyModels) -> None:
    assert features(models, "The dog sees Zanzibar.")["spelling"] == 0


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u200b \t"])
def test_a_text_without_words_has_no_features(models: FluencyModels, text: str) -> None:
    row = models.features([text])
    assert np.isnan(row).all() or np.isfinite(row).all()
    assert np.isnan(models.features([""])).all()


@pytest.mark.parametrize(
    "text", ["null", "." * 300, "dog " * 300, "\x00", "犬が猫を見る。", "\ud800"]
)
def test_any_text_has_features_or_none(models: FluencyModels, text: str) -> None:
    [row] = models.features([text])
    assert np.isfinite(row).all() or np.isnan(row).all()


def test_severity_is_fitted_without_negative_weights() -> None:
    # severity = 2 - 2a exactly; b runs against a and would need a negative weight to help.
    a = np.array([0.0, 1.0, 0.5, 0.25])
    rows = np.column_stack([a, -a])
    model = fit_severity(("a", "b"), rows, 2 - 2 * a, np.ones(4), ridge=0.0)
    assert model.weights[1] == 0
    assert model.scores(rows) == pytest.approx(2 * a - 2)


def test_the_score_of_the_middle_real_sentence_is_seven_tenths() -> None:
    rng = np.random.default_rng(0)
    real = rng.normal(1.0, 0.1, size=(400, len(NAMES)))
    spoiled = rng.normal(0.0, 0.1, size=(400, len(NAMES)))
    severity = np.repeat([0.0, np.log(3)], 400)
    model = FluencyModel.train(np.vstack([real, spoiled]), severity, np.ones(800))
    scores = model.scores(real)
    assert np.median(scores) == pytest.approx(0.7, abs=1e-3)
    assert np.mean(scores < 0.5) == pytest.approx(0.02, abs=0.003)
    assert model.scores(spoiled).max() < 0.5
    assert model.scores(np.vstack([real, spoiled]) * 1e6).tolist()[0] <= 1


def test_each_feature_can_be_read_alone() -> None:
    # An explanation shows some of them, not the one that "the same" would refer to.
    for name, about in FLUENCY_FEATURES.items():
        assert not about.startswith(("the same", "those")), name
    assert len(set(FLUENCY_FEATURES.values())) == len(FLUENCY_FEATURES)


@pytest.mark.parametrize(
    ("load", "file", "name"),
    [
        (FluencyModel.load, "fluency.wpm", "curve"),
        (GleuModel.load, "gleu-fluency.wpm", "constants"),
    ],
)
@pytest.mark.parametrize("number", [None, math.nan, 1e300])
def test_a_forged_model_is_refused(
    tmp_path: Path, load: Callable[[Path], object], file: str, name: str, number: float | None
) -> None:
    """An array of another length, or with a number that gives no score; the hash is right."""
    kind = file.removesuffix(".wpm")
    found = load_model_file(shipped(file), kind)
    array = found.arrays[name]
    changed = array[:1] if number is None else np.full(len(array), number)
    save_model_file(tmp_path / file, kind, found.card, {**found.arrays, name: changed})
    with pytest.raises(InputError, match="damaged"):
        load(tmp_path / file)


def test_numbers_of_another_type_are_read(tmp_path: Path) -> None:
    """Comparing single precision with 1e100 would overflow."""
    found = load_model_file(shipped("fluency.wpm"), "fluency")
    arrays = {**found.arrays, "curve": found.arrays["curve"].astype(np.float32)}
    save_model_file(tmp_path / "fluency.wpm", "fluency", found.card, arrays)
    assert FluencyModel.load(tmp_path / "fluency.wpm").curve.dtype == np.float64

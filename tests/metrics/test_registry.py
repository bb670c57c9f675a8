"""Metrics by name."""

from __future__ import annotations

import pytest
from sacrebleu.metrics.chrf import CHRF

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.registries import split_specs
from wellput.metrics.registry import BUILT_IN, SPELLINGS, create, create_all, metric_names


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("bleu", ["bleu"]),
        ("bleu,chrf", ["bleu", "chrf"]),
        ("chrf:word_order=2,bleu", ["chrf:word_order=2", "bleu"]),
        ("bleu:tokenize=char,lowercase=true,chrf", ["bleu:tokenize=char,lowercase=true", "chrf"]),
        ("ssa:insertion=1:deletion=1", ["ssa:insertion=1:deletion=1"]),
        (" bleu , chrf ,", ["bleu", "chrf"]),
    ],
)
def test_lists_and_options_share_the_comma(text: str, specs: list[str]) -> None:
    assert split_specs(text) == specs


def test_displays_come_after_text_and_sentinels_last() -> None:
    kinds = "precision recall f accuracy beta tokens types ttr entropy commonest distance"
    displays = [f"display-{kind}" for kind in kinds.split()]
    assert metric_names()[-14:] == ["length-ratio", *displays, "random", "length-only"]


def test_options_get_their_types() -> None:
    metric = create("bleu:lowercase=true,smooth_method=floor,smooth_value=0.5,max_ngram_order=2")
    options = (metric.lowercase, metric.smooth_method, metric.smooth_value, metric.max_ngram_order)  # type: ignore[attr-defined]
    assert options == (True, "floor", 0.5, 2)
    assert create("bleu:smooth_value=unset").smooth_value is None  # type: ignore[attr-defined]


def test_a_name_tells_the_options_that_are_not_the_defaults() -> None:
    assert create("chrf:word_order=0").name == "chrf"
    assert create("ssa:deletion=2:insertion=2").name == "ssa:insertion=2,deletion=2"
    assert create(create("ssa:insertion=2").name) == create("ssa:insertion=2")


def test_the_same_metric_twice_is_given_once() -> None:
    assert [metric.name for metric in create_all(["ssa,gsa", "ssa", create("gsa")])] == [
        "ssa",
        "gsa",
    ]


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("BLEU", "bleu"),
        ("sacreBLEU", "bleu"),
        ("BLEU-4", "bleu"),
        ("BLEU-1", "bleu:max_ngram_order=1"),
        ("chrF", "chrf"),
        ("chrF2", "chrf"),
        ("chrF++", "chrf:word_order=2"),
        ("chrF2++", "chrf:word_order=2"),
        ("chrf+", "chrf:word_order=1"),
        ("chrf++:beta=1", "chrf:word_order=2,beta=1"),
        ("chrf++:word_order=1", "chrf:word_order=1"),  # a given option overrides the implied one
        ("TER:normalized=true", "ter:normalized=true"),
        ("rougeL", "rouge-l"),
        ("ROUGE-L", "rouge-l"),
        ("rouge_l", "rouge-l"),
        ("exact_match", "exact"),
        ("distinct-1", "distinct:n=1"),
        ("Distinct-2", "distinct"),  # 2 is the default
        ("lengthRatio", "length-ratio"),
        ("GLEU-fluency", "gleu-fluency"),
    ],
)
def test_usual_spellings(spelled: str, name: str) -> None:
    assert create(spelled).name == name


def test_every_spelling_means_a_metric_and_hides_none() -> None:
    for spelled, meant in SPELLINGS.items():
        assert create(spelled) == create(meant)
    assert not [name for name in BUILT_IN if name.replace("-", "") in SPELLINGS]


def test_chrf_plus_plus_is_sacrebleus() -> None:
    outputs, references = ["the cat sat down", "a dog"], ["the cat sat there", "the dogs"]
    metric = create("chrF++")
    rows = metric.statistics(Batch.from_texts(outputs, [[text] for text in references]))
    theirs = CHRF(word_order=2).corpus_score(outputs, [references])
    assert metric.score(rows.sum(axis=0)) == pytest.approx(theirs.score, abs=1e-9)


def test_a_metric_is_given_once_however_it_is_spelled() -> None:
    assert [metric.name for metric in create_all("bleu,BLEU,chrF++,chrf:word_order=2")] == [
        "bleu",
        "chrf:word_order=2",
    ]


def test_an_option_that_is_a_file_does_not_make_a_metric_a_file_of_scores() -> None:
    (metric,) = create_all("bertscore:model=vectors.txt,baseline=b.csv")
    assert metric.name.startswith("bertscore:")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("blue", "No metric 'blue'. Did you mean bleu?"),
        ("gleu", "No metric 'gleu'. Did you mean gleu-fluency or bleu?"),
        ("zzz", "`wellput metrics`, in Python `wellput.list_metrics()`, lists them all"),
        ("bleu:lowercaes=true", "no option 'lowercaes'. Did you mean lowercase? It has lowercase"),
        ("exact:order=2", "no option 'order'"),
        ("bleu:lowercase", "write the option as lowercase=VALUE"),
        ("bleu:lowercase=1", "lowercase is true or false"),
        ("bleu:max_ngram_order=four", "max_ngram_order is a whole number"),
        ("bleu:tokenize=13b", "No tokenizer '13b'. Did you mean 13a? The tokenizers are 13a, char"),
        ("", "No metric was given"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        create_all(spec)
    assert message in str(error.value)

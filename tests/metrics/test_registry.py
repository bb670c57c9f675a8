"""Metrics by name."""

from __future__ import annotations

import pytest

from wellput.core.errors import InputError
from wellput.metrics.registry import create, create_all, split_specs


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
    ("spec", "message"),
    [
        ("blue", "No metric 'blue'. Did you mean bleu?"),
        ("gleu", "No metric 'gleu'. Did you mean gleu-fluency or bleu?"),
        ("zzz", "`wellput metrics` lists them all"),
        ("bleu:lowercaes=true", "no option 'lowercaes'. Did you mean lowercase? It has lowercase"),
        ("exact:order=2", "no option 'order'"),
        ("bleu:lowercase", "write the option as lowercase=VALUE"),
        ("bleu:lowercase=1", "lowercase is true or false"),
        ("bleu:max_ngram_order=four", "max_ngram_order is a whole number"),
        ("bleu:tokenize=13b", "No tokenizer '13b'. Did you mean 13a? There are 13a, char"),
        ("", "No metric was given"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        create_all(spec)
    assert message in str(error.value)

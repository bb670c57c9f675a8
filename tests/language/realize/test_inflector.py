"""Forms of lemmas: from a treebank, from lemminflect, from universal tags."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from tests.language.realize.treebank import treebank
from wellput.core.errors import InputError
from wellput.io.model_files import load_model_file, save_model_file
from wellput.language.realize.inflector import (
    Inflector,
    WordForm,
    dictionary_form,
    learn_inflections,
    penn_tag,
)
from wellput.language.realize.inputs import Node


def node(lemma: str, upos: str, xpos: str = "_", feats: str = "_") -> Node:
    return Node((lemma,), "dep", upos, xpos, lemma, feats)


@pytest.fixture(scope="module")
def inflector() -> Inflector:
    return learn_inflections(treebank())


def test_irregular_forms_come_from_the_dictionary(inflector: Inflector) -> None:
    assert inflector.forms(node("mouse", "NOUN", "NNS")) == (WordForm("mice"),)
    assert inflector.forms(node("sing", "VERB", "VBD")) == (WordForm("sang"),)
    assert inflector.forms(node("under", "ADP", "IN")) == (WordForm("under"),)


def test_forms_seen_in_the_treebank_come_first(inflector: Inflector) -> None:
    # "a" stands 8 times as A or An at the beginning, 4 times as an: A 4, An 4, an 4 of 12.
    forms = inflector.forms(node("a", "DET", "DT"))
    assert [form.form for form in forms] == ["A", "An", "an"]
    assert [form.log_share for form in forms] == [round(math.log(1 / 3), 3)] * 3
    assert inflector.forms(node("not", "PART", "RB")) == (WordForm("n't", 0.0),)


def test_features_that_were_never_seen_fall_back_on_the_tag(inflector: Inflector) -> None:
    seen = inflector.forms(node("not", "PART", "RB", "Polarity=Neg"))
    assert seen == (WordForm("n't", 0.0),)


@pytest.mark.parametrize(
    ("upos", "feats", "tag"),
    [
        ("NOUN", "Number=Plur", "NNS"),
        ("NOUN", "Number=Sing", "NOUN"),
        ("VERB", "Mood=Ind|Tense=Past|VerbForm=Fin", "VBD"),
        ("VERB", "Tense=Past|VerbForm=Part", "VBN"),
        ("VERB", "Tense=Pres|VerbForm=Part", "VBG"),
        ("AUX", "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin", "VBZ"),
        ("ADJ", "Degree=Sup", "JJS"),
        ("INTJ", "_", "INTJ"),
    ],
)
def test_universal_tags_will_do(upos: str, feats: str, tag: str) -> None:
    assert penn_tag(node("x", upos, feats=feats)) == tag


@pytest.mark.parametrize(
    ("lemma", "upos", "xpos", "feats", "form"),
    [
        ("Great", "ADJ", "NNP", "Degree=Cmp", "Greater"),  # as in "Greater London"
        ("Govern", "VERB", "NNP", "VerbForm=Ger", "Governing"),
        ("Scholar", "PROPN", "NNP", "Number=Sing", "Scholar"),
        ("least", "ADV", "RBS", "Degree=Sup", "least"),
    ],
)
def test_words_of_names_and_superlatives(
    lemma: str, upos: str, xpos: str, feats: str, form: str
) -> None:
    assert [one.form for one in Inflector({}).forms(node(lemma, upos, xpos, feats))] == [form]


def test_an_inflector_comes_back_from_its_file(inflector: Inflector, tmp_path: Path) -> None:
    path = tmp_path / "inflector.wpm"
    save_model_file(path, "test", {}, inflector.arrays("inflector"))
    again = Inflector.of_file(load_model_file(path, "test"), "inflector")
    assert again.forms(node("not", "PART", "RB")) == inflector.forms(node("not", "PART", "RB"))
    assert again.seen.keys() == inflector.seen.keys()


def test_without_lemminflect_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    dictionary_form.cache_clear()
    with pytest.raises(InputError, match=r"wellput\[realize\]"):
        dictionary_form("mouse", "NNS")
    dictionary_form.cache_clear()


@pytest.mark.parametrize(
    ("lemma", "tag", "feats"),
    [("panties", "NNS", "Number=Ptan"), ("Semantics", "NNPS", "Number=Plur")],
)
def test_a_lemma_that_is_a_plural_stays_as_it_is(
    inflector: Inflector, lemma: str, tag: str, feats: str
) -> None:
    node = Node((lemma,), xpos=tag, lemma=lemma, feats=feats)
    assert [form.form for form in inflector.forms(node)] == [lemma]

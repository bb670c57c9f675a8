"""Forms checked by hand against the spelling rules of American English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.language.models.inflection import Inflection, inflect
from wellput.language.models.wordnet_files import Category


@pytest.mark.parametrize(
    ("category", "inflection", "pairs"),
    [
        ("noun", "plural", "car cars|box boxes|church churches|city cities|boy boys|wife wives"),
        ("noun", "plural", "man men|fireman firemen|human humans|sheep sheep|photo photos"),
        ("noun", "plural", "potato potatoes|quiz quizzes|criterion criteria|child children"),
        ("verb", "third", "walk walks|watch watches|try tries|play plays|go goes|be is|have has"),
        ("verb", "past", "walk walked|bake baked|try tried|stop stopped|play played|fix fixed"),
        ("verb", "past", "go went|overdo overdid|visit visited|quit quit|agree agreed"),
        ("verb", "participle", "take taken|retake retaken|walk walked|cut cut|make made"),
        ("verb", "gerund", "walk walking|bake baking|lie lying|stop stopping|see seeing|be being"),
        ("verb", "gerund", "dye dyeing|fix fixing|open opening|use using|equip equipping"),
        ("adj", "comparative", "big bigger|large larger|happy happier|good better|new newer"),
        ("adj", "superlative", "big biggest|large largest|happy happiest|bad worst"),
        ("adv", "comparative", "fast faster|well better"),
    ],
)
def test_forms(category: Category, inflection: Inflection, pairs: str) -> None:
    expected = dict(pair.split(" ") for pair in pairs.split("|"))
    listed = {"equip": ("equipped", "equipping")}  # as WordNet lists it: the stress cannot be seen
    made = {
        lemma: inflect(lemma, category, inflection, listed.get(lemma, ())) for lemma in expected
    }
    assert made == expected


def test_forms_of_several_words() -> None:
    assert inflect("look up", "verb", "past") == "looked up"
    assert inflect("take place", "verb", "participle") == "taken place"
    assert inflect("hot dog", "noun", "plural") == "hot dogs"
    assert inflect("mother-in-law", "noun", "plural") == "mothers-in-law"
    assert inflect("man of letters", "noun", "plural") == "men of letters"
    assert inflect("important", "adj", "comparative") == "more important"
    assert inflect("quickly", "adv", "superlative") == "most quickly"


def test_a_single_listed_form_is_past_and_participle() -> None:
    assert inflect("mislay", "verb", "participle", ["mislaid"]) == "mislaid"
    assert inflect("stave", "verb", "past", ["stove", "stoven"]) == "staved"  # which is which?
    assert inflect("beau", "noun", "plural", ["beaux"]) == "beaux"


@given(
    st.text(),
    st.sampled_from(["noun", "verb", "adj", "adv"]),
    st.sampled_from(["plural", "third", "past", "gerund", "comparative", "superlative"]),
)
def test_any_text_gets_a_form(lemma: str, category: Category, inflection: Inflection) -> None:
    assert len(inflect(lemma, category, inflection)) >= len(lemma) - 3

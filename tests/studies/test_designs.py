from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wellput.studies
from wellput.core.errors import InputError
from wellput.studies.designs.pairwise import Pairwise
from wellput.studies.designs.registry import (
    BUILT_IN,
    create,
    default_questionnaire,
    design_of,
)
from wellput.studies.designs.scales import Rating
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.questions import AnswerError, Question, check_values, is_right_answer
from wellput.studies.settings import StudySettings, make_settings, read_settings
from wellput.studies.wording import ENGLISH


def settings_of(tmp_path: Path, kind: str, toml: str, **options: Any) -> StudySettings:
    path = tmp_path / "study.toml"
    path.write_text(toml, encoding="utf-8")
    return make_settings(kind, read_settings(path), **options)


def test_the_default_scales_are_the_papers() -> None:
    # Bangalore, Rambow & Whittaker 2000, section 4: 7 points, three of them with words.
    understandability, quality = default_questionnaire("rating").questions
    assert understandability.text == "How easy is this sentence to understand?"
    assert understandability.labels == {
        "1": "Impossible", "4": "Just barely possible", "7": "Extremely easy",
    }  # fmt: skip
    assert quality.text == "How well-written is this sentence?"
    assert quality.labels == {"1": "Horrible", "4": "Pretty bad", "7": "Extremely well-written"}
    assert (quality.low, quality.high) == (1, 7)


def test_magnitude_estimation_is_told_to_judge_form_not_content() -> None:
    text = default_questionnaire("magnitude").instructions
    assert "form, not the content" in text.replace("the form", "form")
    assert "Colorless green ideas" in text
    assert "scale of your own" in text
    with_modulus = default_questionnaire("magnitude", modulus=50).instructions
    assert "counts as 50" in with_modulus
    assert "100 if it is twice" in with_modulus


@pytest.mark.parametrize("kind", [*BUILT_IN, "pairwise:ties=true", "magnitude:modulus=50"])
def test_questionnaires_survive_json(kind: str) -> None:
    questionnaire = default_questionnaire(kind)
    assert Questionnaire.from_json(json.loads(json.dumps(questionnaire.to_json()))) == questionnaire
    assert questionnaire.title and questionnaire.instructions and questionnaire.thanks
    assert (
        questionnaire.consent is None
        and not questionnaire.practice
        and not questionnaire.demographics
    )


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("rating", {"points": 1}, "one point; a scale needs at least two"),
        ("rating", {"points": 0}, "a scale needs at least two"),
        ("rating", {"points": 1000}, "use the slider"),
        ("rating", {"ties": True}, "ties= is an option of the design pairwise, not of rating"),
        ("rating", {"modulus": 3}, "modulus= is an option of the design magnitude"),
        ("magnitude", {"modulus": 0}, "above zero"),
        ("pairwise", {"layout": "page"}, "no layout page"),
        ("rating", {"questions": ["q", "q"]}, "comes twice"),
        ("task", {"questions": ["a", "b"]}, "one question for each item"),
        (
            "stars",
            {},
            "No design 'stars'.* The designs are rating, magnitude, slider, pairwise, spans, mqm, task",
        ),
        ("ratings", {}, "Did you mean rating?"),
        ("rating", {"stars": 3}, "The design rating has no option 'stars'. It has points."),
        ("rating:stars=3", {}, "rating has no option 'stars'"),
        ("rating", {"layout": "grid"}, "No layout 'grid'"),
    ],
)
def test_impossible_designs(kind: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        default_questionnaire(kind, **options)


def test_options_are_written_behind_the_name() -> None:
    assert create("rating:points=5") == create("rating", points=5) == Rating(points=5)
    assert create(Rating(points=5), points=9) == Rating(points=9)
    assert create("rating:points=5", points=9) == Rating(points=9)


def test_a_record_of_the_first_studies_is_a_questionnaire() -> None:
    """As stored before designs had options, and before there was a medium."""
    record: dict[str, Any] = {
        "kind": "pairwise", "title": "Which?", "instructions": "Choose.", "thanks": "Thanks.",
        "questions": [
            {"name": "preference", "text": "Which version?", "kind": "choice", "low": None,
             "high": None, "labels": {}, "choices": ["a", "b", "tie"]},
        ],
        "consent": None, "layout": "single", "demographics": [], "practice": [], "ties": True,
        "modulus": None,
    }  # fmt: skip
    questionnaire = Questionnaire.from_json(record)
    assert design_of(questionnaire) == Pairwise(ties=True)
    assert json.loads(json.dumps(questionnaire.to_json())) == {**record, "medium": "text"}


def test_a_study_keeps_the_options_of_its_design() -> None:
    assert "options" not in default_questionnaire("rating", points=5).to_json()  # questions say it
    assert default_questionnaire("magnitude", modulus=50).to_json()["modulus"] == 50
    own = replace(default_questionnaire("rating"), options={"stars": 3})
    record = json.loads(json.dumps(own.to_json()))
    assert record["options"] == {"stars": 3}
    assert Questionnaire.from_json(record) == own


def test_no_module_asks_which_design_it_has() -> None:
    """Only `studies/designs` may depend on the name of a design."""
    studies = Path(wellput.studies.__file__).parent
    asking = []
    for path in [*studies.glob("*.py"), *studies.glob("templates/*"), *studies.glob("static/*.js")]:
        text = path.read_text(encoding="utf-8")
        asking += [f"{path.name}: {name}" for name in BUILT_IN if f'{name}"' in _compared(text)]
    assert not asking


def _compared(text: str) -> str:
    """What follows `kind ==`, `kind !=` and `kind in`, except for the widgets of questions."""
    found = re.findall(r"(?<!question\.)\bkind (?:===?|!==?|not in|in) (.*)", text)
    return "\n".join(found)


def test_questions_of_ones_own_and_other_points() -> None:
    questionnaire = default_questionnaire("rating", questions=["politeness", "quality"], points=5)
    politeness, quality = questionnaire.questions
    assert politeness.labels == {"1": "Very low", "5": "Very high"}
    assert quality.labels == {"1": "Horrible", "5": "Extremely well-written"}


RATING = Question("q", "?", "points", 1, 7)
SLIDER = Question("q", "?", "slider", 0, 100)
NUMBER = Question("q", "?", "number", 0)
CHOICE = Question("q", "?", "choice", choices=("a", "b"))
TEXT = Question("q", "?", "answer")


@pytest.mark.parametrize(
    ("question", "good", "bad"),
    [
        (RATING, [1, 7, 4.0], [0, 8, 1.5, "4", True, None, [], 10**400, float("nan")]),
        (SLIDER, [0, 100, 33.3], [-0.1, 100.1, "50", False, float("inf")]),
        (NUMBER, [0.001, 5, 1e15], [0, -1, 1e16, 10**400, "7", float("inf"), float("nan")]),
        (CHOICE, ["a", "b"], ["tie", "c", 1, None, ""]),
        (TEXT, ["nine", "x" * 2000], ["", "  ", "x" * 2001, "a\0b", "\ud800", 9]),
    ],
)
def test_values_are_checked(question: Question, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert check_values([question], {"q": value}) == {"q": value}
    for value in bad:
        with pytest.raises(AnswerError, match="q: "):
            check_values([question], {"q": value})


def test_all_reasons_are_given_at_once() -> None:
    with pytest.raises(AnswerError) as caught:
        check_values([RATING, Question("r", "?", "points", 1, 7)], {"q": 9, "x": 1})
    assert caught.value.reasons == [
        "unknown question 'x'", "q: 9 is not between 1 and 7", "no answer to r",
    ]  # fmt: skip


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_no_value_does_worse_than_being_refused(value: object) -> None:
    for question in (RATING, SLIDER, NUMBER, CHOICE, TEXT):
        try:
            check_values([question], {"q": value})
        except AnswerError as error:
            json.dumps(error.reasons).encode()


def test_forms_give_text() -> None:
    assert RATING.widget.from_text(" 4 ") == 4
    assert NUMBER.widget.from_text("2,5") == 2.5
    assert NUMBER.widget.from_text("0,125") == 0.125
    assert NUMBER.widget.from_text(" 1,000 ") == " 1,000 "  # 1 or 1000: refused
    assert RATING.widget.from_text("four") == "four"
    assert TEXT.widget.from_text("4") == "4"
    assert NUMBER.widget.from_text("inf") == float("inf")


def test_keyed_answers_forgive_case_space_and_full_stop() -> None:
    assert is_right_answer("  At  NINE. ", ["at nine"])
    assert not is_right_answer("at ten", ["at nine", "nine"])


def test_a_settings_file_replaces_the_wording(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        "rating",
        """
        title = "Weather"
        instructions = "Read."
        consent = true
        practice = true
        demographics = true
        layout = "page"
        [[questions]]
        name = "quality"
        text = "Good?"
        points = 5
        labels = {1 = "no", 5 = "yes"}
        [[checks]]
        text = "Answer 1."
        expected = {quality = 1}
        """,
    )
    questionnaire = settings.questionnaire
    assert (questionnaire.title, questionnaire.instructions, questionnaire.layout) == (
        "Weather",
        "Read.",
        "page",
    )
    assert questionnaire.consent == ENGLISH("consent.text")
    assert len(questionnaire.practice) == 2 and len(questionnaire.demographics) == 3
    assert questionnaire.questions == (
        Question("quality", "Good?", "points", 1, 5, {"1": "no", "5": "yes"}),
    )
    assert settings.checks[0].expected == {"quality": 1}


def test_options_go_before_the_file(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "rating", "points = 5", points=9, layout=None)
    assert settings.questionnaire.questions[0].high == 9


def test_tasks_have_keyed_answers(tmp_path: Path) -> None:
    toml = '[[tasks]]\nitem = 7\ntext = "When?"\nanswers = ["nine"]\nchoices = ["nine", "ten"]'
    (task,) = settings_of(tmp_path, "task", toml).tasks
    assert (task.item, task.answers, task.choices) == ("7", ("nine",), ("nine", "ten"))


@pytest.mark.parametrize(
    ("kind", "toml", "message"),
    [
        ("rating", "titel = 'x'", r"no setting 'titel'. Did you mean title"),
        ("rating", "title = 7", "title must be text"),
        ("rating", "points = true", "points must be a whole number"),
        ("rating", "points = ", "is not TOML"),
        ("rating", "points = 1", "a scale needs at least two"),
        ("rating", "layout = 'grid'", "No layout 'grid'"),
        ("rating", "questions = [1]", r"\[\[questions\]\] number 1: a table is needed"),
        ("rating", "[[questions]]\nname='q'\nlabels={9='x'}", "not on the scale of q"),
        ("rating", "[[checks]]\ntext='x'", "needs expected"),
        ("rating", "[[checks]]\ntext='x'\nexpected={nope=1}", "questions of this study"),
        ("pairwise", "[[practice]]\ntext='x'", "needs texts"),
        ("rating", "[[practice]]\ncontext='x'", "needs text"),
        ("rating", "[[demographics]]\ntext='x'", "needs a name"),
        ("rating", "[[demographics]]\nname='x'\n[[demographics]]\nname='x'", "the name 'x' twice"),
        ("rating", 'title = "a\\u0000"', "title has characters .NUL"),
        (
            "rating",
            '[[questions]]\nname="q"\nlabels={1="\\u0000"}',
            r"number 1: labels\.1 has characters",
        ),
        ("task", "[[tasks]]\nitem='1'", "needs item"),
        ("task", "[[tasks]]\nitem='1'\ntext='?'\nanswers=['a']\nchoices=['b']", "not among"),
    ],
)
def test_what_is_wrong_with_a_settings_file(
    tmp_path: Path, kind: str, toml: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        settings_of(tmp_path, kind, toml)


def test_a_missing_settings_file() -> None:
    with pytest.raises(InputError, match=r"Cannot read nowhere\.toml"):
        read_settings("nowhere.toml")


@pytest.mark.parametrize("kind", ["rating", "magnitude", "slider", "pairwise"])
def test_default_checks_can_be_passed(kind: str) -> None:
    settings = make_settings(kind, {}, n_checks=1)
    assert settings.checks
    for check in settings.checks:
        assert set(check.expected) == {
            question.name for question in settings.questionnaire.questions
        }

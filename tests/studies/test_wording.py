"""The texts of the pages: every language has all of them, and a study speaks one language."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.studies.served_study import answer_fields, client_of, new_store, submit
from wellput.core.errors import InputError
from wellput.studies.designs.error_categories import default_record, flat_categories
from wellput.studies.designs.registry import BUILT_IN, create, default_questionnaire, design_of
from wellput.studies.designs.spans import Mqm
from wellput.studies.language_files import problems_of, read_language
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.questions import AnswerError, Question, check_values
from wellput.studies.settings import make_settings, read_settings
from wellput.studies.study_setup import StudyItem
from wellput.studies.wording import (
    ENGLISH,
    codes,
    plural_category,
    shipped,
    shipped_record,
    wording,
)

OTHERS = [code for code in codes() if code != "en"]
UNITS = ("sentence", "text", "answer", "summary", "translation")
every_language = pytest.mark.parametrize("code", codes())
every_other_language = pytest.mark.parametrize("code", OTHERS)


def test_the_languages_that_wellput_brings() -> None:
    assert codes() == ["en", "ar", "de", "es", "fr", "zh"]
    assert [shipped(code).direction for code in codes()] == ["ltr", "rtl", *["ltr"] * 4]


@every_language
def test_every_language_has_every_text_with_the_same_placeholders(code: str) -> None:
    assert problems_of(shipped_record(code)) == []
    assert tuple(shipped(code).units) == UNITS


@every_other_language
def test_every_sentence_is_translated(code: str) -> None:
    """Short words may be the same in two languages, sentences are not."""
    texts, english = shipped(code).texts, ENGLISH.source.texts
    same = [key for key, text in texts.items() if text == english[key] and len(str(text)) > 20]
    assert same == []


@every_language
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("design", BUILT_IN)
def test_no_placeholder_is_left_in_what_judges_read(design: str, unit: str, code: str) -> None:
    record = {
        "language": code,
        "unit": unit,
        "consent": True,
        "practice": True,
        "demographics": True,
    }
    made = make_settings(design, record, n_checks=design != "task")
    read = json.dumps([made.questionnaire.to_json(), [check.texts for check in made.checks]])
    assert not re.search(r"\{\w+\}", read)
    assert made.questionnaire.language == code and made.questionnaire.unit == unit
    assert design_of(made.questionnaire).worded_instructions == made.questionnaire.instructions


# CLDR 45, plural rules for cardinal numbers.
@pytest.mark.parametrize(
    ("language", "numbers"),
    [
        ("en", {"one": [1], "other": [0, 2, 11, 21]}),
        ("de", {"one": [1], "other": [0, 2]}),
        ("fr", {"one": [0, 1], "other": [2, 17]}),
        ("es", {"one": [1], "other": [0, 2]}),
        ("zh", {"other": [0, 1, 2]}),
        ("zh-Hant", {"other": [1]}),
        (
            "ar",
            {
                "zero": [0], "one": [1], "two": [2], "few": [3, 10, 103, 110],
                "many": [11, 26, 99, 111], "other": [100, 102, 200],
            },
        ),
        ("ru", {"one": [1, 21, 101], "few": [2, 4, 22, 34], "many": [0, 5, 11, 12, 14, 19, 111]}),
        ("pl", {"one": [1], "few": [2, 4, 22], "many": [0, 5, 12, 14, 21, 25, 101]}),
        ("cs", {"one": [1], "few": [2, 4], "other": [0, 5, 22]}),
    ],
)  # fmt: skip
def test_plural_categories_are_those_of_cldr(language: str, numbers: dict[str, list[int]]) -> None:
    for category, examples in numbers.items():
        assert {plural_category(language, n) for n in examples} == {category}


def test_arabic_counts_letters_in_six_forms() -> None:
    arabic = wording("ar")
    said = {n: arabic("reasons.too_long", n=n) for n in (1, 2, 3, 11, 100)}
    assert "حرف واحد" in said[1] and "حرفين" in said[2]
    assert said[3].endswith("3 أحرف") and said[11].endswith("11 حرفًا")
    assert said[100].endswith("100 حرف")


def test_questions_name_the_kind_of_text() -> None:
    def asked(**settings: Any) -> str:
        return (
            make_settings("rating", settings, questions=["quality"]).questionnaire.questions[0].text
        )

    assert asked() == "How well-written is this sentence?"
    assert asked(unit="essay") == "How well-written is this essay?"
    assert asked(language="de") == "Wie gut ist dieser Satz geschrieben?"
    assert asked(language="de", unit="answer") == "Wie gut ist diese Antwort geschrieben?"
    assert asked(language="fr", unit="summary") == "Quelle est la qualité d’écriture de ce résumé ?"
    assert asked(language="zh", unit="translation") == "这份译文写得有多好？"
    essays = make_settings("pairwise", {"unit": "essay"}).questionnaire
    assert essays.instructions.startswith("You will see two versions of an essay at a time.")


def test_a_language_that_lacks_a_unit_says_which_it_has() -> None:
    with pytest.raises(InputError, match=r"in Deutsch texts can be called sentence, text, answer"):
        make_settings("rating", {"language": "de", "unit": "essay"})
    with pytest.raises(InputError, match=r"No language='dk'.*The languages are en, ar, de"):
        make_settings("rating", {"language": "dk"})


def test_the_owners_own_words_are_kept_in_any_language() -> None:
    settings: dict[str, Any] = {
        "language": "de",
        "title": "Wetter",
        "questions": [{"name": "quality", "text": "Gefällt Ihnen der Bericht?"}],
    }
    made = make_settings("rating", settings).questionnaire
    assert made.title == "Wetter"
    assert made.questions[0].text == "Gefällt Ihnen der Bericht?"
    assert made.questions[0].labels == {
        "1": "Furchtbar",
        "4": "Ziemlich schlecht",
        "7": "Äußerst gut",
    }


def test_a_design_of_another_package_keeps_its_words() -> None:
    class Smile(type(create("rating"))):  # type: ignore[misc]
        name = "smile"
        title = "Does it make you smile?"
        instructions = "Read it."

    made = Smile(words=wording("de"))
    assert (made.worded_title, made.worded_instructions) == ("Does it make you smile?", "Read it.")


def test_a_study_keeps_its_language_in_json() -> None:
    made = make_settings("rating", {"language": "ar", "unit": "answer"}).questionnaire
    record = json.loads(json.dumps(made.to_json()))
    assert (record["language"], record["unit"]) == ("ar", "answer")
    assert Questionnaire.from_json(record) == made
    plain = default_questionnaire("rating").to_json()
    assert not {"language", "unit", "texts"} & set(plain)


OWN_FILE = """
[language]
code = "{code}"
name = "Plattdüütsch"
direction = "ltr"

[pages]
next = "Wieder"
"""


def test_a_file_of_ones_own_changes_some_texts_of_a_language(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN_FILE.format(code="de"), encoding="utf-8")
    made = make_settings("rating", {"language": str(path)}).questionnaire
    path.unlink()  # a study is complete without the file
    again = Questionnaire.from_json(json.loads(json.dumps(made.to_json())))
    assert again.words("pages.next") == "Wieder"
    assert again.words("pages.practice") == "Übung"


def test_a_file_of_another_language_must_be_complete(tmp_path: Path) -> None:
    path = tmp_path / "nds.toml"
    path.write_text(OWN_FILE.format(code="nds"), encoding="utf-8")
    with pytest.raises(InputError, match="needs the forms of at least one unit"):
        read_language(str(path))
    record = shipped_record("de")
    record["language"]["code"] = "nds"
    assert problems_of(record) == []
    del record["pages"]["next"]
    record["pages"]["weiter"] = "Wieder"
    record["pages"]["progress"] = "{done} vun {all}"
    record["reasons"]["too_long"] = {"one": "een"}
    record["practice"]["texts"] = ["En Satz."]
    record["keys"]["points"] = "{low"
    record["units"]["text"] = {"this": "düsse Text"}
    found = "\n".join(problems_of(record))
    assert "pages.next is missing" in found
    assert "no text pages.weiter" in found
    assert "pages.progress: must have {total}" in found
    assert "pages.progress: cannot have {all}" in found
    assert "reasons.too_long: needs its plural forms, at least other" in found
    assert "practice.texts: must be a list of 2 texts" in found
    assert "keys.points: the braces are wrong" in found
    assert "units.text has the forms this" in found


def test_the_settings_file_has_the_language(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text('language = "es"\nunit = "summary"\n', encoding="utf-8")
    made = make_settings("rating", read_settings(path), questions=["fluency"]).questionnaire
    assert made.questions[0].text == "¿Qué fluidez tiene este resumen?"


@every_other_language
def test_a_judge_reads_nothing_in_english(tmp_path: Path, code: str) -> None:
    items = [StudyItem("ITEM-ONE", {"SYSTEM-ALPHA": "№ 1", "SYSTEM-BETA": "№ 2"}, context="№ 0")]
    settings = {"language": code, "consent": True, "demographics": True, "practice": True}
    made = make_settings("pairwise", {**settings, "ties": True}).questionnaire
    store = new_store(tmp_path, made, items=items)
    (invitation, _) = store.invite(2)
    client = client_of(store)
    home = f"/judge/{invitation.token}"
    pages = [client.get("/").text, client.get("/judge/unknown").text]
    for values in ({"agree": "yes"}, {}):
        pages.append(client.get(home).text)
        submit(client, pages[-1], values)
    while 'id="answer"' in (page := client.get(home).text):
        pages += [page, submit(client, page, {}).text]
        submit(client, page, answer_fields(page))
    pages.append(page)
    assert len(pages) == 9
    assert all(f'<html lang="{code}" dir="{shipped(code).direction}">' in page for page in pages)
    for page in pages:
        shown = re.sub(r"<head>.*?</head>|<[^>]*>", " ", page, flags=re.DOTALL)
        labels = " ".join(re.findall(r'(?:aria-label|data-lost)="([^"]*)"', page))
        assert not re.search(r"\b(the|is|and|of|to|answer|please|you)\b", shown + labels, re.I), (
            page
        )


@every_other_language
def test_every_reason_is_said_in_the_language(code: str) -> None:
    words = wording(code)
    questions = (
        Question("points", "?", "points", 1, 7),
        Question("slider", "?", "slider", 0, 100),
        Question("number", "?", "number", 0),
        Question("choice", "?", "choice", choices=("a", "b")),
        Question("free", "?", "answer"),
    )
    names = [question.name for question in questions]
    wrong: list[list[object]] = [
        [9, 101, -1, "c", ""], [2.5, "x", 1e16, 3, "x" * 2001], ["x", 1, 10**400, "d", "\0"],
    ]  # fmt: skip
    said: list[str] = []
    for values in [{}, *(dict(zip(names, row, strict=True)) for row in wrong)]:
        with pytest.raises(AnswerError) as refused:
            check_values(questions, values, "text 2: ")
        said += refused.value.reasons
    assert len(said) >= 15
    for reason in said:
        again = words.translated(reason)
        assert again != reason
        assert not re.search(r"\b(needed|is|answer|above)\b", again), again
    assert words.translated("Something else.") == "Something else."


@every_language
def test_the_kinds_of_errors_have_names_in_every_language(code: str) -> None:
    """The names that judges read are those of the usual categories, and English keeps their words."""
    usual = flat_categories(default_record()["categories"])
    own = replace(create("mqm"), words=wording(code))
    assert isinstance(own, Mqm)
    question = own.question("errors")
    assert question.choices == tuple(path for path, _ in usual)  # the export's names stay
    for path, about in usual:
        assert (question.labels[path] == about) == (code == "en")
        assert own.shown_names[path] and own.shown_names[path.partition("/")[0]]
    assert len({own.shown_names[path] for path, _ in usual}) == len(usual)
    names = {path.rpartition("/")[2] for path, _ in usual}
    groups = {path.partition("/")[0] for path, _ in usual}
    texts = wording(code).source.texts
    assert {key.removeprefix("kinds.") for key in texts if key.startswith("kinds.")} == (
        names | groups
    )


def test_categories_of_ones_own_are_shown_as_they_are() -> None:
    made = create("mqm", categories={"style": {"awkward": "Own words."}, "odd": ""})
    own = replace(made, words=wording("de"))
    assert own.question("errors").labels == {"style/awkward": "Own words.", "odd": ""}

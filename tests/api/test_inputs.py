"""The forms of evalsets and judgments: files, objects, data frames, records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import wellput
from wellput.api.inputs import read_answers
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference

Table = dict[str, list[Any]]


def records(columns: Table) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


FRAMES: dict[str, Callable[[Table], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with NA": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "columns": dict,
    "records": records,
    "records one by one": lambda columns: iter(records(columns)),
    "records of NumPy's numbers": lambda columns: (
        pd.DataFrame(columns).apply(dict, axis=1).tolist()
    ),
}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)

RATINGS: Table = {
    "value": [5, 2],
    "note": ["late", None],
    "system": ["A", "B"],
    "item": [7, 8],
    "judge": [1, 2],
    "question": ["q", "q"],
}
CHOICES: Table = {
    "choice": ["a", "tie"],
    "system_b": ["B", "A"],
    "system_a": ["A", "B"],
    "item": [7, 8],
    "judge": ["Kim", "Lee"],
    "question": ["q", "q"],
}


@every_frame
def test_ratings_from_a_frame(frame: Callable[[Table], Any]) -> None:
    assert read_answers(frame(RATINGS)) == [
        Judgment("1", "7", "A", "q", 5.0, {"note": "late"}),
        Judgment("2", "8", "B", "q", 2.0, {"note": ""}),
    ]


@every_frame
def test_pairwise_choices_from_a_frame(frame: Callable[[Table], Any]) -> None:
    assert read_answers(frame(CHOICES)) == [
        Preference("Kim", "7", "A", "B", "q", "a"),
        Preference("Lee", "8", "B", "A", "q", "tie"),
    ]


@pytest.mark.parametrize(
    "value", ["5", "5.0", " 5", "yes", "true", "True", "", "nan", "inf", "1e3"]
)
def test_a_value_counts_as_in_a_file(tmp_path: Path, value: str) -> None:
    columns = {"judge": ["j"], "item": ["7"], "system": ["A"], "question": ["q"], "value": [value]}
    path = tmp_path / "j.csv"
    pd.DataFrame(columns).to_csv(path, index=False)

    def said(judgments: Any) -> object:
        try:
            return read_answers(judgments)
        except InputError as error:
            return str(error).partition(": ")[2]

    assert said(pd.DataFrame(columns)) == said(path) == said(records(columns))


@every_frame
def test_missing_columns_are_named_with_those_that_are_there(
    frame: Callable[[Table], Any],
) -> None:
    with pytest.raises(InputError) as caught:
        read_answers(frame({"rater": ["j"], "item": [7], "system": ["A"], "value": [5]}))
    assert str(caught.value).partition(" has ")[2] == (
        "no columns judge, question. It needs judge, item, system, question, value, in any order; it "
        "has rater, item, system, value. Name those to read, perhaps: column=['judge=rater', "
        "'value=value']"
    )


def test_all_bad_rows_of_a_frame_are_named() -> None:
    wrong = {
        "judge": ["j", None, "j", "j"],
        "item": [1.0, 2.0, np.nan, 4.0],
        "value": [5.0, 5.0, 5.0, np.nan],
    }
    with pytest.raises(InputError) as caught:
        read_answers(pd.DataFrame({**wrong, "system": "A", "question": "q"}))
    assert str(caught.value).splitlines() == [
        "The data frame has 4 problems:",
        "  row 1: the item 1.0 is neither a text nor a whole number",
        "  row 2: no judge and the item 2.0 is neither a text nor a whole number",
        "  row 3: no item",
        "  row 4: the item 4.0 is neither a text nor a whole number",
    ]
    with pytest.raises(InputError, match="row 2: no value"):
        read_answers(pd.DataFrame({**RATINGS, "value": [5.0, np.nan]}))


def test_a_record_without_a_column_that_others_have() -> None:
    first, second = records(RATINGS)
    del second["system"], second["note"]
    with pytest.raises(InputError, match="row 2: no system"):
        read_answers([first, second])
    second["system"] = "B"
    assert read_answers([first, second])[1].extra == {"note": ""}


def test_further_columns_may_hold_anything() -> None:
    frame = pd.DataFrame({**RATINGS, "spans": [np.array([1, 2]), [3]]})
    assert [answer.extra["spans"] for answer in read_answers(frame)] == ["[1 2]", "[3]"]


def test_frames_that_cannot_be_used() -> None:
    frame = pd.DataFrame(RATINGS)
    with pytest.raises(InputError, match="have the same name: item"):
        read_answers(pd.concat([frame, frame[["item"]]], axis=1))
    with pytest.raises(InputError, match="The data frame holds no judgments"):
        read_answers(frame[:0])
    with pytest.raises(InputError, match=r"frame.collect\(\)"):
        read_answers(pl.LazyFrame(RATINGS))


EVALSET = wellput.EvalSet.of({"A": ["a cat sat", "it rains"], "B": ["sat", "rain"]}, ["a", "b"])


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        (5, "not an int."),
        (EVALSET, "not an EvalSet."),
        (None, "not a NoneType."),
        (["judgments.csv"], "not a list with a str."),
    ],
)
def test_what_is_not_a_judgment_is_refused(given: Any, ending: str) -> None:
    with pytest.raises(InputError) as caught:
        read_answers(given)
    assert str(caught.value).startswith(
        "judgments: give a list of Judgment or of Preference, a data"
    )
    assert str(caught.value).endswith(ending)


def test_kinds_of_judgments_cannot_be_mixed() -> None:
    rating = Judgment("j", "1", "A", "q", 1)
    choice = Preference("j", "1", "A", "B", "q", "a")
    mixtures: list[list[Any]] = [[rating, choice], [rating, *records(RATINGS)]]
    for mixed in mixtures:
        with pytest.raises(InputError, match="cannot be mixed"):
            read_answers(mixed)


@pytest.mark.parametrize(("given", "kind"), [(pd.DataFrame(RATINGS), "DataFrame"), (5, "int")])
def test_an_evalset_of_a_wrong_type_is_refused(given: Any, kind: str) -> None:
    message = "evalset: give an EvalSet (EvalSet.from_frame makes one) or a path, not "
    verbs: list[Callable[[], object]] = [
        lambda: wellput.score(given, "bleu"),
        lambda: wellput.agree(given, pd.DataFrame(RATINGS), "bleu"),
        lambda: wellput.fit(given, pd.DataFrame(RATINGS), question="q", predictors="ssa"),
        lambda: wellput.open_evalset(given),
    ]
    for verb in verbs:
        with pytest.raises(InputError) as caught:
            verb()
        assert str(caught.value) == f"{message}{kind}."


def test_a_frame_of_judgments_equals_its_file(tmp_path: Path) -> None:
    example = wellput.demo(no_report=True)
    path = tmp_path / "judgments.csv"
    wellput.write_judgments(example.judgments, path)
    evalset = example.evalset
    from_file = wellput.agree(evalset, path, "length").to_dict()
    assert wellput.agree(evalset, pd.read_csv(path), "length").to_dict() == from_file
    assert wellput.agree(evalset, pl.read_csv(path), "length").to_dict() == from_file
    question = example.judgments[0].question
    fits = [
        wellput.fit(evalset, judgments, question=question, predictors="ssa,length").regression
        for judgments in (pd.read_csv(path), example.judgments)
    ]
    assert fits[0].r_squared == fits[1].r_squared

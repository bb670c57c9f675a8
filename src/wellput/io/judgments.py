"""Reads judgments of people from files, data frames and lists of records, and writes them. Ratings
have the columns `judge,item,system,question,value`, pairwise choices
`judge,item,system_a,system_b,question,choice`. Columns may come in any order; other columns are kept.
For a table with other names of columns, `JudgmentColumns` says which column has which field. Ratings
are numbers, a yes/no pair or labels (`core.judgment`); the column `sample`, if any, has the number of
the judged sample.

Readers of other tools' files (`label_studio`, `potato`) share `split_trial`. These tools do not know
systems, so the name of a trial has the form `ITEM::SYSTEM`, or `ITEM::A::B` for a pair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from numbers import Real
from reprlib import repr as shortened
from typing import Any, TypeAlias

import numpy as np

from wellput.core.errors import InputError, Problems
from wellput.core.frames import Frame, frame_rows, is_name, none_if_missing
from wellput.core.judgment import (
    PAIRWISE_CHOICES,
    SAMPLE_COLUMN,
    Judgment,
    Preference,
    number_in,
    values_by_question,
)
from wellput.core.options import size_problem
from wellput.io.evalset_columns import Columns
from wellput.io.files import (
    SHARD_SUFFIXES,
    STANDARD_INPUT,
    InputFile,
    PathLike,
    check_readable,
)
from wellput.io.judgment_columns import (
    NAME_COLUMNS_ADVICE,
    PAIRWISE_COLUMNS,
    RATING_COLUMNS,
    VALUE_COLUMN,
    JudgmentColumns,
    naming_advice,
)
from wellput.io.locations import files_in, is_folder, is_pattern, without_query
from wellput.io.pairwise_choices import ChoiceMeaning, FileChoices
from wellput.io.readers import read_known_judgments
from wellput.io.tables import missing_columns, read_records, writing_table

TRIAL_SEPARATOR = "::"
TRIAL_NAME_ADVICE = (
    f'Name each trial ITEM{TRIAL_SEPARATOR}SYSTEM, such as "7{TRIAL_SEPARATOR}bart", or for pairs '
    f"ITEM{TRIAL_SEPARATOR}A{TRIAL_SEPARATOR}B."
)


def split_trial(name: str) -> tuple[str, tuple[str, ...]] | None:
    """The item and the one or two systems in the name of a trial; None if it is not a trial name.

    >>> split_trial("news::7::bart")
    ('news', ('7', 'bart'))
    >>> split_trial("7::bart")
    ('7', ('bart',))
    """
    item, *systems = name.split(TRIAL_SEPARATOR)
    if not item or not all(systems) or len(systems) not in (1, 2):
        return None
    return item, tuple(systems)


def ratings_or_choices(
    ratings: list[Judgment], choices: list[Preference], name: str
) -> list[Judgment] | list[Preference]:
    """The ratings or the choices of a file, whichever list is not empty; raises InputError if both or
    neither have entries."""
    if ratings and choices:
        raise InputError(f"{name} has ratings and pairwise choices; put them into separate files.")
    if not ratings and not choices:
        raise InputError(f"{name} holds no ratings and no pairwise choices.")
    return ratings or choices


PAIRWISE_ADVICE = f"Pairwise choices have {', '.join(PAIRWISE_COLUMNS)}."
BESIDE_JUDGMENTS = re.compile(
    r"\.((unanswered|payments)\.\w+|answers\.jsonl|(judge|design)\.json)(\.[gx]z)?$"
)
"""The names of other files that `wellput judge` and `wellput study export` write beside judgments."""
SQLITE_MAGIC = b"SQLite format 3\0"

PlacedRecord: TypeAlias = tuple[str, dict[str, Any]]
"""The place of a row ("line 7"), and its values by column."""


def read_judgments(path: PathLike, *, column: Columns = ()) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of a file, by its header.

    CSV, TSV, JSONL or Parquet by suffix; `-` is CSV on standard input. Also recognized: MQM ratings
    (TSV), a folder or a score file of mt-metrics-eval, evalica's comparisons (CSV), annotations of
    Label Studio (JSON) and Potato, and formats that other packages read (`io.readers`).

    A folder or a pattern (`judgments/*.csv`) means all its files, such as those of people and of a
    machine; all must have ratings, or all choices. A judge's name means the same person in all of
    them; `file` of a judgment is the name of its file.

    `column` names the columns of another layout: `["judge=user", "item=prompt_id", "value=thumb"]`.
    """
    column_names = JudgmentColumns.of(column)
    if (known := read_known_judgments(str(path))) is not None:
        if column_names:
            raise InputError(f"column= names columns of a table, and {path} is not one.")
        return known
    if str(path) != STANDARD_INPUT and (is_pattern(str(path)) or is_folder(str(path))):
        return _of_files(str(path), column)
    file = InputFile(path)
    check_readable(file)
    _refuse_database(file)
    problems = Problems(file.name)
    is_pairwise = _is_pairwise(file) or column_names.has_choices
    required = PAIRWISE_COLUMNS if is_pairwise else RATING_COLUMNS
    unit = "row" if file.suffix == ".parquet" else "line"
    rows = read_records(
        file,
        problems,
        column_names.columns_of(required),
        advice=lambda header: _advice(header, is_pairwise=is_pairwise, is_named=bool(column_names)),
        formulas_marked=True,
        is_number=frozenset(column_names.columns_of([VALUE_COLUMN])).__contains__,
    )
    if column_names:
        rows = ((number, named) for number, row in rows for named in column_names.records(row))
    records = _checked(rows, required, problems, unit=unit)
    if is_pairwise:
        return _preferences(records, problems, is_own_column=not column_names.renames_choice)
    return _judgments(records, problems)


def _of_files(path: str, column: Columns) -> list[Judgment] | list[Preference]:
    """The judgments of all files of a folder or a pattern, except files such as `.unanswered.csv` that
    `wellput judge` writes beside judgments."""
    ratings: list[Judgment] = []
    choices: list[Preference] = []
    are_labels: dict[str, bool] = {}
    for name in files_in(path, SHARD_SUFFIXES, what="file of judgments"):
        file = without_query(name)
        if BESIDE_JUDGMENTS.search(file):
            continue
        for answer in read_judgments(name, column=column):
            if isinstance(answer, Preference):
                choices.append(replace(answer, file=file))
                continue
            is_label = isinstance(answer.value, str)
            if are_labels.setdefault(answer.question, is_label) != is_label:
                raise InputError(
                    f"{name}: the answers to {answer.question} are of another kind (labels, numbers or "
                    f"yes and no) than in the files of {path} before it."
                )
            ratings.append(replace(answer, file=file))
    return ratings_or_choices(ratings, choices, path)


def judgments_of_frame(frame: Frame, *, column: Columns = ()) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of a data frame with the columns of a file."""
    return _of_rows("The data frame", *frame_rows(frame), JudgmentColumns.of(column))


def judgments_of_records(
    records: Sequence[Mapping[str, Any]], *, column: Columns = ()
) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of a list of mappings from columns to values."""
    header = list(dict.fromkeys(str(name) for record in records for name in record))
    rows = [{name: none_if_missing(record.get(name)) for name in header} for record in records]
    return _of_rows("The list of judgments", header, rows, JudgmentColumns.of(column))


def write_judgments(answers: Sequence[Judgment] | Sequence[Preference], path: PathLike) -> None:
    """Writes ratings or pairwise choices, with the extra columns after the fixed ones.

    In CSV and TSV, an apostrophe is put before texts that a spreadsheet would execute as formulas
    (`io.tables`). `read_judgments` removes the apostrophe.
    """
    extra = list(dict.fromkeys(name for answer in answers for name in answer.extra))
    fixed = PAIRWISE_COLUMNS if answers and isinstance(answers[0], Preference) else RATING_COLUMNS
    has_labels = any(isinstance(getattr(answer, "value", None), str) for answer in answers)
    numbers = [] if has_labels else ["value"]
    with writing_table(path, [*fixed, *extra], numbers=numbers, mark_formulas=True) as sink:
        sink.write(
            [
                str(getattr(answer, name))
                if name == "value" and has_labels
                else getattr(answer, name)
                for name in fixed
            ]
            + [answer.extra.get(name, "") for name in extra]
            for answer in answers
        )


def _of_rows(
    name: str, header: Sequence[str], rows: Iterable[dict[str, Any]], column_names: JudgmentColumns
) -> list[Judgment] | list[Preference]:
    """The judgments in rows with this header; `name` stands for the data in messages."""
    is_pairwise = {"system_a", "choice"} <= set(header) or column_names.has_choices
    required = PAIRWISE_COLUMNS if is_pairwise else RATING_COLUMNS
    needed = column_names.columns_of(required)
    if missing := [column for column in needed if column not in header]:
        advice = _advice(header, is_pairwise=is_pairwise, is_named=bool(column_names))
        raise InputError(missing_columns(name, missing, needed, header, advice))
    problems = Problems(name)
    numbered = enumerate(rows, start=1)
    named = (
        ((n, record) for n, row in numbered for record in column_names.records(row))
        if column_names
        else numbered
    )
    checked = _checked(named, required, problems, unit="row")
    if is_pairwise:
        return _preferences(checked, problems, is_own_column=not column_names.renames_choice)
    return _judgments(checked, problems)


def _advice(header: Sequence[str], *, is_pairwise: bool, is_named: bool) -> str:
    """Advice for a table with missing columns. `is_named`: the user said which columns to read."""
    if is_named:
        return ""
    guessed = naming_advice(header)
    return guessed or (
        NAME_COLUMNS_ADVICE if is_pairwise else f"{PAIRWISE_ADVICE} {NAME_COLUMNS_ADVICE}"
    )


def _is_pairwise(file: InputFile) -> bool:
    """Whether the header, or the first JSON object, has the columns of pairwise choices."""
    if file.suffix == ".parquet":
        records = read_records(file, Problems(file.name), ())
        return "choice" in next(records, (0, {}))[1]
    first = next((line for line in file.lines() if line.strip()), "")
    return "system_a" in first and "choice" in first


def _refuse_database(file: InputFile) -> None:
    """Raises InputError for a study, an SQLite file, whose judgments must be exported first."""
    if next(islice(file.chunks(), 1), b"").startswith(SQLITE_MAGIC):
        raise InputError(
            f"{file.name} is a study, not a file of judgments. `wellput study export {file.name} -o "
            "judgments.csv` writes its judgments; in Python, "
            f"wellput.Study.open({file.name!r}).judgments() gives them."
        )


def _judgments(records: Iterable[PlacedRecord], problems: Problems) -> list[Judgment]:
    """The ratings in checked records; raises InputError if values are wrong."""
    names_of_rows: list[tuple[str, str, str, str]] = []
    row_values: list[Any] = []
    extras: list[dict[str, str]] = []
    for where, record in records:
        extra = _extra(record, RATING_COLUMNS)
        wrong = _wrong_value(record["value"]) or _wrong_sample(extra.get(SAMPLE_COLUMN, ""))
        if wrong:
            problems.add(where, wrong)
        else:
            judge, item, system, question = (str(record[name]) for name in RATING_COLUMNS[:-1])
            names_of_rows.append((judge, item, system, question))
            row_values.append(record["value"])
            extras.append(extra)
    _check_all(names_of_rows, problems)
    values = values_by_question([names[-1] for names in names_of_rows], row_values)
    return [
        Judgment(*names, value, extra)
        for names, value, extra in zip(names_of_rows, values, extras, strict=True)
    ]


def _wrong_value(value: object) -> str:
    """What is wrong with a value; empty for a finite number, true, false, and any text that is not
    empty and not a number."""
    number = number_in(value)
    if number is not None:
        return size_problem(number, "value")
    if value is None or (isinstance(value, str) and not value.strip()):
        return "no value; remove the row of an answer that was not given"
    if not isinstance(value, bool | np.bool_ | str | Real):
        return f"the value {shortened(value)} is neither a number nor a text"
    if _says_number(value):
        return f"the value {value!r:.60} is not a finite number"
    return ""


def _says_number(value: object) -> bool:
    """Whether the value is a number or the text of a number, infinity and NaN included."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, str) and "_" in value):
        return False
    try:
        float(value)  # type: ignore[arg-type]
    except ValueError:
        return False
    except OverflowError:  # a whole number of hundreds of digits
        return True
    return True


def _wrong_sample(sample: str) -> str:
    is_number = not sample or (sample.isascii() and sample.isdecimal())
    return "" if is_number else f"the sample {sample!r} is not a whole number from 0 on"


def _preferences(
    records: Iterable[PlacedRecord], problems: Problems, *, is_own_column: bool
) -> list[Preference]:
    """The pairwise choices in checked records; raises InputError if choices are wrong. `is_own_column`:
    the column of the choices is called `choice`."""
    preferences: list[Preference] = []
    doubtful: list[tuple[int, str, ChoiceMeaning]] = []
    file_choices = FileChoices(is_own_column=is_own_column)
    for where, record in records:
        judge, item, a, b, question = (str(record[name]) for name in PAIRWISE_COLUMNS[:-1])
        meaning = ChoiceMeaning.of(record["choice"], a, b)
        if a == b:
            problems.add(where, f"{a} is compared with itself")
        elif meaning.choice is None:
            problems.add(
                where,
                f"the choice {shortened(record['choice'])} is not {', '.join(PAIRWISE_CHOICES)} or "
                "the name of one of the two systems",
            )
        else:
            # `a` may be the first system, or the system that is called a: the other rows decide.
            if meaning.is_doubtful:
                doubtful.append((len(preferences), where, meaning))
            file_choices.add(meaning)
            extra = _extra(record, PAIRWISE_COLUMNS)
            preferences.append(Preference(judge, item, a, b, question, meaning.choice, extra))
    for place, where, meaning in doubtful:
        if (choice := file_choices.decided(meaning)) is None:
            problems.add(where, meaning.advice)
        else:
            preferences[place] = replace(preferences[place], choice=choice)
    _check_all(preferences, problems)
    return preferences


def _checked(
    rows: Iterable[tuple[int, dict[str, Any]]],
    required: Sequence[str],
    problems: Problems,
    *,
    unit: str,
) -> Iterator[PlacedRecord]:
    """The rows in which all names (judge, item, system, question) are texts or whole numbers; other
    rows are added to `problems`."""
    for number, record in rows:
        missing = [name for name in required[:-1] if record[name] in (None, "")]
        wrong = [f"no {name}" for name in missing] + [
            f"the {name} {shortened(record[name])} is neither a text nor a whole number"
            for name in required[:-1]
            if name not in missing and not is_name(record[name])
        ]
        if wrong:
            problems.add(f"{unit} {number}", " and ".join(wrong))
        else:
            yield f"{unit} {number}", record


def _extra(record: dict[str, Any], fixed: Iterable[str]) -> dict[str, str]:
    return {name: _as_text(value) for name, value in record.items() if name not in fixed}


def _as_text(value: object) -> str:
    """The value of an extra column as text; lists and objects, such as error spans in JSONL, as
    JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _check_all(judgments: Sequence[object], problems: Problems) -> None:
    """Raises InputError if there were problems, or if there are no judgments."""
    problems.raise_if_any()
    if not judgments:
        raise InputError(f"{problems.name} holds no judgments.")

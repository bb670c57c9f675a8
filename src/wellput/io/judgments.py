"""Judgments of people in files, data frames and lists of records: ratings with the columns
`judge,item,system,question,value`, pairwise choices with
`judge,item,system_a,system_b,question,choice`. Columns may come in any order; other columns are kept.
`JudgmentColumns` names those of another layout.
Ratings are numbers, a yes/no pair or labels (`core.judgment`); `sample` has the number of a sample.

Readers of other tools' files (`label_studio`, `potato`) share `split_trial`, `CHOICE_OF_WORD` and
`one_kind`: these tools have no systems, so a trial is named `ITEM::SYSTEM`, or `ITEM::A::B` for a pair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from numbers import Real
from reprlib import repr as shortened
from typing import Any, TypeAlias

import numpy as np

from wellput.core.errors import InputError, Problems
from wellput.core.frames import Frame, frame_rows, is_name, present
from wellput.core.judgment import (
    PAIRWISE_CHOICES,
    SAMPLE_COLUMN,
    Judgment,
    PairwiseChoice,
    Preference,
    number_in,
    values_by_question,
)
from wellput.core.options import wrong_size
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
from wellput.io.readers import read_known_judgments
from wellput.io.tables import missing_columns, read_records, writing_table

TRIAL_SEPARATOR = "::"
TRIAL_NAME_ADVICE = (
    f'Name each trial ITEM{TRIAL_SEPARATOR}SYSTEM, such as "7{TRIAL_SEPARATOR}bart", or for pairs '
    f"ITEM{TRIAL_SEPARATOR}A{TRIAL_SEPARATOR}B."
)
CHOICE_OF_SIDE: dict[str, PairwiseChoice] = {"left": "a", "right": "b"}
CHOICE_OF_WORD: dict[str, PairwiseChoice] = {**CHOICE_OF_SIDE, "a": "a", "b": "b", "tie": "tie"}
CHOICE_OF_COLUMN_WORD: dict[str, PairwiseChoice] = {
    **CHOICE_OF_WORD,
    "system_a": "a",
    "system_b": "b",
    "model_a": "a",
    "model_b": "b",
    "tie (bothbad)": "tie",
}
"""Also the names of the columns, as in comparisons of Chatbot Arena."""


def split_trial(name: str) -> tuple[str, tuple[str, ...]] | None:
    """The item and one or two systems; None if it is not a trial name.

    >>> split_trial("news::7::bart")
    ('news', ('7', 'bart'))
    >>> split_trial("7::bart")
    ('7', ('bart',))
    """
    item, *systems = name.split(TRIAL_SEPARATOR)
    if not item or not all(systems) or len(systems) not in (1, 2):
        return None
    return item, tuple(systems)


def one_kind(
    ratings: list[Judgment], choices: list[Preference], name: str
) -> list[Judgment] | list[Preference]:
    """The ratings or the choices of a file, whichever there are; raises InputError for both or none."""
    if ratings and choices:
        raise InputError(f"{name} has ratings and pairwise choices; put them into separate files.")
    if not ratings and not choices:
        raise InputError(f"{name} holds no ratings and no pairwise choices.")
    return ratings or choices


PAIRWISE_ADVICE = f"Pairwise choices have {', '.join(PAIRWISE_COLUMNS)}."
BESIDE_JUDGMENTS = re.compile(
    r"\.((unanswered|payments)\.\w+|answers\.jsonl|(judge|design)\.json)(\.[gx]z)?$"
)
"""The files that `wellput judge` and `study export` write beside judgments."""
SQLITE_MAGIC = b"SQLite format 3\0"

PlacedRecord: TypeAlias = tuple[str, dict[str, Any]]
"""The place of a row ("line 7"), and its values by column."""


def read_judgments(path: PathLike, *, column: Columns = ()) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of a file, by its header.

    CSV, TSV, JSONL or Parquet by suffix; `-` is CSV on standard input. Also recognized: MQM ratings
    (TSV), a folder or a score file of mt-metrics-eval, evalica's comparisons (CSV), annotations of
    Label Studio (JSON) and Potato, and formats that other packages read (`io.readers`).

    A folder or a pattern (`judgments/*.csv`) means all its files, such as those of people and of a
    machine; all must have ratings, or all choices.

    `column` names the columns of another layout: `["judge=user", "item=prompt_id", "value=thumb"]`.
    """
    own = JudgmentColumns.of(column)
    if (known := read_known_judgments(str(path))) is not None:
        if own:
            raise InputError(f"column= names columns of a table, and {path} is not one.")
        return known
    if str(path) != STANDARD_INPUT and (is_pattern(str(path)) or is_folder(str(path))):
        return _of_files(str(path), column)
    file = InputFile(path)
    check_readable(file)
    _refuse_database(file)
    problems = Problems(file.name)
    is_pairwise = _is_pairwise(file) or own.has_choices
    required = PAIRWISE_COLUMNS if is_pairwise else RATING_COLUMNS
    unit = "row" if file.suffix == ".parquet" else "line"
    rows = read_records(
        file,
        problems,
        own.columns_of(required),
        advice=lambda header: _advice(header, is_pairwise=is_pairwise, is_named=bool(own)),
        formulas_marked=True,
        is_number=frozenset(own.columns_of([VALUE_COLUMN])).__contains__,
    )
    named = ((number, row) for number, found in rows for row in own.records(found)) if own else rows
    records = _checked(named, required, problems, unit=unit)
    return _preferences(records, problems) if is_pairwise else _judgments(records, problems)


def _of_files(path: str, column: Columns) -> list[Judgment] | list[Preference]:
    """The judgments of all files of a folder or a pattern, without what `judge` writes beside them."""
    ratings: list[Judgment] = []
    choices: list[Preference] = []
    labeled: dict[str, bool] = {}
    for name in files_in(path, SHARD_SUFFIXES, what="file of judgments"):
        if BESIDE_JUDGMENTS.search(without_query(name)):
            continue
        for answer in read_judgments(name, column=column):
            if isinstance(answer, Preference):
                choices.append(answer)
                continue
            is_label = isinstance(answer.value, str)
            if labeled.setdefault(answer.question, is_label) != is_label:
                raise InputError(
                    f"{name}: the answers to {answer.question} are of another kind (labels, numbers or "
                    f"yes and no) than in the files of {path} before it."
                )
            ratings.append(answer)
    return one_kind(ratings, choices, path)


def judgments_of_frame(frame: Frame, *, column: Columns = ()) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of a data frame with the columns of a file."""
    return _of_rows("The data frame", *frame_rows(frame), JudgmentColumns.of(column))


def judgments_of_records(
    records: Sequence[Mapping[str, Any]], *, column: Columns = ()
) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of a list of mappings from columns to values."""
    header = list(dict.fromkeys(str(name) for record in records for name in record))
    rows = [{name: present(record.get(name)) for name in header} for record in records]
    return _of_rows("The list of judgments", header, rows, JudgmentColumns.of(column))


def write_judgments(answers: Sequence[Judgment] | Sequence[Preference], path: PathLike) -> None:
    """Writes ratings or pairwise choices, with the extra columns after the fixed ones.

    In CSV and TSV, texts that a spreadsheet would run are marked (`io.tables`). `read_judgments`
    takes the mark away.
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
    name: str, header: Sequence[str], rows: Iterable[dict[str, Any]], own: JudgmentColumns
) -> list[Judgment] | list[Preference]:
    is_pairwise = {"system_a", "choice"} <= set(header) or own.has_choices
    required = PAIRWISE_COLUMNS if is_pairwise else RATING_COLUMNS
    needed = own.columns_of(required)
    if missing := [column for column in needed if column not in header]:
        advice = _advice(header, is_pairwise=is_pairwise, is_named=bool(own))
        raise InputError(missing_columns(name, missing, needed, header, advice))
    problems = Problems(name)
    numbered = enumerate(rows, start=1)
    named = ((n, one) for n, row in numbered for one in own.records(row)) if own else numbered
    checked = _checked(named, required, problems, unit="row")
    return _preferences(checked, problems) if is_pairwise else _judgments(checked, problems)


def _advice(header: Sequence[str], *, is_pairwise: bool, is_named: bool) -> str:
    """What to do about missing columns."""
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
    found: list[tuple[str, str, str, str]] = []
    given: list[Any] = []
    extras: list[dict[str, str]] = []
    for where, record in records:
        extra = _extra(record, RATING_COLUMNS)
        wrong = _wrong_value(record["value"]) or _wrong_sample(extra.get(SAMPLE_COLUMN, ""))
        if wrong:
            problems.add(where, wrong)
        else:
            judge, item, system, question = (str(record[name]) for name in RATING_COLUMNS[:-1])
            found.append((judge, item, system, question))
            given.append(record["value"])
            extras.append(extra)
    _check_all(found, problems)
    values = values_by_question([names[-1] for names in found], given)
    return [
        Judgment(*names, value, extra)
        for names, value, extra in zip(found, values, extras, strict=True)
    ]


def _wrong_value(given: object) -> str:
    """What is wrong with a value; empty for a number, true, false and any text."""
    number = number_in(given)
    if number is not None:
        return wrong_size(number, "value")
    if given is None or (isinstance(given, str) and not given.strip()):
        return "no value; remove the row of an answer that was not given"
    if not isinstance(given, bool | np.bool_ | str | Real):
        return f"the value {shortened(given)} is neither a number nor a text"
    if _says_number(given):
        return f"the value {given!r:.60} is not a finite number"
    return ""


def _says_number(given: object) -> bool:
    """Whether it is a number or a text that says one, infinity and NaN included."""
    if isinstance(given, bool | np.bool_) or (isinstance(given, str) and "_" in given):
        return False
    try:
        float(given)  # type: ignore[arg-type]
    except ValueError:
        return False
    except OverflowError:  # a whole number of hundreds of digits
        return True
    return True


def _wrong_sample(given: str) -> str:
    is_number = not given or (given.isascii() and given.isdecimal())
    return "" if is_number else f"the sample {given!r} is not a whole number from 0 on"


def _preferences(records: Iterable[PlacedRecord], problems: Problems) -> list[Preference]:
    found: list[Preference] = []
    for where, record in records:
        judge, item, a, b, question = (str(record[name]) for name in PAIRWISE_COLUMNS[:-1])
        meant = _choices_meant(record["choice"], a, b)
        if a == b:
            problems.add(where, f"{a} is compared with itself")
        elif not meant:
            problems.add(
                where,
                f"the choice {shortened(record['choice'])} is not {', '.join(PAIRWISE_CHOICES)} or "
                "the name of one of the two systems",
            )
        elif len(meant) > 1:
            problems.add(
                where,
                f"the choice {record['choice']!r} is the name of one system and the place of the "
                "other; write a for the first system or b for the second, in small letters",
            )
        else:
            extra = _extra(record, PAIRWISE_COLUMNS)
            found.append(Preference(judge, item, a, b, question, meant.pop(), extra))
    _check_all(found, problems)
    return found


def _choices_meant(given: object, system_a: str, system_b: str) -> set[PairwiseChoice]:
    """What a choice may mean: a, b or tie as they are; else such a word in any letter case, or the name
    of a system. Several where the word and the name contradict each other.

    >>> _choices_meant("A", "gpt", "llama"), _choices_meant("llama", "gpt", "llama")
    ({'a'}, {'b'})
    >>> sorted(_choices_meant("A", "B", "A"))
    ['a', 'b']
    """
    if given in PAIRWISE_CHOICES:
        return {given}
    text = str(given).strip()
    by_name: dict[str, PairwiseChoice] = {system_a: "a", system_b: "b"}
    found = {CHOICE_OF_COLUMN_WORD.get(text.casefold()), by_name.get(text)}
    return {choice for choice in found if choice is not None}


def _checked(
    rows: Iterable[tuple[int, dict[str, Any]]],
    required: Sequence[str],
    problems: Problems,
    *,
    unit: str,
) -> Iterator[PlacedRecord]:
    """The rows that have all names, each a text or a whole number; other rows are problems."""
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
    """A further column's value; lists and objects, such as error spans in JSONL, as JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _check_all(found: Sequence[object], problems: Problems) -> None:
    problems.raise_if_any()
    if not found:
        raise InputError(f"{problems.name} holds no judgments.")

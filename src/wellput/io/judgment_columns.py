"""`JudgmentColumns`: which columns of a user's table hold judges, items, systems and answers.

A user names a column by FIELD=NAME, as for the columns of items (`OwnColumns`): `judge=user`,
`value=thumb`. If no column has the question, the name of the answers' column is the question; several
columns of answers (`value=helpful`, `value=true`) are several questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wellput.core.errors import InputError, did_you_mean
from wellput.io.column_guesses import NAMES_BY_FIELD, column_keyword, plain_name
from wellput.io.evalset_columns import Columns, column_entries

RATING_COLUMNS = ("judge", "item", "system", "question", "value")
PAIRWISE_COLUMNS = ("judge", "item", "system_a", "system_b", "question", "choice")
JUDGMENT_FIELDS = tuple(dict.fromkeys((*RATING_COLUMNS, *PAIRWISE_COLUMNS)))
QUESTION = "question"
VALUE_COLUMN = "value"
NAME_COLUMNS_ADVICE = (
    "If columns have other names, say which: column=['judge=NAME', 'item=NAME'] and so on."
)
# The usual names of columns, by field of a judgment; the more usual names come first.
GUESSED_NAMES = {
    "judge": "judge rater annotator evaluator worker reviewer expert participant person user who "
    "judge_id rater_id annotator_id evaluator_id worker_id reviewer_id participant_id user_id "
    "annotator_name",
    "item": f"item {NAMES_BY_FIELD['id']} prompt prompt_nr prompt_no row row_id",
    "system": "system model system_id model_id model_name system_name",
    "system_a": "system_a model_a left",
    "system_b": "system_b model_b right",
    "question": "question criterion dimension aspect",
    "choice": "choice winner preferred preference",
    "value": "value score rating ratings thumb thumbs vote grade stars likert label verdict feedback "
    "overall quality helpfulness correctness accuracy fluency adequacy relevance coherence consistency "
    "faithfulness factuality completeness readability naturalness usefulness satisfaction safety",
}
WORDS_OF_NAMES = {
    "judge": "judge rater annotator evaluator reviewer participant",
    "item": "item",
    "system": "system model",
    "question": "question criterion dimension",
    "value": "score rating grade",
}
"""A column is also recognized if its name has one of these words among others, such as
`Rating (1-5)`."""
NUMBER_ENDINGS = ("_id", "_nr", "_no", "_number", "_idx", "_index")
"""Endings of the names of columns that number items."""


@dataclass(frozen=True, slots=True)
class JudgmentColumns:
    """Pairs of a column and the field of a judgment that it holds, such as ("user", "judge")."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pairs)

    @classmethod
    def of(cls, given: Columns) -> JudgmentColumns:
        """Raises InputError for an unknown field, and for a field or a column given twice."""
        pairs: list[tuple[str, str]] = []
        for field, column in column_entries(given):
            if field not in JUDGMENT_FIELDS:
                raise InputError(
                    f"column='{field}={column}': {field} is not a field of a judgment."
                    f"{did_you_mean(field, JUDGMENT_FIELDS)} The fields are "
                    f"{', '.join(JUDGMENT_FIELDS)}."
                )
            used_fields = {used_field for _, used_field in pairs} - {VALUE_COLUMN}
            if field in used_fields or any(column == used_column for used_column, _ in pairs):
                raise InputError(f"column='{field}={column}': one of the two is given twice.")
            pairs.append((column, field))
        columns = cls(tuple(pairs))
        if columns.has_several_questions and any(field == QUESTION for _, field in pairs):
            raise InputError(
                "column=: several columns of answers are a question each, so no other column can hold "
                "the question."
            )
        return columns

    @property
    def has_several_questions(self) -> bool:
        """Whether there are several columns of answers, each for a question of its own."""
        return len(self._answer_columns) > 1

    @property
    def has_choices(self) -> bool:
        """Whether the columns are those of pairwise choices, not of ratings."""
        return any(field in ("system_a", "system_b", "choice") for _, field in self.pairs)

    @property
    def renames_choice(self) -> bool:
        """Whether the choices are in a column that is not called `choice`."""
        return any(field == "choice" and column != "choice" for column, field in self.pairs)

    def columns_of(self, fields: Sequence[str]) -> list[str]:
        """The columns that a table must have for these fields of a judgment. A column of the question
        is not needed if a column of answers was named."""
        named: dict[str, list[str]] = {}
        for column, field in self.pairs:
            named.setdefault(field, []).append(column)
        return [
            column
            for field in fields
            if field != QUESTION or field in named or not self._answer_columns
            for column in named.get(field, [field])
        ]

    def records(self, record: dict[str, Any]) -> list[dict[str, Any]]:
        """A row's records with fields as keys instead of the columns' names: one record, or, if columns
        of answers were named, a record for each answer that is not empty."""
        if not self._answer_columns:
            return [self._record(record)]
        answer_columns = set(self._answer_columns)
        others = tuple(pair for pair in self.pairs if pair[0] not in answer_columns)
        records = []
        for column in self._answer_columns:
            row = record
            if self.has_several_questions:
                # Each column of answers is a question: the others and `question` are left out.
                left_out = (answer_columns | {QUESTION}) - {column}
                row = {name: cell for name, cell in record.items() if name not in left_out}
            if not _is_empty(record.get(column)):
                field = dict(self.pairs)[column]
                records.append(JudgmentColumns((*others, (column, field)))._record(row))
        return records

    def _record(self, record: dict[str, Any]) -> dict[str, Any]:
        """The row with fields as keys instead of the columns' names."""
        field_of = dict(self.pairs)
        replaced = set(field_of.values()) - field_of.keys()
        renamed = {
            field_of.get(column, column): value
            for column, value in record.items()
            if column not in replaced  # the user named another column for this field
        }
        if self._answer_columns:
            renamed.setdefault(QUESTION, self._answer_columns[0])
        return renamed

    @property
    def _answer_columns(self) -> list[str]:
        """The columns that the user named for answers."""
        return [column for column, field in self.pairs if field in (VALUE_COLUMN, "choice")]


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def split_columns(given: Columns) -> tuple[list[str], list[str]]:
    """The entries (FIELD=NAME) for the evalset, and those for the judgments. `system` is a field of
    both: it is for the judgments if another of their fields is named; it is for the evalset otherwise,
    and if exactly one column of outputs is named (`core.long_tables`)."""
    entries = column_entries(given)
    fields = [field.partition(".")[0] for field, _ in entries]
    names_judgments = bool(set(fields) & set(JUDGMENT_FIELDS) - {"system"})
    is_long = fields.count("outputs") == 1
    of_items = [
        f"{field}={column}"
        for field, column in entries
        if field not in JUDGMENT_FIELDS or (field == "system" and (is_long or not names_judgments))
    ]
    of_judgments = [
        f"{field}={column}"
        for field, column in entries
        if field in JUDGMENT_FIELDS and (field != "system" or names_judgments)
    ]
    return of_items, of_judgments


def guessed_judgments(header: Sequence[str]) -> dict[str, str]:
    """The field that each column probably has; {} if a field of a judgment, other than the question,
    has no likely column. A column is recognized by its whole name, or else by a word in it.

    >>> guessed_judgments(["user", "prompt_nr", "model", "thumb"])
    {'user': 'judge', 'prompt_nr': 'item', 'model': 'system', 'thumb': 'value'}
    >>> guessed_judgments(["Annotator", "Text Nr.", "NLG System", "Rating (1-5)"])
    {'Annotator': 'judge', 'Text Nr.': 'item', 'NLG System': 'system', 'Rating (1-5)': 'value'}
    """
    field_of: dict[str, str] = {}
    all_known = {name for names in GUESSED_NAMES.values() for name in names.split()}
    for field, names in GUESSED_NAMES.items():
        known = names.split()
        likely = [
            column for column in header if column not in field_of and plain_name(column) in known
        ]
        likely.sort(key=lambda column: known.index(plain_name(column)))
        if field == "item" and not likely:
            likely = [
                column
                for column in header
                if column not in field_of and plain_name(column).endswith(NUMBER_ENDINGS)
            ]
        if not likely:
            words = set(WORDS_OF_NAMES.get(field, "").split())
            likely = [
                column
                for column in header
                if column not in field_of
                and plain_name(column) not in all_known
                and words & set(plain_name(column).split("_"))
            ]
        if likely:
            field_of[likely[0]] = field
    fields = set(field_of.values())
    is_pair = {"system_a", "system_b"} <= fields
    needed = {"judge", "item", "choice"} if is_pair else {"judge", "item", "system", "value"}
    if not needed <= fields:
        return {}
    fields_of_kind = PAIRWISE_COLUMNS if is_pair else RATING_COLUMNS
    return {column: field for column, field in field_of.items() if field in fields_of_kind}


def columns_to_name(header: Sequence[str]) -> dict[str, str]:
    """The guessed columns that the user must name, with their fields: columns whose name differs from
    their field, and the column of the answers if its name is the question."""
    field_of = guessed_judgments(header)
    answer_fields = () if QUESTION in field_of.values() else ("value", "choice")
    return {
        column: field
        for column, field in field_of.items()
        if column != field or field in answer_fields
    }


def naming_advice(header: Sequence[str]) -> str:
    """Advice with the keyword that names the guessed columns, to be copied; "" if nothing was
    guessed."""
    guesses = columns_to_name(header)
    return f"Name those to read, perhaps: {column_keyword(guesses)}" if guesses else ""

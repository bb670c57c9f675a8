"""`JudgmentColumns`: which columns of a user's table hold judges, items, systems and answers.

A mapping is written FIELD=NAME, as for the columns of items (`OwnColumns`): `judge=user`,
`value=thumb`. Where no column holds the question, it is called as the column of the answers; several
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
"""A column may be named with one of these words among others, such as `Rating (1-5)`."""
NUMBER_ENDINGS = ("_id", "_nr", "_no", "_number", "_idx", "_index")


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
            known = {known for _, known in pairs} - {VALUE_COLUMN}
            if field in known or any(column == taken for taken, _ in pairs):
                raise InputError(f"column='{field}={column}': one of the two is given twice.")
            pairs.append((column, field))
        found = cls(tuple(pairs))
        if found.has_several and any(field == QUESTION for _, field in pairs):
            raise InputError(
                "column=: several columns of answers are a question each, so no other column can hold "
                "the question."
            )
        return found

    @property
    def has_several(self) -> bool:
        """Whether there are several columns of answers, each for a question of its own."""
        return len(self._answers) > 1

    @property
    def has_choices(self) -> bool:
        """Whether they are those of pairwise choices."""
        return any(field in ("system_a", "system_b", "choice") for _, field in self.pairs)

    def columns_of(self, fields: Sequence[str]) -> list[str]:
        """The columns that a table must have; a question is not needed where answers name it."""
        named: dict[str, list[str]] = {}
        for column, field in self.pairs:
            named.setdefault(field, []).append(column)
        return [
            column
            for field in fields
            if field != QUESTION or field in named or not self._answers
            for column in named.get(field, [field])
        ]

    def records(self, record: dict[str, Any]) -> list[dict[str, Any]]:
        """The row with the fields in place of the columns' names; where columns of answers were named,
        a record for each answer that is not empty."""
        if not self._answers:
            return [self._record(record)]
        answers = set(self._answers)
        others = tuple(pair for pair in self.pairs if pair[0] not in answers)
        found = []
        for column in self._answers:
            row = record
            if self.has_several:
                row = {
                    n: v for n, v in record.items() if n == column or n not in answers | {QUESTION}
                }
            if not _is_empty(record.get(column)):
                field = dict(self.pairs)[column]
                found.append(JudgmentColumns((*others, (column, field)))._record(row))
        return found

    def _record(self, record: dict[str, Any]) -> dict[str, Any]:
        known = dict(self.pairs)
        taken = set(known.values()) - known.keys()
        found = {
            known.get(column, column): value
            for column, value in record.items()
            if column not in taken  # another column has this name by the user's word
        }
        if self._answers:
            found.setdefault(QUESTION, self._answers[0])
        return found

    @property
    def _answers(self) -> list[str]:
        """The columns of the answers that were named."""
        return [column for column, field in self.pairs if field in (VALUE_COLUMN, "choice")]


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def split_columns(given: Columns) -> tuple[list[str], list[str]]:
    """The columns of the evalset and those of the judgments. `system` is a field of both: it belongs to
    the judgments where another of their fields is named, and to the evalset where one column of outputs
    is (`io.long_tables`)."""
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
    """The field that each column probably holds, {} unless all that a judgment needs are found; a
    question may be missing. A name that is not known may have a word that is.

    >>> guessed_judgments(["user", "prompt_nr", "model", "thumb"])
    {'user': 'judge', 'prompt_nr': 'item', 'model': 'system', 'thumb': 'value'}
    >>> guessed_judgments(["Annotator", "Text Nr.", "NLG System", "Rating (1-5)"])
    {'Annotator': 'judge', 'Text Nr.': 'item', 'NLG System': 'system', 'Rating (1-5)': 'value'}
    """
    found: dict[str, str] = {}
    all_known = {name for names in GUESSED_NAMES.values() for name in names.split()}
    for field, names in GUESSED_NAMES.items():
        known = names.split()
        likely = [
            column for column in header if column not in found and plain_name(column) in known
        ]
        likely.sort(key=lambda column: known.index(plain_name(column)))
        if field == "item" and not likely:
            likely = [
                column
                for column in header
                if column not in found and plain_name(column).endswith(NUMBER_ENDINGS)
            ]
        if not likely:
            words = set(WORDS_OF_NAMES.get(field, "").split())
            likely = [
                column
                for column in header
                if column not in found
                and plain_name(column) not in all_known
                and words & set(plain_name(column).split("_"))
            ]
        if likely:
            found[likely[0]] = field
    fields = set(found.values())
    is_pair = {"system_a", "system_b"} <= fields
    needed = {"judge", "item", "choice"} if is_pair else {"judge", "item", "system", "value"}
    if not needed <= fields:
        return {}
    own = PAIRWISE_COLUMNS if is_pair else RATING_COLUMNS
    return {column: field for column, field in found.items() if field in own}


def columns_to_name(header: Sequence[str]) -> dict[str, str]:
    """Those guesses that must be named: columns of other names than their field's, and the column of
    the answers where it names the question."""
    found = guessed_judgments(header)
    answers = () if QUESTION in found.values() else ("value", "choice")
    return {c: field for c, field in found.items() if c != field or field in answers}


def naming_advice(header: Sequence[str]) -> str:
    """The likeliest names of columns as a keyword to copy; "" where there is no likely one."""
    guesses = columns_to_name(header)
    return f"Name those to read, perhaps: {column_keyword(guesses)}" if guesses else ""

"""Guesses which fields the columns of a user's table contain, by their names and the first rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from wellput.core.long_tables import OUTPUT_NAMES

ROWS_LOOKED_AT = 200
"""The number of first rows from which columns are guessed."""
# The usual names of columns, by field; `plain_name` brings a column's name into this form.
NAMES_BY_FIELD = {
    "id": "id item_id prompt_id question_id example_id sample_id segment_id seg_id qid uid key index",
    "document": "document doc doc_id document_id docid conversation conversation_id thread thread_id "
    "article article_id session session_id dialogue dialog ticket ticket_id case case_id chat chat_id",
    "source": "source src input inputs prompt prompts question query instruction instructions request "
    "user message user_message user_input user_query user_prompt user_question text input_text "
    "source_text original",
    "references": "references reference ref refs gold golden gold_answer target targets expected "
    "expected_output expected_answer ground_truth correct correct_answer ideal label reference_answer",
    "context": "context history",
    "tags": "domain category topic language lang genre type split difficulty tag subset task dataset "
    "prompt_type level segment_type",
}
FIELD_ORDER = (
    "judge", "item", "id", "document", "source", "context", "references", "tags", "system", "system_a",
    "system_b", "outputs", "question", "value", "choice",
)  # fmt: skip
"""The order in which advice names the fields."""
JUDGE_NAMES = {"judge", "rater", "annotator", "evaluator", "worker", "reviewer", "rater_id"}
PERSON_NAMES = {"user", "user_id", "participant", "participant_id", "person", "expert"}
"""Names that a column of judges may have, but also a column of users' messages: it has judges if no
column of the table begins with a longer text."""
MIN_WORDS_OF_LONGER_TEXTS = 4
"""A cell with this many words or more is a longer text, not a name."""
SYSTEM_NAMES = {"system", "model", "system_a", "system_b", "model_a", "model_b"}
SCORE_LABELS = {"system", "model", "metric", "version"}
"""Columns of a table of scores that have names, not scores. The column of items is another one."""
VERDICTS = ("correct", "label")
"""Names that a column of references may have, but also a column of scores."""
FileKind: TypeAlias = Literal["evalset", "judgments", "scores"]
FIELD_OF = {name: field for field, names in NAMES_BY_FIELD.items() for name in names.split()}
"""The field for each name that a column may have."""
MAX_TAG_VALUES = 20
"""A column with at most this many different values, all of them short, looks like a tag."""
MAX_SHORT_TEXT_CHARACTERS = 30
"""A short value has at most this many characters."""


def guessed_columns(
    header: Sequence[str], rows: Sequence[Mapping[str, Any]], known: Sequence[str] = ()
) -> dict[str, str]:
    """The fields (`id`, `source`, `references`, `outputs`, …) that columns probably contain, by
    column. `known` are columns and fields that need no guess. Columns of numbers, and columns for
    which no field is likely, are absent."""
    field_of: dict[str, str] = {}
    found_fields: set[str] = set(known)
    for column in header:
        if column in known:
            continue
        field = FIELD_OF.get(plain_name(column), "")
        if field in ("id", "document", "source", "context") and field in found_fields:
            field = ""
        if field:
            field_of[column] = field
            found_fields.add(field)
    if "id" not in found_fields:
        for column in header:
            if (
                column not in field_of
                and column not in known
                and plain_name(column).endswith("_id")
            ):
                field_of[column] = "id"
                break
    if not any(name.startswith(("outputs", "samples")) for name in known):
        field_of |= _system_and_output_columns(
            [column for column in header if column not in (*field_of, *known)]
        )
    for column in header:
        if column in field_of or column in known:
            continue
        field = _field_by_cells([row.get(column) for row in rows])
        if field and not (field == "document" and field in found_fields):
            field_of[column] = field
            found_fields.add(field)
    return field_of


def _system_and_output_columns(columns: Sequence[str]) -> dict[str, str]:
    """The fields `system` and `outputs`, each by its column, if the table seems to have a row for each
    answer; otherwise {}."""
    by_name = {plain_name(column): column for column in columns}
    system_names = ("system", "model", "system_id", "model_name")
    system = next((by_name[name] for name in system_names if name in by_name), None)
    output = next((by_name[name] for name in OUTPUT_NAMES if name in by_name), None)
    return {} if system is None or output is None else {system: "system", output: "outputs"}


def file_kind(examples: Mapping[str, str], guesses: Mapping[str, str]) -> FileKind:
    """What a table is, by the names of its columns, a cell of each column (`examples`), and the guessed
    fields (`guesses`). A table of judgments has columns of judges and systems. A table of scores has a
    column of items, and apart from names of systems and metrics only numbers."""
    names = {plain_name(column): column for column in examples}
    has_system = names.keys() & SYSTEM_NAMES or any(
        name.endswith(("_system", "_model")) for name in names
    )
    if names.keys() & JUDGE_NAMES and has_system:
        return "judgments"
    are_short = all(len(cell.split()) < MIN_WORDS_OF_LONGER_TEXTS for cell in examples.values())
    if names.keys() & PERSON_NAMES and names.keys() & SYSTEM_NAMES and are_short:
        return "judgments"
    ids = {"item", *NAMES_BY_FIELD["id"].split()}
    others = {name: column for name, column in names.items() if name not in ids | SCORE_LABELS}
    has_answers = any(
        guesses.get(column) == "references" and name not in VERDICTS
        for name, column in others.items()
    )
    are_numbers = bool(others) and all(_is_number(examples[column]) for column in others.values())
    is_score_file = names.keys() & ids and are_numbers and not has_answers
    return "scores" if is_score_file else "evalset"


def _field_by_cells(cells: Sequence[Any]) -> str:
    """The field that a column with these cells probably contains: `tags` for a few short texts that
    are repeated, `document` for names of which some are repeated, `outputs` for other texts, ""
    otherwise."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    if not texts or sum(map(_is_number, texts)) > len(texts) / 2:
        return ""
    different = set(texts)
    # Three cells or fewer do not show whether values are repeated.
    is_repeated = len(different) <= min(MAX_TAG_VALUES, max(1, len(texts) // 2))
    if is_repeated and max(map(len, different)) <= MAX_SHORT_TEXT_CHARACTERS and len(texts) > 3:
        return "tags"
    if _are_names(texts):
        return "document" if len(different) < len(texts) else ""
    return "outputs"


def _are_names(texts: Sequence[str]) -> bool:
    """Whether all cells are names, which means single words with a digit, such as T-1000."""
    return len(texts) > 1 and all(
        len(text.split()) == 1 and any(map(str.isdigit, text)) for text in texts
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.strip().lower() in ("true", "false", "nan", "none", "null")
    return True


def plain_name(column: str) -> str:
    """The name in lower case, with underscores between words.

    >>> plain_name("Gold Answer"), plain_name("docId")
    ('gold_answer', 'doc_id')
    """
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.strip())
    return re.sub(r"\W+", "_", separated).strip("_").lower()


def column_keyword(guesses: Mapping[str, str]) -> str:
    """The guesses as a `column=` keyword for Python. The command line shows it as `--column` options.

    >>> column_keyword({"prompt_id": "id", "gpt": "outputs"})
    "column=['id=prompt_id', 'outputs=gpt']"
    """
    entries = sorted(
        ((field, column) for column, field in guesses.items()),
        key=lambda entry: FIELD_ORDER.index(entry[0]),
    )
    return f"column=[{', '.join(repr(f'{field}={column}') for field, column in entries)}]"

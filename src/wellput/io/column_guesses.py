"""Guessing what the columns of a user's table hold, from their names and from the first rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

SEEN_ROWS = 200
NAMES = {
    "id": "id item_id prompt_id question_id example_id sample_id segment_id seg_id qid uid key index",
    "document": "document doc doc_id document_id docid conversation conversation_id thread thread_id "
    "article article_id session session_id dialogue dialog",
    "source": "source src input inputs prompt prompts question query instruction request",
    "references": "references reference ref refs gold golden gold_answer target targets expected "
    "expected_output expected_answer ground_truth correct correct_answer ideal label reference_answer",
    "context": "context history",
    "tags": "domain category topic language lang genre type split difficulty tag subset task dataset "
    "prompt_type level segment_type",
}
FIELD_OF = {name: field for field, names in NAMES.items() for name in names.split()}
FEW_VALUES = 20
"""A column with at most so many different short values looks like a tag."""
SHORT = 30


def guessed_columns(
    header: Sequence[str], rows: Sequence[Mapping[str, Any]], known: Sequence[str] = ()
) -> dict[str, str]:
    """The field that each column probably holds, for the columns that are not `known`: `id`, `source`,
    `references`, `outputs`, … Columns of numbers, and columns that nothing is known of, have none."""
    found: dict[str, str] = {}
    taken: set[str] = set(known)
    for column in header:
        if column in known:
            continue
        field = FIELD_OF.get(_plain(column), "")
        if field in ("id", "document", "source", "context") and field in taken:
            field = ""
        if field:
            found[column] = field
            taken.add(field)
    if "id" not in taken:
        for column in header:
            if column not in found and column not in known and _plain(column).endswith("_id"):
                found[column] = "id"
                break
    for column in header:
        if column in found or column in known:
            continue
        if field := _field_by_cells([row.get(column) for row in rows]):
            found[column] = field
    return found


def _field_by_cells(cells: Sequence[Any]) -> str:
    """`outputs` for texts that differ, `tags` for a few short ones that come again, "" for others."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    if not texts or sum(map(_is_number, texts)) > len(texts) / 2:
        return ""
    different = set(texts)
    is_repeated = len(different) <= min(FEW_VALUES, max(1, len(texts) // 2))
    if is_repeated and max(map(len, different)) <= SHORT and len(texts) > 3:
        return "tags"
    return "outputs"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.strip().lower() in ("true", "false", "nan", "none", "null")
    return True


def _plain(column: str) -> str:
    """The name in small letters, with underscores between words.

    >>> _plain("Gold Answer"), _plain("docId")
    ('gold_answer', 'doc_id')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.strip())
    return re.sub(r"\W+", "_", apart).strip("_").lower()


def column_keyword(guesses: Mapping[str, str]) -> str:
    """The guesses as a keyword, which the command line shows as options to copy.

    >>> column_keyword({"prompt_id": "id", "gpt": "outputs"})
    "column=['id=prompt_id', 'outputs=gpt']"
    """
    order = ("id", "document", "source", "context", "references", "tags", "outputs")
    entries = sorted(
        ((field, column) for column, field in guesses.items()), key=lambda e: order.index(e[0])
    )
    return f"column=[{', '.join(repr(f'{field}={column}') for field, column in entries)}]"

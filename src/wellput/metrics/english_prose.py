"""What metrics of English score: the prose of outputs, and no score where there is none.

An output in another language, of code alone or without words has no score, and `undefined_reasons` says
why. `check=false` scores every text as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wellput.core.evalset import Batch

if TYPE_CHECKING:
    from wellput.language.models.language_check import ReadText


def english_prose(batch: Batch, *, check: bool) -> Sequence[ReadText]:
    """The prose of each output, empty with a reason if it is not English. Without `check`, the outputs
    as they are; those of white space alone have no words."""
    from wellput.language.models.language_check import ReadText, shipped_check

    if check:
        return batch.shared("English prose", lambda: shipped_check().read_all(batch.texts))
    return [ReadText(text) if text.strip() else ReadText("", "no words") for text in batch.texts]


def reasons_of(texts: Sequence[ReadText]) -> list[str]:
    return [text.reason or "" for text in texts]

"""What judges say about themselves, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wellput.studies.questionnaire import DemographicField
from wellput.studies.questions import AnswerError, is_storable

MAX_CHARACTERS = 500


def checked_demographics(
    fields: Sequence[DemographicField], answers: Mapping[str, str]
) -> dict[str, str]:
    """The answers that were given: all are voluntary. Raises AnswerError with every reason."""
    known = {field.name: field for field in fields}
    reasons = []
    for name, text in answers.items():
        if name not in known:
            reasons.append("unknown question")
        elif not isinstance(text, str) or len(text) > MAX_CHARACTERS or not is_storable(text):
            reasons.append(f"{name}: at most {MAX_CHARACTERS} characters of text")
        elif text and known[name].choices and text not in known[name].choices:
            reasons.append(f"{name}: one of {', '.join(known[name].choices)} is needed")
    if reasons:
        raise AnswerError(reasons)
    return {name: text for name, text in answers.items() if text.strip()}

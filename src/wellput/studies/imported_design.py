"""The design of a study whose judgments were collected elsewhere, guessed from the judgments.

Error spans with categories give the design `mqm`. Error spans without categories give `spans` if judges
also gave a score, that is if there is a question other than `errors`; else `mqm`. Numbers alone give
`slider`. The caller can name another design. Questions keep their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wellput.core.judgment import Judgment
from wellput.io.appraise import MQM_QUESTION, MQM_WEIGHTS, PUNCTUATION, PUNCTUATION_WEIGHT
from wellput.io.exported_spans import spans_of
from wellput.studies.designs.registry import create
from wellput.studies.designs.spans import ERRORS_QUESTION, SEVERITIES
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.wording import usual_unit, wording

COMMENT_COLUMN = "comment"
SEVERITY_ORDER = ("minor", "major", "critical", "undecided")
"""The order of severities in the questionnaire; others come after these."""


def imported_questionnaire(
    answers: Sequence[Judgment],
    texts: Iterable[str],
    *,
    design: str | None = None,
    weights: str | Mapping[str, float] | None = None,
) -> Questionnaire:
    """The questionnaire that judges were asked by. `answers` include those to attention checks,
    `texts` are the outputs; `weights` are the weights of errors in the design mqm."""
    names = list(dict.fromkeys(answer.question for answer in answers))
    spans = [span for answer in answers for span in spans_of(answer) or ()]
    options: dict[str, Any] = {} if weights is None else {"weights": weights}
    if any(spans_of(answer) is not None for answer in answers):
        used = {str(span["severity"]) for span in spans}
        severities = [name for name in SEVERITY_ORDER if name in {*SEVERITIES, *used}]
        severities += sorted(used.difference(severities))
        categories = sorted({span["category"] for span in spans if span.get("category")})
        options["severities"] = severities
        is_scored = not categories and names != [ERRORS_QUESTION]
        design = design or ("spans" if is_scored else "mqm")
        if design == "mqm":
            if categories:
                # The judgments have no explanations of the categories.
                options["categories"] = [(category, "") for category in categories]
            if names == [MQM_QUESTION] and weights is None:
                options["weights"] = appraise_weights(severities, categories)
    words = wording("en", usual_unit(texts))  # questions speak of a "sentence" or a "text"
    study_design = replace(create(design or "slider", **options), words=words)
    has_comments = any(COMMENT_COLUMN in answer.extra for answer in answers)
    return replace(study_design.questionnaire(names), comments=has_comments)


def appraise_weights(severities: Iterable[str], categories: Iterable[str]) -> dict[str, float]:
    """The weights by which Appraise computes the score of its question `mqm` from the marked errors
    (`io.appraise.mqm_score`), by severity or by "category:severity"."""
    known = [severity for severity in severities if severity in MQM_WEIGHTS]
    punctuation = [category for category in categories if PUNCTUATION in category.split("/")]
    return {severity: MQM_WEIGHTS[severity] for severity in known} | {
        f"{category}:{severity}": PUNCTUATION_WEIGHT
        for category in punctuation
        for severity in known
    }

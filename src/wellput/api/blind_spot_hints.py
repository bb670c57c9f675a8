"""What judgments need not show of a metric that agrees with them: the errors it does not notice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from wellput.agreement.advice import shown_to_agree
from wellput.agreement.probe_results import BlindSpots
from wellput.agreement.result import AgreementResult
from wellput.core.metric import Metric
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase

QUICK_METRICS = (
    "ssa", "gsa", "bleu", "chrf", "ter", "wer", "cer", "nist", "rouge-1", "rouge-2", "rouge-l",
    "rouge-lsum", "meteor", "exact", "fluency",
)  # fmt: skip
"""Metrics that score the changed texts in about a second."""
MAX_NAMED_KINDS = 5
N_CHECKED_TEXTS = 20


def blind_spot_hints(
    result: AgreementResult,
    metrics: Sequence[Metric],
    source: EvalSource,
    *,
    alpha: float,
    threads: int | None,
    on_phase: OnPhase,
) -> tuple[str, ...]:
    """A sentence for each metric that is the best for some question, and shown to agree with people,
    but does not notice some kinds of errors. There are none where outputs are not English, which the
    probe is about."""
    named = {metric.name: metric for metric in metrics}
    neutral = [name for name, metric in named.items() if metric.higher_is_better is None]
    best = shown_to_agree(result.agreement, neutral=neutral, alpha=alpha)
    quick = [name for name in best if name.partition(":")[0] in QUICK_METRICS and name in named]
    if not quick or not _is_english(source):
        return ()
    from wellput.api.probe import blind_spots

    on_phase("probing the best metric")
    found = {name: blind_spots(named[name], threads) for name in quick}
    return tuple(
        _hint(name, spots) for name, spots in found.items() if spots is not None and spots.missed
    )


def _hint(name: str, spots: BlindSpots) -> str:
    missed = spots.missed
    more = len(missed) - MAX_NAMED_KINDS
    kinds = ", ".join(missed[:MAX_NAMED_KINDS]) + (f" and {more} more" if more > 0 else "")
    return (
        f"{name} does not notice some errors in {spots.texts} English texts, and these judgments need "
        f"not show that: {kinds}. See wellput probe -m {name}."
    )


def _is_english(source: EvalSource) -> bool:
    from wellput.language.models.language_check import reasons_against

    texts = (
        output
        for block in source.unparsed.blocks()
        for item in block
        for output in item.outputs.values()
        if isinstance(output, str) and output.strip()
    )
    first = list(islice(texts, N_CHECKED_TEXTS))
    return bool(first) and reasons_against(first).total() <= len(first) / 2

"""`rerank`: chooses the best of several candidate texts for each item."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wellput.api.inputs import check_files
from wellput.core.errors import InputError
from wellput.core.metric import Metric
from wellput.core.options import checks_options
from wellput.core.work import OnPhase, ignore_phase
from wellput.engine.rerank import RerankResult
from wellput.engine.rerank import rerank as choose
from wellput.io import check_text
from wellput.io.files import PathLike
from wellput.io.nbest import CandidatesLike, nbest_of, read_nbest
from wellput.metrics.registry import create_all


@checks_options
def rerank(
    nbest: Iterable[CandidatesLike] | PathLike,
    metric: str | Metric,
    *,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> RerankResult:
    """Chooses the best of several candidate texts for each item, by a metric. Among equally good
    candidates the first is chosen.

    Parameters
    ----------
    nbest
        For each item a list of texts, or a dictionary such as `{"id": "7", "candidates": ["…", "…"]}`,
        with `"references"` (a list), `"source"` and `"context"` if the metric needs them. Also
        `realize(…).nbest`, or the path of a JSONL file with such a dictionary on each line.
    metric
        The metric to choose by: a name with options, or a metric object.
    path
        Writes the best candidates, one per line. A `.jsonl` file is an evalset with the systems `first`
        (the first candidates) and `reranked`.
    seed
        No effect: nothing is random.
    threads, on_phase
        As for `score`.

    Returns
    -------
    RerankResult
        `texts` are the best candidates, `choices` has the scores of all candidates, `evalset` has the
        first and the chosen candidates.

    Raises
    ------
    InputError
        The input is not a list of candidates, or the metric cannot choose among them.

    Examples
    --------
    >>> import wellput
    >>> wellput.rerank([["a a", "a b"], ["c", "d"]], "ttr").texts
    ['a b', 'c']
    """
    [scoring_metric, *other_metrics] = create_all(metric)
    if other_metrics:
        raise InputError(f"rerank takes one metric, not {1 + len(other_metrics)}: {metric}.")
    check_files([path], [nbest, metric])
    if path is not None:
        check_text(path, allowed=[".jsonl"])
    on_phase("reading candidates")
    candidates = read_nbest(nbest) if isinstance(nbest, str | Path) else nbest_of(nbest)
    choices = choose(candidates, scoring_metric, threads=threads, on_phase=on_phase)
    result = RerankResult(scoring_metric.name, scoring_metric.signature(), tuple(choices), path)
    if path is not None:
        result.save(path)
    return result

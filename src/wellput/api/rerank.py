"""`rerank`: the best among several outputs for each item."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wellput.api.inputs import check_files
from wellput.core.errors import InputError
from wellput.core.metric import Metric
from wellput.core.work import OnPhase, ignore_phase
from wellput.engine.rerank import RerankResult
from wellput.engine.rerank import rerank as choose
from wellput.io import check_text
from wellput.io.files import PathLike
from wellput.io.nbest import CandidatesLike, nbest_of, read_nbest
from wellput.metrics.registry import create_all


def rerank(
    nbest: Iterable[CandidatesLike] | PathLike,
    metric: str | Metric,
    *,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> RerankResult:
    """Chooses the best among several outputs for each item by a metric. Of equally good candidates the
    first is chosen.

    Parameters
    ----------
    nbest
        For each item a list of texts, or a dictionary such as `{"id": "7", "candidates": ["…", "…"]}`,
        with `"references"` (a list), `"source"` and `"context"` if the metric needs them; what
        `realize(…).nbest` gives; or the path of a JSONL file with such a dictionary on each line.
    metric
        The metric to choose by: a name with options, or an object.
    path
        Writes the best candidates, one a line; a `.jsonl` is an evalset with the systems `first` (what
        came first) and `reranked`.
    seed
        Not used: nothing is random.
    threads, on_phase
        As for `score`.

    Returns
    -------
    RerankResult
        `texts` are the best candidates, `choices` has the scores of all, `evalset` has what came first
        beside what was chosen.

    Raises
    ------
    InputError
        What was given is no list of candidates, or the metric cannot choose among them.

    Examples
    --------
    >>> import wellput
    >>> wellput.rerank([["a a", "a b"], ["c", "d"]], "ttr").texts
    ['a b', 'c']
    """
    [chosen, *more] = create_all(metric)
    if more:
        raise InputError(f"Candidates are ordered by one metric; {metric} are {1 + len(more)}.")
    check_files([path], [nbest])
    if path is not None:
        check_text(path, allowed=[".jsonl"])
    on_phase("reading candidates")
    candidates = read_nbest(nbest) if isinstance(nbest, str | Path) else nbest_of(nbest)
    choices = choose(candidates, chosen, threads=threads, on_phase=on_phase)
    result = RerankResult(chosen.name, chosen.signature(), tuple(choices), path)
    if path is not None:
        result.save(path)
    return result

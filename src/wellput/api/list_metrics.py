"""`list_metrics`: every metric, what it needs, its options and its paper."""

from __future__ import annotations

from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.metrics.catalog import MetricList, every_metric, one_metric


def list_metrics(
    metric: str | None = None,
    *,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> MetricList:
    """Lists every metric: which direction is better, what it needs, its options, its paper. Metrics of
    other packages are in the list too.

    Parameters
    ----------
    metric
        Shows this one alone, with its options, their defaults and values, and examples.
    path
        Writes the list to a file; `.json`, `.csv`, `.tex` and `.md` in that format.
    seed, threads
        As for every verb; without effect here.

    Returns
    -------
    MetricList
        `records()` has a dictionary of texts for each metric.

    Raises
    ------
    OutputError
        The file cannot be written.

    Examples
    --------
    >>> import wellput
    >>> bleu = next(one for one in wellput.list_metrics().records() if one["metric"] == "bleu")
    >>> bleu["better"], bleu["needs"], bleu["paper"]
    ('higher', 'references', 'Papineni et al. 2002')
    """
    check_files([path], [])
    listed = every_metric() if metric is None else one_metric(metric)
    if path is not None:
        listed.save(path)
    return listed

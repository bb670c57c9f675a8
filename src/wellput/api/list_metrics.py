"""`list_metrics`: lists every metric with the data that it needs, its options and its paper."""

from __future__ import annotations

from wellput.core.options import checks_options
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.metrics.catalog import MetricList, every_metric, one_metric


@checks_options
def list_metrics(
    metric: str | None = None,
    *,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> MetricList:
    """Lists every metric: whether higher or lower scores are better, what data it needs, its options
    and its paper. The list includes metrics of other packages.

    Parameters
    ----------
    metric
        Shows only this metric: what it measures, its options with defaults and values, examples.
    path
        Writes the list to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    seed, threads
        No effect here.

    Returns
    -------
    MetricList
        `records()` has one dictionary for each metric.

    Raises
    ------
    OutputError
        The file cannot be written.

    Examples
    --------
    >>> import wellput
    >>> bleu = next(row for row in wellput.list_metrics().records() if row["metric"] == "bleu")
    >>> bleu["better"], bleu["needs"], bleu["paper"]
    ('higher', 'references', 'Papineni et al. 2002')
    """
    # `metric` may be a file of scores: `path` must not name the same file.
    check_files([path], [metric])
    metrics = every_metric() if metric is None else one_metric(metric)
    if path is not None:
        metrics.save(path)
    return metrics

"""`list_metrics`: every metric with its needs, options and paper."""

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
    """Lists every metric: which direction is better, what it needs, its options, its paper. The list
    includes metrics of other packages.

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
    >>> bleu = next(one for one in wellput.list_metrics().records() if one["metric"] == "bleu")
    >>> bleu["better"], bleu["needs"], bleu["paper"]
    ('higher', 'references', 'Papineni et al. 2002')
    """
    check_files([path], [])
    listed = every_metric() if metric is None else one_metric(metric)
    if path is not None:
        listed.save(path)
    return listed

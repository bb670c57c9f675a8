"""The tables of `wellput score`: scores, differences between systems, and what both mean in words.

A *claim* says in words whether a system is better than the baseline; the *verdict* is all claims."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wellput.core.clusters import MIN_CLUSTERS_FOR_CLAIMS
from wellput.core.errors import counted
from wellput.core.scores import MIN_ITEMS_FOR_CLAIMS, Score
from wellput.engine.result import ScoreResult, SkippedPartition, UnscoredItems
from wellput.reporting.table import (
    Report,
    Table,
    digits_of,
    interval_text,
    number,
    p_text,
    p_with_relation,
    signature_notes,
    with_interval,
)

CSV_COLUMNS = (
    "system", "metric", "score", "low", "high", "baseline", "delta", "delta_low", "delta_high",
    "p_value", "p_adjusted", "effect_size", "equivalence_p", "equivalence_p_adjusted", "n", "undefined",
    "signature",
)  # fmt: skip
TEST_NAMES = {
    "jackknife": "jackknife and Student's t",
    "ar": "approximate randomization",
    "bs": "paired bootstrap",
}
MCNEMAR_NAMES = {"mcnemar": "McNemar's test", "exact mcnemar": "McNemar's exact test"}
MCNEMAR_OF_BOTH_KINDS = "McNemar's test, exact where few items differ"
SHARE_INTERVAL_NAMES = {
    "wilson": "Wilson's",
    "exact": "exact (Clopper and Pearson's)",
    "wilson, clustered": "Wilson's, widened because items are not independent",
}


def score_report(result: ScoreResult) -> Report:
    """Scores with the verdict, all pairs if they were asked for, and explanations of items."""
    tables = [score_table(result)]
    if result.differences:
        tables.append(difference_table(result))
    value = result.values()
    if not result.slices:
        return Report(tables, value, CSV_COLUMNS, value["scores"], result.explanations)
    tables += score_slice_tables(result)
    return Report(tables, value, ("by", *CSV_COLUMNS), result.records(), result.explanations)


def score_slice_tables(result: ScoreResult) -> list[Table]:
    """The scores by slice, and the differences by slice if they were tested."""
    from wellput.reporting.slices import slice_tables

    def cell(part: ScoreResult, system: str, metric: str) -> str:
        return _cell(part[system, metric], _digits(result, metric), part)

    return slice_tables(result, cell)


def score_table(result: ScoreResult) -> Table:
    """A row for each system and a column for each metric, or the other way round; the verdict and the
    signatures stand beneath."""
    digits = {metric: _digits(result, metric) for metric in result.metrics}
    headings = {metric: _heading(result, metric) for metric in result.metrics}
    cells = {
        (system, metric): _cell(result[system, metric], digits[metric], result)
        for system in result.systems
        for metric in result.metrics
    }
    best = _best(result)
    notes = [*_counts(result), *verdict(result), *_legend(result), *signature_notes(result.scores)]
    bold_meaning = _bold_meaning(result) if best else ""
    n_systems, n_items = counted(len(result.systems), "system"), counted(result.items, "item")
    caption = f"Scores of {n_systems} on {n_items}"
    transposed = Table(
        columns=["metric", *result.systems],
        rows=[
            [heading, *(cells[system, metric] for system in result.systems)]
            for metric, heading in headings.items()
        ],
        notes=notes,
        # A row i counts from 0, a column j from 1, because column 0 has the names.
        best=frozenset((j - 1, i + 1) for i, j in best),
        bold_meaning=bold_meaning,
        caption=caption,
        name="scores",
    )
    return Table(
        columns=["system", *headings.values()],
        rows=[
            [system, *(cells[system, metric] for metric in result.metrics)]
            for system in result.systems
        ],
        notes=notes,
        best=best,
        bold_meaning=bold_meaning,
        caption=caption,
        name="scores",
        transposed=transposed,
    )


def _best(result: ScoreResult) -> frozenset[tuple[int, int]]:
    """The cells (row, column) of systems that no other system beats significantly; none without a
    test."""
    cells: set[tuple[int, int]] = set()
    for column, metric in enumerate(result.metrics, 1):
        beaten = result.beaten(metric)
        if beaten is None:
            continue
        cells |= {
            (row, column)
            for row, system in enumerate(result.systems)
            if system not in beaten and not math.isnan(result[system, metric].score)
        }
    return frozenset(cells)


def _test_name(result: ScoreResult) -> str:
    """The name of the test of differences. Differences of shares are tested by McNemar's test."""
    name = TEST_NAMES[result.test or "jackknife"]
    of_shares = [
        difference for difference in result.differences if difference.method in MCNEMAR_NAMES
    ]
    if not of_shares:
        return name
    methods = {difference.method for difference in of_shares}
    mcnemar = MCNEMAR_NAMES[methods.pop()] if len(methods) == 1 else MCNEMAR_OF_BOTH_KINDS
    metrics = sorted({difference.metric for difference in of_shares})
    if set(metrics) == set(result.metrics):
        return mcnemar
    return f"{name} ({', '.join(metrics)}: {mcnemar})"


def _correction(result: ScoreResult) -> str:
    if result.n_tests < 2:
        return ""
    every = "both" if result.n_tests == 2 else f"all {result.n_tests:,}"
    return f", corrected by Holm's method for {every} differences"


def _bold_meaning(result: ScoreResult) -> str:
    """What bold means, in words."""
    test = f"{_test_name(result)}, p < {result.alpha:g}{_correction(result)}"
    if result.comparisons:
        return f"no system is significantly better ({test})"
    baseline = next((score.baseline for score in result.scores if score.baseline), "")
    return (
        f"no system is significantly better ({test}; only differences from {baseline} are tested)"
    )


def difference_table(result: ScoreResult) -> Table:
    """All pairs, or the differences from the baseline: intervals, p-values, effect sizes."""
    differences = result.differences
    is_corrected = result.n_tests > 1
    interval = f"{100 * result.confidence:g}% interval"
    rows = [
        {
            "pair": f"{difference.a} − {difference.b}",
            "metric": difference.metric,
            "difference": number(difference.delta, digits, sign=True),
            interval: interval_text(difference.low, difference.high, digits, sign=True),
            "p": p_text(difference.p_value, is_bound=difference.p_is_bound),
            "p (Holm)": p_text(difference.p_adjusted, is_bound=difference.p_is_bound)
            if is_corrected
            else "",
            "effect": ""
            if difference.effect_size is None
            else number(difference.effect_size, 2, sign=True),
            "p (equivalence)": p_text(
                difference.equivalence_p_adjusted if is_corrected else difference.equivalence_p
            ),
            "items": str(difference.n),
        }
        for difference in differences
        for digits in [_digits(result, difference.metric)]
    ]
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    is_all_pairs = bool(result.comparisons)
    corrected = " and corrected by Holm's method" if is_corrected else ""
    return Table(
        columns=columns,
        rows=[[row[name] for name in columns] for row in rows],
        notes=_difference_notes(result),
        title="All pairs of systems" if is_all_pairs else f"Differences from {differences[0].b}",
        caption=f"Differences between all pairs of systems, with p by {_test_name(result)}{corrected}"
        if is_all_pairs
        else f"Differences from {differences[0].b}, with p by {_test_name(result)}{corrected}",
        name="pairs",
    )


def _difference_notes(result: ScoreResult) -> list[str]:
    lines = []
    if any(difference.effect_size is not None for difference in result.differences):
        lines.append(
            "effect: mean difference of segment scores, in standard deviations of these differences."
        )
    if any(difference.equivalence_p is not None for difference in result.differences):
        margin = ", ".join(f"{metric} {value:g}" for metric, value in result.margin.items())
        corrected = ", corrected by Holm's method" if result.n_tests > 1 else ""
        lines.append(
            f"p (equivalence): a small p shows that the difference is smaller than the margin "
            f"({margin}); two one-sided tests{corrected}."
        )
    return lines


def verdict(result: ScoreResult) -> list[str]:
    """A sentence for each system: on which metrics it differs from the baseline."""
    sentences: list[str] = []
    for system in result.systems:
        scores = [result[system, metric] for metric in result.metrics]
        tested = [score for score in scores if score.p_value is not None]
        if not tested:
            continue
        if not any(score.n_common for score in tested):
            sentences.append(
                f"{system} against {tested[0].baseline}: no scored item has outputs of both."
            )
            continue
        groups: dict[str, list[Score]] = {}
        for score in tested:
            groups.setdefault(_claim(score, result), []).append(score)
        claims = "; ".join(
            f"{claim} {_listed(of_claim, result)}" for claim, of_claim in groups.items()
        )
        where = _where(tested, result)
        sentences.append(f"{system} against {tested[0].baseline}{where}: {claims}.")
    return sentences


def _where(tested: Sequence[Score], result: ScoreResult) -> str:
    """The items on which two systems are compared, in words; empty if both have all outputs."""
    n_left_out = {name: items.n for items in result.left_out for name in items.metrics}
    missing = [s for s in tested if s.n_common != result.items - n_left_out.get(s.metric, 0)]
    if not missing:
        return ""
    common = sorted({score.n_common or 0 for score in missing})
    shown = f"{common[0]:,} to {common[-1]:,}" if len(common) > 1 else f"{common[0]:,}"
    return f" on the {shown} {'item' if common == [1] else 'items'} both have"


def _listed(scores: Sequence[Score], result: ScoreResult) -> str:
    """Each metric with its difference and p in parentheses, if they are defined."""
    texts = []
    for score in scores:
        figures = []
        if _is_known(score.delta):
            figures.append(number(score.delta, _digits(result, score.metric), sign=True))
        if _is_known(score.p_adjusted):
            figures.append(_p_of_claim(score, result))
        texts.append(f"{score.metric} ({', '.join(figures)})" if figures else score.metric)
    return ", ".join(texts)


def _is_known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _p_of_claim(score: Score, result: ScoreResult) -> str:
    """The p-value from which the claim follows, in words."""
    if _is_within_margin(score, result) and not result.is_significant(
        score.p_adjusted, score.n_common
    ):
        return f"equivalence p {p_with_relation(score.equivalence_p_adjusted)}"
    return f"p {p_with_relation(score.p_adjusted, is_bound=score.p_is_bound)}"


def _is_within_margin(score: Score, result: ScoreResult) -> bool:
    """Whether the difference is shown to be smaller than the margin."""
    return result.is_significant(score.equivalence_p_adjusted, score.n_common)


def all_metrics_text(n_metrics: int) -> str:
    """All metrics, in words."""
    return "both metrics" if n_metrics == 2 else f"all {n_metrics} metrics"


def _claim(score: Score, result: ScoreResult) -> str:
    """What the test says about the difference from the baseline; the metrics' names follow."""
    higher_is_better = result.higher_is_better[score.metric]
    if not _is_known(score.p_adjusted):
        return "no test on" if _is_known(score.delta) else "undefined on"
    margin = result.margin.get(score.metric, 0)
    within = f"no difference larger than {margin:g}" if _is_within_margin(score, result) else ""
    if not result.is_significant(score.p_adjusted, score.n_common):
        return f"{within or 'no difference shown'} on"
    if higher_is_better is None or not score.delta:
        claim = "different"
    else:
        claim = "better" if (score.delta > 0) == higher_is_better else "worse"
    return f"{claim}, but {within}, on" if within else f"{claim} on"


def _heading(result: ScoreResult, metric: str) -> str:
    return f"{metric} ↓" if result.higher_is_better[metric] is False else metric


def _cell(score: Score, digits: int, result: ScoreResult) -> str:
    """A score with its interval, and a star if its difference from the baseline is significant."""
    text = with_interval(number(score.score, digits), score.low, score.high, digits)
    return f"{text} *" if result.is_significant(score.p_adjusted, score.n_common) else text


def _skipped_line(skipped: SkippedPartition) -> str:
    """The partition, and the first two lines of the reason."""
    reason = " ".join(line.strip() for line in skipped.reason.split("\n")[:2])
    return reason if reason.startswith(skipped.partition) else f"{skipped.partition}: {reason}"


def left_out_sentence(left_out: UnscoredItems) -> str:
    """How many items some metrics leave out, why, and the ids of the first ones.

    >>> left_out_sentence(UnscoredItems("no reference", ("bleu", "chrf"), 7, ("h04", "h07")))
    '7 items have no reference and are left out for bleu, chrf: h04, h07 and 5 more.'
    """
    verbs = ("has", "is") if left_out.n == 1 else ("have", "are")
    more = left_out.n - len(left_out.first)
    which = ", ".join(left_out.first) + (f" and {more:,} more" if more else "")
    return (
        f"{counted(left_out.n, 'item')} {verbs[0]} {left_out.reason} and {verbs[1]} left out for "
        f"{', '.join(left_out.metrics)}: {which}."
    )


def _counts(result: ScoreResult) -> list[str]:
    """The number of items, and which scores are over fewer items because outputs or scores are
    missing."""
    lines: list[str] = []
    outputs = {score.system: score.n + score.left_out for score in result.scores}
    missing = "".join(
        f"; {system} has outputs for {n:,} of them"
        for system, n in outputs.items()
        if n < result.items
    )
    lines.append(f"{counted(result.items, 'item')}{missing}.")
    lines += map(left_out_sentence, result.left_out)
    lines += result.notes
    if result.skipped:
        lines.append(f"Left out because of errors: {counted(len(result.skipped), 'partition')}.")
        lines += [f"  {_skipped_line(skipped)}" for skipped in result.skipped]
    # The metrics with the same system, number of undefined scores, and reasons.
    undefined: dict[tuple[str, int, str], list[str]] = {}
    for score in result.scores:
        if score.undefined:
            reasons = ", ".join(
                f"{why} {n:,}" for why, n in sorted(score.undefined_reasons.items())
            )
            undefined.setdefault((score.system, score.undefined, reasons), []).append(score.metric)
    lines += [_undefined_sentence(*key, metrics) for key, metrics in undefined.items()]
    return lines


def _undefined_sentence(system: str, n: int, reasons: str, metrics: Sequence[str]) -> str:
    """A sentence on the `n` outputs of a system that have no score under these metrics."""
    has = "has" if n == 1 else "have"
    names = ", ".join(metrics)
    if reasons:
        return f"{counted(n, 'output')} of {system} {has} no score under {names}: {reasons}."
    return f"{counted(n, 'segment')} of {system} {has} no segment score under {names}."


def few_items(result: ScoreResult) -> list[str]:
    """A note that there are too few items for a claim, if there are intervals or tests."""
    fewest = min(score.n if score.n_common is None else score.n_common for score in result.scores)
    has_uncertainty = result.test is not None or any(s.low is not None for s in result.scores)
    clusters = result.clusters
    if has_uncertainty and clusters is not None and clusters.are_few:
        return [
            f"{clusters.number_in_words} {'is' if clusters.n == 1 else 'are'} too few to claim a "
            f"difference; at least {MIN_CLUSTERS_FOR_CLAIMS} are needed."
        ]
    if not has_uncertainty or fewest >= MIN_ITEMS_FOR_CLAIMS:
        return []
    are = "is" if fewest == 1 else "are"
    return [
        f"{counted(fewest, 'item')} {are} too few to claim a difference; at least "
        f"{MIN_ITEMS_FOR_CLAIMS} are needed."
    ]


def _legend(result: ScoreResult) -> list[str]:
    """The notes on intervals, tests and marks."""
    has_intervals = any(score.low is not None for score in result.scores)
    resamples = f", {counted(result.n_resamples, 'resample')}, seed {result.seed}"
    lines: list[str] = [*few_items(result)]
    if has_intervals:
        kind = f"bootstrap interval{resamples}" if result.test == "bs" else "interval"
        lines.append(f"[low, high]: {100 * result.confidence:g}% {kind}.")
    lines += _share_notes(result)
    if has_intervals and any(score.low is None for score in result.scores):
        lines.append("There is no interval where all items score the same.")
    if result.test is not None:
        drawn = "" if result.test == "jackknife" else resamples
        test = f"{_test_name(result)}{drawn}{_correction(result)}"
        lines.append(f"*: p < {result.alpha:g} by {test}.")
    elif len(result.systems) > 1 and result.items >= MIN_ITEMS_FOR_CLAIMS:
        lines.append(
            f"No difference is tested: add all_pairs=True or baseline={result.systems[0]!r}."
        )
    if result.test == "bs":
        lines.append(
            "paired='bs' computes p as sacreBLEU does: of two equally good systems it finds a "
            "difference (p < 0.05) in about 1 of 10 tests. paired='jackknife' does so in 1 of 20, as a "
            "test should, if items are independent."
        )
    if has_intervals or result.test is not None:
        from wellput.core.estimates import holds_for

        if result.clusters is not None:
            lines.append(result.clusters.sentence)
        lines.append(holds_for("items", result.clusters))
    if result.error_sources:
        from wellput.reporting.error_sources import error_sentences

        lines += error_sentences(result)
    claims = (_claim(score, result) for score in result.scores if score.baseline is not None)
    if any(claim.startswith("no difference shown") for claim in claims):
        lines.append(
            "“No difference shown” does not mean that the systems are equal."
            + ("" if result.margin else " margin=X tests whether they differ by less than X.")
        )
    return lines


def _share_notes(result: ScoreResult) -> list[str]:
    """Which metrics are shares of items, and the method of their intervals."""
    metrics: dict[str, list[str]] = {}
    for metric in result.metrics:
        methods = {score.method or "" for score in result.scores if score.metric == metric}
        if methods and methods <= SHARE_INTERVAL_NAMES.keys():
            names = " or ".join(SHARE_INTERVAL_NAMES[method] for method in sorted(methods))
            metrics.setdefault(names, []).append(metric)
    return [
        f"{', '.join(shares)}: the share of items that count 1, not 0; the interval is {names}."
        for names, shares in metrics.items()
    ]


def _digits(result: ScoreResult, metric: str) -> int:
    return digits_of(result[system, metric].score for system in result.systems)

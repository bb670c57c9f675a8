"""The tables of `wellput runs`: the stored runs of a folder, one run, and what changed between two. A
*run* is one scoring of systems, stored with its circumstances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wellput.core.errors import counted
from wellput.core.scores import CIRCUMSTANCES, Run, RunList, RunScore
from wellput.reporting.table import (
    Report,
    Table,
    digits_of,
    interval_text,
    number,
    p_text,
    signature_notes,
)

if TYPE_CHECKING:
    from wellput.engine.run_changes import RunChanges, ScoreChange

RUN_COLUMNS = (
    "run", "time", *CIRCUMSTANCES, "system", "metric", "score", "low", "high", "baseline", "delta",
    "p_value", "n", "undefined", "data", "outputs", "signature",
)  # fmt: skip
CHANGE_COLUMNS = (
    "metric", "system_before", "system_after", "before", "after", "delta", "comparable", "obstacles",
    "cautions", "same_outputs", "intervals_overlap",
)  # fmt: skip

SHOWN_HASH_DIGITS = 8
"""The tables show the first digits of the hashes of data and outputs."""
NO_TEST_NOTE = (
    "Two scores cannot show whether their difference is real: score the outputs of both in one run, "
    "with a baseline."
)
OVERLAP_NOTE = (
    "Intervals apart: chance is unlikely to explain the difference. Intervals that overlap: it may."
)


def list_report(listed: RunList) -> Report:
    """A line per run, newest first; with scores if all runs shown have the same single metric."""
    runs = listed.runs
    metrics = {metric for run in runs for metric in run.metrics}
    has_scores = len(metrics) == 1
    rows = [
        [
            run.id,
            f"{run.time:%Y-%m-%d %H:%M}",
            ", ".join(filter(None, (f"{run.items:,}", _skipped(run)))),
            ", ".join(dict.fromkeys(score.data[:SHOWN_HASH_DIGITS] for score in run.scores)),
            ", ".join(run.metrics),
            ", ".join(map(_system_and_score, run.scores) if has_scores else run.systems),
        ]
        for run in runs
    ]
    table = Table(
        ["run", "time (UTC)", "items", "data", "metrics", "scores" if has_scores else "systems"],
        rows,
        notes=[
            _count(len(runs), listed.total),
            *(f"Left out: {reason}." for reason in listed.left_out),
        ],
        is_prose=True,
        caption="Stored runs",
    )
    return Report([table], listed.values(), RUN_COLUMNS, listed.records())


def _count(shown: int, total: int) -> str:
    if shown == total:
        return f"{counted(total, 'run')}."
    return f"The newest {shown:,} of {total:,} runs are shown; last={total} shows all."


def _skipped(run: Run) -> str:
    """How many partitions were left out; empty if there were none."""
    return f"{counted(run.skipped, 'partition')} left out" if run.skipped else ""


def _system_and_score(score: RunScore) -> str:
    return f"{score.system} {number(score.score, digits_of([score.score]))}"


def show_report(run: Run) -> Report:
    """All scores of a run, and how they were made."""
    rows = []
    for score in run.scores:
        digits = digits_of([score.score])
        rows.append(
            [
                score.system,
                score.metric,
                number(score.score, digits),
                interval_text(score.low, score.high, digits),
                "" if score.delta is None else number(score.delta, digits, sign=True),
                p_text(
                    score.p_value if score.p_adjusted is None else score.p_adjusted,
                    is_bound=score.p_is_bound,
                ),
                f"{score.n:,}",
                score.data[:SHOWN_HASH_DIGITS],
                score.outputs[:SHOWN_HASH_DIGITS],
            ]
        )
    columns = [
        "system",
        "metric",
        "score",
        "interval",
        "difference",
        "p",
        "items",
        "data",
        "outputs",
    ]
    used = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    table = Table(
        [columns[place] for place in used],
        [[row[place] for place in used] for row in rows],
        title=f"Run {run.id} of {run.time:%Y-%m-%d %H:%M:%S} UTC",
        notes=[*_circumstances(run), *_pair_notes(run), *signature_notes(run.scores)],
    )
    return Report([table], run.values(), RUN_COLUMNS, run.records())


def _circumstances(run: Run) -> list[str]:
    """With what command, versions, options and tests the run was made."""
    lines = [f"Command: {run.command}"] if run.command else ["Stored from Python."]
    lines.append(
        f"wellput {run.wellput}, Python {run.python}, {run.platform}; {counted(run.items, 'item')}."
    )
    if run.skipped:
        lines.append(f"{_skipped(run)} because of errors: the scores are over the other items.")
    has_intervals = any(score.low is not None for score in run.scores)
    if run.test is not None or has_intervals:
        intervals = f"{100 * run.confidence:g}% intervals" if has_intervals else "no intervals"
        test = "no test" if run.test is None else f"differences tested by {run.test}"
        # Approximate randomization (ar) and the paired bootstrap (bs) draw random resamples.
        drawn = f"; {counted(run.resamples, 'resample')}, seed {run.seed}"
        lines.append(f"{intervals}, {test}{drawn if run.test in ('ar', 'bs') else ''}.")
    baselines = dict.fromkeys(s.baseline for s in run.scores if s.baseline is not None)
    lines += [f"Differences are to {baseline}." for baseline in baselines]
    return lines


def _pair_notes(run: Run) -> list[str]:
    """A line for each metric with the p-values of all pairs, each pair once. If only some systems of
    the run are shown, the others come second in a pair."""
    place = {system: order for order, system in enumerate(run.systems)}
    pairs: dict[str, list[str]] = {}
    for score in run.scores:
        pairs.setdefault(score.metric, []).extend(
            f"{score.system}–{other} {p_text(p)}"
            for other, p in score.p_against.items()
            if place[score.system] < place.get(other, len(place))
        )
    return [
        f"p (Holm) under {metric}: {', '.join(texts)}" for metric, texts in pairs.items() if texts
    ]


def diff_report(run_changes: RunChanges) -> Report:
    """Scores before and after, and their difference or why they cannot be compared."""
    rows = [_change_row(change) for change in run_changes.changes]
    before, after = run_changes.before, run_changes.after
    notes = []
    for name, run in (("before", before), ("after", after)):
        made = f"{name}: {run.id} of {run.time:%Y-%m-%d %H:%M:%S} UTC, wellput {run.wellput}"
        notes.append(", ".join(filter(None, (made, _skipped(run)))))
    notes += _unpaired_scores(run_changes.only_before, before)
    notes += _unpaired_scores(run_changes.only_after, after)
    untested = [
        change
        for change in run_changes.changes
        if change.is_comparable and not change.has_same_outputs
    ]
    if untested:
        notes.append(NO_TEST_NOTE)
    if any(change.intervals_overlap is not None for change in untested):
        notes.append(OVERLAP_NOTE)
    if not run_changes.changes:
        notes.append(
            "The two runs have no system and metric in common. Pair systems with rename='OLD=NEW'."
        )
    table = Table(
        ["system", "metric", "before", "after", "difference", "remarks"],
        rows,
        notes=notes,
        caption=f"Scores of run {after.id} compared with those of run {before.id}",
        name="changes",
    )
    records = [
        {
            **record,
            "obstacles": "; ".join(record["obstacles"]),
            "cautions": "; ".join(record["cautions"]),
        }
        for record in run_changes.records()
    ]
    return Report([table], run_changes.values(), CHANGE_COLUMNS, records)


def _change_row(change: ScoreChange) -> list[str]:
    before, after = change.before, change.after
    digits = digits_of([before.score, after.score])
    name = before.system if before.system == after.system else f"{before.system} → {after.system}"
    return [
        name,
        change.metric,
        number(before.score, digits),
        number(after.score, digits),
        "" if change.delta is None else number(change.delta, digits, sign=True),
        _remarks(change),
    ]


def _remarks(change: ScoreChange) -> str:
    """Why two scores cannot be compared, or what to be careful about."""
    if change.obstacles:
        return f"not comparable: {'; '.join(change.obstacles)}"
    if change.has_same_outputs and not change.cautions:
        return "the same outputs"
    overlap = change.intervals_overlap
    intervals = [] if overlap is None else ["intervals overlap" if overlap else "intervals apart"]
    return "; ".join([*change.cautions, *([] if change.has_same_outputs else intervals)])


def _unpaired_scores(systems_and_metrics: Sequence[tuple[str, str]], run: Run) -> list[str]:
    """A note that names the scores which only this run has."""
    if not systems_and_metrics:
        return []
    names = ", ".join(f"{system} {metric}" for system, metric in systems_and_metrics)
    return [f"Only in {run.id}: {names}."]

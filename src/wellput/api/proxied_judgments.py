"""Reads people's judgments and a proxy's scores of the same outputs, for `estimate` and `power`. A
proxy is a metric or a machine judge; labels are people's judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from wellput.agreement.exclusions import parse_exclusion, with_unknown_excluded, without_excluded
from wellput.agreement.judged_samples import on_same_samples, with_judged_samples
from wellput.agreement.judgment_names import notes_on_names
from wellput.agreement.machines.judged_trials import OutputValues, unknown_judge
from wellput.agreement.machines.proxied_labels import ProxiedLabels, chosen_labels, rated_labels
from wellput.agreement.panel import AnyJudgment, Exclusion, names_of
from wellput.agreement.prepared_panels import chosen_judges, refuse_labels
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    Metrics,
    fitted_to,
    open_items,
    read_answers,
)
from wellput.api.output_values import metric_values, units_of
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import MACHINE_PREFIX, Judgment, Preference
from wellput.core.registries import Names, split_names
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.judgment_columns import split_columns
from wellput.metrics.registry import create_all, full_name, metric_names

JUDGE_PREFIX = "judge:"


@dataclass(frozen=True)
class ProxiedJudgments:
    """People's judgments (`labels`), and in `arrays` both the labels and the proxy's scores as arrays.
    `proxy` is the name of the proxy, and `is_judge` says that it is a judge, not a metric."""

    labels: Sequence[AnyJudgment]
    arrays: ProxiedLabels
    proxy: str
    is_judge: bool
    source: EvalSource
    clustered_by: str
    excluded: Sequence[Exclusion]
    notes: tuple[str, ...] = ()


def read_proxied(
    evalset: Items,
    judgments: Answers,
    proxy: Metrics,
    *,
    column: Columns = (),
    question: str | None = None,
    judges: Names = "people",
    cluster: str | None = None,
    exclude: str | list[str] | tuple[str, ...] = (),
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ProxiedJudgments:
    """Reads the files and scores the outputs; the keywords are those of `estimate`."""
    on_phase("reading judgments")
    column, judgment_columns = split_columns(column)
    answers = _of_question(read_answers(judgments, judgment_columns), question)
    judge = _judge_of(proxy, answers)
    metrics = [] if judge is not None else create_all(proxy)
    if fitted_names := fitted_to(judgments, metrics):
        raise InputError(
            f"proxy={fitted_names[0]!r} was fitted to these judgments, so it agrees with them too "
            "well. Give its predictors instead, such as proxy='chrf,length': they are fitted to "
            "other items than those that they are used for."
        )
    source = open_items(evalset, metrics, column=column, threads=threads, on_phase=on_phase)
    known_names = names_of(source.unparsed, on_progress=on_phase("reading items"))
    exclusions = [
        parse_exclusion(text) for text in ([exclude] if isinstance(exclude, str) else exclude)
    ]
    exclusions = with_unknown_excluded(answers, exclusions, known_names)
    kept, excluded = without_excluded(answers, exclusions)
    # Here "labels" has its other meaning: judgments that are texts without an order.
    refuse_labels(kept[0].question if kept else "", kept)
    judge_answers = [answer for answer in kept if answer.judge == judge]
    labels, _ = chosen_judges(
        [answer for answer in kept if answer.judge != judge], split_names(judges)
    )
    if not labels:
        raise InputError("There are no judgments of people.")
    judged_source = with_judged_samples(source, labels)
    clustered_by, unit_by_item = units_of(source, cluster)
    items = list(known_names.items)
    scores: list[OutputValues] = []
    notes: tuple[str, ...] = ()
    if judge is None:
        on_phase("scoring")
        numbers, notes = metric_values(
            judged_source, metrics, threads or available_cores(), on_phase
        )
        scores = list(numbers)
        items = list(dict.fromkeys(item for values in scores for _, item, *_ in values))
    items = sorted(items)
    arrays = _as_arrays(
        labels,
        on_same_samples(judge_answers, labels) if judge is not None else None,
        scores,
        list(known_names.systems),
        items,
        unit_by_item,
    )
    return ProxiedJudgments(
        labels,
        arrays,
        judge or ", ".join(metric.name for metric in metrics),
        judge is not None,
        source,
        clustered_by,
        excluded,
        (*notes, *notes_on_names(kept)),
    )


def _of_question(
    answers: list[Judgment] | list[Preference], question: str | None
) -> list[Judgment]:
    """The answers to the question. The return type says ratings, but choices are returned as they are,
    too."""
    questions = list(dict.fromkeys(answer.question for answer in answers))
    if question is None and len(questions) > 1:
        raise InputError(
            f"There are {len(questions)} questions: choose with question=. They are "
            f"{', '.join(questions)}."
        )
    if question is not None and question not in questions:
        raise InputError(
            f"question={question!r} was not asked.{did_you_mean(question, questions)} "
            f"The questions are {', '.join(questions)}."
        )
    return cast("list[Judgment]", [a for a in answers if question in (None, a.question)])


def _judge_of(proxy: Metrics, answers: Sequence[Judgment]) -> str | None:
    """The name of the judge if the proxy is a judge; None if it is a metric."""
    if not isinstance(proxy, str):
        return None
    names = list(dict.fromkeys(answer.judge for answer in answers))
    if proxy.startswith(JUDGE_PREFIX):
        name = proxy.removeprefix(JUDGE_PREFIX)
        if name not in names:
            raise InputError(f"proxy={proxy!r}: {unknown_judge(name, names)}")
        return name
    is_judge = proxy in names and (
        proxy.startswith(MACHINE_PREFIX) or full_name(proxy) not in metric_names()
    )
    return proxy if is_judge else None


def _as_arrays(
    labels: Sequence[AnyJudgment],
    machine: Sequence[Judgment] | None,
    scores: Sequence[OutputValues],
    systems: Sequence[str],
    items: Sequence[str],
    unit_by_item: Mapping[str, str] | None,
) -> ProxiedLabels:
    """Labels and scores as arrays. `machine` has the judgments of a proxy that is a judge; else
    `scores` has the scores of one or more metrics."""
    if isinstance(labels[0], Preference):
        return chosen_labels(
            cast("Sequence[Preference]", labels),
            scores,
            cast("Sequence[Preference] | None", machine),
            systems=systems,
            items=_with_labels(items, labels),
            documents=unit_by_item,
        )
    if machine is not None:
        sums: dict[tuple[str, str], list[float]] = {}
        for judgment in machine:
            sums.setdefault((judgment.system, judgment.item), []).append(judgment.number)
        scores = [{key: sum(values) / len(values) for key, values in sums.items()}]
    return rated_labels(
        cast("Sequence[Judgment]", labels),
        scores,
        systems=systems,
        items=_with_labels(items, labels),
        documents=unit_by_item,
        is_judge=machine is not None,
    )


def _with_labels(items: Sequence[str], labels: Sequence[AnyJudgment]) -> list[str]:
    """These items, then the other items that have labels."""
    return list(dict.fromkeys([*items, *(label.item for label in labels)]))

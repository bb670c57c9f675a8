"""`estimate`: what people would say of the systems, from few of their labels and many proxy scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from wellput.agreement.chosen_answers import chosen_judges, refuse_labels
from wellput.agreement.exclusions import parse_exclusion, with_unknown, without_excluded
from wellput.agreement.machines.estimating import EstimateResult, choose_next, estimate_systems
from wellput.agreement.machines.judged_trials import OutputValues, unknown_judge
from wellput.agreement.machines.proxied_labels import ProxiedLabels, chosen_labels, rated_labels
from wellput.agreement.panel import AnyJudgment, names_of
from wellput.agreement.rankings.plain_ranking import RankingModel
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    Metrics,
    check_confidence,
    check_files,
    checks_choices,
    fitted_to,
    open_items,
    read_answers,
    split_columns,
)
from wellput.api.output_values import documents_of, item_tags, metric_values, tag_names
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import MACHINE_PREFIX, Judgment, Preference
from wellput.core.registries import Names, split_names
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.files import PathLike
from wellput.io.label_plans import read_label_probabilities, write_label_plan
from wellput.metrics.registry import create_all
from wellput.stats.places import places_of

JUDGE_PREFIX = "judge:"


@checks_choices
def estimate(
    evalset: Items,
    judgments: Answers,
    proxy: Metrics,
    *,
    column: Columns = (),
    question: str | None = None,
    judges: Names = "people",
    strata: str | None = None,
    budget: int | None = None,
    plan: PathLike | None = None,
    probabilities: PathLike | None = None,
    exclude: str | list[str] | tuple[str, ...] = (),
    confidence: float = 0.95,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> EstimateResult:
    """Estimates what people would say of each system on average, from their judgments of some items and
    a proxy's scores of all: prediction-powered inference, which takes the proxy's bias out.

    Parameters
    ----------
    evalset
        All outputs, judged or not.
    judgments
        People's judgments of some of them: numbers, yes or no, or pairwise choices.
    proxy
        A metric, a file of scores (`"./comet.csv"`), several metrics (`"chrf,length"`: they are fitted
        to the judgments, by fits that do not see the item), or a judge of the file
        (`"judge:model:gpt-4o"`).
    column
        The columns of the evalset's file, as for `score`, and those of the judgments: `judge`, `item`,
        `system`, `question` and `value`, or `system_a`, `system_b` and `choice`.
    question
        The question, where the judgments have several.
    judges
        Whose judgments are the labels: `"people"`, `"all"`, or names. The proxy is never among them.
    strata
        A tag of the items, such as `domain`: each of its values is estimated for itself.
    budget, plan
        Also chooses so many items to ask people about next, more often those on which the proxy's
        scores of the systems differ; `plan` is the CSV file to write them to.
    probabilities
        A file that `plan` wrote: the chances with which the items got their labels. Without it every
        item had the same chance.
    exclude
        Judgments to leave out, each with its reason: `"judge=J3: pressed one button"`.
    confidence
        Of intervals and rank ranges.
    path
        Writes the tables to a file; `.json`, `.csv`, `.tex` and `.md` in that format.
    seed
        Of the choice of items.
    threads, on_phase
        As for `score`.

    Returns
    -------
    EstimateResult
        `systems` with corrected estimates beside people alone and the proxy alone, `differences`,
        `labels_worth`, `next_items`.

    Raises
    ------
    InputError
        There are no labels, labels that are not numbers, several questions, or no scores of the proxy.

    Examples
    --------
    >>> import wellput
    >>> shown = wellput.demo(no_report=True)
    >>> few = [one for one in shown.judgments if int(one.item[1:]) <= 20]
    >>> found = wellput.estimate(shown.evalset, few, "chrf")
    >>> [(row.system, round(row.estimate.value, 1)) for row in found.systems[:2]]
    [('careful', 6.5), ('realizer', 6.0)]
    """
    check_confidence(confidence)
    check_files([path, plan], [evalset, judgments])
    if plan is not None and budget is None:
        raise InputError("plan= is the file for the items of budget=: give a number of items.")
    on_phase("reading judgments")
    column, own_columns = split_columns(column)
    answers = _of_question(read_answers(judgments, own_columns), question)
    name = _judge_of(proxy, answers)
    metrics = [] if name is not None else create_all(proxy)
    if own := fitted_to(judgments, metrics):
        raise InputError(
            f"proxy={own[0]!r} was fitted to these judgments, so it agrees with them too well. Give "
            "its predictors instead, such as proxy='chrf,length': they are fitted to other items than "
            "those that they are used for."
        )
    source = open_items(evalset, metrics, column=column, threads=threads, on_phase=on_phase)
    known = names_of(source.unparsed, on_progress=on_phase("reading items"))
    exclusions = [
        parse_exclusion(text) for text in ([exclude] if isinstance(exclude, str) else exclude)
    ]
    exclusions = with_unknown(answers, exclusions, known)
    kept, excluded = without_excluded(answers, exclusions)
    refuse_labels(kept[0].question if kept else "", kept)
    machine = [answer for answer in kept if answer.judge == name]
    labels, _ = chosen_judges(
        [answer for answer in kept if answer.judge != name], split_names(judges)
    )
    if not labels:
        raise InputError("There are no judgments of people.")
    documents = documents_of(source)
    items = list(known.items)
    scores: list[OutputValues] = []
    if name is None:
        on_phase("scoring")
        scores = list(metric_values(source, metrics, threads or available_cores(), on_phase))
        items = list(dict.fromkeys(item for values in scores for _, item in values))
    items = sorted(items)
    given = _given(
        labels, machine if name is not None else None, scores, list(known.systems), items, documents
    )
    if probabilities is not None:
        chances = read_label_probabilities(probabilities, given.items)
        given = replace(given, weights=1 / chances)
    if strata is not None:
        tags = item_tags(source, strata)
        if not tags:
            raise InputError(_unknown_tag(strata, tag_names(source)))
        given = replace(given, strata=places_of([tags.get(item, "") for item in given.items]))
    on_phase("estimating")
    rows, differences = estimate_systems(given, confidence=confidence)
    next_items = None
    if budget is not None:
        before = None if given.weights is None else 1 / given.weights
        next_items = choose_next(given, budget, before=before, rng=np.random.default_rng(seed))
        if plan is not None:
            write_label_plan(plan, next_items.probabilities, next_items.chosen)
    model = _model(labels)
    result = EstimateResult(
        question=labels[0].question,
        proxy=name or ", ".join(metric.name for metric in metrics),
        model=model,
        is_proxy_share=model != "mean" and _is_share(given, is_judge=name is not None),
        systems=rows,
        differences=differences,
        judges=tuple(dict.fromkeys(answer.judge for answer in labels)),
        clustered_by="item" if documents is None else "document",
        has_probabilities=given.weights is not None,
        strata=strata,
        next_items=next_items,
        excluded=excluded,
        n_without_proxy=given.n_without_proxy,
        confidence=confidence,
    )
    if path is not None:
        result.save(path)
    return result


def _of_question(
    answers: list[Judgment] | list[Preference], question: str | None
) -> list[Judgment]:
    """The answers to the question; ratings and choices alike are typed as ratings here."""
    known = list(dict.fromkeys(answer.question for answer in answers))
    if question is None and len(known) > 1:
        raise InputError(
            f"There are {len(known)} questions: choose with question=. They are {', '.join(known)}."
        )
    if question is not None and question not in known:
        raise InputError(
            f"question={question!r} was not asked.{did_you_mean(question, known)} "
            f"There are {', '.join(known)}."
        )
    return cast("list[Judgment]", [a for a in answers if question in (None, a.question)])


def _judge_of(proxy: Metrics, answers: Sequence[Judgment]) -> str | None:
    """The judge that the proxy names; None for a metric."""
    if not isinstance(proxy, str):
        return None
    names = list(dict.fromkeys(answer.judge for answer in answers))
    if proxy.startswith(JUDGE_PREFIX):
        name = proxy.removeprefix(JUDGE_PREFIX)
        if name not in names:
            raise InputError(f"proxy={proxy!r}: {unknown_judge(name, names)}")
        return name
    return proxy if proxy.startswith(MACHINE_PREFIX) and proxy in names else None


def _given(
    labels: Sequence[AnyJudgment],
    machine: Sequence[Judgment] | None,
    scores: Sequence[OutputValues],
    systems: Sequence[str],
    items: Sequence[str],
    documents: Mapping[str, str] | None,
) -> ProxiedLabels:
    if isinstance(labels[0], Preference):
        return chosen_labels(
            cast("Sequence[Preference]", labels),
            scores,
            cast("Sequence[Preference] | None", machine),
            systems=systems,
            items=_with_labels(items, labels),
            documents=documents,
        )
    if machine is not None:
        sums: dict[tuple[str, str], list[float]] = {}
        for one in machine:
            sums.setdefault((one.system, one.item), []).append(one.number)
        scores = [{key: sum(values) / len(values) for key, values in sums.items()}]
    return rated_labels(
        cast("Sequence[Judgment]", labels),
        scores,
        systems=systems,
        items=_with_labels(items, labels),
        documents=documents,
        is_judge=machine is not None,
    )


def _with_labels(items: Sequence[str], labels: Sequence[AnyJudgment]) -> list[str]:
    """The items, and those with labels that the proxy has no score for."""
    return list(dict.fromkeys([*items, *(one.item for one in labels)]))


def _model(labels: Sequence[AnyJudgment]) -> RankingModel:
    if isinstance(labels[0], Preference):
        return "win rate"
    return (
        "rate"
        if all(one.number in (0, 1) for one in cast("Sequence[Judgment]", labels))
        else "mean"
    )


def _is_share(given: ProxiedLabels, *, is_judge: bool) -> bool:
    known = given.proxies[~np.isnan(given.proxies)] / given.stretch
    is_yes_no = bool(np.isin(known, (0.0, 1.0)).all())
    return given.are_choices or is_judge or is_yes_no


def _unknown_tag(tag: str, known: Sequence[str]) -> str:
    there = f" There are {', '.join(known)}." if known else " Items have no tags."
    return f"strata={tag!r}: no item has this tag.{did_you_mean(tag, known)}{there}"

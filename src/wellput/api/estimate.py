"""`estimate`: what people would say of the systems on average, estimated from few labels by people and
many scores of a proxy.

A label is a judgment by a person. A proxy is a metric or a machine judge that scores all outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from wellput.agreement.machines.estimating import EstimateResult, choose_next, estimate_systems
from wellput.agreement.machines.proxied_labels import ProxiedLabels
from wellput.agreement.machines.strata import joined_note
from wellput.agreement.panel import AnyJudgment
from wellput.agreement.rankings.plain_ranking import EstimateScale
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    Metrics,
    check_files,
    paths_in,
)
from wellput.api.output_values import item_tags, tag_names
from wellput.api.proxied_judgments import read_proxied
from wellput.core.clusters import places_of
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import Judgment, Preference
from wellput.core.options import checks_options
from wellput.core.registries import Names
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike
from wellput.io.label_plans import read_label_probabilities, write_label_plan


@checks_options
def estimate(
    evalset: Items,
    judgments: Answers,
    proxy: Metrics,
    *,
    column: Columns = (),
    question: str | None = None,
    judges: Names = "people",
    strata: str | None = None,
    cluster: str | None = None,
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
    a proxy's scores of all items. The method, prediction-powered inference, corrects the proxy's bias.

    Parameters
    ----------
    evalset
        All outputs, judged or not.
    judgments
        People's judgments of some of the outputs: numbers, yes or no, or pairwise choices.
    proxy
        What predicts the judgments: a metric, a file of scores (`"./comet.csv"`), several metrics
        (`"chrf,length"`: they are combined by a fit to the judgments; the scores of an item come from
        a fit to judgments of other items), or a judge in the file of judgments (`"judge:NAME"`; names
        of machines begin with `model:`, so `"judge:model:gpt-4o"`).
    column
        Names columns, each as FIELD=NAME. Fields of the evalset's file are as for `score`. Fields of
        the judgments are `judge`, `item`, `system`, `question` and `value`, or `system_a`, `system_b`
        and `choice`.
    question
        The question to use. Needed if the judgments have several questions.
    judges
        Whose judgments are the labels: `"people"`, `"all"`, or names of judges. The proxy's judgments
        are never labels.
    strata
        A tag of the items, such as `domain`. The proxy is corrected separately for the items of each
        value, and the estimate is the mean of these parts, weighted by their size. Values with too few
        labels are estimated as one; `notes` says which.
    cluster
        What counts as one unit in intervals and tests, as for `score`: `"document"` (the default if
        items have documents), a tag, or `"item"`.
    budget, plan
        Also chooses this many items, for which people should judge the outputs of all systems next.
        Items for which the proxy's scores of the systems differ are chosen more often. `plan` is the
        CSV file that the chosen items are written to.
    probabilities
        A file that `plan` wrote. It has the probability with which each item was chosen to be labeled.
        Without it, every item is taken to have had the same probability.
    exclude
        Judgments to leave out, each with its reason: `"judge=J3: pressed one button"`.
    confidence
        The confidence of intervals and rank ranges.
    path
        Writes the tables to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    seed
        Seed of the choice of items.
    threads, on_phase
        As for `score`.

    Returns
    -------
    EstimateResult
        `systems` has the corrected estimates, and for comparison the means of people alone and of the
        proxy alone; also `differences`, `next_items` and `labels_worth` (how many labels without the
        proxy would be as precise).

    Raises
    ------
    InputError
        There are no labels, labels that are not numbers, several questions, or no scores of the proxy.

    Examples
    --------
    >>> import wellput
    >>> example = wellput.demo(no_report=True)
    >>> few = [label for label in example.judgments if int(label.item[1:]) <= 20]
    >>> result = wellput.estimate(example.evalset, few, "chrf")
    >>> [(row.system, round(row.estimate.value, 1)) for row in result.systems[:2]]
    [('careful', 6.5), ('realizer', 6.0)]
    """
    check_files([path, plan], [evalset, judgments, probabilities, *paths_in(proxy)])
    if plan is not None and budget is None:
        raise InputError("plan= is the file for the items of budget=: give a number of items.")
    proxied = read_proxied(
        evalset,
        judgments,
        proxy,
        column=column,
        question=question,
        judges=judges,
        cluster=cluster,
        exclude=exclude,
        threads=threads,
        on_phase=on_phase,
    )
    arrays, notes = proxied.arrays, list(proxied.notes)
    if probabilities is not None:
        label_probabilities = read_label_probabilities(probabilities, arrays.items)
        arrays = replace(arrays, weights=1 / label_probabilities)
    if strata is not None:
        tags = item_tags(proxied.source, strata)
        if not tags:
            raise InputError(_unknown_tag(strata, tag_names(proxied.source)))
        values = [tags.get(item, "") for item in arrays.items]
        arrays = replace(
            arrays, strata=places_of(values), strata_names=tuple(dict.fromkeys(values))
        )
        notes += joined_note(arrays, strata, clustered_by=proxied.clustered_by)
    on_phase("estimating")
    rows, differences = estimate_systems(arrays, confidence=confidence)
    next_items = None
    if budget is not None:
        earlier_probabilities = None if arrays.weights is None else 1 / arrays.weights
        next_items = choose_next(
            arrays, budget, before=earlier_probabilities, rng=np.random.default_rng(seed)
        )
        if plan is not None:
            write_label_plan(plan, next_items.probabilities, next_items.chosen)
    scale = _estimated_scale(proxied.labels)
    result = EstimateResult(
        question=proxied.labels[0].question,
        proxy=proxied.proxy,
        model=scale,
        is_proxy_share=scale != "mean" and _is_mean_a_share(arrays, is_judge=proxied.is_judge),
        systems=rows,
        differences=differences,
        judges=tuple(dict.fromkeys(answer.judge for answer in proxied.labels)),
        clustered_by=proxied.clustered_by,
        has_probabilities=arrays.weights is not None,
        strata=strata,
        next_items=next_items,
        excluded=proxied.excluded,
        notes=notes,
        n_without_proxy=arrays.n_without_proxy,
        is_proxy_a_copy=arrays.is_proxy_a_copy,
        confidence=confidence,
    )
    if path is not None:
        result.save(path)
    return result


def _estimated_scale(labels: Sequence[AnyJudgment]) -> EstimateScale:
    """What is estimated: a win rate of choices, a rate of yes, or a mean."""
    if isinstance(labels[0], Preference):
        return "win rate"
    return (
        "rate"
        if all(label.number in (0, 1) for label in cast("Sequence[Judgment]", labels))
        else "mean"
    )


def _is_mean_a_share(proxied: ProxiedLabels, *, is_judge: bool) -> bool:
    """Whether the proxy's mean is a share, which can be shown as a percentage."""
    # The scores before they were stretched to the standard deviation of the labels.
    proxy_scores = proxied.proxies[~np.isnan(proxied.proxies)] / proxied.stretch
    is_yes_no = bool(np.isin(proxy_scores, (0.0, 1.0)).all())
    return proxied.are_choices or is_judge or is_yes_no


def _unknown_tag(tag: str, tags: Sequence[str]) -> str:
    tags_there_are = f" The tags are {', '.join(tags)}." if tags else " Items have no tags."
    return f"strata={tag!r}: no item has this tag.{did_you_mean(tag, tags)}{tags_there_are}"

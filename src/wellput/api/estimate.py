"""`estimate`: what people would say of the systems, from few of their labels and many proxy scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from wellput.agreement.machines.estimating import EstimateResult, choose_next, estimate_systems
from wellput.agreement.machines.proxied_labels import ProxiedLabels
from wellput.agreement.panel import AnyJudgment
from wellput.agreement.rankings.plain_ranking import RankingModel
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    Metrics,
    check_files,
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
    cluster
        What takes the items' place, as for `score`: `"document"` (the default where items have them), a
        tag, or `"item"`.
    budget, plan
        Also chooses this many items to ask people about next (the outputs of all systems for each),
        more often those on which the proxy's scores of the systems differ; `plan` is the CSV file to
        write them to.
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
        Seed of the choice of items.
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
    check_files([path, plan], [evalset, judgments])
    if plan is not None and budget is None:
        raise InputError("plan= is the file for the items of budget=: give a number of items.")
    read = read_proxied(
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
    given = read.given
    if probabilities is not None:
        chances = read_label_probabilities(probabilities, given.items)
        given = replace(given, weights=1 / chances)
    if strata is not None:
        tags = item_tags(read.source, strata)
        if not tags:
            raise InputError(_unknown_tag(strata, tag_names(read.source)))
        given = replace(given, strata=places_of([tags.get(item, "") for item in given.items]))
    on_phase("estimating")
    rows, differences = estimate_systems(given, confidence=confidence)
    next_items = None
    if budget is not None:
        before = None if given.weights is None else 1 / given.weights
        next_items = choose_next(given, budget, before=before, rng=np.random.default_rng(seed))
        if plan is not None:
            write_label_plan(plan, next_items.probabilities, next_items.chosen)
    model = _model(read.labels)
    result = EstimateResult(
        question=read.labels[0].question,
        proxy=read.proxy,
        model=model,
        is_proxy_share=model != "mean" and _is_share(given, is_judge=read.is_judge),
        systems=rows,
        differences=differences,
        judges=tuple(dict.fromkeys(answer.judge for answer in read.labels)),
        clustered_by=read.clustered_by,
        has_probabilities=given.weights is not None,
        strata=strata,
        next_items=next_items,
        excluded=read.excluded,
        notes=read.notes,
        n_without_proxy=given.n_without_proxy,
        is_proxy_a_copy=given.is_proxy_a_copy,
        confidence=confidence,
    )
    if path is not None:
        result.save(path)
    return result


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
    there = f" The tags are {', '.join(known)}." if known else " Items have no tags."
    return f"strata={tag!r}: no item has this tag.{did_you_mean(tag, known)}{there}"

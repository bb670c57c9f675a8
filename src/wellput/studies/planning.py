"""From an evalset to a `StudySetup`: the medium that shows its outputs, all possible trials, and a
selection of them when there are too many to judge.

`random` selects some trials of every system (or pair). `spread` selects some from each fifth of the
range of a metric's scores, so that high and low scores are judged equally often. `contrast` selects
the trials on which two metrics disagree most. (Bangalore, Rambow & Whittaker 2000 did both: they spread
each metric's values, and set metrics against each other.) A metric's value of a trial is the score of
its output; for a pair, it is the first score minus the second; for a page with several outputs, it is
their mean score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.stats import rankdata

from wellput.agreement.preferences import KEPT, REFUSED
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import EvalSet
from wellput.core.metric import Floats, Metric
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import ScoringPlan
from wellput.metrics.registry import create_all
from wellput.studies.degraded_checks import degraded_checks
from wellput.studies.designs.base import SUBSTITUTION_DESIGN, SUBSTITUTION_SETTINGS, Design
from wellput.studies.designs.registry import design_of
from wellput.studies.media import medium_for
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.settings import StudySettings
from wellput.studies.study_setup import (
    StudyItem,
    StudyPlan,
    StudySetup,
    Trial,
    all_trials,
    make_setup,
    study_items,
)

SelectionMethod: TypeAlias = Literal["random", "spread", "contrast"]
SELECTION_METHODS: tuple[SelectionMethod, ...] = get_args(SelectionMethod)
STRATA_PER_METRIC = 5
"""The range of a metric's values is divided into this many strata."""


@dataclass(frozen=True)
class Stratum:
    """A group of trials from which some are selected: its name, and the numbers of its trials in the
    order of selection."""

    name: str
    candidates: Sequence[int]


@dataclass(frozen=True)
class TrialSelection:
    """The selected trials, and the record of how they were selected."""

    trials: tuple[Trial, ...]
    record: Mapping[str, Any]


def select_trials(
    evalset: EvalSource,
    questionnaire: Questionnaire,
    items: Sequence[StudyItem],
    trials: Sequence[Trial],
    *,
    method: SelectionMethod,
    metrics: Sequence[str | Metric] = (),
    per_stratum: int = 10,
    seed: int,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> TrialSelection:
    """Selects at most `per_stratum` trials from each group; the selected trials keep their order. The
    selection depends only on the arguments and the seed."""
    if method not in SELECTION_METHODS:
        raise InputError(f"No select={method!r}; there are {', '.join(SELECTION_METHODS)}.")
    if per_stratum < 1:
        raise InputError("At least one trial must be taken from each stratum.")
    if method == "random" and metrics:
        raise InputError("A random selection does not use metrics: choose spread or contrast.")
    if method != "random" and len(metrics) < (2 if method == "contrast" else 1):
        needed = (
            "two metrics, to set them against each other" if method == "contrast" else "a metric"
        )
        raise InputError(f"select={method!r} needs metrics=: {needed}.")
    rng = np.random.default_rng(seed)
    tables: Mapping[str, ScoreTable] = {}
    if method != "random":
        chosen_metrics = create_all(metrics)
        plan = ScoringPlan(threads=threads or available_cores(), keep_rows=True)
        tables = score_source(evalset, chosen_metrics, plan=plan, on_phase=on_phase).tables
        on_phase("choosing trials")
    if method == "random":
        strata = _by_systems(trials, is_page=questionnaire.layout == "page", rng=rng)
    else:
        design = design_of(questionnaire)
        values = {
            name: trial_values(table, design, items, trials) for name, table in tables.items()
        }
        strata = _spread(values, rng) if method == "spread" else _contrast(values)
    chosen: set[int] = set()
    record = []
    for stratum in strata:
        taken = list(stratum.candidates[:per_stratum])
        chosen.update(taken)
        record.append(
            {"stratum": stratum.name, "trials": len(stratum.candidates), "chosen": len(taken)}
        )
    if not chosen:
        predicate = "has a score under" if method == "spread" else "sets apart"
        raise InputError(f"Nothing can be selected: no trial {predicate} {', '.join(tables)}.")
    return TrialSelection(
        tuple(trials[number] for number in sorted(chosen)),
        {
            "method": method,
            "metrics": {name: table.signature for name, table in tables.items()},
            "per_stratum": per_stratum,
            "seed": seed,
            "strata": record,
            "trials": len(trials),
            "chosen": len(chosen),
        },
    )


def trial_values(
    table: ScoreTable, design: Design, items: Sequence[StudyItem], trials: Sequence[Trial]
) -> Floats:
    """The metric's value of each trial, NaN where there is none."""
    columns = {item: column for column, item in enumerate(table.items)}
    rows = {system: row for row, system in enumerate(table.systems)}
    values = np.full(len(trials), np.nan)
    for number, trial in enumerate(trials):
        column = columns[items[trial.item].id]
        scores = [table.scores[rows[system], column] for system in trial.systems]
        values[number] = design.trial_score(scores)
    return values


def used_items(
    items: Sequence[StudyItem], trials: Sequence[Trial]
) -> tuple[tuple[StudyItem, ...], tuple[Trial, ...]]:
    """The items that the trials use, and the trials with the places of their items among these."""
    used_places = sorted({trial.item for trial in trials})
    new_places = {old: new for new, old in enumerate(used_places)}
    return (
        tuple(items[place] for place in used_places),
        tuple(Trial(new_places[trial.item], trial.systems) for trial in trials),
    )


def _by_systems(
    trials: Sequence[Trial], *, is_page: bool, rng: np.random.Generator
) -> list[Stratum]:
    """A stratum for each system (or pair) that trials show, with its trials in random order; one
    stratum for all trials if a trial is a page with all systems (`is_page`)."""
    groups: dict[str, list[int]] = {}
    for number, trial in enumerate(trials):
        name = "pages" if is_page else " and ".join(trial.systems)
        groups.setdefault(name, []).append(number)
    return [Stratum(name, rng.permutation(numbers).tolist()) for name, numbers in groups.items()]


def _spread(values: Mapping[str, Floats], rng: np.random.Generator) -> list[Stratum]:
    """A stratum for each fifth of each metric's range, with its trials in random order. `values` are
    the values of all trials, by metric."""
    strata = []
    for name, column in values.items():
        known = np.flatnonzero(~np.isnan(column))
        if not len(known):
            continue
        low, high = column[known].min(), column[known].max()
        edges = np.linspace(low, high, STRATA_PER_METRIC + 1)
        # The highest value belongs to the last stratum.
        places = np.clip(
            np.searchsorted(edges, column[known], side="right") - 1, 0, STRATA_PER_METRIC - 1
        )
        for place in range(STRATA_PER_METRIC):
            inside = known[places == place]
            if len(inside):
                label = f"{name} {edges[place]:.4g} to {edges[place + 1]:.4g}"
                strata.append(Stratum(label, rng.permutation(inside).tolist()))
    return strata


def _contrast(values: Mapping[str, Floats]) -> list[Stratum]:
    """Two strata for each pair of metrics: the trials that the first metric ranks higher, and those
    that the second one does, the greatest differences of ranks first. `values` are the values of all
    trials, by metric."""
    strata = []
    for (a, first), (b, second) in combinations(values.items(), 2):
        known = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
        if not len(known):
            continue
        difference = (rankdata(first[known]) - rankdata(second[known])) / len(known)
        order = np.argsort(-difference, kind="stable")
        higher = [int(known[place]) for place in order if difference[place] > 0]
        lower = [int(known[place]) for place in order[::-1] if difference[place] < 0]
        strata += [Stratum(f"{a} high, {b} low", higher), Stratum(f"{b} high, {a} low", lower)]
    return strata


def plan_study(
    evalset: EvalSet,
    settings: StudySettings,
    plan: StudyPlan,
    *,
    select: SelectionMethod | None = None,
    metrics: Sequence[str | Metric] = (),
    per_stratum: int = 10,
    degraded: bool = False,
    seed: int,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> StudySetup:
    """All that is fixed when the study begins. `select` is a method of selecting some of the trials,
    None to take all of them. With `degraded`, the attention checks are spoiled outputs."""
    on_phase("planning trials")
    medium = medium_for(evalset, settings.show)
    questionnaire = medium.reworded(settings.questionnaire, design_of(settings.questionnaire))
    items = study_items(
        evalset, medium, source=settings.show_source, reference=settings.show_reference
    )
    trials = all_trials(questionnaire, items)
    selection: Mapping[str, Any] = {}
    if select is not None:
        selected = select_trials(
            evalset,
            questionnaire,
            items,
            trials,
            method=select,
            metrics=metrics,
            per_stratum=per_stratum,
            seed=seed,
            threads=threads,
            on_phase=on_phase,
        )
        trials, selection = selected.trials, selected.record
    elif metrics:
        raise InputError(
            "metrics= are used to choose trials: add select='spread' or select='contrast'."
        )
    items, trials = used_items(items, trials)
    checks = settings.checks
    if degraded:
        design = design_of(questionnaire)
        checks = degraded_checks(questionnaire, design, items, trials, seed=seed)
    return make_setup(
        questionnaire,
        plan,
        items,
        trials,
        seed=seed,
        checks=checks,
        tasks=settings.tasks,
        selection=selection,
    )


def substitution_settings(
    evalset: EvalSet,
    record: Mapping[str, Any],
    *,
    design: str | Design | None,
    points: int | None,
) -> tuple[str, dict[str, Any]]:
    """The design and the settings of a study in which judges accept or refuse substitutions of words,
    which `wellput paraphrase` wrote. The settings of the owner (`record`) replace the usual ones."""
    if not set(evalset.systems) <= {KEPT, REFUSED}:
        raise InputError(
            "This evalset holds no substitutions. `wellput paraphrase` writes them to a file, which "
            "its option substitutions names."
        )
    if design not in (None, SUBSTITUTION_DESIGN) or points is not None:
        raise InputError(
            "from_substitutions=True asks right or wrong: leave out design= and points=."
        )
    return SUBSTITUTION_DESIGN, {**SUBSTITUTION_SETTINGS, **record}

"""From an evalset to a `StudySetup`: what shows its outputs, which trials there are, which of them are
shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wellput.agreement.preferences import KEPT, REFUSED
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.core.metric import Metric
from wellput.core.progress import OnPhase, unheard_phase
from wellput.studies.designs.base import Design
from wellput.studies.designs.registry import design_of
from wellput.studies.media import medium_for
from wellput.studies.selection import Method, select_trials, used_items
from wellput.studies.settings import Settings
from wellput.studies.study_setup import (
    StudyPlan,
    StudySetup,
    all_trials,
    make_setup,
    study_items,
)
from wellput.studies.wordings import SUBSTITUTIONS, SUBSTITUTIONS_DESIGN


def plan_study(
    evalset: EvalSet,
    settings: Settings,
    plan: StudyPlan,
    *,
    select: Method | None = None,
    metrics: Sequence[str | Metric] = (),
    per_stratum: int = 10,
    seed: int,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
) -> StudySetup:
    """All that is fixed when the study begins; `select` shows only some of the trials."""
    on_phase("planning trials")
    medium = medium_for(evalset)
    questionnaire = medium.reworded(settings.questionnaire, design_of(settings.questionnaire))
    items = study_items(evalset, medium, source=settings.show_source)
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
    return make_setup(
        questionnaire,
        plan,
        items,
        trials,
        seed=seed,
        checks=settings.checks,
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
    """The design and the settings of a study of substitutions; what the owner's settings say goes
    before the usual words."""
    if not set(evalset.systems) <= {KEPT, REFUSED}:
        raise InputError(
            "This evalset holds no substitutions. `wellput paraphrase` writes them to a file, which "
            "its option substitutions names."
        )
    if design not in (None, SUBSTITUTIONS_DESIGN) or points is not None:
        raise InputError(
            "from_substitutions=True asks right or wrong: leave out design= and points=."
        )
    return SUBSTITUTIONS_DESIGN, {**SUBSTITUTIONS, **record}

"""`StudySetup`: all that is fixed when a study begins. It has the questionnaire, the items, the
trials, and the `StudyPlan`, which says who judges what.

A trial is an item with the output of one system, of two systems (a pair), or of all systems (a page).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from wellput.core.errors import InputError, counted
from wellput.core.evalset import Item
from wellput.core.line_breaks import with_line_feeds
from wellput.core.metric import Integers
from wellput.studies.designs.base import Design
from wellput.studies.designs.registry import design_of
from wellput.studies.media import Medium, medium_named
from wellput.studies.questionnaire import Check, Questionnaire, Task
from wellput.studies.questions import NOT_STORABLE, is_storable, unstorable_places
from wellput.studies.wording import Wording

if TYPE_CHECKING:
    from wellput.studies.assignment_rules import ShownGroups
    from wellput.studies.machine_queue import MachineOrder

PlanKind: TypeAlias = Literal["per-item", "within-judge"]
PLAN_KINDS: tuple[PlanKind, ...] = get_args(PlanKind)
IMPORTED = "import"
"""The method of selection of a study whose answers were imported."""


@dataclass(frozen=True)
class StudyPlan:
    """Who judges what.

    Under the plan `per-item`, `per_item` judges judge every trial. Under `within-judge`, a judge sees
    each item once, and every system (or every pair, half of the times in each order) `times` times.
    `judges` is the expected number of judges; under per-item it decides how many trials a judge gets,
    at most `at_most`. A judge also sees `repeats` of the trials again, and `checks` attention checks.
    If a judge is away for `lease_minutes`, another judge gets the open trial.
    """

    kind: PlanKind = "per-item"
    judges: int = 3
    per_item: int = 3
    times: int | None = None
    repeats: int = 0
    checks: int = 0
    at_most: int | None = None
    lease_minutes: float = 30.0


@dataclass(frozen=True)
class StudyItem:
    """An item as judges see it: the outputs by system, as the study's medium stores them, and
    `speech`, their common sound (a WAV file), if any. Judges do not see the name of its `document`;
    the ranking needs it. `prefilled` has, by system, error spans that judges find marked already."""

    id: str
    outputs: Mapping[str, str]
    context: str | None = None
    source: str | None = None
    speech: bytes | None = field(default=None, repr=False, compare=False)
    document: str | None = None
    references: tuple[str, ...] = ()
    prefilled: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """An item (by its place in the study) with the systems whose outputs are shown together."""

    item: int
    systems: tuple[str, ...]


@dataclass(frozen=True)
class StudySetup:
    """A study before anybody has judged. `tasks` are questions about items with their right answers, by
    the id of the item. `selection` is the record of how the trials were selected; in an imported study,
    the trials are the outputs that were judged elsewhere."""

    questionnaire: Questionnaire
    plan: StudyPlan
    items: tuple[StudyItem, ...]
    trials: tuple[Trial, ...]
    seed: int
    checks: tuple[Check, ...] = ()
    tasks: Mapping[str, Task] = field(default_factory=dict)
    selection: Mapping[str, Any] = field(default_factory=dict)
    # Each judge's trials under the plan within-judge, computed when they are first needed.
    trials_of_judges: dict[int, tuple[Trial, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )
    # The order in which each machine gets the trials.
    machine_orders: dict[int, MachineOrder] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def design(self) -> Design:
        return design_of(self.questionnaire)

    @cached_property
    def words(self) -> Wording:
        """The texts of the pages, in the language of the study."""
        return self.questionnaire.words

    @cached_property
    def medium(self) -> Medium:
        return medium_named(self.questionnaire.medium)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for trial in self.trials for name in trial.systems))

    @cached_property
    def times(self) -> int:
        """Under the plan within-judge, how often a judge sees each system or pair."""
        from wellput.studies.assignment_rules import max_times

        return self.plan.times or max_times(self)

    @cached_property
    def shown_groups(self) -> ShownGroups:
        """Under the plan within-judge, which systems or pairs can be shown for which items."""
        from wellput.studies.assignment_rules import shown_groups

        return shown_groups(self)

    @cached_property
    def number_of_trial(self) -> Mapping[tuple[int, frozenset[str]], int]:
        """The number of each trial, by its item and its systems in any order."""
        numbers: dict[tuple[int, frozenset[str]], int] = {}
        for number, trial in enumerate(self.trials):
            numbers.setdefault((trial.item, frozenset(trial.systems)), number)
        return numbers

    @property
    def is_imported(self) -> bool:
        """Whether the answers were collected elsewhere."""
        return self.selection.get("method") == IMPORTED

    @cached_property
    def has_documents(self) -> bool:
        """Whether any item belongs to a document."""
        return any(item.document for item in self.items)

    @cached_property
    def has_prefilled(self) -> bool:
        """Whether judges find spans that were marked beforehand."""
        return any(item.prefilled for item in self.items)

    @cached_property
    def items_of_document(self) -> Mapping[str, tuple[int, ...]]:
        """The places of the items of each document."""
        places: dict[str, tuple[int, ...]] = {}
        for place, item in enumerate(self.items):
            if item.document:
                places[item.document] = (*places.get(item.document, ()), place)
        return places

    @cached_property
    def document_of_trial(self) -> Integers | None:
        """A number for each trial: trials with the same number show the same document by the same
        system (on a page, by all systems). The trials of a document are in its order. None if judges
        do not read documents."""
        if not self.design.shows_documents or not self.has_documents:
            return None
        number_of: dict[object, int] = {}
        numbers = []
        for trial in self.trials:
            document = self.items[trial.item].document
            key = (document, trial.systems) if document else trial
            numbers.append(number_of.setdefault(key, len(number_of)))
        return np.array(numbers)

    @cached_property
    def item_of_trial(self) -> Integers:
        """Each trial's item, by its place."""
        return np.array([trial.item for trial in self.trials])

    @cached_property
    def systems_of_trial(self) -> Integers:
        """A row for each trial: the places of its systems in `systems`. Shorter rows are filled with
        the number of systems, which is no system's place."""
        place = {system: number for number, system in enumerate(self.systems)}
        width = max(len(trial.systems) for trial in self.trials)
        rows = np.full((len(self.trials), width), len(place))
        for row, trial in zip(rows, self.trials, strict=True):
            row[: len(trial.systems)] = [place[system] for system in trial.systems]
        return rows

    def settings(self) -> dict[str, Any]:
        """Everything except the items and trials, as plain values."""
        return {
            "design": self.questionnaire.to_json(),
            "plan": asdict(self.plan),
            "seed": self.seed,
            "checks": [asdict(check) for check in self.checks],
            "tasks": [asdict(task) for task in self.tasks.values()],
            "selection": dict(self.selection),
        }


def references_and_prefilled(items: Iterable[StudyItem]) -> dict[str, Any]:
    """The references and prefilled spans of items, by the item's id. The table of items has no columns
    for them, so they are stored with the settings."""
    return {
        item.id: {"references": item.references, "prefilled": item.prefilled}
        for item in items
        if item.references or item.prefilled
    }


def with_references_and_prefilled(item: StudyItem, stored: Mapping[str, Any]) -> StudyItem:
    """The item with its references and prefilled spans. `stored` is the result of
    `references_and_prefilled`."""
    record = stored.get(item.id)
    if record is None:
        return item
    prefilled = {system: tuple(spans) for system, spans in record["prefilled"].items()}
    return replace(item, references=tuple(record["references"]), prefilled=prefilled)


def study_items(
    items: Iterable[Item], medium: Medium, *, source: bool = False, reference: bool = False
) -> tuple[StudyItem, ...]:
    """The items that have outputs. Raises InputError if there are none, or something cannot be shown.

    Judges see the source only with `source`: a judge who rates fluency must not look at it. They see
    the references only with `reference`.
    """
    shown_items: list[StudyItem] = []
    problems: list[str] = []
    for item in items:
        outputs, speech, output_problems = medium.prepared(item)
        problems += output_problems
        problems += [
            f"item {item.id}: the output of {system} has characters (NUL or half a surrogate pair) "
            "that cannot be shown"
            for system, output in outputs.items()
            if not all(is_storable(text) for text in (item.id, system, output))
        ]
        context, source_text = (
            with_line_feeds(given or "") for given in (item.context, item.source)
        )
        references = tuple(map(with_line_feeds, item.references if reference else ()))
        if not all(map(is_storable, (context, source_text, *references))):
            problems.append(f"item {item.id}: its context, source or reference cannot be shown")
        if not is_storable(item.document or ""):
            problems.append(f"item {item.id}: the name of its document cannot be stored")
        if outputs:
            shown_items.append(
                StudyItem(
                    item.id,
                    outputs,
                    None if item.context is None else context,
                    source_text if source and item.source is not None else None,
                    speech,
                    item.document,
                    references,
                )
            )
    if problems:
        raise InputError.collect("These cannot be shown to judges:", problems)
    if not shown_items:
        raise InputError(
            "There is nothing to judge: no item of the evalset has an output. An item's line needs "
            '"outputs": {"SYSTEM": "text"}.'
        )
    return tuple(shown_items)


MAX_TRIALS = 1_000_000
"""A trial takes about a kilobyte of memory, and a thousand systems make half a million pairs of each
item."""


def check_number_of_trials(n_trials: int) -> None:
    """Raises InputError for more than `MAX_TRIALS`."""
    if n_trials > MAX_TRIALS:
        raise InputError(
            f"This makes more than {MAX_TRIALS:,} trials. Give fewer items, systems or repeats."
        )


def all_trials(
    questionnaire: Questionnaire, items: Sequence[StudyItem], design: Design | None = None
) -> tuple[Trial, ...]:
    """Every possible trial, in the order of the items. `design` is the questionnaire's unless it is
    given: machine judges also have designs that are not in the registry. Raises InputError if there are
    no trials or too many."""
    design = design or design_of(questionnaire)
    systems = dict.fromkeys(system for item in items for system in item.outputs)
    places = {system: place for place, system in enumerate(systems)}
    trials: list[Trial] = []
    for place, item in enumerate(items):
        systems_of_item = sorted(item.outputs, key=places.__getitem__)
        for group in design.groups(systems_of_item, questionnaire.layout):
            if design.is_worth_asking([item.outputs[system] for system in group]):
                trials.append(Trial(place, group))
                check_number_of_trials(len(trials))
    if not trials:
        raise InputError(design.why_no_trials(len(systems)))
    return tuple(trials)


def make_plan(
    kind: PlanKind = "per-item",
    *,
    judges: int | None = None,
    per_item: int | None = None,
    times: int | None = None,
    **others: Any,
) -> StudyPlan:
    """A plan, with the usual values for arguments that are None."""
    if kind not in PLAN_KINDS:
        raise InputError(f"No plan={kind!r}; there are {', '.join(PLAN_KINDS)}.")
    if kind == "within-judge" and per_item is not None:
        raise InputError("plan='within-judge' has no per_item=: give times=.")
    if kind == "per-item" and times is not None:
        raise InputError("times= belongs to plan='within-judge'.")
    if per_item is None:
        per_item = min(3, judges or 3)
    return StudyPlan(kind, per_item if judges is None else judges, per_item, times, **others)


def make_setup(
    questionnaire: Questionnaire,
    plan: StudyPlan,
    items: Sequence[StudyItem],
    trials: Sequence[Trial],
    *,
    seed: int,
    checks: Sequence[Check] = (),
    tasks: Sequence[Task] = (),
    selection: Mapping[str, Any] | None = None,
) -> StudySetup:
    """A study. Raises InputError where its parts do not fit together."""
    by_item = {task.item: task for task in tasks}
    problems = _plan_problems(plan, len(trials))
    if design_of(questionnaire).has_tasks:
        lacking = [items[t.item].id for t in trials if items[t.item].id not in by_item]
        problems += [f"item {name} has no [[tasks]] entry" for name in dict.fromkeys(lacking)]
    elif tasks:
        problems.append(f"a {questionnaire.kind} study does not use [[tasks]]")
    medium = medium_named(questionnaire.medium)
    if not medium.shows_text and (questionnaire.practice or checks):
        problems.append(
            f"practice trials and attention checks are text, which the {medium.name} cannot show"
        )
    marks_spans = any(question.kind == "spans" for question in questionnaire.questions)
    if marks_spans and not medium.shows_text:
        problems.append(f"spans are marked in texts; the {medium.name} shows none")
    if plan.checks and not checks:
        problems.append("there are no attention checks to show; give [[checks]]")
    texts = {
        **questionnaire.to_json(),
        "checks": [asdict(check) for check in checks],
        "tasks": [asdict(task) for task in tasks],
    }
    problems += [f"{place} {NOT_STORABLE}" for place in unstorable_places(texts)]
    if problems:
        raise InputError.collect("This study cannot be made:", problems)
    setup = StudySetup(
        questionnaire,
        plan,
        tuple(items),
        tuple(trials),
        seed,
        tuple(checks),
        by_item,
        selection or {},
    )
    if plan.kind == "within-judge":
        from wellput.studies.assignment_rules import within_judge_trials

        within_judge_trials(setup, judge=1)  # raises an error now, not when the first judge begins
    return setup


def _plan_problems(plan: StudyPlan, n_trials: int) -> list[str]:
    """Why the plan is impossible, in words; [] if it is possible."""
    problems = []
    if plan.judges < 1:
        problems.append("there must be at least one judge")
    if plan.per_item < 1:
        problems.append("every trial must be judged at least once")
    if plan.kind == "per-item" and plan.per_item > plan.judges:
        problems.append(
            f"{plan.per_item} judgments of a trial need {plan.per_item} judges, and there "
            f"{'is' if plan.judges == 1 else 'are'} {plan.judges}"
        )
    if plan.times is not None and plan.times < 1:
        problems.append("systems must be seen at least once")
    if min(plan.repeats, plan.checks) < 0:
        problems.append("repeats and checks cannot be negative")
    if not plan.lease_minutes > 0:
        problems.append("a lease must last some time")
    if plan.at_most is not None and plan.kind == "per-item":
        if plan.at_most < 1:
            problems.append("a judge must have at least one trial")
        elif plan.at_most * plan.judges < n_trials * plan.per_item:
            problems.append(
                f"{counted(plan.judges, 'judge')} with at most {counted(plan.at_most, 'trial')} each "
                f"cannot give {counted(n_trials, 'trial')} × {counted(plan.per_item, 'judgment')}"
            )
    return problems

"""`Rubric`: what a machine judge is asked, and what it sees beside the outputs. It can be read
from a study's file of settings, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.registries import split_names
from wellput.studies.assignment_rules import is_first_shown_first
from wellput.studies.designs.base import Design
from wellput.studies.designs.registry import design_of
from wellput.studies.machines.error_spans import SpansDesign, spans_questionnaire
from wellput.studies.machines.prompts import Prompt, ShownTexts, make_prompt, prompt_hash
from wellput.studies.media import TextMedium, medium_for
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.questions import Question
from wellput.studies.settings import make_settings, read_settings
from wellput.studies.study_setup import all_trials, check_number_of_trials, study_items
from wellput.studies.wording import DEFAULT_UNIT, SENTENCE, check_unit

RubricSource: TypeAlias = str | Path | Iterable[str] | Mapping[str, Any]
"""Names of questions, the path of a file of settings (`.toml`), or a dictionary with its contents."""

RUBRIC_SETTINGS = {"design": str, "show_reference": bool}
"""The settings that only a rubric has."""
SETTINGS_FOR_PEOPLE = ("consent", "practice", "demographics", "checks", "thanks", "layout", "show")
"""Settings of a study that a rubric ignores, because they are about what people see."""


@dataclass(frozen=True)
class Rubric:
    """The questions in their words, and whether source and references are shown. In questions that come
    with wellput, `unit` is the name for the kind of text that is judged, such as "sentence"."""

    questionnaire: Questionnaire
    show_source: bool = False
    show_reference: bool = False
    unit: str = SENTENCE

    @property
    def design(self) -> Design:
        is_spans = self.questionnaire.kind == SpansDesign.name
        return SpansDesign() if is_spans else design_of(self.questionnaire)

    @property
    def hash(self) -> str:
        return prompt_hash(
            self.questionnaire,
            self.design,
            has_source=self.show_source,
            has_references=self.show_reference,
            unit=self.unit,
        )

    def prompt(self, question: Question, shown: ShownTexts) -> Prompt:
        return make_prompt(self.questionnaire, self.design, question, shown, self.unit)


def make_rubric(
    question: RubricSource,
    *,
    design: str | Design | None = None,
    points: int | None = None,
    ties: bool = False,
    show_source: bool = False,
    show_reference: bool = False,
    unit: str = DEFAULT_UNIT,
) -> Rubric:
    """The rubric of a file, a dictionary with its contents, or names of questions. Options override the
    file."""
    check_unit(unit)
    record: dict[str, Any] = {}
    names: Sequence[str] = ()
    if isinstance(question, Mapping | Path):
        record = read_settings(question, RUBRIC_SETTINGS)
    else:
        names = split_names(question)
        if len(names) == 1 and names[0].endswith(".toml"):
            record, names = read_settings(names[0], RUBRIC_SETTINGS), ()
        elif any(name.endswith(".toml") for name in names):
            raise InputError("question= takes one file of settings, or names of questions.")
        elif file := next((name for name in names if Path(name).is_file() or "/" in name), None):
            raise InputError(
                f"{file} is not a file of questions: it must be TOML and end in .toml, as for study "
                "create --settings."
            )
    if not record and not names:
        raise InputError("question= is needed: the name of a question, or a file of settings.")
    own = {name: record.pop(name) for name in RUBRIC_SETTINGS if name in record}
    for name in SETTINGS_FOR_PEOPLE:
        record.pop(name, None)
    shows_source = show_source or bool(record.get("show_source", False))
    shows_reference = show_reference or bool(own.get("show_reference", False))
    if (design or own.get("design")) == SpansDesign.name:
        if points is not None or ties:
            raise InputError("The design spans has neither points= nor ties=.")
        return Rubric(spans_questionnaire(record, names), shows_source, shows_reference)
    settings = make_settings(
        design or own.get("design", "rating"),
        record,
        questions=names,
        points=points,
        ties=ties or None,
    )
    made = settings.questionnaire
    if design_of(made).has_tasks:
        raise InputError(
            "A machine answers tasks only as a judge of a study: wellput judge STUDY --model MODEL."
        )
    if any(one.kind == "spans" for one in made.questions):
        raise InputError("A machine marks errors with design='spans'; mqm is for people.")
    return Rubric(made, shows_source, shows_reference, unit)


@dataclass(frozen=True)
class MachineTrial:
    """One question about one output, or about two in the order shown, asked for the `repeat`-th time
    (from 0). `is_swapped`: the second of the two orders of a pair. `sample` is the number of the sample
    where outputs have several, else None."""

    item: str
    systems: tuple[str, ...]
    question: Question
    shown: ShownTexts
    repeat: int = 0
    is_swapped: bool = False
    sample: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from other trials of the same run."""
        asked = self.question.name, self.repeat, self.is_swapped, self.sample
        return self.item, self.systems, self.shown, *asked


def machine_trials(
    rubric: Rubric, evalset: EvalSet, *, repeats: int, swap: bool, seed: int
) -> list[MachineTrial]:
    """Every trial, in the order of the items. Half of the pairs are shown in each order; with `swap`
    each pair is shown in both."""
    medium = medium_for(evalset)
    if not isinstance(medium, TextMedium):
        raise InputError("A machine judges texts; the outputs of this evalset are of another kind.")
    if swap and not rubric.design.balances_order:
        raise InputError("swap=True shows pairs in both orders: it needs design='pairwise'.")
    if rubric.show_reference and not any(item.references for item in evalset):
        raise InputError("show_reference=True: no item of the evalset has a reference.")
    if rubric.show_source and not any(item.source for item in evalset):
        raise InputError("show_source=True: no item of the evalset has a source.")
    found: list[MachineTrial] = []
    layers = _by_sample(evalset)
    for place, items in enumerate(layers):
        sample = place if len(layers) > 1 else None
        if not place or any(_has_trial(rubric, item) for item in items):
            found += _trials_of(rubric, items, repeats=repeats, swap=swap, seed=seed, sample=sample)
    places = {item.id: place for place, item in enumerate(evalset)}
    return sorted(found, key=lambda trial: places[trial.item])


def _by_sample(evalset: EvalSet) -> list[list[Item]]:
    """The items with the first sample of each output, those with the second, and so on. A plain output
    is its own first sample."""
    n = max(
        (
            len(output)
            for item in evalset
            for output in item.outputs.values()
            if isinstance(output, tuple)
        ),
        default=1,
    )
    layers = []
    for place in range(n):
        layer = []
        for item in evalset:
            samples = {s: o if isinstance(o, tuple) else (o,) for s, o in item.outputs.items()}
            outputs = {s: own[place] for s, own in samples.items() if place < len(own)}
            if outputs or not place:
                layer.append(item._replace(outputs=outputs))
        layers.append(layer)
    return layers if n > 1 else [list(evalset)]


def _has_trial(rubric: Rubric, item: Item) -> bool:
    texts = {system: str(output) for system, output in item.outputs.items()}
    return any(
        rubric.design.is_worth_asking([texts[system] for system in group])
        for group in rubric.design.groups(list(texts), rubric.questionnaire.layout)
    )


def _trials_of(
    rubric: Rubric,
    evalset: Sequence[Item],
    *,
    repeats: int,
    swap: bool,
    seed: int,
    sample: int | None,
) -> list[MachineTrial]:
    design = rubric.design
    items = study_items(evalset, TextMedium(), source=rubric.show_source)
    references = {item.id: tuple(item.references) for item in evalset}
    found: list[MachineTrial] = []
    trials = all_trials(rubric.questionnaire, items, design)
    n_orders = 2 if swap else 1
    check_number_of_trials(len(trials) * n_orders * len(rubric.questionnaire.questions) * repeats)
    for number, trial in enumerate(trials):
        item = items[trial.item]
        orders = [trial.systems]
        if design.balances_order:
            if not is_first_shown_first({}, seed=seed, trial=number):
                orders = [trial.systems[::-1]]
            if swap:
                orders.append(orders[0][::-1])
        for place, systems in enumerate(orders):
            shown = ShownTexts(
                tuple(item.outputs[system] for system in systems),
                item.context,
                item.source,
                references[item.id] if rubric.show_reference else (),
            )
            found += [
                MachineTrial(item.id, systems, question, shown, repeat, place > 0, sample)
                for question in rubric.questionnaire.questions
                for repeat in range(repeats)
            ]
    return found

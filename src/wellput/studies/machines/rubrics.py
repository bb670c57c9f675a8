"""`Rubric`: the questions that a machine judge is asked, and what it sees together with the outputs. A
study's file of settings can be read as a rubric, too. `MachineTrial`: one question about one output or
pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.registries import split_names
from wellput.studies.assignment_rules import keeps_pair_order
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
"""Settings of a rubric that are read here, not by `make_settings`."""
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
    rubric_settings = {name: record.pop(name) for name in RUBRIC_SETTINGS if name in record}
    for name in SETTINGS_FOR_PEOPLE:
        record.pop(name, None)
    shows_source = show_source or bool(record.get("show_source", False))
    shows_reference = show_reference or bool(rubric_settings.get("show_reference", False))
    if (design or rubric_settings.get("design")) == SpansDesign.name:
        if points is not None or ties:
            raise InputError("The design spans has neither points= nor ties=.")
        return Rubric(spans_questionnaire(record, names), shows_source, shows_reference)
    settings = make_settings(
        design or rubric_settings.get("design", "rating"),
        record,
        questions=names,
        points=points,
        ties=ties or None,
    )
    questionnaire = settings.questionnaire
    if design_of(questionnaire).has_tasks:
        raise InputError(
            "A machine answers tasks only as a judge of a study: wellput judge STUDY --model MODEL."
        )
    if any(asked.kind == "spans" for asked in questionnaire.questions):
        raise InputError("A machine marks errors with design='spans'; mqm is for people.")
    return Rubric(questionnaire, shows_source, shows_reference, unit)


@dataclass(frozen=True)
class MachineTrial:
    """One question about one output, or about two in the order shown, asked for the `repeat`-th time
    (from 0). `is_swapped` says that a pair is shown in the second of its two orders. `sample` is the
    number of the sample if outputs are lists of samples, else None."""

    item: str
    systems: tuple[str, ...]
    question: Question
    shown: ShownTexts
    repeat: int = 0
    is_swapped: bool = False
    sample: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What distinguishes the trial from the others of a run."""
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
    trials: list[MachineTrial] = []
    layers = _by_sample(evalset)
    for number, items in enumerate(layers):
        sample = number if len(layers) > 1 else None
        # The first layer is never left out, so that an evalset without any trial raises an error.
        if not number or any(_has_trial(rubric, item) for item in items):
            trials += _trials_of(
                rubric, items, repeats=repeats, swap=swap, seed=seed, sample=sample
            )
    places = {item.id: place for place, item in enumerate(evalset)}
    return sorted(trials, key=lambda trial: places[trial.item])


def _by_sample(evalset: EvalSet) -> list[list[Item]]:
    """The layers of an evalset: the items with the first sample of each output, then the items with the
    second sample, and so on. An output that is a single text counts as one sample."""
    n_samples = max(
        (
            len(output)
            for item in evalset
            for output in item.outputs.values()
            if isinstance(output, tuple)
        ),
        default=1,
    )
    layers = []
    for number in range(n_samples):
        layer = []
        for item in evalset:
            samples = {
                system: output if isinstance(output, tuple) else (output,)
                for system, output in item.outputs.items()
            }
            outputs = {
                system: texts[number] for system, texts in samples.items() if number < len(texts)
            }
            if outputs or not number:
                layer.append(item._replace(outputs=outputs))
        layers.append(layer)
    return layers


def _has_trial(rubric: Rubric, item: Item) -> bool:
    """Whether there is anything to ask about the outputs of an item."""
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
    """The trials of one sample of each output. A pair is shown in one order, drawn by chance, and
    with `swap` in the other order, too."""
    design = rubric.design
    items = study_items(evalset, TextMedium(), source=rubric.show_source)
    references = {item.id: tuple(item.references) for item in evalset}
    machine_trials: list[MachineTrial] = []
    trials = all_trials(rubric.questionnaire, items, design)
    n_orders = 2 if swap else 1
    check_number_of_trials(len(trials) * n_orders * len(rubric.questionnaire.questions) * repeats)
    for number, trial in enumerate(trials):
        item = items[trial.item]
        orders = [trial.systems]
        if design.balances_order:
            # {}: the pair was not shown in either order yet, so chance decides.
            if not keeps_pair_order({}, seed=seed, trial=number):
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
            machine_trials += [
                MachineTrial(item.id, systems, question, shown, repeat, place > 0, sample)
                for question in rubric.questionnaire.questions
                for repeat in range(repeats)
            ]
    return machine_trials

"""Prepares judgments for analysis: chooses judges and questions, leaves excluded judgments out, and
puts the ratings of all judges on a common scale.

Ratings are put on a common scale by default only if judges rated enough of the same systems. A scale
that gives each judge's ratings the same mean removes a part of the difference between two systems if
these had different judges. `kept_share` computes from the numbers of ratings how much of the
difference stays: 1 if every judge rated all systems equally often, 0 if some systems share no judge
with the others.

`ChosenAnswers` are the answers that an analysis uses: answers of the judges asked for, to questions
whose values have an order. Labels have no order: systems cannot be ranked by them, and no metric can
be compared with them. So for a question with labels, only the agreement of the judges with each other
is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from wellput.agreement.exclusions import (
    answers_left,
    exclusions_of_unknown,
    known_answers,
    refuse_without_effect,
)
from wellput.agreement.judges import outlying_judges, summarize_labels
from wellput.agreement.judgment_names import machine_note, notes_on_names
from wellput.agreement.machines.judged_trials import unknown_judge
from wellput.agreement.panel import (
    AnyJudgment,
    Exclusion,
    KnownNames,
    Normalization,
    Panel,
    normalized,
    panels,
)
from wellput.agreement.result import AgreementResult, JudgeSummary
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.judgment import (
    Judgment,
    Preference,
    is_machine,
    number_in,
)
from wellput.core.metric import Floats

if TYPE_CHECKING:
    from wellput.agreement.analysis import AgreementOptions

A = TypeVar("A", bound=AnyJudgment)
MACHINE_REASON = "a machine, not a person"
MAX_LABELS_SHOWN = 4


@dataclass(frozen=True)
class ChosenAnswers:
    """`answers` can be analyzed; `left_out` says which judges' answers were left out. `judges` has the
    agreement of judges on questions with labels; `notes` has warnings."""

    answers: list[Judgment] | list[Preference]
    questions: Sequence[str]
    left_out: Sequence[Exclusion] = ()
    judges: Sequence[JudgeSummary] = ()
    notes: Sequence[str] = ()

    def with_exclusions_noted(self, result: AgreementResult) -> AgreementResult:
        """The agreement, with what was left out of it, how far judges agree on questions with labels,
        and the notes."""
        # "of": left out of all figures, not only of the agreement with metrics.
        excluded = ({**asdict(one), "of": "all"} for one in self.left_out)
        return replace(
            result,
            excluded=(*excluded, *result.excluded),
            judges=(*result.judges, *self.judges),
            notes=(*result.notes, *self.notes),
        )


def choose_answers(
    answers: Sequence[Judgment] | Sequence[Preference],
    *,
    judges: Sequence[str] = ("people",),
    questions: Sequence[str] = (),
    exclusions: Sequence[Exclusion] = (),
) -> ChosenAnswers:
    """The answers that can be analyzed, to `questions` or to all questions. Raises InputError if all
    questions have labels."""
    kept, left_out = chosen_judges(cast("Sequence[AnyJudgment]", answers), judges)
    with_labels = [
        labeled
        for labeled in label_questions(kept)
        if not questions or labeled.question in questions
    ]
    names = {labeled.question for labeled in with_labels}
    others = [answer for answer in kept if answer.question not in names]
    other_questions = [name for name in questions if name not in names]
    summaries = [
        summarize_labels(labeled.question, answers_left(labeled.answers, exclusions))
        for labeled in with_labels
    ]
    notes = [labeled.sentence for labeled in with_labels]
    if with_labels and (not others or (questions and not other_questions)):
        lines = [
            f"{note}{_agreement(summary)}" for note, summary in zip(notes, summaries, strict=True)
        ]
        raise InputError("\n".join(lines))
    answers_not_excluded = answers_left(kept, exclusions)
    notes += [*machine_note(answers_not_excluded, judges), *notes_on_names(answers_not_excluded)]
    return ChosenAnswers(
        cast("list[Judgment]", others), other_questions, left_out, summaries, notes
    )


def _agreement(summary: JudgeSummary) -> str:
    """A sentence on how far the judges agree, for the error that is raised if all questions have
    labels."""
    figures = [
        f"{name} {round(value, 2) + 0.0:.2f}".replace("-", "−")  # + 0.0: no −0.00
        for name, value in (("α", summary.alpha), ("κ", summary.kappa))
        if value is not None
    ]
    if not figures:
        return ""
    judges = counted(summary.n_judges, "judge")
    return f" Its {judges} agree with each other: {', '.join(figures)} (nominal)."


def chosen_judges(answers: Sequence[A], judges: Sequence[str]) -> tuple[list[A], list[Exclusion]]:
    """The judgments of people (`judges` is ["people"]), of all judges (["all"]) or of the judges
    named; and what was left out."""
    names = dict.fromkeys(answer.judge for answer in answers)
    if list(judges) == ["all"]:
        return list(answers), []
    if list(judges) == ["people"]:
        kept_judges = {name for name in names if not is_machine(name)}
        reason = MACHINE_REASON
        if names and not kept_judges:
            raise InputError(
                "All judges are machines, and only people's judgments are used. judges='all' uses "
                "these."
            )
    else:
        for name in judges:
            if name not in names:
                raise InputError(f"judges={name!r}: {unknown_judge(name, list(names))}")
        kept_judges, reason = set(judges), "not among the judges asked for"
    counts: dict[tuple[str, str], int] = {}
    for answer in answers:
        if answer.judge not in kept_judges:
            counts[answer.question, answer.judge] = (
                counts.get((answer.question, answer.judge), 0) + 1
            )
    left_out = [
        Exclusion(question, reason, judge=judge, n=n) for (question, judge), n in counts.items()
    ]
    return [answer for answer in answers if answer.judge in kept_judges], left_out


@dataclass(frozen=True)
class LabelQuestion:
    """A question whose values are labels, and all answers to it."""

    question: str
    answers: Sequence[Judgment]

    @property
    def sentence(self) -> str:
        """Why the question cannot be used. Where most values are numbers, the others may be typing
        errors, so the sentence says where the first of them is."""
        not_numbers = [answer for answer in self.answers if number_in(answer.value) is None]
        if len(not_numbers) * 2 < len(self.answers):
            first = not_numbers[0]
            why = (
                f"{len(not_numbers):,} of its {len(self.answers):,} values "
                f"{'is' if len(not_numbers) == 1 else 'are'} not a number; the first is "
                f"{first.value!r} (judge {first.judge}, item {first.item}, "
                f"system {first.system}). So all its values are taken as labels. Correct those that "
                "are not numbers, and remove the rows of answers that were not given"
            )
        else:
            labels = list(dict.fromkeys(repr(answer.value) for answer in self.answers))
            more = "" if len(labels) <= MAX_LABELS_SHOWN else ", …"
            why = f"its values are labels ({', '.join(labels[:MAX_LABELS_SHOWN])}{more})"
        return (
            f"{self.question}: {why}. Labels have no order: systems cannot be ranked by them, and "
            "metrics cannot be compared with them or fitted to them."
        )


def label_questions(answers: Iterable[AnyJudgment]) -> list[LabelQuestion]:
    """The questions whose values are labels."""
    answers_by_question: dict[str, list[Judgment]] = {}
    for answer in answers:
        if isinstance(answer, Judgment) and isinstance(answer.value, str):
            answers_by_question.setdefault(answer.question, []).append(answer)
    return [LabelQuestion(question, labels) for question, labels in answers_by_question.items()]


def refuse_labels(question: str, answers: Iterable[AnyJudgment]) -> None:
    """Raises InputError if the values of this question are labels."""
    for label_question in label_questions(answers):
        if label_question.question == question:
            raise InputError(label_question.sentence)


MIN_KEPT_SHARE = 0.75
"""If `kept_share` is below this, ratings are not normalized by default. This comes from simulated
studies in which the quality of outputs has standard deviation 1. If the judges' severity has standard
deviation 0.5, z-scores help from a share of about 0.6 on; if it has less, they help from 0.85 on."""


def kept_share(counts: Floats) -> float:
    """The smallest share of a difference between systems, or groups of systems, that stays when every
    judge's mean is subtracted from their ratings; `counts` are numbers of ratings, judges × systems.

    Statisticians call it the smallest canonical efficiency factor of the design (James & Wilkinson
    1971).

    >>> kept_share(np.array([[5.0, 5.0], [5.0, 5.0]])), kept_share(np.array([[5.0, 0.0], [0.0, 5.0]]))
    (1.0, 0.0)
    """
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    n_systems = counts.shape[1]
    if n_systems < 2:
        return 1.0
    system_counts, judge_counts = counts.sum(axis=0), counts.sum(axis=1)
    scaled = counts / np.sqrt(np.outer(judge_counts, system_counts))
    # The largest singular value, 1, belongs to the overall mean; the square of the second is the share
    # that is lost.
    singular_values = np.linalg.svd(scaled, compute_uv=False)
    return float(round(1 - singular_values[1] ** 2, 9)) if len(singular_values) > 1 else 1.0


def default_normalization(panel: Panel) -> tuple[Normalization, str]:
    """The normalization used by default, and the reason if it is not `z`."""
    if panel.n_judges < 2:
        return "none", ""
    share = kept_share(panel.counts)
    if share >= MIN_KEPT_SHARE:
        return "z", ""
    return "none", (
        f"{panel.question}: judges rated different systems{_of_one_system(panel)}, so they keep their "
        f"own scales: z would leave {_share_in_words(share)} of a difference between systems."
    )


def normalization_warning(panel: Panel, normalization: Normalization) -> str:
    """A warning about a normalization that was asked for; empty where it is harmless."""
    if normalization == "none" or panel.n_judges < 2:
        return ""
    share = kept_share(panel.counts)
    if share >= MIN_KEPT_SHARE:
        return ""
    return (
        f"{panel.question}: judges rated different systems{_of_one_system(panel)}, so {normalization} "
        f"leaves {_share_in_words(share)} of a difference between systems. Use normalize='none'."
    )


def _share_in_words(share: float) -> str:
    """The share that stays, as in "would leave only 40%"."""
    return "nothing" if share < 0.005 else f"only {100 * share:.0f}%"


def _of_one_system(panel: Panel) -> str:
    """How many judges rated one system only, in brackets; empty if none did."""
    rated = (panel.counts > 0).sum(axis=1)
    alone = int((rated == 1).sum())
    if not alone:
        return ""
    return f" ({alone} of {counted(int((rated > 0).sum()), 'judge')} rated one system only)"


Panels = dict[str, Panel]
YES_NO_NOTE = "yes and no count 1 and 0 for every judge; they are never normalized."


def prepared_panels(
    judgments: Sequence[Judgment],
    systems: Sequence[str],
    items: Sequence[str],
    options: AgreementOptions,
) -> tuple[Panels, Panels]:
    """Two dictionaries of panels by question, without excluded judgments: with ratings as given, and
    with ratings on a common scale."""
    known = KnownNames(set(systems), set(items))
    kept, left_out = known_answers(judgments, options.exclusions, known)
    raw = _chosen(panels(kept, systems, items), options.questions)
    unknown = exclusions_of_unknown(options.exclusions, known)  # `known_answers` applied these
    _refuse_exclusions_without_effect(
        raw, [exclusion for exclusion in options.exclusions if exclusion not in unknown]
    )
    raw = {
        name: replace(
            panel, excluded=tuple(exclusion for exclusion in left_out if exclusion.question == name)
        )
        for name, panel in raw.items()
    }
    raw = {name: _without_excluded(panel, options) for name, panel in raw.items()}
    ready = {name: _normalized(panel, options) for name, panel in raw.items()}
    for panel in ready.values():
        panel.refuse_empty()
    return raw, ready


def _chosen(panels_by_question: dict[str, Panel], questions: Sequence[str]) -> dict[str, Panel]:
    """The panels of these questions, or all. Raises InputError for a question that nobody was asked."""
    unknown = [question for question in questions if question not in panels_by_question]
    if unknown:
        raise InputError(
            f"Nobody was asked {unknown[0]!r}.{did_you_mean(unknown[0], list(panels_by_question))} "
            f"The questions are {', '.join(panels_by_question)}."
        )
    return {
        name: panel
        for name, panel in panels_by_question.items()
        if not questions or name in questions
    }


def _without_excluded(panel: Panel, options: AgreementOptions) -> Panel:
    for exclusion in options.exclusions:
        if exclusion.question in ("", panel.question) and panel.has(exclusion):
            panel = panel.without(replace(exclusion, question=panel.question))
    if options.judges_below is not None and len(panel.judges) > 2:
        for exclusion in outlying_judges(panel, below=options.judges_below):
            panel = panel.without(exclusion)
    return panel


def _refuse_exclusions_without_effect(
    panels_by_question: Mapping[str, Panel], exclusions: Sequence[Exclusion]
) -> None:
    """Raises InputError for an exclusion whose judge, system or item no panel has."""
    for exclusion in exclusions:
        if not any(panel.has(exclusion) for panel in panels_by_question.values()):
            refuse_without_effect(exclusion)


def _normalized(panel: Panel, options: AgreementOptions) -> Panel:
    """The panel with normalized ratings, as the options or the defaults say, and with a note."""
    if panel.is_yes_no:
        is_asked = options.normalization not in (None, "none")
        note = f"{panel.question}: {YES_NO_NOTE}" if is_asked or panel.n_judges > 1 else ""
        return replace(panel, note=note)
    if options.normalization is not None:
        note = normalization_warning(panel, options.normalization)
        return replace(normalized(panel, options.normalization), note=note)
    chosen, note = default_normalization(panel)
    return replace(normalized(panel, chosen), note=note)

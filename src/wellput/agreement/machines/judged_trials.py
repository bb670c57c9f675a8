"""`JudgedTrials`: the answers of people and of one judge to the same trials, as arrays.

A trial is a question about one output, or about a pair of outputs. A choice between two outputs is
written as the share won by the first of the two systems in alphabetical order: 1, ½ or 0. Labels are
written as numbers, one for each label. If somebody answered a trial several times, one answer is used:
the mean of numbers, the most frequent label, or the side that was chosen more often (½ if both were
chosen equally often).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from wellput.agreement.panel import SHARE_WON_BY_A
from wellput.agreement.rankings.judgment_design import DOCUMENT_COLUMN
from wellput.core.clusters import Places, places_of
from wellput.core.errors import InputError, did_you_mean
from wellput.core.estimates import largest_size, present_means
from wellput.core.judgment import (
    MACHINE_PREFIX,
    Judgment,
    Preference,
    is_machine,
    without_lone_samples,
)
from wellput.core.metric import Floats

AnswerKind: TypeAlias = Literal["numbers", "labels", "choices"]
OutputKey: TypeAlias = tuple[str, str] | tuple[str, str, str]
"""The system and the item of an output; or the system, the item and the number of a sample."""
OutputValues: TypeAlias = Mapping[OutputKey, float]
"""A number for each output, such as a metric's score; also for single samples, where judgments name
them."""

ORDER_COLUMN = "order"
"""The column of judgments that says in which order outputs were shown: `ab` or `ba` for choices, a
number for ratings."""
MAX_GRADES_OF_SHORT_SCALE = 11
"""With more different answers than this, as on a scale of 0 to 100, a question has a long scale.
Scores that are no answers, such as BLEU's, may lie in its range by chance. So a metric's scores count
as answers on this scale only if they are whole numbers (`are_on_scale`)."""
SCALE_FOLDS = 10
"""A metric's scores are converted to the question's scale by a straight line. Items are divided into
this many folds, and the line for a fold is fitted to the items of the other folds."""


class JudgedTrial(NamedTuple):
    """What is judged at once. `systems` has one system, or two in alphabetical order; `sample` is the
    number of the judged sample, empty if the system has only one output for the item."""

    question: str
    item: str
    systems: tuple[str, ...]
    sample: str


class GivenAnswers(NamedTuple):
    """All answers of one judge. Each array has an entry for each answer: the place of its trial in
    `JudgedTrials.trials`, its value, and the order in which outputs were shown.

    For choices, `shown_order` is +1 if the first system in alphabetical order was shown first, −1 if it
    was shown second. For ratings it is the number in the column `order` (1 for the output that the
    judge was shown first), NaN without this column.
    """

    trials: Places
    values: Floats
    shown_order: Floats


def value_of(values: OutputValues, system: str, trial: JudgedTrial) -> float:
    """The number of a system's output in a trial, or of the judged sample; NaN if there is none."""
    of_output = values.get((system, trial.item), np.nan)
    return values.get((system, trial.item, trial.sample), of_output)


@dataclass(frozen=True, eq=False)
class JudgedTrials:
    """The answers of people and of one judge. `people` (people × trials) and `judge` (trials) are NaN
    where there is no answer. `given` has all answers of the judge, also several to the same trial.
    `clusters` has a number for each trial's document, or for its item if the item has no document."""

    kind: AnswerKind
    trials: tuple[JudgedTrial, ...]
    people_names: tuple[str, ...]
    people: Floats
    judge_name: str
    judge: Floats
    given: GivenAnswers
    clusters: Places
    other_machines: tuple[str, ...] = ()
    """Machines other than the judge. Their answers are not used."""
    is_metric: bool = False
    is_refitted: bool = False
    """Whether the judge's answers are a metric's scores that were converted to the question's scale."""

    @cached_property
    def items(self) -> Places:
        """A number for each trial's item: its place among the items, the shorter names first, so that
        nothing depends on the order of the judgments."""
        names = [trial.item for trial in self.trials]
        return places_of(names, sorted(set(names), key=lambda name: (len(name), name)))

    @cached_property
    def questions(self) -> Places:
        """A number for each trial's question: its place in `question_names`."""
        return places_of([trial.question for trial in self.trials])

    @cached_property
    def question_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(trial.question for trial in self.trials))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """All systems, in the order of the trials."""
        return tuple(dict.fromkeys(name for trial in self.trials for name in trial.systems))

    @cached_property
    def system_places(self) -> Places:
        """The places of each trial's systems in `systems`: trials × 1, or trials × 2 for choices."""
        at = {name: place for place, name in enumerate(self.systems)}
        return np.array([[at[name] for name in trial.systems] for trial in self.trials], np.intp)

    @cached_property
    def largest_answer(self) -> float:
        """The largest absolute value of an answer. Differences that are tiny beside it are rounding."""
        return largest_size(self.people, self.judge)

    @cached_property
    def people_means(self) -> Floats:
        """The mean of people's answers to each trial."""
        return present_means(self.people, axis=0)

    @property
    def gaps(self) -> Floats:
        """The judge's answer to each trial minus people's mean, for numbers and choices."""
        return np.asarray(self.judge - self.people_means)


def judged_trials(
    answers: Sequence[Judgment] | Sequence[Preference],
    judge: str,
    *,
    documents: Mapping[str, str] | None = None,
    scores: OutputValues | None = None,
) -> JudgedTrials:
    """The trials of all answers. `judge` is one of the judges or, with `scores`, a metric. `documents`
    has the documents of items; without it, the judgments' column `document` is used."""
    kind = _kind(answers)
    names = list(dict.fromkeys(answer.judge for answer in answers))
    if scores is None and judge not in names:
        raise InputError(
            f"judge={judge!r}: {unknown_judge(judge, names)} A metric can be vetted with its evalset: "
            "give that as evalset=."
        )
    # The judge may be a person, who is then compared with the other people.
    people = [name for name in names if not is_machine(name) and name != judge]
    if not people:
        raise InputError(f"judge={judge!r} is the only judge: there are no people to compare with.")
    label_numbers: dict[str, float] = {}
    places: dict[JudgedTrial, int] = {}
    # The fields of each judge's `GivenAnswers`, as lists.
    by_judge: dict[str, tuple[list[int], list[float], list[float]]] = {}
    document_of = dict(documents or {})
    for answer in without_lone_samples(answers):
        trial, value, shown_order = _read(answer, label_numbers)
        place = places.setdefault(trial, len(places))
        own_places, own_values, own_orders = by_judge.setdefault(answer.judge, ([], [], []))
        own_places.append(place)
        own_values.append(value)
        own_orders.append(shown_order)
        if (document := answer.extra.get(DOCUMENT_COLUMN)) and documents is None:
            document_of[answer.item] = document
    trials = tuple(places)
    answers_by_judge = {
        name: GivenAnswers(
            np.array(trial_places, np.intp), np.array(values), np.array(shown_orders)
        )
        for name, (trial_places, values, shown_orders) in by_judge.items()
    }
    rows = np.array(
        [_one_answer_each(answers_by_judge[name], len(trials), kind) for name in people]
    )
    no_answers = GivenAnswers(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))
    judge_answers = answers_by_judge.get(judge, no_answers)  # a metric gave no answers
    trials_of_judge = JudgedTrials(
        kind=kind,
        trials=trials,
        people_names=tuple(people),
        people=rows,
        judge_name=judge,
        judge=_one_answer_each(judge_answers, len(trials), kind),
        given=judge_answers,
        clusters=_clusters(trials, document_of),
        other_machines=tuple(name for name in names if is_machine(name) and name != judge),
    )
    return trials_of_judge if scores is None else _with_metric(trials_of_judge, scores)


def _clusters(trials: Sequence[JudgedTrial], document_of: Mapping[str, str]) -> Places:
    """The number of each trial's document, or of its item if it has no document.

    Where there are many clusters, the jackknife leaves out groups of them, which it forms by their
    numbers. Names are numbered in alphabetical order, so that these groups do not depend on the order
    of the judgments.
    """
    names = [
        f"document {document_of[trial.item]}" if trial.item in document_of else f"item {trial.item}"
        for trial in trials
    ]
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.intp)


def unknown_judge(judge: str, names: Sequence[str]) -> str:
    """The error message if no judge has this name."""
    hint = did_you_mean(judge, names)
    if f"{MACHINE_PREFIX}{judge}" in names:
        hint = f" Did you mean {MACHINE_PREFIX}{judge}?"
    names_in_words = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
    return f"no judge has this name.{hint} The judges are {names_in_words}."


def _kind(answers: Sequence[Judgment] | Sequence[Preference]) -> AnswerKind:
    """The kind of the answers. Raises InputError if some questions have labels and others numbers."""
    if isinstance(answers[0], Preference):
        return "choices"
    with_labels: dict[str, bool] = {}
    for answer in answers:
        assert isinstance(answer, Judgment)
        with_labels[answer.question] = with_labels.get(answer.question, False) or isinstance(
            answer.value, str
        )
    if len(set(with_labels.values())) > 1:
        labels = [name for name, has_labels in with_labels.items() if has_labels]
        raise InputError(
            f"Some questions have labels ({', '.join(labels)}), others numbers: choose with question=."
        )
    return "labels" if next(iter(with_labels.values())) else "numbers"


def _read(
    answer: Judgment | Preference, label_numbers: dict[str, float]
) -> tuple[JudgedTrial, float, float]:
    """The trial of an answer, its value, and its entry in `GivenAnswers.shown_order`. `label_numbers`
    has the number of each label; new labels are added."""
    if isinstance(answer, Preference):
        pair = (answer.system_a, answer.system_b)
        is_sorted = pair == tuple(sorted(pair))
        share = SHARE_WON_BY_A[answer.choice]
        # Without the column, the first system of the row counts as shown first.
        is_a_first = answer.extra.get(ORDER_COLUMN, "").strip().lower() != "ba"
        return (
            JudgedTrial(answer.question, answer.item, tuple(sorted(pair)), answer.sample),
            share if is_sorted else 1 - share,
            1.0 if is_sorted == is_a_first else -1.0,
        )
    trial = JudgedTrial(answer.question, answer.item, (answer.system,), answer.sample)
    if isinstance(answer.value, str):
        return trial, label_numbers.setdefault(answer.value, float(len(label_numbers))), np.nan
    try:
        order = float(answer.extra.get(ORDER_COLUMN, ""))
    except ValueError:
        order = np.nan
    return trial, answer.value, order


def _one_answer_each(given: GivenAnswers, n: int, kind: AnswerKind) -> Floats:
    """One answer to each of n trials; NaN if there is none."""
    counts = np.bincount(given.trials, minlength=n)
    sums = np.bincount(given.trials, given.values, minlength=n)
    answers = np.full(n, np.nan)
    answered = counts > 0
    answers[answered] = sums[answered] / counts[answered]
    if kind == "choices":
        answers[answered] = (np.sign(answers[answered] - 0.5) + 1) / 2
    elif kind == "labels":
        for trial in np.flatnonzero(counts > 1):
            answers[trial] = most_frequent(given.values[given.trials == trial].tolist())
    return answers


def most_frequent(values: Iterable[float]) -> float:
    """The most frequent value; if several are equally frequent, the first of them.

    >>> most_frequent([2.0, 1.0, 1.0, 2.0])
    2.0
    """
    return Counter(values).most_common(1)[0][0]


def _with_metric(trials: JudgedTrials, scores: OutputValues) -> JudgedTrials:
    """The trials with a metric's scores as the judge's answers. For choices, the metric chooses the
    output with the better score. For ratings, scores are converted to the question's scale if
    needed."""
    if trials.kind == "labels":
        raise InputError(
            f"{trials.judge_name} gives numbers, and people gave labels: they cannot be compared."
        )
    values = np.array(
        [[value_of(scores, system, trial) for system in trial.systems] for trial in trials.trials]
    )
    is_refitted = False
    if trials.kind == "choices":
        judge = (np.sign(values[:, 0] - values[:, 1]) + 1) / 2
    else:
        judge = values[:, 0]
        is_refitted = not all(
            are_on_scale(judge[is_question], trials.people[:, is_question])
            for question in np.unique(trials.questions)
            for is_question in [trials.questions == question]
        )
        if is_refitted:
            judge = on_question_scale(judge, trials.people_means, trials.items, trials.questions)
    if np.isnan(judge).all():
        raise InputError(f"{trials.judge_name} has no score for any judged output.")
    return JudgedTrials(
        trials.kind,
        trials.trials,
        trials.people_names,
        trials.people,
        trials.judge_name,
        judge,
        trials.given,
        trials.clusters,
        trials.other_machines,
        is_metric=True,
        is_refitted=is_refitted,
    )


def are_on_scale(scores: Floats, people: Floats) -> bool:
    """Whether scores are on the scale of the question, so that they could be answers to it. If people
    answered yes or no, scores must be 0 and 1. Otherwise scores must be in the range of people's
    answers, and their range must be at least half as wide. If people gave more than
    `MAX_GRADES_OF_SHORT_SCALE` different answers, scores must also be whole numbers.

    >>> grades = np.array([1.0, 5, 3])
    >>> are_on_scale(np.array([2.0, 4.5]), grades), are_on_scale(np.array([0.2, 0.9]), grades)
    (True, False)
    """
    scores, people = scores[~np.isnan(scores)], np.unique(people[~np.isnan(people)])
    if not len(scores) or not len(people):
        # No scores: none is off the scale. Scores, but no answers of people: there is no scale.
        return not len(scores)
    if np.isin(people, (0.0, 1.0)).all():
        return bool(np.isin(scores, (0.0, 1.0)).all())
    lowest, highest = people[0], people[-1]
    are_whole = bool((scores == np.round(scores)).all())
    return bool(
        scores.min() >= lowest
        and scores.max() <= highest
        and 2 * np.ptp(scores) >= highest - lowest
        and (len(people) <= MAX_GRADES_OF_SHORT_SCALE or are_whole)
    )


def on_question_scale(
    scores: Floats, people_means: Floats, items: Places, questions: Places
) -> Floats:
    """The scores converted to predictions of people's means, for each question by a straight line that
    is fitted to the items of the other folds."""
    predictions = np.full(len(scores), np.nan)
    folds = items % SCALE_FOLDS
    has_score = ~np.isnan(scores)
    for question in np.unique(questions):
        is_question = questions == question
        for fold in np.unique(folds[is_question]):
            is_training = is_question & has_score & (folds != fold) & ~np.isnan(people_means)
            is_predicted = is_question & has_score & (folds == fold)
            if not is_training.any():
                continue
            x, y = scores[is_training], people_means[is_training]
            spread = float(((x - x.mean()) ** 2).sum())
            slope = float((x - x.mean()) @ (y - y.mean())) / spread if spread > 0 else 0.0
            predictions[is_predicted] = y.mean() + slope * (scores[is_predicted] - x.mean())
    return predictions

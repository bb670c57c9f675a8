"""People's answers beside those of one judge, trial by trial, as arrays: `JudgedTrials`.

A trial is a question about one output, or about a pair of outputs. A choice between two outputs is
written as the share won by the first of the two systems in alphabetical order: 1, ½ or 0. Labels are
written as numbers, one for each label. Someone who answered a trial several times counts once: with the
mean of numbers, the most frequent label, or the side that was chosen more often (½ where both were).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from wellput.agreement.rankings.judgment_design import DOCUMENT_COLUMN
from wellput.core.clusters import Places, places_of
from wellput.core.errors import InputError, did_you_mean
from wellput.core.estimates import largest_size, present_means
from wellput.core.judgment import MACHINE_PREFIX, SAMPLE_COLUMN, Judgment, Preference, is_machine
from wellput.core.metric import Floats

AnswerKind: TypeAlias = Literal["numbers", "labels", "choices"]
OutputValues: TypeAlias = Mapping[tuple[str, str], float]
"""(system, item) to a number, such as a metric's score."""

ORDER_COLUMN = "order"
SHARE_OF_CHOICE = {"a": 1.0, "tie": 0.5, "b": 0.0}
MAX_DIFFERENT_GRADES = 11
SCALE_FOLDS = 10
"""A metric's scores are put on the question's scale by lines fitted to the items of other folds."""


class JudgedTrial(NamedTuple):
    """`systems` has one system, or two in alphabetical order; `sample` is the number of the sample,
    empty if the system has one output only."""

    question: str
    item: str
    systems: tuple[str, ...]
    sample: str


class GivenAnswers(NamedTuple):
    """All answers of one judge, one entry each: the trial's place, the value, and which output was
    shown first.

    `first` is for choices +1 where the first system in alphabetical order was shown first, −1 where it
    was shown second; for ratings the number of the column `order`, NaN without one.
    """

    trials: Places
    values: Floats
    first: Floats


@dataclass(frozen=True, eq=False)
class JudgedTrials:
    """`people` (people × trials) and `judge` (trials) are NaN where there is no answer. `clusters` has
    the place of each trial's document, or of its item where items have none."""

    kind: AnswerKind
    trials: tuple[JudgedTrial, ...]
    people_names: tuple[str, ...]
    people: Floats
    judge_name: str
    judge: Floats
    given: GivenAnswers
    clusters: Places
    other_machines: tuple[str, ...] = ()
    is_metric: bool = False
    is_refitted: bool = False
    """Whether the judge's answers are a metric's scores that were put on the question's scale."""

    @cached_property
    def items(self) -> Places:
        return places_of([trial.item for trial in self.trials])

    @cached_property
    def questions(self) -> Places:
        return places_of([trial.question for trial in self.trials])

    @cached_property
    def question_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(trial.question for trial in self.trials))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for trial in self.trials for name in trial.systems))

    @cached_property
    def system_places(self) -> Places:
        """The place of each trial's systems: trials × 1, or × 2 for choices."""
        at = {name: place for place, name in enumerate(self.systems)}
        return np.array([[at[name] for name in trial.systems] for trial in self.trials], np.intp)

    @cached_property
    def size(self) -> float:
        """The size of the largest answer."""
        return largest_size(self.people, self.judge)

    @cached_property
    def people_means(self) -> Floats:
        return present_means(self.people, axis=0)

    @property
    def gaps(self) -> Floats:
        """The judge's answer less people's mean, for numbers and choices."""
        return np.asarray(self.judge - self.people_means)


def judged_trials(
    answers: Sequence[Judgment] | Sequence[Preference],
    judge: str,
    *,
    documents: Mapping[str, str] | None = None,
    scores: OutputValues | None = None,
) -> JudgedTrials:
    """The trials of all answers. `judge` is one of the judges, or, with `scores`, a metric. `documents`
    has the document of items; without it the judgments' column `document` is used."""
    kind = _kind(answers)
    names = list(dict.fromkeys(answer.judge for answer in answers))
    if scores is None and judge not in names:
        raise InputError(
            f"judge={judge!r}: {unknown_judge(judge, names)} A metric can be vetted with its evalset: "
            "give that as evalset=."
        )
    people = [name for name in names if not is_machine(name) and name != judge]
    if not people:
        raise InputError(f"judge={judge!r} is the only judge: there are no people to compare with.")
    codes: dict[str, float] = {}
    places: dict[JudgedTrial, int] = {}
    by_judge: dict[str, tuple[list[int], list[float], list[float]]] = {}
    document_of = dict(documents or {})
    for answer in answers:
        trial, value, first = _read(answer, codes)
        place = places.setdefault(trial, len(places))
        own_places, own_values, own_first = by_judge.setdefault(answer.judge, ([], [], []))
        own_places.append(place)
        own_values.append(value)
        own_first.append(first)
        if (document := answer.extra.get(DOCUMENT_COLUMN)) and documents is None:
            document_of[answer.item] = document
    trials = tuple(places)
    given = {
        name: GivenAnswers(np.array(at, np.intp), np.array(values), np.array(first))
        for name, (at, values, first) in by_judge.items()
    }
    rows = np.array([_one_answer_each(given[name], len(trials), kind) for name in people])
    empty = GivenAnswers(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))
    own = given.get(judge, empty)
    found = JudgedTrials(
        kind=kind,
        trials=trials,
        people_names=tuple(people),
        people=rows,
        judge_name=judge,
        judge=_one_answer_each(own, len(trials), kind),
        given=own,
        clusters=places_of(
            [
                f"document {document_of[trial.item]}"
                if trial.item in document_of
                else f"item {trial.item}"
                for trial in trials
            ]
        ),
        other_machines=tuple(name for name in names if is_machine(name) and name != judge),
    )
    return found if scores is None else _with_metric(found, scores)


def unknown_judge(judge: str, names: Sequence[str]) -> str:
    """What to say where no judge has this name."""
    hint = did_you_mean(judge, names)
    if f"{MACHINE_PREFIX}{judge}" in names:
        hint = f" Did you mean {MACHINE_PREFIX}{judge}?"
    shown = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
    return f"no judge has this name.{hint} The judges are {shown}."


def _kind(answers: Sequence[Judgment] | Sequence[Preference]) -> AnswerKind:
    if isinstance(answers[0], Preference):
        return "choices"
    with_labels: dict[str, bool] = {}
    for answer in answers:
        assert isinstance(answer, Judgment)
        with_labels[answer.question] = with_labels.get(answer.question, False) or isinstance(
            answer.value, str
        )
    if len(set(with_labels.values())) > 1:
        labels = [name for name, has in with_labels.items() if has]
        raise InputError(
            f"Some questions have labels ({', '.join(labels)}), others numbers: choose with question=."
        )
    return "labels" if next(iter(with_labels.values())) else "numbers"


def _read(
    answer: Judgment | Preference, codes: dict[str, float]
) -> tuple[JudgedTrial, float, float]:
    sample = answer.extra.get(SAMPLE_COLUMN, "")
    if isinstance(answer, Preference):
        pair = (answer.system_a, answer.system_b)
        is_sorted = pair == tuple(sorted(pair))
        share = SHARE_OF_CHOICE[answer.choice]
        is_a_first = answer.extra.get(ORDER_COLUMN, "").strip().lower() != "ba"
        return (
            JudgedTrial(answer.question, answer.item, tuple(sorted(pair)), sample),
            share if is_sorted else 1 - share,
            1.0 if is_sorted == is_a_first else -1.0,
        )
    trial = JudgedTrial(answer.question, answer.item, (answer.system,), sample)
    if isinstance(answer.value, str):
        return trial, codes.setdefault(answer.value, float(len(codes))), np.nan
    try:
        order = float(answer.extra.get(ORDER_COLUMN, ""))
    except ValueError:
        order = np.nan
    return trial, answer.value, order


def _one_answer_each(given: GivenAnswers, n: int, kind: AnswerKind) -> Floats:
    """One answer to each trial, NaN where there is none."""
    counts = np.bincount(given.trials, minlength=n)
    sums = np.bincount(given.trials, given.values, minlength=n)
    found = np.full(n, np.nan)
    answered = counts > 0
    found[answered] = sums[answered] / counts[answered]
    if kind == "choices":
        found[answered] = (np.sign(found[answered] - 0.5) + 1) / 2
    elif kind == "labels":
        for trial in np.flatnonzero(counts > 1):
            found[trial] = most_frequent(given.values[given.trials == trial].tolist())
    return found


def most_frequent(values: Iterable[float]) -> float:
    """The value given most often; of several, the one given first.

    >>> most_frequent([2.0, 1.0, 1.0, 2.0])
    2.0
    """
    return Counter(values).most_common(1)[0][0]


def _with_metric(trials: JudgedTrials, scores: OutputValues) -> JudgedTrials:
    """The trials with a metric's scores as the judge's answers. Of two outputs the metric chooses the
    one with the better score. As ratings, scores are put on the question's scale if needed."""
    if trials.kind == "labels":
        raise InputError(
            f"{trials.judge_name} gives numbers, and people gave labels: they cannot be compared."
        )
    values = np.array(
        [
            [scores.get((system, trial.item), np.nan) for system in trial.systems]
            for trial in trials.trials
        ]
    )
    is_refitted = False
    if trials.kind == "choices":
        judge = (np.sign(values[:, 0] - values[:, 1]) + 1) / 2
    else:
        judge = values[:, 0]
        is_refitted = not all(
            are_on_scale(judge[own], trials.people[:, own])
            for question in np.unique(trials.questions)
            for own in [trials.questions == question]
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
    """Whether scores may be answers to the question that people answered: 0 and 1 where it is yes or
    no; else scores in the range of people's answers that cover at least half of it and, where people
    gave more than `MAX_DIFFERENT_GRADES` different answers, are whole numbers.

    >>> grades = np.array([1.0, 5, 3])
    >>> are_on_scale(np.array([2.0, 4.5]), grades), are_on_scale(np.array([0.2, 0.9]), grades)
    (True, False)
    """
    scores, people = scores[~np.isnan(scores)], np.unique(people[~np.isnan(people)])
    if not len(scores) or not len(people):
        return not len(scores)
    if np.isin(people, (0.0, 1.0)).all():
        return bool(np.isin(scores, (0.0, 1.0)).all())
    lowest, highest = people[0], people[-1]
    are_whole = bool((scores == np.round(scores)).all())
    return bool(
        scores.min() >= lowest
        and scores.max() <= highest
        and 2 * np.ptp(scores) >= highest - lowest
        and (len(people) <= MAX_DIFFERENT_GRADES or are_whole)
    )


def on_question_scale(scores: Floats, people: Floats, items: Places, questions: Places) -> Floats:
    """The scores as predictions of people's means, question by question, by straight lines that are
    fitted to the items of other folds."""
    found = np.full(len(scores), np.nan)
    folds = items % SCALE_FOLDS
    known = ~np.isnan(scores)
    for question in np.unique(questions):
        own = questions == question
        for fold in np.unique(folds[own]):
            seen = own & known & (folds != fold) & ~np.isnan(people)
            target = own & known & (folds == fold)
            if not seen.any():
                continue
            x, y = scores[seen], people[seen]
            spread = float(((x - x.mean()) ** 2).sum())
            slope = float((x - x.mean()) @ (y - y.mean())) / spread if spread > 0 else 0.0
            found[target] = y.mean() + slope * (scores[target] - x.mean())
    return found

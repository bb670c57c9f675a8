"""Who won, according to people, question by question: `RankResult`.

Slices, such as the items of each domain, are all ranked by one model, with p-values that are corrected
for all slices together.

Slices are small, so it says little if a difference is shown in one slice and not in another. So a
`RankingSliceTest` asks whether the difference of two systems is the same in all slices, by Welch's
analysis of variance with the standard errors of the slices' own models. Slices often have judges in
common; their differences then vary together, and the test is cautious.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from wellput.agreement.exclusions import without_excluded
from wellput.agreement.panel import AnyJudgment, Exclusion, systems_of
from wellput.agreement.prepared_panels import (
    alike_note,
    chosen_judges,
    machine_note,
    refuse_labels,
)
from wellput.agreement.rankings.checks import (
    LargerStudy,
    OtherOrder,
    circular_note,
    larger_studies,
    other_orders,
    permutation_p_value,
)
from wellput.agreement.rankings.fitted_question import (
    FittedModelName,
    FittedQuestion,
    fit_question,
    system_pairs,
)
from wellput.agreement.rankings.fitted_ranking import (
    FittedRanking,
    RankCorrection,
    answer_sentence,
    pair_p_values,
    rank_fitted,
)
from wellput.agreement.rankings.judgment_design import COMPONENTS, Covariates, question_data
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.judgment import Judgment, Preference
from wellput.core.result import Result
from wellput.core.work import OnPhase, ignore_phase
from wellput.stats.blas_threads import one_blas_thread
from wellput.stats.corrections import holm
from wellput.stats.mixed.equations import Floats
from wellput.stats.student import welch_test

MIN_FREEDOM = 5
"""A slice whose difference has fewer degrees of freedom is left out: its error is too uncertain."""


@dataclass(frozen=True, slots=True)
class RankingSliceTest:
    """Tests that the first of two systems is equally far ahead of the second in all slices.

    `deltas` has the difference in each slice that is tested, as in the slice's ranking; the first
    system is the better one overall. `statistic` is Welch's F, with two degrees of `freedom`.
    `p_adjusted` is corrected by Holm's method for the pairs of the question.
    """

    question: str
    systems: tuple[str, str]
    deltas: Mapping[str, float]
    statistic: float
    freedom: tuple[float, float]
    p_value: float
    p_adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """An entry of `slice_tests` in the JSON."""
        return {
            "question": self.question,
            "systems": self.systems,
            "deltas": dict(self.deltas),
            "statistic": self.statistic,
            "freedom": self.freedom,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
        }


def adjusted_together(p_values: Sequence[Floats]) -> list[Floats]:
    """The p-values of several slices, corrected by Holm's method as one family."""
    ends = np.cumsum([len(part) for part in p_values])[:-1]
    return np.split(holm(np.concatenate(p_values)), ends)


def ranking_slice_tests(
    whole: FittedRanking,
    slices: Mapping[str, tuple[FittedQuestion, FittedRanking]],
) -> tuple[RankingSliceTest, ...]:
    """A test for each pair that the whole compares, if at least two slices have enough judgments of
    it."""
    tests = []
    for pair in (one.systems for one in whole.differences):
        found: dict[str, tuple[float, float, float]] = {}
        deltas: dict[str, float] = {}
        for name, (question, ranking) in slices.items():
            measured = _measured_difference(question, pair)
            if measured is not None:
                found[name] = measured
                deltas[name] = lead_of(ranking, pair)
        if len(found) > 1:
            test = welch_test(*(np.array(column) for column in zip(*found.values(), strict=True)))
            tests.append(
                RankingSliceTest(
                    whole.question,
                    pair,
                    deltas,
                    test.statistic,
                    test.freedom,
                    test.p_value,
                    test.p_value,
                )
            )
    adjusted = holm(np.array([test.p_value for test in tests]))
    return tuple(
        replace(test, p_adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)
    )


def lead_of(ranking: FittedRanking, pair: tuple[str, str]) -> float:
    """How far the first of two systems is ahead of the second."""
    for one in ranking.differences:
        if one.systems == pair:
            return one.delta
        if one.systems == pair[::-1]:
            return -one.delta
    raise KeyError(pair)


def _measured_difference(
    question: FittedQuestion, pair: tuple[str, str]
) -> tuple[float, float, float] | None:
    """The difference on the model's scale, its error and its degrees of freedom; None where the slice
    lacks a system or has too few judgments."""
    names = question.data.system_names
    if not set(pair) <= set(names):
        return None
    first, second = (names.index(name) for name in pair)
    lows, highs = system_pairs(len(names))
    place = np.flatnonzero((lows == min(first, second)) & (highs == max(first, second)))
    contrast = question.fitted.contrast_pairs(lows[place], highs[place])
    value, error = float(contrast.values[0]), float(contrast.errors[0])
    freedom = float(question.freedom[place][0])
    if not error > 0 or freedom < MIN_FREEDOM:
        return None
    return (value if first < second else -value), error, freedom


MANY_SYSTEMS = 100
"""With more systems the progress line says that ranking takes long: all pairs are compared."""
MIN_SLICE_JUDGMENTS = 10


@dataclass(frozen=True)
class RankOptions:
    """The options of a ranking."""

    model: FittedModelName | Literal["auto"] = "auto"
    random: Sequence[str] = COMPONENTS
    correction: RankCorrection = "holm"
    confidence: float = 0.95
    against: str | None = None
    by: str | None = None
    sequential: bool = False
    permutations: int = 1000
    seed: int = 12345


@dataclass(frozen=True)
class QuestionRanking:
    """One question's ranking, or that of a slice of its items, with checks of it."""

    ranking: FittedRanking
    other_orders: Sequence[OtherOrder]
    larger_studies: Sequence[LargerStudy]
    permutation_p: float | None

    def to_dict(self) -> dict[str, Any]:
        """An entry of `questions` in the JSON."""
        return self.ranking.to_dict() | {
            "permutation_p": self.permutation_p,
            "other_orders": [asdict(order) for order in self.other_orders],
            "larger_studies": [asdict(study) for study in self.larger_studies],
        }


@dataclass(frozen=True, repr=False)
class RankResult(Result):
    """The rankings, one for each question (and each slice, with `by`); `excluded` says which judgments
    were left out and why, `refused` which questions or slices could not be ranked, `slice_tests`
    whether differences depend on the slice."""

    questions: Sequence[QuestionRanking]
    excluded: Sequence[Exclusion] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    slice_tests: Sequence[RankingSliceTest] = ()
    notes: Sequence[str] = ()
    """What else to know, such as which parts of a file of scores were not used."""

    presented_by: ClassVar[str] = "wellput.reporting.rank:rank_report"

    @property
    def rankings(self) -> list[FittedRanking]:
        """The rankings alone."""
        return [question.ranking for question in self.questions]

    @property
    def answer(self) -> str:
        """Who won: a sentence for each question."""
        several = len(self.questions) > 1
        return "\n".join(answer_sentence(one, with_question=several) for one in self.rankings)

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput rank`."""
        return {
            "questions": [question.to_dict() for question in self.questions],
            "excluded": [asdict(exclusion) for exclusion in self.excluded],
            "refused": dict(self.refused),
            "notes": list(self.notes),
            "slice_tests": [test.to_dict() for test in self.slice_tests],
        }

    def records(self) -> list[dict[str, Any]]:
        """A row for each question and system."""
        return [
            {"question": one.question, "by": _slice_name(one.by), "model": one.fitted} | asdict(row)
            for one in self.rankings
            for row in one.systems
        ]


@one_blas_thread()
def rank_judgments(
    answers: Sequence[Judgment] | Sequence[Preference],
    options: RankOptions,
    *,
    questions: Sequence[str] = (),
    judges: Sequence[str] = ("people",),
    exclusions: Sequence[Exclusion] = (),
    covariates: Covariates | None = None,
    on_phase: OnPhase = ignore_phase,
) -> RankResult:
    """Ranks the systems on each question; raises InputError if no question can be ranked."""
    kept, left_out = chosen_judges(answers, judges)
    kept, excluded = without_excluded(kept, exclusions)
    found: list[QuestionRanking] = []
    refused: dict[str, str] = {}
    tests: list[RankingSliceTest] = []
    for question in _chosen_questions(kept, questions):
        own = [answer for answer in kept if answer.question == question]
        slices = _slices(own, options.by)
        n_systems = len({name for answer in own for name in systems_of(answer)})
        is_slow = n_systems > MANY_SYSTEMS
        many = f", {counted(n_systems, 'system')}: this takes a while" if is_slow else ""
        on_phase(f"ranking by {question}{many}")
        whole: QuestionRanking | None = None
        try:
            fitted = _fitted(question, own, options, covariates)
            whole = _ranked(fitted, rank_fitted(fitted, **_ranking_options(options)), options)
            found.append(whole)
        except InputError as problem:
            refused[question] = str(problem)
        if slices:
            model = options.model if whole is None else whole.ranking.fitted
            parts = _ranked_slices(
                question, slices, replace(options, model=model), covariates, refused
            )
            found += [part for _, part in parts.values()]
            if whole is not None and not options.sequential:
                pairs = {name: (fit, part.ranking) for name, (fit, part) in parts.items()}
                tests += ranking_slice_tests(whole.ranking, pairs)
    if not found:
        raise InputError("\n".join(refused.values()))
    notes = [*machine_note(kept, judges), *alike_note(kept)]
    return RankResult(found, [*left_out, *excluded], refused, tests, notes)


def _fitted(
    question: str,
    answers: Sequence[AnyJudgment],
    options: RankOptions,
    covariates: Covariates | None,
    *,
    or_linear: bool = False,
) -> FittedQuestion:
    refuse_labels(question, answers)
    data = question_data(question, cast("Sequence[Judgment]", answers), covariates=covariates)
    if options.against is not None and options.against not in data.system_names:
        hint = did_you_mean(options.against, data.system_names)
        raise InputError(
            f"against={options.against!r} was not judged on {question}.{hint} "
            f"The systems are {', '.join(data.system_names)}."
        )
    return fit_question(data, model=options.model, random=options.random, or_linear=or_linear)


def _ranking_options(options: RankOptions) -> dict[str, Any]:
    """The keywords of `rank_fitted`."""
    return {
        "correction": options.correction,
        "confidence": options.confidence,
        "against": options.against,
        "sequential": options.sequential,
    }


def _ranked(
    fitted: FittedQuestion, ranking: FittedRanking, options: RankOptions
) -> QuestionRanking:
    p = None  # these tests are right for one look only
    if not options.sequential:
        circular = circular_note(fitted, alpha=1 - options.confidence)
        ranking = replace(ranking, notes=(*ranking.notes, *circular))
        p = permutation_p_value(fitted.data, permutations=options.permutations, seed=options.seed)
    larger = larger_studies(fitted, confidence=options.confidence)
    return QuestionRanking(ranking, other_orders(fitted), larger, p)


def _ranked_slices(
    question: str,
    slices: Sequence[tuple[dict[str, str], list[AnyJudgment]]],
    options: RankOptions,
    covariates: Covariates | None,
    refused: dict[str, str],
) -> dict[str, tuple[FittedQuestion, QuestionRanking]]:
    """The ranking of each slice, by its value of the tag. All slices have the same model: the linear
    one if the model has no finite estimate for one of them. `refused` gets the reasons for slices
    without a ranking."""
    fitted: list[tuple[dict[str, str], FittedQuestion]] = []
    for by, part in slices:
        try:
            if len(part) < MIN_SLICE_JUDGMENTS:
                raise InputError(f"{counted(len(part), 'judgment')}, too few to rank by.")
            fitted.append((by, _fitted(question, part, options, covariates, or_linear=True)))
        except InputError as problem:
            name = f"{question}, {_slice_name(by)}"
            refused[name] = f"{name}: {str(problem).removeprefix(f'{question}: ')}"
    if len({fit.model for _, fit in fitted}) > 1:
        linear = replace(options, model="linear")
        return _ranked_slices(question, slices, linear, covariates, refused)
    every = [pair_p_values(fit, **_test_options(options)) for _, fit in fitted]
    adjusted = adjusted_together(every) if options.correction == "holm" and every else every
    return {
        next(iter(by.values())): (
            fit,
            _ranked(fit, rank_fitted(fit, by=by, adjusted=p, **_ranking_options(options)), options),
        )
        for (by, fit), p in zip(fitted, adjusted, strict=True)
    }


def _test_options(options: RankOptions) -> dict[str, Any]:
    """The keywords of `pair_p_values`."""
    return {
        "confidence": options.confidence,
        "against": options.against,
        "sequential": options.sequential,
    }


def _chosen_questions(answers: Sequence[AnyJudgment], questions: Sequence[str]) -> list[str]:
    known = list(dict.fromkeys(answer.question for answer in answers))
    if not known:
        raise InputError("There are no judgments to rank by.")
    for name in questions:
        if name not in known:
            raise InputError(
                f"question={name!r} was not asked.{did_you_mean(name, known)} "
                f"The questions are {', '.join(known)}."
            )
    return list(questions) or known


def _slices(
    answers: Sequence[AnyJudgment], by: str | None
) -> list[tuple[dict[str, str], list[AnyJudgment]]]:
    """The judgments by what they have in a further column of their file."""
    if by is None:
        return []
    parts: dict[str, list[AnyJudgment]] = {}
    for answer in answers:
        if by not in answer.extra:
            known = sorted({name for one in answers for name in one.extra})
            there = f" The further columns are {', '.join(known)}." if known else ""
            raise InputError(
                f"by={by!r} is neither a further column of the judgments nor a tag of evalset=."
                f"{did_you_mean(by, known)}{there}"
            )
        parts.setdefault(answer.extra[by], []).append(answer)
    return [({by: name}, part) for name, part in sorted(parts.items())]


def _slice_name(by: Mapping[str, str] | None) -> str | None:
    return None if by is None else ", ".join(f"{name} {value}" for name, value in by.items())

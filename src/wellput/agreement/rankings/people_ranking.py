"""`RankResult`: the rankings of systems by people's judgments, for each question.

With `by`, the systems are also ranked in slices: the items of each domain, for example. All slices
have the same kind of model, and their p-values are corrected for all slices together.

Slices are small, so a difference may be significant in one slice and not in another by chance.
Therefore a `RankingSliceTest` tests whether the difference of two systems is the same in all slices,
by Welch's analysis of variance with the standard errors of the slices' models. If slices have judges
in common, their differences vary together, and the p-values of the test are too large rather than too
small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from wellput.agreement.exclusions import without_excluded
from wellput.agreement.judgment_names import machine_note, notes_on_names
from wellput.agreement.panel import AnyJudgment, Exclusion, systems_of
from wellput.agreement.prepared_panels import (
    chosen_judges,
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
"""A slice in which the difference has fewer degrees of freedom is left out of the test, because its
standard error is too uncertain."""


@dataclass(frozen=True, slots=True)
class RankingSliceTest:
    """Tests that the first of two systems is equally far ahead of the second in all slices.

    `deltas` has the difference in each tested slice, by the name of the slice, as in the slice's
    ranking. The first system is the better one overall. `statistic` is Welch's F with its two numbers
    of degrees of `freedom`. `p_adjusted` is corrected by Holm's method for the pairs of the question.
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
    """The p-values of several slices, corrected by Holm's method for all of them together."""
    ends = np.cumsum([len(part) for part in p_values])[:-1]
    return np.split(holm(np.concatenate(p_values)), ends)


def ranking_slice_tests(
    whole: FittedRanking,
    slices: Mapping[str, tuple[FittedQuestion, FittedRanking]],
) -> tuple[RankingSliceTest, ...]:
    """A test for each pair of systems that the ranking of all items, `whole`, compares, if at least two
    slices have enough judgments of the pair. `slices` are by name."""
    tests = []
    for pair in (difference.systems for difference in whole.differences):
        # For each slice: the difference, its standard error and its degrees of freedom.
        measured_by_slice: dict[str, tuple[float, float, float]] = {}
        deltas: dict[str, float] = {}
        for name, (question, ranking) in slices.items():
            measured = _measured_difference(question, pair)
            if measured is not None:
                measured_by_slice[name] = measured
                deltas[name] = lead_of(ranking, pair)
        if len(measured_by_slice) > 1:
            test = welch_test(
                *(np.array(column) for column in zip(*measured_by_slice.values(), strict=True))
            )
            tests.append(
                RankingSliceTest(
                    whole.question,
                    pair,
                    deltas,
                    test.statistic,
                    test.freedom,
                    test.p_value,
                    test.p_value,  # corrected below
                )
            )
    adjusted = holm(np.array([test.p_value for test in tests]))
    return tuple(
        replace(test, p_adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)
    )


def lead_of(ranking: FittedRanking, pair: tuple[str, str]) -> float:
    """The difference of the pair in this ranking: how much higher the first system is than the
    second."""
    for difference in ranking.differences:
        if difference.systems == pair:
            return difference.delta
        if difference.systems == pair[::-1]:
            return -difference.delta
    raise KeyError(pair)


def _measured_difference(
    question: FittedQuestion, pair: tuple[str, str]
) -> tuple[float, float, float] | None:
    """The difference of two systems on the model's scale, its standard error and its degrees of
    freedom. None if the slice lacks one of the systems or has too few judgments."""
    names = question.data.system_names
    if not set(pair) <= set(names):
        return None
    first, second = (names.index(name) for name in pair)
    low_codes, high_codes = system_pairs(len(names))
    place = np.flatnonzero((low_codes == min(first, second)) & (high_codes == max(first, second)))
    contrast = question.fitted.contrast_pairs(low_codes[place], high_codes[place])
    value, error = float(contrast.values[0]), float(contrast.errors[0])
    freedom = float(question.freedom[place][0])
    if not error > 0 or freedom < MIN_FREEDOM:
        return None
    return (value if first < second else -value), error, freedom


MANY_SYSTEMS = 100
"""With more systems the progress line says that ranking takes a while, because all pairs are
compared."""
MIN_SLICE_JUDGMENTS = 10
"""A slice with fewer judgments is not ranked."""


@dataclass(frozen=True)
class RankOptions:
    """The options of a ranking, as for `wellput.rank`."""

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
    """The ranking for one question, or for a slice of its items, with checks of the ranking.

    `other_orders` are the systems in the order of other ways of ranking, `larger_studies` the precision
    of imagined studies with more judges or items."""

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
    """Further notes, for example on scores in a file that were not used."""

    presented_by: ClassVar[str] = "wellput.reporting.rank:rank_report"

    @property
    def rankings(self) -> list[FittedRanking]:
        """The rankings without their checks."""
        return [question.ranking for question in self.questions]

    @property
    def answer(self) -> str:
        """Who won: a sentence for each question."""
        has_several = len(self.questions) > 1
        return "\n".join(
            answer_sentence(ranking, with_question=has_several) for ranking in self.rankings
        )

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
        return [  # `ranking.fitted` is the name of the model
            {"question": ranking.question, "by": _slice_name(ranking.by), "model": ranking.fitted}
            | asdict(row)
            for ranking in self.rankings
            for row in ranking.systems
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
    rankings: list[QuestionRanking] = []
    refused: dict[str, str] = {}
    tests: list[RankingSliceTest] = []
    for question in _chosen_questions(kept, questions):
        question_answers = [answer for answer in kept if answer.question == question]
        slices = _slices(question_answers, options.by)
        n_systems = len({name for answer in question_answers for name in systems_of(answer)})
        is_slow = n_systems > MANY_SYSTEMS
        slow_note = f", {counted(n_systems, 'system')}: this takes a while" if is_slow else ""
        on_phase(f"ranking by {question}{slow_note}")
        whole: QuestionRanking | None = None
        try:
            fitted = _fitted(question, question_answers, options, covariates)
            whole = _with_checks(fitted, rank_fitted(fitted, **_ranking_options(options)), options)
            rankings.append(whole)
        except InputError as problem:
            refused[question] = str(problem)
        if slices:
            model_name = options.model if whole is None else whole.ranking.fitted
            ranked_slices = _ranked_slices(
                question, slices, replace(options, model=model_name), covariates, refused
            )
            rankings += [ranked for _, ranked in ranked_slices.values()]
            if whole is not None and not options.sequential:
                slice_rankings = {
                    name: (fit, ranked.ranking) for name, (fit, ranked) in ranked_slices.items()
                }
                tests += ranking_slice_tests(whole.ranking, slice_rankings)
    if not rankings:
        raise InputError("\n".join(refused.values()))
    notes = [*machine_note(kept, judges), *notes_on_names(kept)]
    return RankResult(rankings, [*left_out, *excluded], refused, tests, notes)


def _fitted(
    question: str,
    answers: Sequence[AnyJudgment],
    options: RankOptions,
    covariates: Covariates | None,
    *,
    or_linear: bool = False,
) -> FittedQuestion:
    """The model of one question, or of a slice of it. With `or_linear`, ratings get the linear model if
    the chosen model has no finite estimate."""
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


def _with_checks(
    fitted: FittedQuestion, ranking: FittedRanking, options: RankOptions
) -> QuestionRanking:
    """The ranking with its checks. A sequential ranking has no permutation test."""
    p = None
    # A sequential ranking may be made again and again while judgments come in. These tests are valid
    # only if they are made a single time.
    if not options.sequential:
        # A note if A is preferred to B, B to C and C to A.
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
    """The model and the ranking of each slice, by its value of the tag. All slices have the same kind
    of model: the linear model if their models would differ otherwise, for example because the chosen
    model has no finite estimate for one slice. The reasons why a slice could not be ranked are added to
    `refused`."""
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
    p_values = [pair_p_values(fit, **_test_options(options)) for _, fit in fitted]
    adjusted = (
        adjusted_together(p_values) if options.correction == "holm" and p_values else p_values
    )
    return {
        next(iter(by.values())): (
            fit,
            _with_checks(
                fit, rank_fitted(fit, by=by, adjusted=p, **_ranking_options(options)), options
            ),
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
    """The questions asked for, or all. Raises InputError for a question that nobody was asked."""
    all_questions = list(dict.fromkeys(answer.question for answer in answers))
    if not all_questions:
        raise InputError("There are no judgments to rank by.")
    for name in questions:
        if name not in all_questions:
            raise InputError(
                f"question={name!r} was not asked.{did_you_mean(name, all_questions)} "
                f"The questions are {', '.join(all_questions)}."
            )
    return list(questions) or all_questions


def _slices(
    answers: Sequence[AnyJudgment], by: str | None
) -> list[tuple[dict[str, str], list[AnyJudgment]]]:
    """The judgments divided by their value in the column `by`, in the order of the values."""
    if by is None:
        return []
    parts: dict[str, list[AnyJudgment]] = {}
    for answer in answers:
        if by not in answer.extra:
            columns = sorted({name for judgment in answers for name in judgment.extra})
            columns_there_are = f" The further columns are {', '.join(columns)}." if columns else ""
            raise InputError(
                f"by={by!r} is neither a further column of the judgments nor a tag of evalset=."
                f"{did_you_mean(by, columns)}{columns_there_are}"
            )
        parts.setdefault(answer.extra[by], []).append(answer)
    return [({by: name}, part) for name, part in sorted(parts.items())]


def _slice_name(by: Mapping[str, str] | None) -> str | None:
    return None if by is None else ", ".join(f"{name} {value}" for name, value in by.items())

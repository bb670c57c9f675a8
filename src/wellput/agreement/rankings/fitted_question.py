"""`FittedQuestion`: the mixed model that is fitted to the judgments of one question.

In the model, systems are fixed effects. Judges, items and documents are random effects, each also in
interaction with the system; effects that cannot be separated in these data are left out. The kind of
model depends on the answers: choices, yes or no, few grades, or other ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from wellput.agreement.rankings.judgment_design import COMPONENTS, QuestionData
from wellput.agreement.rankings.plain_ranking import LOWER_IS_BETTER, MAX_RANKED_SYSTEMS, listed
from wellput.core.errors import InputError, counted
from wellput.stats.mixed.contrasts import MIN_ITEMS_FOR_FREEDOM, MIN_JUDGES_FOR_FREEDOM, Places
from wellput.stats.mixed.equations import Floats, MixedDesign
from wellput.stats.mixed.identifiable import identify_components
from wellput.stats.mixed.laplace import LaplaceMixed, fit_binary, fit_choices, fit_ordinal
from wellput.stats.mixed.linear import LinearMixed, fit_linear
from wellput.stats.mixed.separation import Disconnected, Separated
from wellput.stats.proportions import share_interval

FittedModelName: TypeAlias = Literal["linear", "ordinal", "binary", "bradley-terry"]
MAX_ORDINAL_GRADES = 5
"""If the answers have more different values than this, the linear model is used."""
MAX_FREEDOM = 1e6
"""Used instead of infinitely many degrees of freedom: with so many, Student's t is practically the
normal distribution."""
TIE = 0.5
"""The value of a choice that is a tie."""
MAX_NAMED_GROUPS = 6
"""A sentence names at most this many groups of systems. If there are more, it gives their number."""


@dataclass(frozen=True, eq=False)
class FittedQuestion:
    """A question's data with the fitted model. Rankings and their checks are made from it.

    `data` has only the random effects that can be estimated; `not_estimable` says for each of the
    others why it cannot be estimated. `freedom` has the degrees of freedom of the differences of all
    pairs of systems, in the order of `itertools.combinations`.
    """

    data: QuestionData
    model: FittedModelName
    fitted: LinearMixed | LaplaceMixed
    freedom: Floats
    not_estimable: dict[str, str]
    notes: tuple[str, ...]
    random: tuple[str, ...] = COMPONENTS
    """The random effects that were asked for."""
    is_chosen_by_answers: bool = False
    """Whether the model was chosen by looking at the answers, not by the caller."""

    @property
    def effects(self) -> Floats:
        """The effect of each system on the scale of the model, such as log odds. The best system has
        the highest."""
        return np.asarray(self.sign * self.fitted.effects[: len(self.data.system_names)])

    @property
    def sign(self) -> float:
        """−1 if the lowest value is best, else 1."""
        return -1.0 if self.data.question in LOWER_IS_BETTER else 1.0


def model_for(data: QuestionData) -> FittedModelName:
    """The model that fits the scale of the answers."""
    if data.are_choices:
        return "bradley-terry"
    if data.are_yes_no:
        return "binary"
    points = np.unique(data.values)
    is_graded = len(points) <= MAX_ORDINAL_GRADES and bool(np.all(points == np.round(points)))
    return "ordinal" if is_graded else "linear"


def fit_question(
    data: QuestionData,
    *,
    model: FittedModelName | Literal["auto"] = "auto",
    random: Sequence[str] = COMPONENTS,
    or_linear: bool = False,
) -> FittedQuestion:
    """Fits the model of one question's judgments. Raises InputError if no model can be fitted. With
    `or_linear` or `model="auto"`, ratings get the linear model if the chosen model has no finite
    estimate, for example because a system got only the highest answers."""
    name = model_for(data) if model == "auto" else model
    _check_answers(data, name)
    _check_documents(data, random)
    components = identify_components(data.with_factors(random).design)
    estimable_data = data.with_factors(components.estimable)
    notes: list[str] = []
    try:
        try:
            fitted = FITTERS[name](estimable_data.values, estimable_data.design)
        except Separated as problem:
            if not (or_linear or model == "auto") or name == "bradley-terry":
                raise
            reason = _reason_for_separation(data, problem)
            notes.append(
                f"{reason[0].upper()}{reason[1:]}: the {name} model has no finite estimate for this, "
                "so the linear model is used."
            )
            name, fitted = "linear", fit_linear(estimable_data.values, estimable_data.design)
    except Disconnected as problem:
        raise InputError(_disconnected(data, problem)) from None
    except Separated as problem:
        raise InputError(_separated(data, name, problem)) from None
    except InputError as problem:
        raise InputError(f"{data.question}: {problem}.") from None
    if data.has_own_judges:
        notes.append(
            "Each system had a judge of its own: a severe judge cannot be distinguished from a bad "
            "system, so differences may be those of the judges."
        )
    elif groups_note := _judges_in_groups(data):
        notes.append(groups_note)
    of_one_judge = data.systems_of_one_judge
    if of_one_judge and not data.has_own_judges:
        notes.append(
            f"{listed(of_one_judge)} {'was' if len(of_one_judge) == 1 else 'were each'} judged by one "
            "judge only: how far judges differ in what they prefer is known from the other systems "
            "alone."
        )
    if data.n_repeated:
        notes.append(
            f"{counted(data.n_repeated, 'judgment')} came from a judge who had judged the same output "
            "before; each counts."
        )
    model_freedom = fitted.contrast_pairs(*system_pairs(len(data.system_names))).freedom
    return FittedQuestion(
        estimable_data,
        name,
        fitted,
        _freedom(model_freedom, data, random),
        components.reasons,
        tuple(notes),
        tuple(random),
        model == "auto",
    )


def freedom_limit(n_judges: int, n_items: int, random: Sequence[str]) -> float:
    """The largest number of degrees of freedom that a difference of systems may have: one less than the
    number of judges or of items, if these are few."""
    limit = MAX_FREEDOM
    if 1 < n_judges < MIN_JUDGES_FOR_FREEDOM and "judge:system" in random:
        limit = min(limit, n_judges - 1)
    if 1 < n_items < MIN_ITEMS_FOR_FREEDOM and "item:system" in random:
        limit = min(limit, n_items - 1)
    return limit


def _freedom(model_freedom: Floats, data: QuestionData, random: Sequence[str]) -> Floats:
    """The degrees of freedom of the differences of all pairs. They are the model's, limited if there
    are few judges or items: the model may find no variance among so few."""
    freedom = np.clip(
        np.nan_to_num(model_freedom, nan=1.0),
        1.0,
        freedom_limit(data.n_judges, data.n_items, random),
    )
    if "judge" in random and not data.has_own_judges:
        # Two systems without a common judge are compared by two samples of judges, so the degrees of
        # freedom are at most those of a t-test of two samples.
        groups = data.judge_groups
        first, second = (groups.of_systems[codes] for codes in system_pairs(len(data.system_names)))
        n_first, n_second = groups.n_judges[first], groups.n_judges[second]
        are_few = (first != second) & (np.minimum(n_first, n_second) < MIN_JUDGES_FOR_FREEDOM)
        limit = np.maximum(n_first + n_second - 2, 1)
        freedom = np.where(are_few, np.minimum(freedom, limit), freedom)
    return freedom


def _judges_in_groups(data: QuestionData) -> str:
    """A note that names groups of systems without a common judge. Empty if all systems are connected by
    judges, directly or through other systems."""
    groups = data.judge_groups
    n = len(groups.n_judges)
    if n < 2:
        return ""
    names = [
        ", ".join(compress(data.system_names, groups.of_systems == group)) for group in range(n)
    ]
    groups_in_words = "; ".join(names[:MAX_NAMED_GROUPS]) + ("; …" if n > MAX_NAMED_GROUPS else "")
    which_groups = "both of these groups" if n == 2 else f"two of these {n} groups"
    return (
        f"No judge judged systems of {which_groups}: {groups_in_words}. Differences between groups may "
        "be those of their judges."
    )


def _check_documents(data: QuestionData, random: Sequence[str]) -> None:
    """Raises InputError if effects of documents were asked for (not only by default), but there are no
    documents."""
    document_effects = [name for name in random if name.startswith("document")]
    if document_effects and data.documents is None and len(random) < len(COMPONENTS):
        raise InputError(
            f"random={document_effects[0]!r}: the judgments have no column document, and no "
            "evalset says which document an item belongs to."
        )


FITTERS: dict[FittedModelName, Callable[[Floats, MixedDesign], LinearMixed | LaplaceMixed]] = {
    "linear": fit_linear,
    "ordinal": fit_ordinal,
    "binary": fit_binary,
    "bradley-terry": fit_choices,
}


def _check_answers(data: QuestionData, model: FittedModelName) -> None:
    """Raises InputError if the judgments cannot be ranked, or do not fit the model."""
    n = len(data.system_names)
    if n < 2:
        raise InputError(
            f"{data.question}: only {data.system_names[0]} was judged; a ranking needs two systems."
        )
    if n > MAX_RANKED_SYSTEMS:
        raise InputError(
            f"{data.question}: {counted(n, 'system')} were judged, and at most {MAX_RANKED_SYSTEMS:,} "
            "are compared by a model. Leave systems out, or rank them in groups."
        )
    if data.n_judges == 1 and data.n_items == 1:
        raise InputError(
            f"{data.question}: one judge judged one item, which says nothing about other judges or "
            "items. Collect judgments of more."
        )
    if data.are_choices != (model == "bradley-terry"):
        kind = "pairwise choices" if data.are_choices else "ratings"
        raise InputError(
            f"model={model!r} does not fit {data.question}, whose judgments are {kind}."
        )
    if np.ptp(data.values) == 0 and (not data.are_choices or data.values[0] == TIE):
        raise InputError(
            f"{data.question}: all {counted(len(data.values), 'judgment')} are the same, so no system "
            f"is ahead.{_one_share(data)}"
        )
    if model == "binary" and not set(np.unique(data.values).tolist()) <= {0.0, 1.0}:
        raise InputError(f"model='binary' needs answers of 0 and 1; {data.question} has others.")


def _one_share(data: QuestionData) -> str:
    """If all answers are yes, or all are no: a sentence with an interval of the share of yes, for which
    each item counts as one answer."""
    if not data.are_yes_no:
        return ""
    share = share_interval(data.n_items * int(data.values[0]), data.n_items)
    items = counted(data.n_items, "item")
    return (
        f" Every system's share of yes is {share.value:.0%}; with {items}, the true share "
        f"may lie between {share.low:.0%} and {share.high:.0%}."
    )


def _reason_for_separation(data: QuestionData, problem: Separated) -> str:
    """Why a model has no finite estimate (statisticians call this separation), in words."""
    names = [data.system_names[code] for code in problem.systems]
    who = listed(names) if names else "a covariate"
    if data.are_choices:
        sentences = [
            sentence
            for code in range(len(data.system_names))
            if (sentence := _won_or_lost_all(data, code))
        ]
        if sentences:
            return " and ".join(sentences)
        if winners := _never_beaten(data):
            return f"{listed(winners)} won every comparison with the others"
        return f"{who} won or lost every comparison with the others"
    values = data.raw_means[list(problem.systems)] if names else np.array([])
    if len(values) and np.isin(values, (data.values.min(), data.values.max())).all():
        is_highest = values == data.values.max()
        return " and ".join(
            f"every answer about {listed(list(compress(names, is_extreme)))} is the {extreme}"
            for extreme, is_extreme in (("highest", is_highest), ("lowest", ~is_highest))
            if is_extreme.any()
        )
    if names:
        if len(names) == 1:
            return f"the answers about {who} do not overlap with those about the others"
        others = "" if len(names) == len(data.system_names) else " with each other's or the others'"
        return f"the answers about {who} do not overlap{others}"
    return f"{who} decides the answers completely"


def _won_or_lost_all(data: QuestionData, code: int) -> str:
    """Says that a system won, or lost, all its comparisons; empty if it did neither."""
    first, second = data.design.systems.T
    won = np.concatenate([data.values[first == code], 1 - data.values[second == code]])
    if set(won.tolist()) not in ({0.0}, {1.0}):
        return ""
    verb = "won" if won[0] == 1 else "lost"
    many = f"all {len(won):,} comparisons" if len(won) > 1 else "its one comparison"
    return f"{data.system_names[code]} {verb} {many}"


def _never_beaten(data: QuestionData) -> list[str]:
    """A group of systems that won every comparison with systems outside of it."""
    n = len(data.system_names)
    first, second = data.design.systems.T
    got_points = np.zeros((n, n), np.bool_)  # the row's system won or tied against the column's
    for a, b, value in zip(first, second, data.values, strict=True):
        got_points[a, b] |= value > 0
        got_points[b, a] |= value < 1
    _, groups = connected_components(csr_matrix(got_points), directed=True, connection="strong")
    for group in np.unique(groups):
        is_inside = groups == group
        if (
            not got_points[~is_inside][:, is_inside].any()
            and got_points[is_inside][:, ~is_inside].any()
        ):
            return list(compress(data.system_names, is_inside))
    return []


def _separated(data: QuestionData, model: FittedModelName, problem: Separated) -> str:
    """The error message if the model has no finite estimate."""
    advice = (
        "Collect more comparisons, also with systems that are closer to it, or leave the system out: "
        "exclude='system=NAME: reason'."
        if data.are_choices
        else "Use model='linear'."
    )
    reason = f"{_reason_for_separation(data, problem)}, so the {model} model has no finite estimate"
    return f"{data.question}: {reason}. {advice}"


def _disconnected(data: QuestionData, problem: Disconnected) -> str:
    """The error message if groups of systems were never compared with one another."""
    groups = "; ".join(
        ", ".join(data.system_names[code] for code in group) for group in problem.groups
    )
    return (
        f"{data.question}: these groups of systems were never compared with one another, so they "
        f"cannot be ranked together: {groups}. Collect choices between the groups, or rank each alone "
        "with exclude=."
    )


def system_pairs(n: int) -> tuple[Places, Places]:
    """The first and the second system of all pairs of n, in the order of `combinations`."""
    first, second = np.triu_indices(n, 1)
    return first, second


def reliability_of(question: FittedQuestion, *, error_variance_ratio: float = 1.0) -> float | None:
    """The share of the variance of the systems' estimates that is not error, on the model's scale.
    None if there are fewer than three systems. `error_variance_ratio` is for an imagined study of
    another size: its error variance divided by that of this study."""
    n = len(question.data.system_names)
    if n < 3:
        return None
    covariance = question.fitted.covariance[:n, :n]
    error = float((np.trace(covariance) - covariance.sum() / n) / (n - 1))
    spread = float(np.var(question.effects, ddof=1))
    signal = max(spread - error, 0.0)
    total = signal + error * error_variance_ratio
    return signal / total if total > 0 else None

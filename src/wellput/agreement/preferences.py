"""Pairwise choices and verdicts: which system people prefer, and how often a metric or a filter decides
as people do.

For pairwise choices: which system is preferred, and for each metric a confusion matrix of its choices
(the output with the higher segment score) and people's choices.

For verdicts, which are answers yes or no (1 and 0, or 2 and 1), there are two results:

* How often the decisions of a filter are right (`decision_confusions`). A filter is a program that
  keeps or refuses each output. `wellput paraphrase --substitutions` writes an evalset with two
  systems, named `kept` and `refused`: each item's output is under the decision of the filter.
* How often several paraphrase methods are right, according to each judge (`verdict_rows`). Each item is
  a substitution, one word or phrase in the place of another, that one or more methods proposed. The
  item's tags say what each method decided: `{"wordnet": "kept", "contextwn": "refused"}`. Judges do not
  see the tags.

Kauchak & Barzilay (2006) report such results in their Tables 7 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.correlations import with_higher_better
from wellput.agreement.exclusions import without_excluded
from wellput.agreement.judges import summarize_choosers
from wellput.agreement.orders import orders_on_items
from wellput.agreement.panel import Exclusion, KnownNames, Panel, refuse_unknown
from wellput.agreement.rankings.fitted_ranking import FittedRanking
from wellput.agreement.rankings.plain_ranking import Ranking
from wellput.agreement.rankings.ranked_questions import rank_question
from wellput.agreement.result import AgreementResult
from wellput.core.errors import InputError, counted
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import Item
from wellput.core.judgment import Preference
from wellput.core.metric import Floats
from wellput.core.scores import MIN_ITEMS_FOR_CLAIMS
from wellput.stats.judges.kappa import Confusion, cohen_kappa, confusion, pairwise_kappas
from wellput.stats.preferences import Choices, goodness_of_fit, selection_ratios, win_rates

KEPT, REFUSED = "kept", "refused"
YES_NO_SCALES = ({0.0, 1.0}, {1.0, 2.0})
"""The pairs of numbers that count as no and yes. A file of judgments may use either."""


def decision_confusions(panels: Iterable[Panel]) -> Iterator[dict[str, Any]]:
    """One confusion matrix for each question whose answers are verdicts on decisions; each judge's
    verdict counts as one case."""
    for panel in panels:
        yes = _yes_of_verdicts(panel)
        if yes is None:
            continue
        decisions = np.repeat([s == KEPT for s in panel.systems], len(panel.items))
        ratings = panel.ratings.reshape(len(panel.judges), -1)
        verdicts = np.where(np.isnan(ratings), np.nan, ratings == yes)
        counts = confusion(decisions.astype(np.float64), verdicts)
        yield _confusion_record(KEPT, panel.question, counts)


def _yes_of_verdicts(panel: Panel) -> float | None:
    """The answer that means yes; None if the answers are not verdicts on kept and refused outputs."""
    answers = set(np.unique(panel.ratings[~np.isnan(panel.ratings)]).tolist())
    if not answers or not set(panel.systems) <= {KEPT, REFUSED}:
        return None
    return next((max(scale) for scale in YES_NO_SCALES if answers <= scale), None)


def _confusion_record(metric: str, question: str, counts: Confusion) -> dict[str, Any]:
    return {
        "metric": metric,
        "question": question,
        **asdict(counts),
        "accuracy": counts.accuracy,
        "kappa": counts.kappa,
        "n": counts.n,
    }


def agree_on_preferences(
    tables: Mapping[str, ScoreTable],
    preferences: Sequence[Preference],
    *,
    questions: Sequence[str] = (),
    exclusions: Sequence[Exclusion] = (),
    confidence: float = 0.95,
) -> AgreementResult:
    """For each question: tests of the pairs of systems, selection ratios (times chosen / times
    offered; a tie is not chosen), Bradley–Terry strengths, win rates, and how far judges agree; for
    each metric the confusion matrix of its choices (the higher segment score) and people's. Excluding
    a system excludes all choices in which it was offered."""
    first = next(iter(tables.values()))
    not_excluded, left_out = without_excluded(preferences, exclusions)
    refuse_unknown(not_excluded, KnownNames(first.systems, set(first.items)))
    by_question: dict[str, list[Preference]] = {}
    for preference in not_excluded:
        if not questions or preference.question in questions:
            by_question.setdefault(preference.question, []).append(preference)
    if not by_question:
        raise InputError("There are no choices about the questions asked for.")
    rankings = [
        rank_question(name, rows, confidence=confidence) for name, rows in by_question.items()
    ]
    return AgreementResult(
        level="segment",
        ranking=tuple(rankings),
        orders=tuple(
            order
            for rows, ranking in zip(by_question.values(), rankings, strict=True)
            for order in orders_on_items(tables, ranking, _judged_items(rows, first))
        ),
        judges=tuple(summarize_choosers(name, rows) for name, rows in by_question.items()),
        preferences=tuple(
            _question(rows, ranking, first)
            for rows, ranking in zip(by_question.values(), rankings, strict=True)
        ),
        confusion=tuple(
            _confusion(name, rows, table)
            for name, rows in by_question.items()
            for table in tables.values()
        ),
        excluded=tuple(
            asdict(exclusion) for exclusion in left_out if exclusion.question in by_question
        ),
        confidence=confidence,
    )


def _judged_items(rows: Sequence[Preference], table: ScoreTable) -> NDArray[np.bool_]:
    judged = {row.item for row in rows}
    return np.array([item in judged for item in table.items])


def _question(rows: Sequence[Preference], ranking: Ranking, table: ScoreTable) -> dict[str, Any]:
    """One question's entry in the results. `win_rate`, its interval and `strength` come from the
    ranking's model. Without a model, the win rate is computed from the choices, and the others are
    None. `win_rates` is a matrix, systems × systems: the share of choices that the row's system won
    against the column's."""
    offered_systems = {row.system_a for row in rows} | {row.system_b for row in rows}
    systems = [system for system in table.systems if system in offered_systems]
    choices = Choices.of([(row.system_a, row.system_b, row.choice) for row in rows], systems)
    ranked = {row.system: row for row in ranking.systems}
    strengths = ranking.latent if isinstance(ranking, FittedRanking) else {}
    bounds = ranking.latent_bounds if isinstance(ranking, FittedRanking) else {}
    return {
        "question": ranking.question,
        "n": len(rows),
        "judges": ranking.n_judges,
        "systems": [
            {
                "system": system,
                "selection_ratio": ratio.value,
                "n": ratio.n,
                "win_rate": ranked[system].estimate,
                "low": ranked[system].low,
                "high": ranked[system].high,
                "strength": strengths.get(system),
                "strength_low": bounds[system][0] if system in bounds else None,
                "strength_high": bounds[system][1] if system in bounds else None,
            }
            for system, ratio in zip(systems, selection_ratios(choices), strict=True)
        ],
        "pairs": _pairs(choices, ranking),
        "win_rates": win_rates(choices).tolist(),
        "note": ". ".join(filter(None, (ranking.refusal.rstrip("."), _few_items(rows)))),
    }


def _pairs(choices: Choices, ranking: Ranking) -> list[dict[str, Any]]:
    """The pairs of systems that were offered together, with the tests of the ranking. χ² is shown only
    for comparison with other studies: it assumes that all choices are independent."""
    tests = {frozenset(difference.systems): difference for difference in ranking.differences}
    pairs: list[dict[str, Any]] = []
    for (i, a), (j, b) in combinations(enumerate(choices.systems), 2):
        if not choices.offered[i, j]:
            continue
        counts = [int(choices.wins[i, j]), int(choices.wins[j, i])]
        chi_squared = goodness_of_fit(counts)
        test = tests[frozenset((a, b))]
        # The shares of the first system of the test, which may be b.
        share, *bounds = (_share(bound) for bound in (test.delta, test.low, test.high))
        if test.systems[0] == b:
            share, bounds = 1 - share, [1 - bounds[1], 1 - bounds[0]]
        pairs.append(
            {
                "systems": [a, b],
                "chosen": counts,
                "ties": int(choices.ties[i, j]),
                "share": share,
                "low": bounds[0],
                "high": bounds[1],
                "p_value": test.p_value,
                "p_adjusted": test.p_adjusted,
                "chi_squared": chi_squared.value,
                "chi_squared_p": chi_squared.p_value,
            }
        )
    return pairs


def _share(delta: float | None) -> float:
    """The share of choices of the first system, from its difference of shares (−1 to 1)."""
    return math.nan if delta is None else (1 + delta) / 2


def _few_items(rows: Sequence[Preference]) -> str:
    n_items = len({row.item for row in rows})
    if n_items >= MIN_ITEMS_FOR_CLAIMS:
        return ""
    return f"With {counted(n_items, 'judged item')} no difference is claimed: more are needed."


def _confusion(name: str, rows: Sequence[Preference], table: ScoreTable) -> dict[str, Any]:
    """Whether the metric would have chosen as people did. Ties of people or of the metric are not
    counted."""
    scores = with_higher_better(table, table.scores)
    item_at = {item: place for place, item in enumerate(table.items)}
    decisions: list[float] = []
    verdicts: list[float] = []
    for row in rows:
        place = item_at[row.item]
        margin = scores[table.row(row.system_a), place] - scores[table.row(row.system_b), place]
        decisions.append(math.nan if np.isnan(margin) or margin == 0 else float(margin > 0))
        verdicts.append(math.nan if row.choice == "tie" else float(row.choice == "a"))
    return _confusion_record(table.scorer, name, confusion(decisions, verdicts))


Decisions = Mapping[str, Mapping[str, bool]]
"""Method → item → whether the method makes the substitution."""


def decisions_of(items: Iterable[Item]) -> Decisions:
    """The decisions of paraphrase methods, read from the tags of the items."""
    decisions: dict[str, dict[str, bool]] = {}
    for item in items:
        for method, decision in item.tags.items():
            if decision in (KEPT, REFUSED):
                decisions.setdefault(method, {})[item.id] = decision == KEPT
    return decisions


def verdict_rows(panels: Iterable[Panel], decisions: Decisions) -> Iterator[dict[str, Any]]:
    """A row for each question whose answers are verdicts, each method and each judge. `accuracy` is
    the share of the substitutions made by the method that the judge calls right. `kappa` is the
    agreement of all judges about these substitutions: Cohen's kappa for two judges, its mean over
    pairs for more. `refused_right` counts the substitutions that the method refuses although the judge
    calls them right; the other counts are named in the same way."""
    for panel in panels:
        yes = _yes_of_verdicts(panel)
        if yes is None:
            continue
        by_item = _ratings_by_item(panel)
        verdicts = np.where(np.isnan(by_item), np.nan, by_item == yes)
        for method, decided in decisions.items():
            is_made = np.array([float(decided.get(item, np.nan)) for item in panel.items])
            kappa = _kappa(verdicts[:, is_made == 1])
            for judge, own_verdicts in zip(panel.judges, verdicts, strict=True):
                counts = confusion(is_made, own_verdicts)
                yield {
                    "method": method,
                    "question": panel.question,
                    "judge": judge,
                    "accuracy": counts.precision,
                    "n": counts.true_positives + counts.false_positives,
                    "kappa": kappa,
                    "kept_right": counts.true_positives,
                    "kept_wrong": counts.false_positives,
                    "refused_right": counts.false_negatives,
                    "refused_wrong": counts.true_negatives,
                }


def _ratings_by_item(panel: Panel) -> Floats:
    """The ratings as judges × items. Every item has an output of only one system, so each sum over
    systems is one rating."""
    is_rated = ~np.isnan(panel.ratings)
    return np.where(is_rated.any(axis=1), np.nan_to_num(panel.ratings).sum(axis=1), np.nan)


def _kappa(verdicts: Floats) -> float | None:
    rows_with_verdicts: Sequence[Floats] = [row for row in verdicts if not np.isnan(row).all()]
    if len(rows_with_verdicts) < 2:
        return None
    if len(rows_with_verdicts) == 2:
        return cohen_kappa(*rows_with_verdicts).value
    return pairwise_kappas(np.array(rows_with_verdicts)).mean

"""`logged`: scores that were computed before and are stored in the log of another evaluation tool (for
example scores by a language model), or in the files of an mt-metrics-eval folder.

A log may have the scores of several scorers, such as metrics or language models; a score is named
after its scorer. `logged:scorer=all` stands for all of them, a pattern
(`logged:scorer=MetricX*`) for those whose names match; `scorers_named` then makes a metric for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import ClassVar, Literal

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Metric, Need
from wellput.core.source import EvalSource
from wellput.io.external_scores import ExternalScores
from wellput.io.mt_metrics_eval import (
    LanguagePair,
    TranslationSource,
    read_metric_scores,
    scored_metric_names,
)
from wellput.metrics.base import NEEDS_NOTHING, MeanMetric, ratio
from wellput.metrics.external import is_lower_better

ALL_SCORERS = "all"
PATTERN_SIGNS = frozenset("*?")
MAX_LISTED_SCORERS = 60


@dataclass(frozen=True)
class Logged(MeanMetric):
    """The mean of the scores in the log; an output without a score is undefined."""

    family: ClassVar[str] = "logged"
    about: ClassVar[str] = "mean of a score in the log of an evaluation"
    needs: ClassVar[frozenset[Need]] = frozenset({"logged"})
    has_gaps: ClassVar[bool] = True

    scorer: str = ""
    higher: Literal["auto", "true", "false"] = "auto"

    @property
    def higher_is_better(self) -> bool | None:
        return not is_lower_better(self.scorer) if self.higher == "auto" else self.higher == "true"

    @property
    def stands_for_several(self) -> bool:
        """Whether the metric stands for all scorers, or for those that match a pattern."""
        return self.scorer == ALL_SCORERS or not PATTERN_SIGNS.isdisjoint(self.scorer)

    def values(self, batch: Batch) -> Floats:
        scorer = self.scorer or self._only_scorer(batch)
        if not any(scorer in scores for scores in batch.logged):
            known = _names(batch)
            raise InputError(
                f"The log has no score {scorer!r} for {batch.system}.{did_you_mean(scorer, known)} "
                f"It has {', '.join(known) or 'none'}."
            )
        return np.array([scores.get(scorer, np.nan) for scores in batch.logged])

    def _only_scorer(self, batch: Batch) -> str:
        """The name of the only scorer in the log."""
        known = _names(batch)
        if len(known) > 1:
            raise _not_one_score(known)
        return known[0]

    def signature(self) -> str:
        return f"scorer:{self.scorer}" + ("" if self.higher_is_better else "|higher:false")

    def prepare_outputs(self, source: EvalSource) -> Logged:
        """The metric itself if the source is a log; for an mt-metrics-eval folder, a metric that has
        the scores of the folder's files."""
        unparsed = source.unparsed  # the log or folder itself, also if a parser added trees
        if not isinstance(unparsed, TranslationSource):
            return self
        pair = unparsed.pair
        name = _name_in_folder(pair, self.scorer)
        return LoggedInFiles(self.scorer, self.higher, scores=read_metric_scores(pair, name))


@dataclass(frozen=True, eq=False)
class LoggedInFiles(Logged):
    """Scores from the folder `metric-scores/` of mt-metrics-eval, where higher is always better.

    The score of a whole system is the system score in the folder, which may differ from the mean of
    the segments (for BLEU it does). For a part of the items, the score is the mean of their segment
    scores plus a constant: the folder's system score minus the mean of all segments.
    """

    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING

    scores: ExternalScores = field(kw_only=True, repr=False)

    @property
    def name(self) -> str:
        return Logged(self.scorer, self.higher).name  # without the field `scores`

    @property
    def higher_is_better(self) -> bool | None:
        return self.higher != "false"

    def values(self, batch: Batch) -> Floats:
        return self.scores.of(batch.system, batch.ids)

    def statistics(self, batch: Batch) -> Floats:
        """Rows of (score, the constant that is added to the mean, count), 0 where there is no score."""
        sums, counts = super().statistics(batch).T
        return np.column_stack([sums, counts * self._added_constant(batch.system), counts])

    def _added_constant(self, system: str) -> float:
        """The folder's score of a system minus the mean of its segments; 0 if one of the two is
        missing."""
        segment_scores = self.scores.scores.get(system)
        system_score = self.scores.system_scores.get(system, np.nan)
        if segment_scores is None or np.isnan(system_score) or np.isnan(segment_scores).all():
            return 0.0
        return float(system_score - np.nanmean(segment_scores))

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0] + statistics[..., 1], statistics[..., 2])

    def segment_score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 2])

    def signature(self) -> str:
        return f"{super().signature()}|file:{self.scores.fingerprint}"


def scorers_named(metrics: Sequence[Metric], source: EvalSource) -> list[Metric]:
    """The metrics, but with a metric for each scorer instead of a metric that stands for several
    scorers."""
    if not any(isinstance(metric, Logged) and metric.stands_for_several for metric in metrics):
        return list(metrics)
    known = _scorers_in(source.unparsed)
    by_name: dict[str, Metric] = {}
    for metric in metrics:
        for single in _each(metric, known):
            by_name.setdefault(single.name, single)
    return list(by_name.values())


def _each(metric: Metric, known: Sequence[str]) -> Iterable[Metric]:
    """A metric for each of the known scorers that the metric stands for."""
    if not isinstance(metric, Logged) or not metric.stands_for_several:
        return [metric]
    # Only * and ? are signs of a pattern; fnmatch would also interpret [.
    pattern = "*" if metric.scorer == ALL_SCORERS else metric.scorer.replace("[", "[[]")
    names = [name for name in known if fnmatchcase(name, pattern)]
    if not names:
        raise InputError(f"No scorer matches {metric.scorer!r}. {_listed(known)}")
    return [replace(metric, scorer=name) for name in names]


def _scorers_in(source: EvalSource) -> list[str]:
    """The names of all scorers in the log or the folder."""
    if isinstance(source, TranslationSource):
        return scored_metric_names(source.pair)
    items = chain.from_iterable(source.blocks())
    scores = (scores for item in items for scores in item.logged.values())
    return list(dict.fromkeys(chain.from_iterable(scores)))


def _name_in_folder(pair: LanguagePair, scorer: str) -> str:
    """The scorer, if the folder has it; if none is named, the folder's only scorer. Raises InputError
    otherwise."""
    known = scored_metric_names(pair)
    if not scorer and len(known) == 1:
        return known[0]
    if not scorer and known:
        raise _not_one_score(known)
    if scorer not in known:
        similar = [name for name in known if name.lower().startswith(scorer.lower())]
        hint = did_you_mean(scorer, similar or known)
        raise InputError(
            f"{pair.folder / 'metric-scores' / pair.name} has no scores of {scorer or 'a metric'}."
            f"{hint} {_listed(known)}"
        )
    return scorer


def _not_one_score(known: Sequence[str]) -> InputError:
    """The error for several scores of which none was named."""
    return InputError(
        f"There are several scores: {_enumerated(known)}. Choose one, for example "
        f"logged:scorer={known[0]}, or take them all: logged:scorer=all."
    )


def _listed(known: Sequence[str]) -> str:
    return f"The scores are {_enumerated(known)}." if known else "There are no scores."


def _enumerated(known: Sequence[str]) -> str:
    n_more = len(known) - MAX_LISTED_SCORERS
    return ", ".join(known[:MAX_LISTED_SCORERS]) + (f" and {n_more} more" if n_more > 0 else "")


def _names(batch: Batch) -> list[str]:
    """The names of the scorers whose scores the log has for this batch."""
    return list(dict.fromkeys(name for scores in batch.logged for name in scores))

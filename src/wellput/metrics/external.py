"""Scores made elsewhere as a metric: `-m ./comet.csv`, of COMET, MetricX, BERTScore, a judge's grades.

A file may hold several metrics, each called what its `metric` column says. Higher is better, unless
`higher=false` says otherwise or the name is one of those for which lower is known to be better.

Only names say whether lower scores are better: judgments never do. A name is split into words at
everything that is not a letter, and where a capital follows a small letter. Lower is better if a word
of `ERROR_WORDS` is among them, or if the last word is one of `LAST_WORDS_OF_ERRORS`, or if `rate`
follows one of these. So `TER`, `MetricX-24`, `error_rate` and `wordPerplexity` count what is wrong;
`criteria`, `error_detection` and `lossless` do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Metric, Need
from wellput.core.source import EvalSource
from wellput.io.external_scores import ExternalScores, read_external_scores
from wellput.metrics.base import NEEDS_NOTHING, MeanMetric
from wellput.metrics.registry import SCORE_FILE

ERROR_WORDS = frozenset(
    {
        "ter", "hter", "wer", "cer", "metricx", "perplexity", "ppl", "nll", "bpb", "bpc", "mse", "rmse",
        "mae", "brier", "ece", "latency", "levenshtein", "toxicity", "hallucination",
    }
)  # fmt: skip
"""Names of measures of error, and of what nobody wants more of, in lower case."""
LAST_WORDS_OF_ERRORS = frozenset(
    {"error", "errors", "loss", "cost", "distance", "bias", "duration"}
)
LETTERS_PATTERN = re.compile(r"[a-z]+")
WORD_PATTERN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_lower_better(name: str) -> bool:
    """Whether a metric of this name counts what is wrong.

    >>> [is_lower_better(name) for name in ("TER", "MetricX-24-XL", "word_error_rate", "criteria")]
    [True, True, True, False]
    """
    words = [word.lower() for word in WORD_PATTERN.findall(name)]
    runs = LETTERS_PATTERN.findall(name.lower())  # of letters: MetricX is one word
    if not ERROR_WORDS.isdisjoint([*words, *runs]):
        return True
    last = words[-2:-1] if words[-1:] == ["rate"] else words[-1:]
    return not LAST_WORDS_OF_ERRORS.isdisjoint(last)


SHOWN_NAMES = 3


@dataclass(frozen=True, eq=False)
class ExternalMetric(MeanMetric):
    """The mean of the scores that a file gives; an output without one is undefined."""

    family: ClassVar[str] = "external"
    about: ClassVar[str] = "mean of scores made elsewhere"
    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING
    has_gaps: ClassVar[bool] = True

    scores: ExternalScores
    is_higher_better: bool = True
    own_name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.own_name or self.scores.metric

    def by_path(self) -> ExternalMetric:
        """The same metric, named so that its file can be found again."""
        return replace(self, own_name=f"{self.scores.path}:metric={self.scores.metric}")

    @property
    def higher_is_better(self) -> bool | None:
        return self.is_higher_better

    def values(self, batch: Batch) -> Floats:
        return self.scores.of(batch.system, batch.ids)

    def prepare_outputs(self, source: EvalSource) -> ExternalMetric:
        """Refuses a file that is about other systems or other items than the evalset; counts the scores
        of others otherwise."""
        systems: dict[str, None] = {}
        first: list[str] = []
        n_items = n_known = 0
        has_zero = False
        for block in source.blocks():
            for item in block:
                systems |= dict.fromkeys(item.outputs)
            ids = [item.id for item in block]
            n_items += len(ids)
            n_known += int((self.scores.items.of(ids) >= 0).sum())
            has_zero = has_zero or "0" in ids
            first += ids[: SHOWN_NAMES - len(first)]
        if not systems:
            raise InputError(
                f"{self.scores.path} has scores of outputs, and the evalset has no outputs."
            )
        has_system = not systems.keys().isdisjoint(self.scores.scores)
        if has_system and n_known:
            self._refuse_shifted(n_items, n_known, has_zero=has_zero)
            return replace(self, notes=(*self.notes, *self._notes(systems, n_known)))
        kind, own, n_own, others = (
            ("item", self.scores.items.first, len(self.scores.items), first)
            if has_system
            else ("system", list(self.scores.scores), len(self.scores.scores), list(systems))
        )
        raise InputError(
            f"{self.scores.path} has no score of any {kind} of the evalset: it has "
            f"{_some(own, n_own)}; the evalset has {_some(others, len(others))}."
        )

    def _refuse_shifted(self, n_items: int, n_known: int, *, has_zero: bool) -> None:
        """Refuses a file that counts the items from 0 where the evalset counts them from 1, or the
        other way round: each score would go to the next item."""
        if len(self.scores.items) - n_known != 1:
            return
        own_zero, own_last = (place >= 0 for place in self.scores.items.of(["0", str(n_items)]))
        if own_zero and not has_zero:
            own, others, odd, fix = 0, 1, "0", "Add 1 to"
        elif has_zero and own_last and not own_zero:
            own, others, odd, fix = 1, 0, str(n_items), "Subtract 1 from"
        else:
            return
        raise InputError(
            f"{self.scores.path} seems to count the items from {own}, and the evalset from {others}: "
            f"only the file has an item {odd}. Each output would get the score of its neighbor. {fix} "
            f"the items of the file; if they are right, remove item {odd} from it."
        )

    def _notes(self, systems: Mapping[str, None], n_known: int) -> tuple[str, ...]:
        """What of the file is not used."""
        others = [name for name in self.scores.scores if name not in systems]
        n_items = len(self.scores.items) - n_known
        unused = [counted(len(others), "system")] if others else []
        unused += [counted(n_items, "item")] if n_items > 0 else []
        notes = []
        if unused:
            notes.append(
                f"{self.name}: the scores of {' and '.join(unused)} that the evalset does not have are "
                f"not used{f' ({_some(others, len(others))})' if others else ''}."
                f"{self._meant(others, systems)}"
            )
        if self.scores.repeats:
            verb = "repeats" if self.scores.repeats == 1 else "repeat"
            rows = counted(self.scores.repeats, "row")
            notes.append(f"{self.name}: {rows} {verb} a score that another row has.")
        return tuple(notes)

    def _meant(self, others: Sequence[str], systems: Mapping[str, None]) -> str:
        """A system of the evalset without scores, which another name of the file may mean."""
        lacking = [name for name in systems if name not in self.scores.scores]
        hints = (did_you_mean(name, lacking) for name in others[:SHOWN_NAMES])
        return next((hint for hint in hints if hint), "")

    def signature(self) -> str:
        """The file's hash and what its `version` column says."""
        parts = [self.name, f"file:{self.scores.fingerprint}"]
        if self.scores.version:
            parts.append(f"release:{self.scores.version}")
        parts.append(f"higher:{str(self.is_higher_better).lower()}")
        return "|".join(parts)


def external_metrics(spec: str) -> list[ExternalMetric]:
    """The metrics of a file: all of them, or the one that `metric=` names."""
    match = SCORE_FILE.match(spec)
    if match is None:
        raise InputError(f"{spec} is not the path of a file of scores.")
    path, options = match.group(1), _options(spec, match.group(2))
    found = read_external_scores(path)
    wanted = options.get("metric")
    if wanted is not None and wanted not in found:
        raise InputError(
            f"{path} has no metric {wanted!r}.{did_you_mean(wanted, list(found))} It has "
            f"{', '.join(found)}."
        )
    chosen = found if wanted is None else {wanted: found[wanted]}
    return [_metric(name, scores, options) for name, scores in chosen.items()]


def _options(spec: str, text: str) -> dict[str, str]:
    options = dict(piece.split("=", 1) for piece in text.split(":") if piece)
    for name in options:
        if name not in ("metric", "higher"):
            hint = did_you_mean(name, ["metric", "higher"])
            raise InputError(
                f"{spec}: a file of scores has no option {name!r}.{hint} It has metric, higher."
            )
    if options.get("higher", "true") not in ("true", "false"):
        raise InputError(f"{spec}: higher is true or false, not {options['higher']!r}.")
    return options


def _metric(name: str, scores: ExternalScores, options: dict[str, str]) -> ExternalMetric:
    if "higher" in options:
        return ExternalMetric(scores, options["higher"] == "true")
    is_lower = is_lower_better(name)
    note = f"{name}: lower is better, by its name; higher=true after the path says otherwise."
    return ExternalMetric(scores, not is_lower, notes=(note,) if is_lower else ())


def with_own_names(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics; those of files that share their name with another one are named by their path."""
    counts = Counter(metric.name for metric in metrics)
    return [
        metric.by_path()
        if isinstance(metric, ExternalMetric) and counts[metric.name] > 1
        else metric
        for metric in metrics
    ]


def _some(names: Sequence[str], n: int) -> str:
    more = n - SHOWN_NAMES
    return ", ".join(map(repr, names[:SHOWN_NAMES])) + (f" and {more:,} more" if more > 0 else "")

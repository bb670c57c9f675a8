"""Scores that another program computed, used as a metric: `-m ./comet.csv`, for example scores of
COMET or MetricX, or grades by a language model.

A file may have several metrics, whose names are in its column `metric`. Higher is better, unless the
user writes `higher=false` after the path, or lower is better by the metric's name
(`is_lower_better`). Agreement with judgments is never used to find this out.

For `is_lower_better`, a name is split into words at everything that is not a letter, and where a
capital follows a small letter. Lower is better if one of the words is in `ERROR_WORDS` (for this
test, words are also taken without the split at capitals: `MetricX`), or if the last word (or the word
before a last word `rate`) is in `LAST_WORDS_OF_ERRORS`. So lower is better for
`TER`, `MetricX-24`, `error_rate` and `wordPerplexity`, but not for `criteria`, `error_detection` and
`lossless`.
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
"""Names of measures for which lower is better, in lower case."""
LAST_WORDS_OF_ERRORS = frozenset(
    {"error", "errors", "loss", "cost", "distance", "bias", "duration"}
)
LETTERS_PATTERN = re.compile(r"[a-z]+")
WORD_PATTERN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_lower_better(name: str) -> bool:
    """Whether lower scores of a metric with this name are better.

    >>> [is_lower_better(name) for name in ("TER", "MetricX-24-XL", "word_error_rate", "criteria")]
    [True, True, True, False]
    """
    words = [word.lower() for word in WORD_PATTERN.findall(name)]
    unsplit_words = LETTERS_PATTERN.findall(name.lower())  # MetricX is one word here
    if not ERROR_WORDS.isdisjoint([*words, *unsplit_words]):
        return True
    last = words[-2:-1] if words[-1:] == ["rate"] else words[-1:]
    return not LAST_WORDS_OF_ERRORS.isdisjoint(last)


MAX_NAMES_SHOWN = 3
"""The number of items or systems that a message names as examples."""


@dataclass(frozen=True, eq=False)
class ExternalMetric(MeanMetric):
    """The mean of the scores in a file; an output without a score is undefined."""

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

    @property
    def input_paths(self) -> tuple[str, ...]:
        """The file of scores; a command refuses to write its results over it."""
        return (self.scores.path,)

    def by_path(self) -> ExternalMetric:
        """The same metric, but its name is the path of its file with the metric's name in the file."""
        return replace(self, own_name=f"{self.scores.path}:metric={self.scores.metric}")

    @property
    def higher_is_better(self) -> bool | None:
        return self.is_higher_better

    def values(self, batch: Batch) -> Floats:
        return self.scores.of(batch.system, batch.ids)

    def prepare_outputs(self, source: EvalSource) -> ExternalMetric:
        """The metric with notes about scores that are not used, or that are compared with judgments of
        samples. Raises InputError if the file has no score of any system or of any item of the
        evalset."""
        systems: dict[str, None] = {}
        first_ids: list[str] = []
        n_items = n_known = 0
        has_zero = False
        for block in source.blocks():
            for item in block:
                systems |= dict.fromkeys(item.outputs)
            ids = [item.id for item in block]
            n_items += len(ids)
            n_known += int((self.scores.items.of(ids) >= 0).sum())
            has_zero = has_zero or "0" in ids
            first_ids += ids[: MAX_NAMES_SHOWN - len(first_ids)]
        if not systems:
            raise InputError(
                f"{self.scores.path} has scores of outputs, and the evalset has no outputs."
            )
        has_system = not systems.keys().isdisjoint(self.scores.scores)
        if has_system and n_known:
            self._refuse_shifted(n_items, n_known, has_zero=has_zero)
            notes = [*self.notes, *self._notes(systems, n_known)]
            if source.are_samples_chosen:
                notes.append(
                    f"{self.name}: the file has one score for each output, not for each sample, so "
                    "this score is compared with the judgments of single samples."
                )
            return replace(self, notes=tuple(notes))
        kind, in_file, n_in_file, in_evalset = (
            ("item", self.scores.items.first, len(self.scores.items), first_ids)
            if has_system
            else ("system", list(self.scores.scores), len(self.scores.scores), list(systems))
        )
        raise InputError(
            f"{self.scores.path} has no score of any {kind} of the evalset: it has "
            f"{_some(in_file, n_in_file)}; the evalset has {_some(in_evalset, len(in_evalset))}."
        )

    def _refuse_shifted(self, n_items: int, n_known: int, *, has_zero: bool) -> None:
        """Raises InputError if the file numbers the items from 0 and the evalset from 1, or the file
        from 1 and the evalset from 0: each output would get the score of the next or previous item.
        `n_items` is the number of the evalset's items, `n_known` of those that the file has;
        `has_zero`: the evalset has an item 0."""
        if len(self.scores.items) - n_known != 1:
            return
        file_has_zero, file_has_last = (
            place >= 0 for place in self.scores.items.of(["0", str(n_items)])
        )
        if file_has_zero and not has_zero:
            file_start, evalset_start, extra_item, fix = 0, 1, "0", "Add 1 to"
        elif has_zero and file_has_last and not file_has_zero:
            file_start, evalset_start, extra_item, fix = 1, 0, str(n_items), "Subtract 1 from"
        else:
            return
        raise InputError(
            f"{self.scores.path} seems to count the items from {file_start}, and the evalset from "
            f"{evalset_start}: only the file has an item {extra_item}. Each output would get the score "
            f"of its neighbor. {fix} the items of the file; if they are right, remove item "
            f"{extra_item} from it."
        )

    def _notes(self, systems: Mapping[str, None], n_known: int) -> tuple[str, ...]:
        """Sentences about scores of the file that are not used, and about repeated rows. `systems` are
        those of the evalset, `n_known` is the number of the evalset's items that the file has."""
        unused_systems = [name for name in self.scores.scores if name not in systems]
        n_unused_items = len(self.scores.items) - n_known
        unused = [counted(len(unused_systems), "system")] if unused_systems else []
        unused += [counted(n_unused_items, "item")] if n_unused_items > 0 else []
        notes = []
        if unused:
            names = f" ({_some(unused_systems, len(unused_systems))})" if unused_systems else ""
            notes.append(
                f"{self.name}: the scores of {' and '.join(unused)} that the evalset does not have are "
                f"not used{names}.{self._suggestion(unused_systems, systems)}"
            )
        if self.scores.repeats:
            verb = "repeats" if self.scores.repeats == 1 else "repeat"
            rows = counted(self.scores.repeats, "row")
            notes.append(f"{self.name}: {rows} {verb} a score that another row has.")
        return tuple(notes)

    def _suggestion(self, unused_systems: Sequence[str], systems: Mapping[str, None]) -> str:
        """A suggestion which of the evalset's `systems` one of the file's unused systems may mean; ""
        if there is none."""
        lacking = [name for name in systems if name not in self.scores.scores]
        hints = (did_you_mean(name, lacking) for name in unused_systems[:MAX_NAMES_SHOWN])
        return next((hint for hint in hints if hint), "")

    def signature(self) -> str:
        """The metric's name, the file's hash, the version in its column `version`, and whether higher
        is better."""
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
    metrics = read_external_scores(path)
    metric_name = options.get("metric")
    if metric_name is not None and metric_name not in metrics:
        raise InputError(
            f"{path} has no metric {metric_name!r}.{did_you_mean(metric_name, list(metrics))} It has "
            f"{', '.join(metrics)}."
        )
    chosen = metrics if metric_name is None else {metric_name: metrics[metric_name]}
    return [_metric(name, scores, options) for name, scores in chosen.items()]


def _options(spec: str, text: str) -> dict[str, str]:
    """The options after the path of a file, by name; raises InputError for wrong ones."""
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
    """The metric with these scores. Without the option `higher`, its name decides whether lower is
    better."""
    if "higher" in options:
        return ExternalMetric(scores, options["higher"] == "true")
    is_lower = is_lower_better(name)
    note = f"{name}: lower is better, by its name; higher=true after the path says otherwise."
    return ExternalMetric(scores, not is_lower, notes=(note,) if is_lower else ())


def with_own_names(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics; metrics of files that have the same name as another metric are named by their
    path."""
    counts = Counter(metric.name for metric in metrics)
    return [
        metric.by_path()
        if isinstance(metric, ExternalMetric) and counts[metric.name] > 1
        else metric
        for metric in metrics
    ]


def _some(names: Sequence[str], n: int) -> str:
    """The first of `n` names, and how many more there are."""
    n_more = n - MAX_NAMES_SHOWN
    return ", ".join(map(repr, names[:MAX_NAMES_SHOWN])) + (
        f" and {n_more:,} more" if n_more > 0 else ""
    )

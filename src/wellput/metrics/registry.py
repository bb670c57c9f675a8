"""Finds metrics by name, `create("chrf:word_order=2")`, or by another spelling, `create("chrF++")`.

One table, `BUILT_IN`, has the names of wellput's metrics with their classes, which are imported on
request. Other packages add metrics by the entry-point group `wellput.metrics`, with classes that
implement `Metric`. A name that ends in `.json` is the file of a fitted metric; a name that ends in
`.csv`, `.tsv`, `.jsonl` or `.parquet` is a file of scores that another program computed.

Usual spellings such as `BLEU`, `chrF++` and `rougeL` are understood: case, hyphens, underscores and
spaces make no difference. Tables and signatures show the metric's name in the table, with the options
that a spelling implies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

from wellput.core.errors import InputError, did_you_mean
from wellput.core.lazy_names import import_object
from wellput.core.metric import GivesMetric, Metric, MetricSpec, is_sentinel
from wellput.core.registries import (
    described_options,
    given_options,
    load_plugin,
    option_names,
    plugins,
    split_specs,
)
from wellput.core.source import EvalSource
from wellput.metrics.base import as_text

GROUP = "wellput.metrics"
PATH_LIKE = re.compile(r"[/\\]|\.[A-Za-z]{2,7}$")
"""Finds what a path has and no metric's name has: a slash, or a suffix."""
SCORE_FILE = re.compile(
    r"^(.+\.(?:csv|tsv|jsonl|parquet)(?:\.(?:gz|xz|bz2|zst))?)((?::[^:/\\]+=[^:]*)*)$",
    re.IGNORECASE,
)
"""Matches the path of a file of scores, perhaps with options after it:
`./comet.csv:metric=COMET-22`."""
METRICS_OF_OTHER_PROGRAMS = (
    "comet", "xcomet", "cometkiwi", "metricx", "bleurt", "bartscore", "gemba",
    "moverscore", "unieval", "geval", "prism", "yisi",
)  # fmt: skip
"""The beginnings of names of well-known metrics that wellput does not compute, but other programs
do."""
WHERE_LISTED = "`wellput metrics`, in Python `wellput.list_metrics()`"

BUILT_IN: dict[str, str] = {
    "ssa": "wellput.metrics.accuracy:SimpleStringAccuracy",
    "gsa": "wellput.metrics.accuracy:GenerationStringAccuracy",
    "sta": "wellput.metrics.accuracy:SimpleTreeAccuracy",
    "gta": "wellput.metrics.accuracy:GenerationTreeAccuracy",
    "understandability": "wellput.metrics.understandability:Understandability",
    "quality": "wellput.metrics.understandability:Quality",
    "bleu": "wellput.metrics.bleu:Bleu",
    "chrf": "wellput.metrics.chrf:Chrf",
    "ter": "wellput.metrics.error_rates:Ter",
    "wer": "wellput.metrics.error_rates:Wer",
    "cer": "wellput.metrics.error_rates:Cer",
    "mer": "wellput.metrics.error_rates:Mer",
    "wil": "wellput.metrics.error_rates:Wil",
    "wip": "wellput.metrics.error_rates:Wip",
    "nist": "wellput.metrics.nist:Nist",
    "rouge-1": "wellput.metrics.rouge:Rouge1",
    "rouge-2": "wellput.metrics.rouge:Rouge2",
    "rouge-l": "wellput.metrics.rouge:RougeL",
    "rouge-lsum": "wellput.metrics.rouge:RougeLsum",
    "meteor": "wellput.metrics.meteor:Meteor",
    "sari": "wellput.metrics.sari:Sari",
    "bertscore": "wellput.metrics.bertscore:Bertscore",
    "exact": "wellput.metrics.error_rates:Exact",
    "logged": "wellput.metrics.logged:Logged",
    "perplexity": "wellput.metrics.perplexity:Perplexity",
    "gleu-fluency": "wellput.metrics.gleu_fluency:GleuFluency",
    "fluency": "wellput.metrics.fluency:Fluency",
    "ttr": "wellput.metrics.surface:TypeTokenRatio",
    "distinct": "wellput.metrics.surface:Distinct",
    "length": "wellput.metrics.surface:Length",
    "length-ratio": "wellput.metrics.surface:LengthRatio",
    "random": "wellput.metrics.surface:Random",
    "length-only": "wellput.metrics.surface:LengthOnly",
}


def metric_names() -> list[str]:
    """The names of all metrics of wellput and of other packages. Sentinels (metrics that ignore
    quality, for comparison) come last."""
    known = dict.fromkeys([*BUILT_IN, *plugins(GROUP)])
    return sorted(known, key=is_sentinel)


def full_name(name: str) -> str:
    """The metric's name as in the table, with the options that the spelling implies; an unknown name is
    returned unchanged.

    >>> full_name("bleu"), full_name("ROUGE-L"), full_name("chrF++")
    ('bleu', 'rouge-l', 'chrf:word_order=2')
    """
    if name in BUILT_IN:
        return name

    known = metric_names()
    return name if name in known else name_of_spelling(name, known) or name


def metric_class(name: str) -> Any:
    """The class behind a name."""
    if name in BUILT_IN:
        return import_object(BUILT_IN[name])
    if entry_point := plugins(GROUP).get(name):
        return load_plugin(entry_point)
    if _plain(name).startswith(METRICS_OF_OTHER_PROGRAMS):
        raise InputError(
            f"wellput does not compute {name} itself. Make its scores with its own program, and give "
            f"their file: ./{name}.csv with the columns system, item, score."
        )
    raise InputError(
        f"No metric {name!r}.{did_you_mean(name, metric_names())} {WHERE_LISTED}, lists them all."
    )


def option_texts(name: str) -> list[str]:
    """A metric's options with their defaults, in the form in which users write them: `tokenize=13a`."""
    cls = metric_class(name)
    defaults = {option.name: option.default for option in fields(cls)} if is_dataclass(cls) else {}
    return [f"{option}={as_text(defaults[option])}" for option in option_names(cls)]


def option_values(name: str) -> dict[str, str]:
    """The values that each option of a metric may have, in words."""
    return described_options(metric_class(name))


def create(spec: MetricSpec) -> Metric:
    """A metric from its name and options (`"chrf:word_order=2"`), or from the file of a fitted metric
    (`"./quality.json"`) or of scores. A metric object is returned unchanged; a function of an output
    becomes a metric (`metrics.functions`)."""
    if isinstance(spec, type):
        raise InputError(f"{spec.__name__} is a class; give a metric: {spec.__name__}().")
    if not isinstance(spec, str):
        candidate = spec.as_metric() if isinstance(spec, GivesMetric) else spec
        is_metric = hasattr(candidate, "statistics")
        return cast("Metric", candidate) if is_metric else _metric_of_function(candidate)
    if is_score_file(spec):
        return _only_metric(spec)
    name, _, tail = spec.partition(":")
    if name not in BUILT_IN and spec.lower().endswith(".json"):
        from wellput.metrics.fitted import load

        return load(spec)
    if SCORE_FILE.match(name):
        raise InputError(
            f"{spec}: to take one metric of a file of scores, write {name}:metric={tail}."
        )
    if name.lower().endswith(".json"):
        raise InputError(f"{name} is a fitted metric and takes no options; {tail!r} was given.")
    if PATH_LIKE.search(name) and name not in metric_names():
        raise InputError(_not_a_file_of_scores(name))
    name, _, implied = full_name(name).partition(":")
    tail = ",".join(filter(None, (implied, tail)))
    cls = metric_class(name)
    metric: Metric = cls(**given_options(name, cls, tail))
    return metric


def _is_function(metric: Metric) -> bool:
    from wellput.metrics.functions import FunctionMetric

    return isinstance(metric, FunctionMetric)


def _metric_of_function(given: object) -> Metric:
    """A user's function as a metric. Raises InputError for an object that is not a function, and for a
    function with the name of another metric."""
    from wellput.metrics.functions import FunctionMetric

    if not callable(given):
        raise InputError(
            f"A metric is a name, a metric object or a function of an output, not {given!r}."
        )
    metric = FunctionMetric(given)
    if metric.name in metric_names():
        raise InputError(
            f"{metric.name} is the name of a metric of wellput: give your function another name."
        )
    return metric


def _not_a_file_of_scores(path: str) -> str:
    """The message for a path that is neither a file of scores nor of a fitted metric, by its suffix."""
    from wellput.io.files import similar_files

    exists = Path(path).exists()
    what = "is not a file of scores or a fitted metric" if exists else "does not exist"
    return (
        f"{path} {what}.{similar_files(path)} The names of files of scores end in .csv, .tsv, .jsonl "
        "or .parquet, those of fitted metrics in .json."
    )


def _only_metric(spec: str) -> Metric:
    """The metric of a file of scores; raises InputError if the file has several."""
    from wellput.metrics.external import external_metrics

    metrics = external_metrics(spec)
    if len(metrics) > 1:
        names = [metric.name for metric in metrics]
        raise InputError(
            f"{spec} has several metrics: {', '.join(names)}. Say which: {spec}:metric={names[0]}."
        )
    return metrics[0]


metric = create
"""The public name of `create`: `wellput.metric`."""


def create_all(
    specs: MetricSpec | Iterable[MetricSpec],
) -> list[Metric]:
    """The metrics of a comma-separated list of names, of a metric object, or of a list of these. A
    metric that is named twice is created once. Raises InputError for two functions of the same
    name."""
    if isinstance(specs, str | Metric | GivesMetric) or callable(specs):
        specs = [specs]
    metrics: list[Metric] = []
    has_files = False
    for spec in specs:
        for part in split_specs(spec) if isinstance(spec, str) else [spec]:
            metrics += _metrics_of(part)
            has_files = has_files or (isinstance(part, str) and is_score_file(part))
    if not metrics:
        raise InputError(f"No metric was given. {WHERE_LISTED}, lists them all.")
    if has_files:
        from wellput.metrics.external import with_own_names

        metrics = with_own_names(metrics)
    by_name: dict[str, Metric] = {}
    for metric in metrics:
        same_name = by_name.setdefault(metric.name, metric)
        if metric != same_name and all(_is_function(one) for one in (metric, same_name)):
            raise InputError(
                f"Two functions are called {metric.name}: their scores could not be told apart. Set "
                "the __name__ of one of them."
            )
    return list(by_name.values())


def expand_logged(metrics: Sequence[Metric], source: EvalSource) -> list[Metric]:
    """The metrics, with `logged` replaced by one metric for each scorer of the source's log."""
    if not any("logged" in metric.needs for metric in metrics):
        return list(metrics)
    from wellput.metrics.logged import scorers_named

    return scorers_named(metrics, source)


def is_score_file(spec: str) -> bool:
    """Whether the text is the path of a file of scores, perhaps with options.

    >>> is_score_file("./comet.csv"), is_score_file("bertscore:model=glove.txt,baseline=b.csv")
    (True, False)
    """
    return SCORE_FILE.match(spec) is not None and spec.partition(":")[0] not in metric_names()


def _metrics_of(spec: MetricSpec) -> Sequence[Metric]:
    """The metric that `spec` means; for a file of scores, all its metrics."""
    if isinstance(spec, str) and is_score_file(spec):
        from wellput.metrics.external import external_metrics

        return external_metrics(spec)
    return [create(spec)]


SPELLINGS: dict[str, str] = {
    "sacrebleu": "bleu",
    "bleu1": "bleu:max_ngram_order=1",
    "bleu2": "bleu:max_ngram_order=2",
    "bleu3": "bleu:max_ngram_order=3",
    "bleu4": "bleu",
    # sacreBLEU writes beta into the name (chrF2) and "++" for words of order 2 (chrF2++).
    "chrf2": "chrf",
    "chrf+": "chrf:word_order=1",
    "chrf++": "chrf:word_order=2",
    "chrf2++": "chrf:word_order=2",
    "chrfpp": "chrf:word_order=2",
    "translationeditrate": "ter",
    "worderrorrate": "wer",
    "charactererrorrate": "cer",
    "matcherrorrate": "mer",
    "wordinformationlost": "wil",
    "wordinformationpreserved": "wip",
    "exactmatch": "exact",
    "em": "exact",
    "ppl": "perplexity",
    "bertscoref1": "bertscore",
    "typetokenratio": "ttr",
    "distinct1": "distinct:n=1",
    "distinct2": "distinct:n=2",
    "dist1": "distinct:n=1",
    "dist2": "distinct:n=2",
    "simplestringaccuracy": "ssa",
    "generationstringaccuracy": "gsa",
    "simpletreeaccuracy": "sta",
    "generationtreeaccuracy": "gta",
}
"""Other spellings (in lower case, without hyphens, underscores and spaces), each with the metric that
it means."""


def name_of_spelling(name: str, known: Iterable[str]) -> str | None:
    """The metric that a spelling means, with its options; None for an unknown spelling.

    >>> name_of_spelling("ROUGE_L", ["bleu", "rouge-l"]), name_of_spelling("chrF++", [])
    ('rouge-l', 'chrf:word_order=2')
    """
    spelling = _plain(name)
    return {_plain(other): other for other in known}.get(spelling) or SPELLINGS.get(spelling)


def _plain(name: str) -> str:
    """The name in lower case, without hyphens, underscores and spaces."""
    return re.sub(r"[-_ ]", "", name).lower()

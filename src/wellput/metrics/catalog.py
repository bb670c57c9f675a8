"""`MetricList`: the list of all metrics, with what they need, their options and papers; or one
metric, with example commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.metrics import registry

EXAMPLE_SPECS = {
    "perplexity": "perplexity:model=news.arpa",
    "bertscore": "bertscore:model=vectors.txt",
}
"""Examples of metrics that cannot be used without an option."""


@dataclass(frozen=True)
class MetricDetails:
    """Facts about one metric. `given_name` is the name that the user gave, `full_name` the metric's
    name in `registry` with the options that the given name stands for. For each option, `defaults` has
    the default and `options` the allowed values."""

    given_name: str
    full_name: str
    defaults: Mapping[str, str]
    options: Mapping[str, str]
    examples: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class MetricList(Result):
    """`metrics` has a record of texts for each metric: `metric` is its name, `better` is `higher`,
    `lower` or `neither`. `details` is set if the list is about one metric."""

    presented_by: ClassVar[str] = "wellput.reporting.metrics:metrics_report"

    metrics: tuple[dict[str, str], ...]
    details: MetricDetails | None = None

    def records(self) -> list[dict[str, str]]:
        """A record for each metric."""
        return [dict(metric) for metric in self.metrics]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput metrics`."""
        if self.details is None:
            return {"metrics": self.records()}
        details = {
            "defaults": dict(self.details.defaults),
            "values": dict(self.details.options),
            "examples": list(self.details.examples),
        }
        return {"metrics": [{**self.metrics[0], **details}]}


def every_metric() -> MetricList:
    """The list of all metrics, built in or from other packages."""
    return MetricList(tuple(describe(name) for name in registry.metric_names()))


def one_metric(given_name: str) -> MetricList:
    """The metric that a name or another spelling means, with its details."""
    if given_name.lower().endswith(".json"):
        raise InputError(f"{given_name} is a fitted metric: read the file to see its parts.")
    if registry.SCORE_FILE.match(given_name):
        names = ", ".join(metric.name for metric in registry.create_all(given_name))
        raise InputError(f"{given_name} is a file of scores. Its metrics: {names}.")
    full_name = registry.full_name(given_name.partition(":")[0])
    name = full_name.partition(":")[0]
    record = describe(name)
    defaults = dict(text.split("=", 1) for text in registry.option_texts(name))
    options = registry.option_values(name)
    examples = tuple(_examples(name, full_name, defaults))
    return MetricList((record,), MetricDetails(given_name, full_name, defaults, options, examples))


def describe(name: str) -> dict[str, str]:
    """The record of one metric."""
    metric = registry.create(name)
    return {
        "metric": name,
        "better": {True: "higher", False: "lower", None: "neither"}[metric.higher_is_better],
        "needs": ", ".join(sorted(metric.needs)) or "nothing",
        "options": ", ".join(registry.option_texts(name)),
        "about": getattr(metric, "about", ""),
        "paper": getattr(metric, "paper", ""),
    }


def _examples(name: str, full_name: str, defaults: Mapping[str, str]) -> list[str]:
    """Example commands: one without options, and one with the option `lowercase` if the metric has
    it."""
    needs = registry.create(name).needs
    if "derivation" in needs:
        files = "corpus.jsonl"
    elif "logged" in needs:
        files = "log.json"
    elif "source" in needs:
        files = "evalset.jsonl"
    else:
        references = "--ref ref.txt " if "references" in needs else ""
        files = f"{references}--hyp A=a.txt"
    trees = " --trees auto" if "tree" in needs else ""
    specs = [EXAMPLE_SPECS.get(name, full_name)]
    if name not in EXAMPLE_SPECS and defaults.get("lowercase") in ("true", "false"):
        other = "false" if defaults["lowercase"] == "true" else "true"
        specs.append(f"{name}:lowercase={other}")
    return [f"wellput score {files}{trees} -m {spec}" for spec in specs]

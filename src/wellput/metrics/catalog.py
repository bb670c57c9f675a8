"""The noun `MetricList`: every metric with what it needs, its options and its paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.result import Result
from wellput.metrics import registry


@dataclass(frozen=True, repr=False)
class MetricList(Result):
    """`metrics` has a record of texts for each metric: `metric` is its name, `better` is `higher`,
    `lower` or `neither`."""

    presented_by: ClassVar[str] = "wellput.reporting.metrics:metrics_report"

    metrics: tuple[dict[str, str], ...]

    def records(self) -> list[dict[str, str]]:
        """A record for each metric."""
        return [dict(metric) for metric in self.metrics]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput metrics`."""
        return {"metrics": self.records()}


def describe(name: str) -> dict[str, str]:
    """What one metric is and what it takes."""
    metric = registry.create(name)
    return {
        "metric": name,
        "better": {True: "higher", False: "lower", None: "neither"}[metric.higher_is_better],
        "needs": ", ".join(sorted(metric.needs)) or "nothing",
        "options": ", ".join(registry.option_texts(name)),
        "about": getattr(metric, "about", ""),
        "paper": getattr(metric, "paper", ""),
    }

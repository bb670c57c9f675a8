"""The noun `FittedModel`: the numbers of a metric that was fitted to judgments.

A segment's score is (intercept + Σ coefficient · predictor) / scale. A predictor is a metric's
segment score (`sta`) or one of its components (`ssa.substitutions`). The file is versioned JSON; its
card says how the model was made. The hash covers everything else, so two files with the same hash
give the same scores.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.result import strict_json

FILE_KIND = "fitted metric"
FORMAT_VERSION = 1
KEYS = ("wellput", "format", "predictors", "intercept", "scale", "card")
PREDICTOR_KEYS = ("metric", "component", "coefficient", "perfect")
ADVICE = "`wellput fit` makes such files; they are not meant to be edited."


@dataclass(frozen=True, slots=True)
class Predictor:
    """One term of the sum. `component` is None for the metric's score itself, `perfect` is the value of
    a perfect output, None if there is none."""

    metric: str
    component: str | None
    coefficient: float
    perfect: float | None

    @property
    def name(self) -> str:
        return predictor_name(self.metric, self.component)


@dataclass(frozen=True)
class FittedModel:
    """A linear model of judgments. `card` says what it was fitted to and how well it did."""

    predictors: tuple[Predictor, ...]
    intercept: float
    scale: float = 1.0
    card: Mapping[str, Any] = field(default_factory=dict)

    def predict(self, values: Floats) -> Floats:
        """Scores of rows of predictors, shape (..., k) -> (...); NaN where a predictor is NaN."""
        weights = np.array([predictor.coefficient for predictor in self.predictors])
        with np.errstate(over="ignore", invalid="ignore"):  # a file may hold any numbers
            return np.asarray((self.intercept + values @ weights) / self.scale, dtype=np.float64)

    @property
    def perfect(self) -> float | None:
        """The score of a perfect output; None if a predictor has no perfect value."""
        total = self.intercept
        for predictor in self.predictors:
            if predictor.perfect is None:
                return None
            total += predictor.coefficient * predictor.perfect
        return total / self.scale

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits, which differ for any two models with different scores."""
        decisive = {key: value for key, value in self.to_dict().items() if key != "card"}
        canonical = json.dumps(decisive, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def to_dict(self) -> dict[str, Any]:
        """The content of the file; `to_json` writes it."""
        return {
            "wellput": FILE_KIND,
            "format": FORMAT_VERSION,
            "predictors": [
                {key: getattr(predictor, key) for key in PREDICTOR_KEYS}
                for predictor in self.predictors
            ],
            "intercept": self.intercept,
            "scale": self.scale,
            "card": dict(self.card),
        }

    def to_json(self) -> str:
        """Strict JSON; undefined figures of the card are null."""
        strict = {**self.to_dict(), "card": strict_json(self.card)}
        return json.dumps(strict, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str) -> FittedModel:
        """The model that `to_json` wrote; `name` names the file in messages.

        Raises one InputError for everything that is wrong with it.
        """
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} is not JSON: {error}. {ADVICE}") from None
        if not isinstance(value, dict) or value.get("wellput") != FILE_KIND:
            raise InputError(
                f'{name} is not a fitted metric: it lacks "wellput": "{FILE_KIND}". {ADVICE}'
            )
        if value.get("format") != FORMAT_VERSION:
            raise InputError(
                f"{name} has format {value.get('format')!r}; this wellput reads format "
                f"{FORMAT_VERSION}. Fit the metric again, or update wellput."
            )
        problems = list(_problems(value))
        if problems:
            raise InputError.collect(f"{name} is a damaged fitted metric:", problems, ADVICE)
        return cls(
            predictors=tuple(
                Predictor(
                    metric=entry["metric"],
                    component=entry["component"],
                    coefficient=float(entry["coefficient"]),
                    perfect=None if entry["perfect"] is None else float(entry["perfect"]),
                )
                for entry in value["predictors"]
            ),
            intercept=float(value["intercept"]),
            scale=float(value["scale"]),
            card=value["card"],
        )


def split_predictor(name: str) -> tuple[str, str | None]:
    """The metric and the component of a predictor's name.

    >>> split_predictor("ssa:lowercase=true.substitutions"), split_predictor("bleu:smooth_value=0.5")
    (('ssa:lowercase=true', 'substitutions'), ('bleu:smooth_value=0.5', None))
    """
    found = re.fullmatch(r"(.+)\.([a-z]\w*)", name)
    return (found[1], found[2]) if found else (name, None)


def predictor_name(metric: str, component: str | None) -> str:
    return metric if component is None else f"{metric}.{component}"


def _problems(value: Mapping[str, Any]) -> Sequence[str]:
    """Everything that is wrong with the content of the file."""
    found = [f"unknown key {key!r}" for key in value if key not in KEYS]
    found += [f"no key {key!r}" for key in KEYS if key not in value]
    found += [
        f"{key} is {value[key]!r}, not a finite number"
        for key in ("intercept", "scale")
        if key in value and not _is_number(value[key])
    ]
    if _is_number(value.get("scale")) and not value["scale"] > 0:
        found.append(f"scale is {value['scale']!r}, not above 0")
    if not isinstance(value.get("card", {}), dict):
        found.append("card is not an object")
    predictors = value.get("predictors", [])
    if not isinstance(predictors, list) or not predictors:
        return [*found, "predictors is not a list with at least one predictor"]
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(predictors, start=1):
        wrong = _predictor_problems(entry)
        found += [f"predictor {number}: {problem}" for problem in wrong]
        if not wrong:
            key = (entry["metric"], entry["component"])
            if key in seen:
                found.append(f"predictor {number}: {predictor_name(*key)} occurs twice")
            seen.add(key)
    return found


def _predictor_problems(entry: object) -> list[str]:
    if not isinstance(entry, dict) or set(entry) != set(PREDICTOR_KEYS):
        return [f"is not an object with exactly {', '.join(PREDICTOR_KEYS)}"]
    found = []
    if not isinstance(entry["metric"], str) or not entry["metric"]:
        found.append("metric is not a metric's name")
    elif entry["metric"].lower().endswith(".json"):
        found.append(f"{entry['metric']} is a fitted metric itself; that is not supported")
    if entry["component"] is not None and not isinstance(entry["component"], str):
        found.append("component is neither a name nor null")
    if not _is_number(entry["coefficient"]):
        found.append("coefficient is not a finite number")
    if entry["perfect"] is not None and not _is_number(entry["perfect"]):
        found.append("perfect is neither a finite number nor null")
    return found


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not allowed")

"""`LinearModel`: a weighted sum of standardized features, and how it is fitted.

`fit_separating` fits a model that separates two kinds of rows (a row has the features of one text),
with one of two losses: the squared hinge loss of a linear support vector machine, for a signed
distance, or the logistic loss, for a probability. Both are convex, so the same data give the same
weights. `fit_severity` fits a model to rows for which it is known how bad each text is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import (
    ModelFile,
    load_model_file,
    noticing_damage,
    packed_strings,
    save_model_file,
)

MAX_MAGNITUDE = 1e100
"""A file with larger numbers counts as damaged, because their products could overflow."""

Loss: TypeAlias = Literal["hinge", "logistic"]
ValueAndGradient: TypeAlias = tuple[float, Floats]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear model: score = bias + sum over features of weight x (feature - mean) / scale."""

    features: tuple[str, ...]
    means: Floats
    scales: Floats
    weights: Floats
    bias: float

    def check(self) -> None:
        """Raises ValueError if means, scales and weights do not have one number for each feature, or if
        there are NaN or numbers whose products could overflow."""
        if any(
            part.shape != (len(self.features),) for part in (self.means, self.scales, self.weights)
        ):
            raise ValueError("not one number for each feature")
        with np.errstate(all="ignore"):
            magnitudes = np.abs(
                np.concatenate([self.means, 1 / self.scales, self.weights, [self.bias]])
            )
        if not (magnitudes <= MAX_MAGNITUDE).all():
            raise ValueError("numbers that would overflow")

    def contributions(self, rows: Floats) -> Floats:
        """The part of each feature in the score: rows by features."""
        return np.asarray((rows - self.means) / self.scales * self.weights)

    def scores(self, rows: Floats) -> Floats:
        return np.asarray(self.contributions(rows).sum(axis=-1) + self.bias)

    def distances(self, rows: Floats) -> Floats:
        """Signed distances from the plane where the score is 0, in standardized features."""
        return self.scores(rows) / float(np.linalg.norm(self.weights))

    def save(self, path: PathLike, kind: str, card: Mapping[str, Any]) -> None:
        save_model_file(path, kind, card, self.arrays())

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings("features", self.features),
            "means": self.means,
            "scales": self.scales,
            "weights": self.weights,
            "bias": np.array([self.bias]),
        }

    @classmethod
    def load(cls, path: PathLike, kind: str) -> tuple[LinearModel, ModelFile]:
        file = load_model_file(path, kind)
        with noticing_damage(path):
            return cls.of_file(file), file

    @classmethod
    def of_file(cls, file: ModelFile, prefix: str = "") -> LinearModel:
        """The model whose arrays have names that begin with `prefix`."""
        arrays = file.arrays
        model = cls(
            tuple(file.strings(f"{prefix}features")),
            arrays[f"{prefix}means"],
            arrays[f"{prefix}scales"],
            arrays[f"{prefix}weights"],
            float(arrays[f"{prefix}bias"][0]),
        )
        model.check()
        return model


def stored_numbers(file: ModelFile, name: str, n: int) -> Floats:
    """An array of n numbers; raises ValueError for another length, for NaN, and for numbers whose
    products could overflow."""
    numbers = file.arrays[name].astype(np.float64)
    if numbers.shape != (n,) or not (np.abs(numbers) <= MAX_MAGNITUDE).all():
        raise ValueError(name)
    return numbers


def fit_separating(
    features: Sequence[str],
    rows: Floats,
    is_positive: NDArray[np.bool_],
    *,
    loss: Loss,
    weights: Floats | None = None,
    regularization: float = 1.0,
) -> LinearModel:
    """Weights that separate the positive rows from the others.

    Minimizes |w|²/2 + C · loss, with C = 1 / `regularization` and the loss summed over rows by their
    `weights` (default 1). The bias is not regularized. Means and scales are those of the rows.
    """
    from scipy.optimize import minimize

    means = rows.mean(axis=0)
    scales = rows.std(axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    x = (rows - means) / scales
    y = np.where(is_positive, 1.0, -1.0)
    row_weights = (np.ones(len(rows)) if weights is None else weights) / regularization
    loss_and_slope = _LOSSES[loss]

    def objective(parameters: Floats) -> ValueAndGradient:
        w, bias = parameters[:-1], parameters[-1]
        value, slope = loss_and_slope(y * (x @ w + bias))
        row_slopes = row_weights * slope * y
        return (
            float(0.5 * w @ w + row_weights @ value),
            np.append(w + x.T @ row_slopes, row_slopes.sum()),
        )

    fitted = minimize(
        objective,
        np.zeros(x.shape[1] + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-10},
    )
    return LinearModel(tuple(features), means, scales, fitted.x[:-1], float(fitted.x[-1]))


def fit_severity(
    features: Sequence[str], rows: Floats, severity: Floats, weights: Floats, *, ridge: float = 0.7
) -> LinearModel:
    """A model with weights of 0 or more whose scores are closest to −`severity`, by least squares;
    `weights` are those of the rows. `ridge` is a penalty on large weights, so that features that vary
    together share their weight."""
    from scipy.optimize import nnls

    shares = weights / weights.sum()
    means = shares @ rows
    scales = np.sqrt(shares @ (rows - means) ** 2)
    scales = np.where(scales > 0, scales, 1.0)
    root = np.sqrt(shares)
    mean = float(shares @ severity)
    x = (rows - means) / scales * root[:, None]
    penalty = ridge * np.eye(rows.shape[1])
    target = np.append((mean - severity) * root, np.zeros(rows.shape[1]))
    fitted_weights, _ = nnls(np.vstack([x, penalty]), target)
    return LinearModel(tuple(features), means, scales, fitted_weights, -mean)


def _squared_hinge(margins: Floats) -> tuple[Floats, Floats]:
    """The loss of each margin, and its derivative."""
    missing = np.maximum(0.0, 1.0 - margins)
    return missing**2, -2 * missing


def _logistic(margins: Floats) -> tuple[Floats, Floats]:
    """The loss of each margin, and its derivative."""
    return np.logaddexp(0.0, -margins), -1 / (1 + np.exp(np.clip(margins, -500, 500)))


_LOSSES: dict[Loss, Callable[[Floats], tuple[Floats, Floats]]] = {
    "hinge": _squared_hinge,
    "logistic": _logistic,
}

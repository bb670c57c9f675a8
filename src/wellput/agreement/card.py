"""What a fitted metric's card says: whose judgments it was fitted to, and how well."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from wellput.agreement.panel import Panel
from wellput.core.table import Estimate
from wellput.stats.clustered import ClusteredCoefficients
from wellput.stats.regression import Regression


def panel_provenance(panel: Panel) -> dict[str, Any]:
    """What the card says of the judges."""
    rated = ~np.isnan(panel.ratings).all(axis=(1, 2))
    return {
        "normalization": panel.normalization,
        "judges": int(rated.sum()),
        "judgments": int((~np.isnan(panel.ratings)).sum()),
        "excluded": [
            {key: value for key, value in asdict(one).items() if value is not None}
            for one in panel.excluded
        ],
    }


def figures(model: Regression, inference: ClusteredCoefficients | None) -> dict[str, Any]:
    """A regression's figures, as they stand in JSON. Errors, intervals and p-values hold for what
    `inference` generalizes to; NaN or null where there is none."""
    k = len(model.names)
    errors = np.full(k, np.nan) if inference is None else inference.errors
    nothing = Estimate(float("nan"))
    estimates = (nothing,) * k if inference is None else inference.coefficients
    constant = nothing if inference is None else inference.intercept
    return {
        "coefficients": [
            {
                "predictor": name,
                "coefficient": float(model.coefficients[place]),
                "standard_error": float(errors[place]),
                "low": estimates[place].low,
                "high": estimates[place].high,
                "t": float(model.coefficients[place] / errors[place]),
                "p_value": estimates[place].p_value,
                "variance_inflation": float(model.variance_inflation[place]),
            }
            for place, name in enumerate(model.names)
        ],
        "constant": {
            "coefficient": model.intercept,
            "standard_error": float("nan") if inference is None else inference.intercept_error,
            "low": constant.low,
            "high": constant.high,
        },
        "r_squared": model.r_squared,
        "adjusted_r_squared": model.adjusted_r_squared,
        "f": model.f,
        "p_value": float("nan") if inference is None else inference.p_value,
        "aic": model.aic,
        "penalty": model.penalty or None,
    }

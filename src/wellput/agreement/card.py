"""What a fitted metric's card says: whose judgments it was fitted to, and how well."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from wellput.agreement.panel import Panel
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


def figures(model: Regression) -> dict[str, Any]:
    """A regression's figures, as they stand in JSON."""
    return {
        "coefficients": [
            {
                "predictor": name,
                "coefficient": float(model.coefficients[place]),
                "standard_error": float(model.standard_errors[place]),
                "t": float(model.t_values[place]),
                "p_value": float(model.p_values[place]),
                "variance_inflation": float(model.variance_inflation[place]),
            }
            for place, name in enumerate(model.names)
        ],
        "constant": {"coefficient": model.intercept, "standard_error": model.intercept_error},
        "r_squared": model.r_squared,
        "adjusted_r_squared": model.adjusted_r_squared,
        "f": model.f,
        "p_value": model.f_p_value,
        "aic": model.aic,
        "penalty": model.penalty or None,
    }

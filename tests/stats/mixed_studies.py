"""Studies for the tests of mixed models: the golden ones, simulated ones, and a dense likelihood."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wellput.stats.mixed.equations import Codes, Floats, MixedDesign, crossed_codes, renumbered

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = ("crossed", "replicated", "documents", "crowd", "nested")


def golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return found


def golden_columns(study: str) -> dict[str, Floats]:
    with (GOLDEN / "mixed_designs.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["design"] == study]
    return {
        name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name != "design"
    }


def codes(labels: Floats) -> Codes:
    return renumbered(labels.astype(np.int64))


def golden_design(study: str, formula: str) -> MixedDesign:
    """The random effects and covariates of an R formula such as value ~ 0 + system + (1|judge)."""
    columns = golden_columns(study)
    terms = [term.strip() for term in formula.split("~")[1].split("+")]
    system = codes(columns["system"])
    factors = {}
    for term in terms:
        if "|" in term:
            name = term.strip("()").split("|")[1]
            first = codes(columns[name.split(":")[0]])
            factors[name] = crossed_codes(first, system) if ":" in name else first
    covariates = [columns["length"]] if "length" in terms else []
    return MixedDesign(system, factors, np.array(covariates).T)


def dense_matrices(design: MixedDesign) -> tuple[Floats, dict[str, Floats]]:
    """X and every factor's Z."""
    signs = np.array([1.0, -1.0] if design.is_choice else [1.0])

    def indicators(codes: Codes) -> Floats:
        found = np.zeros((len(codes), int(codes.max()) + 1))
        for sign, column in zip(signs, codes.reshape(len(codes), -1).T, strict=True):
            found[np.arange(len(codes)), column] += sign
        return found

    fixed = np.hstack([indicators(design.systems), design.covariates])
    return fixed, {name: indicators(codes) for name, codes in design.factors.items()}


def dense_criterion(values: Floats, design: MixedDesign, ratios: Mapping[str, float]) -> float:
    """The REML criterion by the textbook: n × n covariance matrices."""
    x, z = dense_matrices(design)
    v = np.eye(len(values)) + sum(ratio * z[name] @ z[name].T for name, ratio in ratios.items())
    inverse = np.linalg.inv(v)
    information = x.T @ inverse @ x
    effects = np.linalg.solve(information, x.T @ inverse @ values)
    residuals = values - x @ effects
    free = len(values) - x.shape[1]
    squares = residuals @ inverse @ residuals
    logs = np.linalg.slogdet(v)[1] + np.linalg.slogdet(information)[1]
    return float(logs + free * (1 + np.log(2 * np.pi * squares / free)))


def simulated(
    seed: int,
    *,
    judges: int = 6,
    systems: int = 3,
    items: int = 12,
    share: float = 0.7,
    per_document: int = 3,
    deviations: Mapping[str, float] | None = None,
) -> tuple[Floats, MixedDesign]:
    """Ratings with all six components, each with the standard deviation given, else 0.5."""
    rng = np.random.default_rng(seed)
    kept = rng.random((judges, systems, items)) < share
    kept[0, :, 0] = True  # every system is judged
    judge, system, item = (renumbered(found) for found in np.nonzero(kept))
    document = renumbered(item // per_document)
    mains = {"judge": judge, "item": item, "document": document}
    factors = {
        **mains,
        **{f"{name}:system": crossed_codes(codes, system) for name, codes in mains.items()},
    }
    values = rng.normal(0, 1, len(judge)) + 0.4 * system
    for name, codes in factors.items():
        deviation = 0.5 if deviations is None else deviations.get(name, 0.0)
        values += rng.normal(0, deviation, int(codes.max()) + 1)[codes]
    return values, MixedDesign(system, factors)

"""Arrays in, Estimates out: how far a score can be trusted, whether a difference is real, whether it
agrees with people.

What compares metrics with people takes systems × items arrays, NaN for a missing cell:

>>> import numpy as np
>>> from wellput import stats
>>> metric, people = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4) ** 2
>>> stats.correlate(metric, people, coefficient="kendall").value
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wellput.stats.comparison import compare_all
    from wellput.stats.corrections import benjamini_hochberg, bonferroni, holm
    from wellput.stats.correlation import correlate, tie_threshold
    from wellput.stats.correlation_bootstrap import (
        boot_both,
        boot_difference,
        boot_inputs,
        boot_systems,
    )
    from wellput.stats.dependent_correlations import fisher, williams, williams_test
    from wellput.stats.judges import judges_against_rest, pairwise_correlations, split_half
    from wellput.stats.kappa import cohen_kappa, confusion, fleiss_kappa, pairwise_kappas
    from wellput.stats.krippendorff import krippendorff_alpha
    from wellput.stats.model_choice import stepwise
    from wellput.stats.permutation import perm_both, perm_cells, perm_inputs, perm_systems
    from wellput.stats.power import power_for_metrics, power_for_systems
    from wellput.stats.preferences import (
        Choices,
        goodness_of_fit,
        homogeneity,
        selection_ratios,
        win_rates,
    )
    from wellput.stats.rank_tests import rank_sum, signed_rank
    from wellput.stats.regression import ols, ridge
    from wellput.stats.resampling import approximate_randomization, bootstrap, paired_bootstrap
    from wellput.stats.soft_accuracy import spa
    from wellput.stats.strengths import bradley_terry
    from wellput.stats.weighted_agreement import beta, beta_by_item

_HOMES = {
    name: module
    for module, names in {
        "weighted_agreement": "beta beta_by_item",
        "strengths": "bradley_terry",
        "comparison": "compare_all",
        "corrections": "benjamini_hochberg bonferroni holm",
        "correlation": "correlate tie_threshold",
        "correlation_bootstrap": "boot_both boot_difference boot_inputs boot_systems",
        "judges": "judges_against_rest pairwise_correlations split_half",
        "kappa": "cohen_kappa confusion fleiss_kappa pairwise_kappas",
        "krippendorff": "krippendorff_alpha",
        "permutation": "perm_both perm_cells perm_inputs perm_systems",
        "power": "power_for_metrics power_for_systems",
        "preferences": "Choices goodness_of_fit homogeneity selection_ratios win_rates",
        "rank_tests": "rank_sum signed_rank",
        "regression": "ols ridge",
        "resampling": "approximate_randomization bootstrap paired_bootstrap",
        "soft_accuracy": "spa",
        "model_choice": "stepwise",
        "dependent_correlations": "fisher williams williams_test",
    }.items()
    for name in names.split()
}

__all__ = [
    "Choices",
    "approximate_randomization",
    "benjamini_hochberg",
    "beta",
    "beta_by_item",
    "bonferroni",
    "boot_both",
    "boot_difference",
    "boot_inputs",
    "boot_systems",
    "bootstrap",
    "bradley_terry",
    "cohen_kappa",
    "compare_all",
    "confusion",
    "correlate",
    "fisher",
    "fleiss_kappa",
    "goodness_of_fit",
    "holm",
    "homogeneity",
    "judges_against_rest",
    "krippendorff_alpha",
    "ols",
    "paired_bootstrap",
    "pairwise_correlations",
    "pairwise_kappas",
    "perm_both",
    "perm_cells",
    "perm_inputs",
    "perm_systems",
    "power_for_metrics",
    "power_for_systems",
    "rank_sum",
    "ridge",
    "selection_ratios",
    "signed_rank",
    "spa",
    "split_half",
    "stepwise",
    "tie_threshold",
    "williams",
    "williams_test",
    "win_rates",
]


def __getattr__(name: str) -> Any:
    """Procedures are imported when first used: most of them are seldom wanted together."""
    if name in _HOMES:
        value = getattr(import_module(f"wellput.stats.{_HOMES[name]}"), name)
        return globals().setdefault(name, value)
    raise AttributeError(f"module 'wellput.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""`power`: says how many items and judges a study needs.

A pilot is a small study that was made before. A proxy is a metric or a machine judge that scores many
outputs, as for `estimate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from wellput.agreement.pilots import Pilot, pilot_of, proxy_pilot_of
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    Metrics,
    Numbers,
    check_column,
    check_files,
    numbers_if_given,
    paths_in,
    read_answers,
    whole_numbers,
)
from wellput.api.proxied_judgments import ProxiedJudgments, read_proxied
from wellput.core.errors import InputError, counted
from wellput.core.options import checks_options
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike
from wellput.io.judgment_columns import split_columns
from wellput.reporting.table import number
from wellput.stats.power import PowerTable, power_for_metrics, power_for_systems
from wellput.stats.proxy_power import ProxyPlan, highest_correlation, power_with_proxy

DEFAULT_JUDGES = (1, 3, 5)
HIGHEST_SHARE = 0.99
"""The correlation of a proxy with people is assumed to be at most this share of the highest possible
correlation, even if it was higher in the pilot."""


@checks_options
def power(
    *,
    difference: float | None = None,
    pilot: Answers | None = None,
    question: str | None = None,
    metric_correlations: str | Iterable[float] | None = None,
    proxy_correlation: float | None = None,
    proxy_items: int | None = None,
    proxy: Metrics | None = None,
    evalset: Items | None = None,
    column: Columns = (),
    items: Numbers = (25, 50, 100, 200, 400),
    judges: Numbers = (),
    sd_item: float | None = None,
    sd_noise: float | None = None,
    sd_judge: float | None = None,
    judge_correlation: float | None = None,
    pilot_judges: int | None = None,
    target: float = 0.8,
    alpha: float = 0.05,
    simulations: int = 10_000,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> PowerTable:
    """Says how many items and judges a study needs to tell two systems, or two metrics, apart. All
    figures come from simulation.

    Parameters
    ----------
    difference
        For two systems: the difference to find. Every judge rates both systems on every item.
    pilot, question
        The judgments of a pilot study. Standard deviations that are not given, and the difference of
        its two best systems, are taken from the model that `rank` fits to its ratings. `question` says
        which question to use, if the pilot had several.
    metric_correlations
        For two metrics: the correlation of each with people, and with each other, as three numbers or
        `"0.45,0.40,0.80"`.
    proxy_correlation, proxy_items
        For two systems that are compared by `estimate`, with a proxy's scores of `proxy_items` items
        and people's ratings of some of these items. The correlation is over items, between the
        difference of the two systems in the proxy's scores and their difference in people's ratings.
        The table then has the power with the proxy and with people alone.
    proxy, evalset, column
        Instead of `proxy_correlation` and `proxy_items`: computes these from the pilot. `proxy` is as
        for `estimate`, `evalset` the file with all outputs. `column` names the columns of the pilot's
        judgments and of the evalset's file, as for `rank`.
    items, judges
        Sizes of studies, as a list or `"50,100"`. Default for judges: 1, 3 and 5. For two metrics the
        number of judges matters only with `judge_correlation`.
    sd_item, sd_noise, sd_judge
        For two systems: standard deviations in the unit of `difference`. `sd_item` is that of the true
        difference over items (default 1), `sd_noise` that of the ratings that one judge would give to
        the same output at different times (default 1), `sd_judge` that of the judges' preference for
        one system (default 0). With a `pilot`, the defaults are computed from it.
    judge_correlation, pilot_judges
        `judge_correlation`, for two metrics: the correlation of two single judges. `pilot_judges`, for
        metrics and for a proxy: how many judges rated each output when the given correlations with
        people were measured (default 1).
    target, alpha
        The power to reach, and the significance level of the two-sided test.
    simulations, seed
        Number of simulated studies of each size, and their seed.
    path
        Writes the table to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    threads
        Number of threads for the proxy's scores; the simulation uses one.
    on_phase
        As for `score`.

    Returns
    -------
    PowerTable
        `rows` has the power of each size, `smallest` the smallest number of items that reaches the
        target.

    Raises
    ------
    InputError
        It is not clear whether to compare systems (`difference` or `pilot`) or metrics
        (`metric_correlations`), an option does not fit this comparison, or the pilot cannot be ranked.

    Examples
    --------
    >>> import wellput
    >>> table = wellput.power(difference=0.5, items=[20, 50], judges=5, simulations=1000)
    >>> [round(row.power.value, 1) for row in table.rows]
    [0.4, 0.8]
    >>> table.smallest[0].n_items
    50
    """
    check_files([path], [pilot, evalset, *paths_in(proxy)])
    evalset_columns, judgment_columns = split_columns(column)
    if judgment_columns and pilot is None:
        raise InputError("column= names the columns of a pilot's judgments: give pilot=, too.")
    check_column(evalset, evalset_columns)
    sizes = whole_numbers("items", items)
    judge_counts = numbers_if_given("judges", judges)
    given_sds = {"sd_item": sd_item, "sd_noise": sd_noise, "sd_judge": sd_judge}
    sds = {name: value for name, value in given_sds.items() if value is not None}
    if (difference is None and pilot is None) == (metric_correlations is None):
        raise InputError(
            "Say what to compare: two systems (difference=0.2, or pilot=), or two metrics "
            "(metric_correlations='0.45,0.40,0.80')."
        )
    notes: tuple[str, ...] = ()
    if pilot is None:
        if proxy is not None:
            raise InputError(
                "proxy= needs pilot=, people's ratings to compare it with; without a pilot, give "
                "proxy_correlation= and proxy_items=."
            )
        _refuse_unused("a study without pilot=", {"question": question})
    else:
        on_phase("ranking the systems of the pilot")
        ranked_pilot = pilot_of(read_answers(pilot, judgment_columns), question)
        sds = ranked_pilot.spreads | sds
        holds_for_these_judges = proxy is not None or proxy_correlation is not None
        notes = _pilot_notes(
            ranked_pilot, difference, holds_for_these_judges=holds_for_these_judges
        )
        difference = ranked_pilot.difference if difference is None else difference
    if proxy is None:
        _refuse_unused("a study without proxy=", {"evalset": evalset})
    plan = _plan(proxy_correlation, proxy_items, pilot_judges, has_proxy=proxy is not None)
    if proxy is not None and pilot is not None:
        if evalset is None:
            raise InputError("proxy= needs evalset=, the file with all outputs.")
        proxied = read_proxied(
            evalset,
            pilot,
            proxy,
            column=column,
            question=question,
            threads=threads,
            on_phase=on_phase,
        )
        plan, proxy_notes = _plan_of_pilot(proxied, proxy_items, sds)
        notes = (*notes, *proxy_notes)
    on_phase("simulating studies")
    simulated: _Simulated = {
        "items": sizes, "alpha": alpha, "target": target, "simulations": simulations, "seed": seed,
    }  # fmt: skip
    if difference is None:
        _refuse_unused("two metrics", {**sds, "proxy_correlation": proxy_correlation})
        if judge_correlation is None:
            judge_options = {"judges": judge_counts, "pilot_judges": pilot_judges}
            _refuse_unused("two metrics without judge_correlation=", judge_options)
        table = power_for_metrics(
            *_three_correlations(metric_correlations or ""),
            judges=None if judge_correlation is None else judge_counts or DEFAULT_JUDGES,
            judge_correlation=judge_correlation,
            pilot_judges=pilot_judges or 1,
            **simulated,
        )
    elif plan is not None:
        unused_options = {"judge_correlation": judge_correlation, "sd_judge": sd_judge}
        _refuse_unused(
            "a plan with a proxy, whose result holds for these judges only", unused_options
        )
        sds.pop("sd_judge", None)
        table = power_with_proxy(
            difference, plan, judges=judge_counts or DEFAULT_JUDGES, **simulated, **sds
        )
    else:
        metric_options = {"judge_correlation": judge_correlation, "pilot_judges": pilot_judges}
        _refuse_unused("two systems without a proxy", metric_options)
        table = power_for_systems(
            difference, judges=judge_counts or DEFAULT_JUDGES, **simulated, **sds
        )
    table = replace(table, notes=(*notes, *table.notes))
    if path is not None:
        table.save(path)
    return table


class _Simulated(TypedDict):
    """The keywords that all simulations take."""

    items: Sequence[int]
    alpha: float
    target: float
    simulations: int
    seed: int


def _plan(
    correlation: float | None, n_items: int | None, judges: int | None, *, has_proxy: bool
) -> ProxyPlan | None:
    """The plan of a study with a proxy whose correlation is given; None for other studies."""
    if has_proxy:
        pilot_figures = {"proxy_correlation": correlation, "pilot_judges": judges}
        _refuse_unused("a plan with proxy=, which takes this from the pilot", pilot_figures)
        return None
    if correlation is None and n_items is None:
        return None
    if correlation is None or n_items is None:
        raise InputError(
            "proxy_correlation= and proxy_items= go together: how far the proxy follows people, and "
            "how many items it has scores for."
        )
    return ProxyPlan(correlation, n_items, judges or 1)


def _plan_of_pilot(
    proxied: ProxiedJudgments, n_items: int | None, sds: Mapping[str, float]
) -> tuple[ProxyPlan, list[str]]:
    """The plan of a study with a proxy, and sentences on what was taken from the pilot."""
    pilot = proxy_pilot_of(proxied.arrays, proxied.labels)
    correlation_in_pilot = pilot.correlation
    limit = HIGHEST_SHARE * highest_correlation(pilot.judges, sds["sd_item"], sds["sd_noise"])
    n_scored = pilot.n_scored if n_items is None else n_items
    value, low, high = (
        number(figure or 0.0, 2)
        for figure in (
            correlation_in_pilot.value,
            correlation_in_pilot.low,
            correlation_in_pilot.high,
        )
    )
    notes = [
        f"From the pilot: the difference of two systems by {proxied.proxy} correlates {value} "
        f"(95% interval {low} to {high}) with that by people (on average "
        f"{pilot.judges:.3g} judges for each output), on {counted(pilot.n_items, 'item')}; the "
        f"proxy has scores for {counted(n_scored, 'item')}."
    ]
    if abs(correlation_in_pilot.value) > limit:
        notes.append(
            f"People's own noise allows only {limit:.2f} for this correlation, which is used instead."
        )
    correlation = min(max(correlation_in_pilot.value, -limit), limit)
    return ProxyPlan(correlation, n_scored, pilot.judges), notes


def _pilot_notes(
    pilot: Pilot, difference: float | None, *, holds_for_these_judges: bool
) -> tuple[str, ...]:
    """Sentences on what was taken from the pilot. If the result holds for these judges only,
    `sd_judge` is not used, and not named."""
    beginning = (
        f"From the pilot ({pilot.question}: {counted(pilot.n_judges, 'judge')}, "
        f"{counted(pilot.n_items, 'item')}): "
    )
    sds_in_words = ", ".join(
        f"{name} {value:.2f}"
        for name, value in pilot.spreads.items()
        if name != "sd_judge" or not holds_for_these_judges
    )
    if difference is not None:
        return (f"{beginning}{sds_in_words}.", *pilot.notes)
    best, second = pilot.systems
    return (
        f"{beginning}difference {pilot.difference:.2f} ({best} and {second}), {sds_in_words}.",
        "A difference that a small study found is often too large: give difference= for the smallest "
        "one that matters.",
        *pilot.notes,
    )


def _refuse_unused(what: str, options: Mapping[str, object]) -> None:
    """Raises InputError for options that are set but would have no effect; `what` names the kind of
    study."""
    set_options = [f"{name}=" for name, value in options.items() if value is not None]
    if not set_options:
        return
    verb, pronoun = ("has", "it") if len(set_options) == 1 else ("have", "them")
    raise InputError(f"{', '.join(set_options)} {verb} no effect for {what}: leave {pronoun} out.")


def _three_correlations(correlations: str | Iterable[float]) -> tuple[float, float, float]:
    """The correlations of two metrics with people, and with each other."""
    try:
        r1, r2, r12 = map(
            float, correlations.split(",") if isinstance(correlations, str) else correlations
        )
    except (ValueError, TypeError):
        as_text = correlations if isinstance(correlations, str) else str(correlations)
        raise InputError(
            f"metric_correlations= takes three numbers, such as 0.45,0.40,0.80, not {as_text!r}."
        ) from None
    return r1, r2, r12

"""`power`: how many items and judges a study needs."""

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
"""A proxy that seems to follow people without any error is assumed to have a small one."""


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
        its two best systems, are taken from the model that `rank` fits to its ratings; `question` says
        which, if it had several.
    metric_correlations
        For two metrics: the correlation of each with people, and with each other, as three numbers or
        `"0.45,0.40,0.80"`.
    proxy_correlation, proxy_items
        For two systems that are compared by `estimate`, with a proxy's scores of `proxy_items` items
        and people's ratings of some of these. The correlation is over items, between the difference of
        the two systems by the proxy and that by people. The table then has the power with the proxy and
        with people alone.
    proxy, evalset, column
        Take the correlation and the number of items from the pilot: the proxy as for `estimate`, and
        the file with all outputs. `column` names the columns of the pilot's judgments, and of the
        evalset's file, as for `rank`.
    items, judges
        Sizes of studies, as a list or `"50,100"`. Default for judges: 1, 3 and 5. For two metrics the
        number of judges matters only with `judge_correlation`.
    sd_item, sd_noise, sd_judge
        For two systems, in the unit of `difference`, standard deviations: of the true difference over
        items (default 1), of the ratings that one judge would give to the same output at different
        times (default 1), and of the judges' preference for one system (default 0). A `pilot` gives
        other defaults.
    judge_correlation, pilot_judges
        For two metrics: the correlation of two single judges. For metrics and for a proxy: the number
        of judges behind the given correlations with people (default 1).
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
    check_files([path], [one for one in (pilot, evalset) if one is not None])
    of_items, of_judgments = split_columns(column)
    if of_judgments and pilot is None:
        raise InputError("column= names the columns of a pilot's judgments: give pilot=, too.")
    check_column(evalset, of_items)
    sizes = whole_numbers("items", items)
    panels = numbers_if_given("judges", judges)
    spreads = {"sd_item": sd_item, "sd_noise": sd_noise, "sd_judge": sd_judge}
    given = {name: value for name, value in spreads.items() if value is not None}
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
        on_phase("ranking by the pilot")
        study = pilot_of(read_answers(pilot, of_judgments), question)
        given = study.spreads | given
        is_for_judges = proxy is not None or proxy_correlation is not None
        notes = _pilot_notes(study, difference, is_for_judges=is_for_judges)
        difference = study.difference if difference is None else difference
    if proxy is None:
        _refuse_unused("a study without proxy=", {"evalset": evalset})
    plan = _plan(proxy_correlation, proxy_items, pilot_judges, has_proxy=proxy is not None)
    if proxy is not None and pilot is not None:
        if evalset is None:
            raise InputError("proxy= needs evalset=, the file with all outputs.")
        read = read_proxied(
            evalset,
            pilot,
            proxy,
            column=column,
            question=question,
            threads=threads,
            on_phase=on_phase,
        )
        plan, own_notes = _plan_of_pilot(read, proxy_items, given)
        notes = (*notes, *own_notes)
    on_phase("simulating studies")
    simulated: _Simulated = {
        "items": sizes, "alpha": alpha, "target": target, "simulations": simulations, "seed": seed,
    }  # fmt: skip
    if difference is None:
        _refuse_unused("two metrics", {**given, "proxy_correlation": proxy_correlation})
        if judge_correlation is None:
            of_judges = {"judges": panels, "pilot_judges": pilot_judges}
            _refuse_unused("two metrics without judge_correlation=", of_judges)
        table = power_for_metrics(
            *_three_correlations(metric_correlations or ""),
            judges=None if judge_correlation is None else panels or DEFAULT_JUDGES,
            judge_correlation=judge_correlation,
            pilot_judges=pilot_judges or 1,
            **simulated,
        )
    elif plan is not None:
        of_others = {"judge_correlation": judge_correlation, "sd_judge": sd_judge}
        _refuse_unused("a plan with a proxy, whose result holds for these judges only", of_others)
        given.pop("sd_judge", None)
        table = power_with_proxy(
            difference, plan, judges=panels or DEFAULT_JUDGES, **simulated, **given
        )
    else:
        of_metrics = {"judge_correlation": judge_correlation, "pilot_judges": pilot_judges}
        _refuse_unused("two systems without a proxy", of_metrics)
        table = power_for_systems(difference, judges=panels or DEFAULT_JUDGES, **simulated, **given)
    table = replace(table, notes=(*notes, *table.notes))
    if path is not None:
        table.save(path)
    return table


class _Simulated(TypedDict):
    """The keywords of all simulations."""

    items: Sequence[int]
    alpha: float
    target: float
    simulations: int
    seed: int


def _plan(
    correlation: float | None, n_items: int | None, judges: int | None, *, has_proxy: bool
) -> ProxyPlan | None:
    if has_proxy:
        own = {"proxy_correlation": correlation, "pilot_judges": judges}
        _refuse_unused("a plan with proxy=, which takes this from the pilot", own)
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
    read: ProxiedJudgments, n_items: int | None, spreads: Mapping[str, float]
) -> tuple[ProxyPlan, list[str]]:
    """The plan, and what was taken from the pilot for it."""
    pilot = proxy_pilot_of(read.given, read.labels)
    found = pilot.correlation
    limit = HIGHEST_SHARE * highest_correlation(
        pilot.judges, spreads["sd_item"], spreads["sd_noise"]
    )
    n_scored = pilot.n_scored if n_items is None else n_items
    value, low, high = (number(figure or 0.0, 2) for figure in (found.value, found.low, found.high))
    notes = [
        f"From the pilot: the difference of two systems by {read.proxy} correlates {value} "
        f"(95% interval {low} to {high}) with that by people (on average "
        f"{pilot.judges:.3g} judges for each output), on {counted(pilot.n_items, 'item')}; it has "
        f"scores for {counted(n_scored, 'item')}."
    ]
    if abs(found.value) > limit:
        notes.append(
            f"People's own noise allows only {limit:.2f} for this correlation, which is used instead."
        )
    correlation = min(max(found.value, -limit), limit)
    return ProxyPlan(correlation, n_scored, pilot.judges), notes


def _pilot_notes(pilot: Pilot, difference: float | None, *, is_for_judges: bool) -> tuple[str, ...]:
    """What was taken from the pilot. With `is_for_judges` the result will hold for these judges only,
    so it does not matter how judges differ."""
    first = (
        f"From the pilot ({pilot.question}: {counted(pilot.n_judges, 'judge')}, "
        f"{counted(pilot.n_items, 'item')}): "
    )
    spreads = ", ".join(
        f"{name} {value:.2f}"
        for name, value in pilot.spreads.items()
        if name != "sd_judge" or not is_for_judges
    )
    if difference is not None:
        return (f"{first}{spreads}.", *pilot.notes)
    best, second = pilot.systems
    return (
        f"{first}difference {pilot.difference:.2f} ({best} and {second}), {spreads}.",
        "A difference that a small study found is often too large: give difference= for the smallest "
        "one that matters.",
        *pilot.notes,
    )


def _refuse_unused(what: str, options: Mapping[str, object]) -> None:
    """Refuses options that would have no effect."""
    given = [f"{name}=" for name, value in options.items() if value is not None]
    if not given:
        return
    have, it = ("has", "it") if len(given) == 1 else ("have", "them")
    raise InputError(f"{', '.join(given)} {have} no effect for {what}: leave {it} out.")


def _three_correlations(given: str | Iterable[float]) -> tuple[float, float, float]:
    try:
        r1, r2, r12 = map(float, given.split(",") if isinstance(given, str) else given)
    except (ValueError, TypeError):
        shown = given if isinstance(given, str) else str(given)
        raise InputError(
            f"metric_correlations= takes three numbers, such as 0.45,0.40,0.80, not {shown!r}."
        ) from None
    return r1, r2, r12

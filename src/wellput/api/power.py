"""`power`: how many items and judges a study needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wellput.api.inputs import Numbers, check_files, numbers_if_given, whole_numbers
from wellput.core.errors import InputError
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike
from wellput.stats.power import PowerTable, power_for_metrics, power_for_systems

DEFAULT_JUDGES = (1, 3, 5)


def power(
    *,
    difference: float | None = None,
    metric_correlations: str | Iterable[float] | None = None,
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
    """Says how many items and judges it takes to tell two systems, or two metrics, apart. All figures
    are simulated.

    Parameters
    ----------
    difference
        Two systems: how far they are apart. Every judge judges both systems' outputs for every item.
    metric_correlations
        Two metrics instead: the correlation of each with people, and with each other, as three numbers
        or `"0.45,0.40,0.80"`.
    items, judges
        Sizes of studies, in a list or as `"50,100"`. Judges are 1, 3 and 5 unless said; for two metrics
        their number counts only with `judge_correlation`.
    sd_item, sd_noise, sd_judge
        For two systems, in the unit of `difference`: how much the true difference varies from item to
        item (1 unless said), how much one rating varies when the same judge rates the same output again
        (1), and how much judges differ in their preference for one of the systems (0).
    judge_correlation, pilot_judges
        For two metrics: how far two single judges correlate, and how many judges the correlations of
        the metrics with people were seen with (1 unless said).
    target, alpha
        The power to reach, and the level of the two-sided test.
    simulations, seed
        Simulated studies of each size, and the seed of the simulation.
    path
        Writes the table to a file; `.json`, `.csv`, `.tex` and `.md` in that format.
    threads
        Not used: one thread is quick enough.
    on_phase
        As for `score`.

    Returns
    -------
    PowerTable
        `rows` has the power of each size, `smallest` the fewest items that reach the target.

    Raises
    ------
    InputError
        What is to be told apart was not said, or an option says nothing about it.

    Examples
    --------
    >>> import wellput
    >>> table = wellput.power(difference=0.5, items=[20, 50], judges=3, simulations=1000)
    >>> [round(row.power.value, 1) for row in table.rows]
    [0.2, 0.5]
    >>> table.smallest[0].n_items
    97
    """
    check_files([path], [])
    sizes = whole_numbers("items", items)
    panels = numbers_if_given("judges", judges)
    spreads = {"sd_item": sd_item, "sd_noise": sd_noise, "sd_judge": sd_judge}
    given = {name: value for name, value in spreads.items() if value is not None}
    if (difference is None) == (metric_correlations is None):
        raise InputError(
            "Say what is to be told apart: two systems (difference=0.2), or two metrics "
            "(metric_correlations='0.45,0.40,0.80')."
        )
    on_phase("simulating studies")
    if difference is not None:
        of_metrics = {"judge_correlation": judge_correlation, "pilot_judges": pilot_judges}
        _refuse_unused("two systems", of_metrics)
        table = power_for_systems(
            difference,
            items=sizes,
            judges=panels or DEFAULT_JUDGES,
            alpha=alpha,
            target=target,
            simulations=simulations,
            seed=seed,
            **given,
        )
    else:
        _refuse_unused("two metrics", given)
        if judge_correlation is None:
            of_judges = {"judges": panels, "pilot_judges": pilot_judges}
            _refuse_unused("two metrics without judge_correlation=", of_judges)
        table = power_for_metrics(
            *_three_correlations(metric_correlations or ""),
            items=sizes,
            judges=None if judge_correlation is None else panels or DEFAULT_JUDGES,
            judge_correlation=judge_correlation,
            pilot_judges=pilot_judges or 1,
            alpha=alpha,
            target=target,
            simulations=simulations,
            seed=seed,
        )
    if path is not None:
        table.save(path)
    return table


def _refuse_unused(what: str, options: Mapping[str, object]) -> None:
    """An option that would change nothing is a misunderstanding."""
    given = [f"{name}=" for name, value in options.items() if value is not None]
    if not given:
        return
    say, it = ("says", "it") if len(given) == 1 else ("say", "them")
    raise InputError(f"{', '.join(given)} {say} nothing about {what}: leave {it} out.")


def _three_correlations(given: str | Iterable[float]) -> tuple[float, float, float]:
    try:
        r1, r2, r12 = map(float, given.split(",") if isinstance(given, str) else given)
    except (ValueError, TypeError):
        shown = given if isinstance(given, str) else str(given)
        raise InputError(
            f"metric_correlations= takes three numbers, such as 0.45,0.40,0.80; {shown!r} is not."
        ) from None
    return r1, r2, r12

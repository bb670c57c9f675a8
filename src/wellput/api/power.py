"""`power`: how many items and judges a study needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from wellput.agreement.rankings.pilot import Pilot, pilot_of
from wellput.api.inputs import (
    Answers,
    Numbers,
    check_files,
    numbers_if_given,
    read_answers,
    whole_numbers,
)
from wellput.core.errors import InputError, counted
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike
from wellput.stats.power import PowerTable, power_for_metrics, power_for_systems

DEFAULT_JUDGES = (1, 3, 5)


def power(
    *,
    difference: float | None = None,
    pilot: Answers | None = None,
    question: str | None = None,
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
    items, judges
        Sizes of studies, as a list or `"50,100"`. Default for judges: 1, 3 and 5. For two metrics the
        number of judges matters only with `judge_correlation`.
    sd_item, sd_noise, sd_judge
        For two systems, in the unit of `difference`, standard deviations: of the true difference over
        items (default 1), of one rating if the same judge rated the same output again (default 1), and
        of the judges' preference for one system (default 0). A `pilot` gives other
        defaults.
    judge_correlation, pilot_judges
        For two metrics: the correlation of two single judges, and the number of judges behind the
        given correlations with people (default 1).
    target, alpha
        The power to reach, and the significance level of the two-sided test.
    simulations, seed
        Number of simulated studies of each size, and their seed.
    path
        Writes the table to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    threads
        No effect: one thread is used.
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
        Neither or both of two systems (`difference`, `pilot`) and `metric_correlations` are given, or
        an option is for the other; or the pilot cannot be ranked.

    Examples
    --------
    >>> import wellput
    >>> table = wellput.power(difference=0.5, items=[20, 50], judges=5, simulations=1000)
    >>> [round(row.power.value, 1) for row in table.rows]
    [0.4, 0.8]
    >>> table.smallest[0].n_items
    50
    """
    check_files([path], [] if pilot is None else [pilot])
    sizes = whole_numbers("items", items)
    panels = numbers_if_given("judges", judges)
    spreads = {"sd_item": sd_item, "sd_noise": sd_noise, "sd_judge": sd_judge}
    given = {name: value for name, value in spreads.items() if value is not None}
    if (difference is None and pilot is None) == (metric_correlations is None):
        raise InputError(
            "Say what to compare: two systems (difference=0.2, or pilot=), or two metrics "
            "(metric_correlations='0.45,0.40,0.80')."
        )
    if pilot is None:
        _refuse_unused("a study without pilot=", {"question": question})
    notes: tuple[str, ...] = ()
    if pilot is not None:
        on_phase("ranking by the pilot")
        study = pilot_of(read_answers(pilot), question)
        given = study.spreads | given
        notes = _pilot_notes(study, difference)
        difference = study.difference if difference is None else difference
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
        table = replace(table, notes=notes)
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


def _pilot_notes(pilot: Pilot, difference: float | None) -> tuple[str, ...]:
    """What was taken from the pilot."""
    first = (
        f"From the pilot ({pilot.question}: {counted(pilot.n_judges, 'judge')}, "
        f"{counted(pilot.n_items, 'item')}): "
    )
    spreads = ", ".join(f"{name} {value:.2f}" for name, value in pilot.spreads.items())
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

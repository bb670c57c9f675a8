"""Makes the database of a study from an evalset and the keywords of `Study.create`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wellput.api.inputs import Answers, Columns, Items, Metrics, open_source, read_answers
from wellput.core.errors import InputError, MissingExtra
from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment
from wellput.core.metric import GivesMetric, Metric, MetricSpec
from wellput.core.registries import split_specs
from wellput.core.work import OnPhase
from wellput.io.files import PathLike
from wellput.metrics.registry import create

if TYPE_CHECKING:
    from wellput.io.appraise_campaign import AnsweredCheck
    from wellput.studies.designs.base import Design
    from wellput.studies.enrolment import Enrolment
    from wellput.studies.planning import SelectionMethod
    from wellput.studies.store import Store


def create_store(
    evalset: Items,
    path: PathLike,
    *,
    column: Columns,
    design: str | Design | None,
    questions: Sequence[str],
    settings: PathLike | Mapping[str, Any] | None,
    options: Mapping[str, Any],
    plan: Mapping[str, Any],
    select: SelectionMethod | None,
    metrics: Metrics,
    per_stratum: int,
    degraded_checks: bool,
    from_substitutions: bool,
    prefill: PathLike | None,
    items: int | PathLike | Sequence[str] | None,
    systems: Sequence[str],
    enrolment: Mapping[str, Any] | None,
    media: PathLike | None,
    seed: int,
    threads: int | None,
    on_phase: OnPhase,
) -> Store:
    """Makes the new study at `path`. `options` are those of the design and of the judges' pages, with
    None for an option that was not given. `plan` has the keywords of `make_plan`. `enrolment` has the
    keywords of `open_link`; it is None if the study has no open link. `prefill` is a file of error
    spans that judges find already marked."""
    link = None
    if enrolment is not None:
        places = plan["judges"] if enrolment["quota"] is None else enrolment["quota"]
        plan = {**plan, "judges": places if plan["judges"] is None else plan["judges"]}
        enrolment = {**enrolment, "quota": places}
        link = open_link(**enrolment)  # here, so that a wrong option fails before the study is made
    from wellput.studies.enrolment import write_enrolment
    from wellput.studies.media import with_media
    from wellput.studies.planning import plan_study, substitution_settings
    from wellput.studies.prefilled_spans import with_prefilled
    from wellput.studies.rendering import load_markdown
    from wellput.studies.settings import make_settings, read_settings, with_categories
    from wellput.studies.shown_items import shown_items
    from wellput.studies.study_setup import make_plan
    from wellput.studies.wording import usual_unit

    on_phase("reading items")
    shown_evalset = shown_items(
        read_items(evalset, column), items=items, systems=systems, seed=seed
    )
    record: Mapping[str, Any] = {} if settings is None else read_settings(settings)
    if from_substitutions:
        design, record = substitution_settings(
            shown_evalset, record, design=design, points=options["points"]
        )
    record, options = with_categories(record, options)
    if (options["show"] or record.get("show")) == "markdown":
        load_markdown()
        if media is not None:
            shown_evalset = with_media(shown_evalset, media)
    elif media is not None:
        raise InputError("media= needs show='markdown'.")
    if options["unit"] is None and "unit" not in record:
        options = {**options, "unit": usual_unit(_texts(shown_evalset))}
    # Degraded checks are made from the outputs, so they need no checks from the settings.
    n_checks_of_settings = 0 if degraded_checks else plan["checks"]
    setup = plan_study(
        shown_evalset,
        make_settings(
            design,
            record,
            questions=questions,
            n_checks=n_checks_of_settings,
            **options,
        ),
        make_plan(**plan),
        select=select,
        metrics=_metric_list(metrics),
        per_stratum=per_stratum,
        degraded=degraded_checks,
        seed=seed,
        threads=threads,
        on_phase=on_phase,
    )
    if prefill is not None:
        setup = with_prefilled(setup, prefill, shown_evalset)
    on_phase("writing the study")
    return store_class().create(
        path,
        setup,
        fill=lambda connection, _now: None if link is None else write_enrolment(connection, link),
    )


def store_of_judgments(
    evalset: Items,
    judgments: Answers,
    path: PathLike,
    *,
    column: Columns,
    design: str | None,
    weights: str | Mapping[str, float] | None,
    seed: int,
    on_phase: OnPhase,
) -> Store:
    """Makes a finished study from judgments that were collected elsewhere."""
    store_class()  # raises the error that names the extra if a package is missing
    from wellput.studies.imports import plan_import, write_import

    on_phase("reading judgments")
    outputs, answers, checks = _collected(evalset, judgments, column)
    planned = plan_import(outputs, answers, checks, design=design, weights=weights, seed=seed)
    on_phase("writing the study")
    return write_import(planned, str(path))


def _collected(
    evalset: Items, judgments: Answers, column: Columns
) -> tuple[EvalSet, list[Judgment], list[AnsweredCheck]]:
    """The outputs and the ratings. For a campaign of Appraise (a web tool for judging), also its
    answered attention checks; otherwise that list is empty."""
    from wellput.io import appraise
    from wellput.io.appraise_campaign import read_campaign

    paths = [path for path in (evalset, judgments) if isinstance(path, str | Path)]
    if len(paths) == 2 and not column and all(map(appraise.knows, paths)):
        campaign = read_campaign(*paths)
        return campaign.evalset, campaign.judgments, campaign.checks
    answers = read_answers(judgments)
    ratings = [answer for answer in answers if isinstance(answer, Judgment)]
    if answers and not ratings:
        raise InputError(
            "Only ratings can be imported; these are pairwise choices. To rank the systems by them, "
            "or to compare metrics with them, no study is needed: see rank and agree."
        )
    if not ratings:
        raise InputError("Only ratings can be imported, and there are none.")
    return read_items(evalset, column), ratings, []


def refuse_options_of_open_link(
    *, quota: int | None, completion: str | None, place_timeout: float | None
) -> None:
    """Refuses options that have no effect on a study without an open link."""
    if quota is not None or completion is not None or place_timeout is not None:
        raise InputError("quota=, completion= and place_timeout= belong to open=True.")


def open_link(
    *,
    quota: int | None,
    completion: str | None,
    place_timeout: float | None,
    screening: PathLike | None,
) -> Enrolment:
    """A new open link from the keywords of `Study.create`."""
    store_class()  # raises the error that names the extra if a package is missing
    from wellput.studies.enrolment import PLACE_MINUTES, new_enrolment
    from wellput.studies.screening import read_screening

    if quota is None:
        raise InputError("open=True needs the number of places: quota=, or judges=.")
    return new_enrolment(
        quota=quota,
        completion=completion,
        place_minutes=PLACE_MINUTES if place_timeout is None else place_timeout,
        screening=() if screening is None else read_screening(screening),
    )


def _texts(evalset: EvalSet) -> Iterator[str]:
    """All outputs that are texts."""
    for item in evalset:
        yield from (output for output in item.outputs.values() if isinstance(output, str))


def store_class() -> type[Store]:
    """The class `Store`, imported only when a study is used. Raises MissingExtra if the packages of
    the extra `judge` are not installed."""
    with needing_judge_extra("A study"):
        from wellput.studies.store import Store
    return Store


@contextmanager
def needing_judge_extra(what: str) -> Iterator[None]:
    """If an import fails, the error says that `what` needs the extra `judge`."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(what, "judge") from error


def read_items(evalset: Items, column: Columns = ()) -> EvalSet:
    """The whole evalset in memory."""
    source = open_source(evalset, column)
    if isinstance(source, EvalSet):
        return source
    return EvalSet([item for block in source.blocks() for item in block])


def _metric_list(metrics: Metrics) -> list[str | Metric]:
    """One or more metrics as a list; names that were joined by commas are separated."""
    is_one = isinstance(metrics, str | Metric | GivesMetric) or callable(metrics)
    metric_specs = cast(
        "list[MetricSpec]", [metrics] if is_one else list(cast("Iterable[Any]", metrics))
    )
    return [
        spec
        for metric_spec in metric_specs
        for spec in (
            split_specs(metric_spec) if isinstance(metric_spec, str) else [create(metric_spec)]
        )
    ]

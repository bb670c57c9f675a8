"""`wellput study create`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wellput.cli.options import making_options
from wellput.cli.study_options import cell_text, listed, print_records, store_class
from wellput.core.errors import InputError
from wellput.core.progress import OnPhase, unheard_phase
from wellput.reporting.table import Table

if TYPE_CHECKING:
    from wellput.core.evalset import EvalSet
    from wellput.studies.settings import Settings
    from wellput.studies.study_setup import StudyPlan, StudySetup

F = TypeVar("F", bound=Callable[..., Any])


def wording_options(function: F) -> F:
    """What judges are asked, and how."""
    for option in reversed(
        (
            click.option(
                "--design",
                type=click.Choice(["rating", "magnitude", "slider", "pairwise", "task"]),
                help="Rate on points, by numbers of one's own, or by a slider; choose between two; or "
                "answer a question about the text.",
            ),
            click.option(
                "--questions",
                multiple=True,
                metavar="NAMES",
                help="What is asked (comma-separated).",
            ),
            click.option(
                "--settings", metavar="FILE.toml", help="Wording, consent, practice, checks, tasks."
            ),
            click.option("--points", type=int, help="Points of a rating scale (default: 7)."),
            click.option(
                "--layout",
                type=click.Choice(["single", "page"]),
                help="One variant at a time (the default), or all variants of an item on a page.",
            ),
            click.option("--ties", is_flag=True, default=None, help="Pairs may tie."),
            click.option(
                "--modulus", type=float, metavar="X", help="The number of a middling sentence."
            ),
            click.option("--consent", is_flag=True, default=None, help="Ask for consent first."),
            click.option(
                "--practice", is_flag=True, default=None, help="Begin with practice trials."
            ),
            click.option(
                "--demographics", is_flag=True, default=None, help="Ask judges about themselves."
            ),
            click.option(
                "--show-source", is_flag=True, default=None, help="Show the source of each item."
            ),
        )
    ):
        function = option(function)
    return function


def plan_options(function: F) -> F:
    """Who judges what."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option("--judges", type=count, metavar="N", help="How many judges are expected."),
            click.option(
                "--per-item",
                type=count,
                metavar="N",
                help="Judgments of every trial (default: 3, or the number of judges if fewer).",
            ),
            click.option(
                "--plan",
                type=click.Choice(["per-item", "within-judge"]),
                default="per-item",
                show_default=True,
                help="N judgments a trial; or every judge sees each item once and every system (pair) "
                "equally often.",
            ),
            click.option(
                "--times",
                type=count,
                metavar="K",
                help="Within a judge: every system (pair) K times (default: as the items allow).",
            ),
            click.option(
                "--repeats",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Trials that each judge sees twice, for self-consistency.",
            ),
            click.option(
                "--checks",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Attention checks for each judge.",
            ),
            click.option("--at-most", type=count, metavar="N", help="Trials for a judge, at most."),
            click.option(
                "--lease",
                type=click.FloatRange(min=0, min_open=True),
                default=30.0,
                show_default=True,
                metavar="MINUTES",
                help="After so long an absence a judge's trial goes to others.",
            ),
        )
    ):
        function = option(function)
    return function


def selection_options(function: F) -> F:
    """What to show of an evalset that is too large."""
    for option in reversed(
        (
            click.option(
                "--select",
                type=click.Choice(["random", "spread", "contrast"]),
                help="Only some trials: at random, spread over a metric's values, or where metrics "
                "disagree.",
            ),
            click.option("-m", "--metrics", multiple=True, metavar="METRICS", help="For --select."),
            click.option(
                "--per-stratum",
                type=click.IntRange(min=1),
                default=10,
                show_default=True,
                help="Trials from each system, fifth of a metric's range, or disagreement.",
            ),
        )
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  wellput study create evalset.jsonl --design rating --questions understandability,quality \\
      --judges 10 --per-item 3 -o study.db
  wellput study create evalset.jsonl --design pairwise --plan within-judge --times 6 -o pairs.db
  wellput study create evalset.jsonl --design magnitude --select spread -m sta,bleu -o study.db
"""
)
@click.argument("evalset")
@wording_options
@plan_options
@selection_options
@click.option(
    "--from-substitutions",
    is_flag=True,
    help="EVALSET holds substitutions (wellput paraphrase --substitutions): ask whether each is right.",
)
@click.option("-o", "output", metavar="STUDY", required=True, help="The study: a file, or a URL.")
@making_options
def command(
    evalset: str,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
    **choices: Any,
) -> None:
    """Make a study of an evalset.

    The summary holds the owner's token, which opens the dashboard: it is shown only now.
    """
    from wellput.cli.progress import progress

    with progress() as on_phase:
        on_phase("reading items")
        from wellput.io import read_evalset

        store_type = store_class()
        items = read_evalset(evalset)
        setup = design_study(items, seed=seed, threads=threads, on_phase=on_phase, **choices)
        on_phase("writing the study")
        store = store_type.create(output, setup)
        per_judge = _trials_per_judge(setup)
    plan = setup.plan
    summary = {
        "study": output,
        "design": setup.questionnaire.kind,
        "questions": [question.name for question in setup.questionnaire.questions],
        "systems": list(setup.systems),
        "items": len(setup.items),
        "trials": len(setup.trials),
        "plan": plan.kind,
        "judges": plan.judges,
        "per_item": plan.per_item if plan.kind == "per-item" else None,
        "per_judge": per_judge,
        "selection": dict(setup.selection) or None,
        "seed": seed,
        "owner_token": store.owner_token,
    }
    store.close()
    shown = {name: value for name, value in summary.items() if name != "selection"}
    rows = [[name.replace("_", " "), cell_text(value)] for name, value in shown.items()]
    notes = [
        "The owner's token opens the dashboard; it is not shown again.",
        f"Next: wellput study invite {output} --judges {plan.judges}",
    ]
    table = Table(["study", ""], rows, notes=notes, caption="The study")
    print_records("study", [summary], table, format, "-")


def design_study(
    evalset: EvalSet,
    *,
    seed: int,
    threads: int | None,
    on_phase: OnPhase = unheard_phase,
    **choices: Any,
) -> StudySetup:
    """The study that the options of `create` describe."""
    from wellput.metrics.registry import split_specs
    from wellput.studies.designs.registry import design_of
    from wellput.studies.media import medium_for
    from wellput.studies.selection import select_trials, used_items
    from wellput.studies.settings import make_settings, read_settings
    from wellput.studies.study_setup import all_trials, make_setup, study_items

    record = read_settings(choices["settings"]) if choices["settings"] else {}
    if choices["from_substitutions"]:
        choices, record = _about_substitutions(evalset, choices, record)
    elif choices["design"] is None:
        raise InputError("Say how judges answer: --design rating|magnitude|slider|pairwise|task.")
    wording = ("points", "layout", "ties", "modulus", "consent", "practice", "demographics")
    settings: Settings = make_settings(
        choices["design"],
        record,
        questions=listed(choices["questions"]),
        n_checks=choices["checks"],
        show_source=choices["show_source"],
        **{name: choices[name] for name in wording},
    )
    on_phase("planning trials")
    medium = medium_for(evalset)
    questionnaire = medium.reworded(settings.questionnaire, design_of(settings.questionnaire))
    items = study_items(evalset, medium, source=settings.show_source)
    trials = all_trials(questionnaire, items)
    selection: Mapping[str, Any] = {}
    if choices["select"] is not None:
        selected = select_trials(
            evalset,
            questionnaire,
            items,
            trials,
            method=choices["select"],
            metrics=[name for text in choices["metrics"] for name in split_specs(text)],
            per_stratum=choices["per_stratum"],
            seed=seed,
            threads=threads,
            on_phase=on_phase,
        )
        trials, selection = selected.trials, selected.record
    elif choices["metrics"]:
        raise InputError("--metrics are used to choose trials: add --select spread or contrast.")
    items, trials = used_items(items, trials)
    return make_setup(
        questionnaire,
        _plan(choices),
        items,
        trials,
        seed=seed,
        checks=settings.checks,
        tasks=settings.tasks,
        selection=selection,
    )


def _about_substitutions(
    evalset: EvalSet, choices: dict[str, Any], record: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The choices and settings of a study of substitutions; what the user's file says goes first."""
    from wellput.agreement.decisions import KEPT, REFUSED
    from wellput.studies.wordings import SUBSTITUTIONS

    if not set(evalset.systems) <= {KEPT, REFUSED}:
        raise InputError(
            "This evalset holds no substitutions: make one with wellput paraphrase EVALSET "
            "--substitutions FILE.jsonl."
        )
    if choices["design"] not in (None, "rating") or choices["points"] is not None:
        raise InputError(
            "--from-substitutions asks right or wrong: leave out --design and --points."
        )
    return {**choices, "design": "rating"}, {**SUBSTITUTIONS, **record}


def _plan(choices: Mapping[str, Any]) -> StudyPlan:
    from wellput.studies.study_setup import StudyPlan

    judges, per_item = choices["judges"], choices["per_item"]
    if choices["plan"] == "within-judge" and per_item is not None:
        raise InputError("--plan within-judge has no --per-item: say --times K.")
    if choices["plan"] == "per-item" and choices["times"] is not None:
        raise InputError("--times K belongs to --plan within-judge.")
    per_item = per_item or min(3, judges or 3)
    return StudyPlan(
        kind=choices["plan"],
        judges=judges or per_item,
        per_item=per_item,
        times=choices["times"],
        repeats=choices["repeats"],
        checks=choices["checks"],
        at_most=choices["at_most"],
        lease_minutes=choices["lease"],
    )


def _trials_per_judge(setup: StudySetup) -> int:
    from wellput.studies.assignment import share, within_judge

    if setup.plan.kind == "within-judge":
        return len(within_judge(setup, judge=1))
    return share(setup.plan, len(setup.trials), judge=1)

"""Writes the answers of a study to files: judgments for `wellput agree`, with a second file that
describes the design; scores and error spans for mt-metrics-eval; scores and batches for Appraise;
tasks for Label Studio; pairs for evalica."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from wellput import __version__
from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import Judgment, Preference
from wellput.core.work import OnPhase, ignore_phase
from wellput.io import check_files, check_table, write_judgments
from wellput.io.appraise_campaign import AnsweredCheck, SpoiledOutput, write_batches, write_scores
from wellput.io.evalica import write_evalica
from wellput.io.exported_spans import RATING_SUFFIX, write_ratings
from wellput.io.label_studio import write_config, write_label_studio
from wellput.io.mt_metrics_eval import check_score_file, write_score_file
from wellput.io.output import check_writable, path_beside, write_text
from wellput.studies.payments import payments_csv
from wellput.studies.queries import judgments_of_row, read_answered
from wellput.studies.store import Store
from wellput.studies.study_setup import StudySetup
from wellput.studies.summaries import Export

ExportTarget: TypeAlias = Literal[
    "judgments", "evalica", "mt-metrics-eval", "appraise", "label-studio"
]
EXPORT_TARGETS: tuple[ExportTarget, ...] = get_args(ExportTarget)


def export(
    store: Store,
    path: str,
    *,
    target: ExportTarget = "judgments",
    question: str | None = None,
    repeats: bool = False,
    on_phase: OnPhase = ignore_phase,
) -> Export:
    """Writes the judges' answers; those to one `question` only, if it is given. With `repeats`,
    answers to repeated trials are included. The result has the number of answers and the names of the
    files.

    For the target `judgments`, the suffix of the path chooses CSV, TSV, JSONL or Parquet; `-` is CSV on
    standard output, without the file of the design.
    """
    second_path = second_path_of(path, target)
    # People who came by the open link are paid, so a list of payments is written with their judgments.
    has_payments = target == "judgments" and second_path is not None and store.enrolment is not None
    payments_path = str(path_beside(path, "payments.csv")) if has_payments else None
    check_files([path, second_path, payments_path], store.database.files)
    on_phase("reading answers")
    all_answers = store.judgments(repeats=repeats)
    chosen = [answer for answer in all_answers if question is None or answer.question == question]
    answers = cast("list[Judgment] | list[Preference]", chosen)
    if all_answers and not answers:
        asked = list(dict.fromkeys(answer.question for answer in all_answers))
        raise InputError(f"No answers to {question!r}; the questions are {', '.join(asked)}.")
    if not answers:
        raise InputError(f"{store.database.name} has no answers to export yet.")
    on_phase("writing answers")
    if target == "evalica":
        if not isinstance(answers[0], Preference):
            raise InputError("evalica takes pairwise choices; this study has ratings.")
        write_evalica(cast("Sequence[Preference]", answers), path)
    elif target == "mt-metrics-eval":
        ratings, items = _ratings(answers, target), items_of_study(store)
        if path.endswith(RATING_SUFFIX):
            path = ", ".join(map(str, write_ratings(ratings, items, path)))
        else:
            write_score_file(ratings, [item.id for item in items], path)
    elif target == "appraise":
        if path.endswith(".json"):
            write_batches(
                items_of_study(store),
                path,
                prefilled=prefilled_spans(store),
                spoiled=list(spoiled_outputs(store.setup).values()),
            )
        else:
            ratings = _ratings(answers, target)
            write_scores(
                ratings,
                items_of_study(store),
                path,
                checks=[
                    check
                    for check in answered_checks(store)
                    if check.answer.question == ratings[0].question
                ],
                spoiled=list(spoiled_outputs(store.setup).values()),
            )
    elif target == "label-studio":
        write_label_studio(answers, items_of_study(store), path)
        assert second_path is not None
        write_config(answers, second_path)
    else:
        write_judgments(cast("Sequence[Judgment]", answers), path)
        # These files say who the judges are and what they told about themselves: only the owner of the
        # study may read them.
        if second_path is not None:
            on_phase("comparing judges")  # the record says how consistent each judge is
            record = json.dumps(design_record(store), ensure_ascii=False, indent=2) + "\n"
            write_text(record, second_path, is_private=True)
        if payments_path is not None:
            write_text(payments_csv(store.payments()), payments_path, is_private=True)
    return Export(len(answers), path, second_path, payments_path)


def check_target(path: str, target: ExportTarget) -> None:
    """Raises InputError before any work where the answers cannot be written to this path."""
    if target not in EXPORT_TARGETS:
        raise InputError(f"No as_={target!r}; there are {', '.join(EXPORT_TARGETS)}.")
    endings = {"appraise": (".csv", ".json"), "label-studio": (".json",)}.get(target)
    if endings is not None and not path.endswith(endings):
        raise InputError(f"{path}: the name of this file ends in {' or '.join(endings)}.")
    if endings is not None or path.endswith(RATING_SUFFIX):
        check_writable(path)
    elif target == "mt-metrics-eval":
        check_score_file(path)
    else:
        check_table(path)


def items_of_study(store: Store) -> list[Item]:
    """The items of a study, as other tools need them."""
    return [
        Item(
            item.id,
            item.outputs,
            item.references,
            source=item.source,
            context=item.context,
            document=item.document,
        )
        for item in store.setup.items
    ]


def prefilled_spans(store: Store) -> dict[tuple[str, str], Sequence[Mapping[str, Any]]]:
    """The error spans that outputs were shown with, by item and system."""
    return {
        (item.id, system): spans
        for item in store.setup.items
        for system, spans in item.prefilled.items()
    }


def spoiled_outputs(setup: StudySetup) -> dict[int, SpoiledOutput]:
    """The attention checks that were made by spoiling an output, by the check's number."""
    spoiled: dict[int, SpoiledOutput] = {}
    for number, check in enumerate(setup.checks):
        if check.made_of is not None and len(check.texts) == 1:
            place, system = check.made_of
            spoiled[number] = SpoiledOutput(setup.items[place].id, system, check.texts[0])
    return spoiled


def answered_checks(store: Store) -> list[AnsweredCheck]:
    """The answers to attention checks with spoiled outputs, each as a judgment of the output that was
    spoiled."""
    setup = store.setup
    by_id = {item.id: item for item in setup.items}
    spoiled = spoiled_outputs(setup)
    with store.database.read() as connection:
        answered = read_answered(connection)
    checks = []
    for row in answered:
        if row.purpose == "check" and (shown := spoiled.get(row.number)) is not None:
            row_of_output = replace(row, systems=(shown.system,))
            judgments = judgments_of_row(
                setup, row_of_output, repeats=False, item=by_id[shown.item]
            )
            checks += [
                AnsweredCheck(judgment, shown.text)
                for judgment in cast("Iterable[Judgment]", judgments)
            ]
    return checks


def _ratings(
    answers: Sequence[Judgment] | Sequence[Preference], target: ExportTarget
) -> Sequence[Judgment]:
    if not isinstance(answers[0], Judgment):
        raise InputError(f"{target} takes ratings; this study has pairwise choices.")
    return cast("Sequence[Judgment]", answers)


def second_path_of(path: str, target: ExportTarget) -> str | None:
    """The file that is written beside the answers: the design, or Label Studio's labeling interface."""
    if target == "label-studio":
        return str(path_beside(path, "config.xml"))
    return str(design_path(path)) if target == "judgments" and path != "-" else None


def design_path(path: str) -> Path:
    """The file of the design: for `judgments.csv` it is `judgments.design.json`."""
    return path_beside(path, "design.json")


def design_record(store: Store) -> dict[str, Any]:
    """All that a reader of the judgments must know about how they were collected."""
    setup = store.setup
    overview = store.overview()
    return {
        "wellput": __version__,
        **setup.settings(),
        "systems": list(setup.systems),
        "items": [item.id for item in setup.items],
        "trials": len(setup.trials),
        "state": overview.state,
        "judges": [
            {
                "judge": judge.name,
                "done": judge.done,
                "checks": judge.checks,
                "checks_failed": judge.checks_failed,
                "consistency": judge.consistency,
                "flags": list(judge.flags),
            }
            for judge in overview.judges
        ],
        "demographics": store.all_demographics(),
        "forgotten": overview.forgotten,
    }

"""Writes the answers of a study to files: judgments for `wellput agree`, with the design beside them;
scores for mt-metrics-eval; pairs for evalica."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from wellput import __version__
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference
from wellput.core.work import OnPhase, ignore_phase
from wellput.io import check_files, check_table, write_judgments
from wellput.io.evalica import write_evalica
from wellput.io.mt_metrics_eval import check_score_file, write_score_file
from wellput.io.output import write_text
from wellput.studies.payments import payments_csv
from wellput.studies.store import Store
from wellput.studies.summaries import Export

ExportTarget: TypeAlias = Literal["judgments", "evalica", "mt-metrics-eval"]
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
    """Writes the judges' answers. The result has their number and the file of the design.

    The suffix of the path chooses CSV, TSV, JSONL or Parquet for `judgments`; `-` is CSV on standard
    output, without the design.
    """
    beside = str(design_path(path)) if target == "judgments" and path != "-" else None
    paid = str(beside_path(path, "payments.csv")) if beside and store.enrolment else None
    check_files([path, beside, paid], store.database.files)
    on_phase("reading answers")
    everything = store.judgments(repeats=repeats)
    answers = [a for a in everything if question is None or a.question == question]
    if everything and not answers:
        asked = list(dict.fromkeys(answer.question for answer in everything))
        raise InputError(f"No answers to {question!r}; the questions are {', '.join(asked)}.")
    if not answers:
        raise InputError(f"{store.database.name} has no answers to export yet.")
    on_phase("writing answers")
    if target == "evalica":
        if not isinstance(answers[0], Preference):
            raise InputError("evalica takes pairwise choices; this study has ratings.")
        write_evalica(cast("Sequence[Preference]", answers), path)
    elif target == "mt-metrics-eval":
        if not isinstance(answers[0], Judgment):
            raise InputError("mt-metrics-eval takes ratings; this study has pairwise choices.")
        items = [item.id for item in store.setup.items]
        write_score_file(cast("Sequence[Judgment]", answers), items, path)
    else:
        write_judgments(cast("Sequence[Judgment]", answers), path)
        # What judges said about themselves, and who they are, is for the owner of the study alone.
        if beside is not None:
            on_phase("comparing judges")
            record = json.dumps(design_record(store), ensure_ascii=False, indent=2) + "\n"
            write_text(record, beside, is_private=True)
        if paid is not None:
            write_text(payments_csv(store.payments()), paid, is_private=True)
    return Export(len(answers), path, beside, paid)


def check_target(path: str, target: ExportTarget) -> None:
    """Raises InputError before any work where the answers cannot be written to this path."""
    if target not in EXPORT_TARGETS:
        raise InputError(f"No as_={target!r}; there are {', '.join(EXPORT_TARGETS)}.")
    (check_score_file if target == "mt-metrics-eval" else check_table)(path)


def design_path(path: str) -> Path:
    """The file of the design: for `judgments.csv` it is `judgments.design.json`."""
    return beside_path(path, "design.json")


def beside_path(path: str, ending: str) -> Path:
    """A file beside the export, with its name and another ending."""
    name = Path(path).name
    for suffix in (".gz", ".xz"):
        name = name.removesuffix(suffix)
    return Path(path).with_name(f"{Path(name).stem}.{ending}")


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

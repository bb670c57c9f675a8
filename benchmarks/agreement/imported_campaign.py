"""The ESA campaign on WMT23 English–German (Kocmi et al. 2024) as a finished study: what the study says of
agreement, time and attention checks, beside the campaign's own scripts and pygamma-agreement.

    python -m benchmarks imported-campaign
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import wellput
from benchmarks.agreement.span_campaign import (
    BATCHES,
    CHECKOUT,
    LATER_ROUNDS,
    SCRIPTS,
    SCRIPTS_PYTHON,
    agreement_rows,
    answers,
    checks_of_script,
    checks_passed,
    gamma_rows,
    marked_by_rounds,
    minutes_of_task,
    printed_checks,
    ran,
    repaired,
    segments,
)
from benchmarks.catalog import CAMPAIGNS, PREFILLED_CAMPAIGN
from benchmarks.data import data_path
from benchmarks.pages import table, write_page
from wellput.io.appraise import (
    AppraiseRow,
    is_content,
    judged_segments,
    mqm_score,
    read_batches,
    read_rows,
)
from wellput.io.appraise_campaign import appraise_span
from wellput.studies.queries import read_answered
from wellput.studies.store import Store

SECOND_ROUND = LATER_ROUNDS["ESA", "another judge"]


def study_of(batches: Path, scores: list[Path], folder: Path, name: str) -> wellput.Study:
    """The study that is imported from these files of scores, taken together as one campaign."""
    together = folder / f"{name}.csv"
    together.write_bytes(
        b"".join(
            gzip.decompress(f.read_bytes()) if f.suffix == ".gz" else f.read_bytes() for f in scores
        )
    )
    return wellput.Study.from_judgments(batches, together, path=folder / f"{name}.db")


def rows_of(path: Path, batches: Path) -> list[AppraiseRow]:
    """The answers in a study as rows of Appraise, so that the functions for Appraise's files compute their
    figures."""
    store = Store.open(path)
    setup = store.setup
    read = read_batches(batches)
    # The document and the number of a segment, by item and system; those of a check, by system and text.
    segment_of = {
        (name, str(item["targetID"])): (str(item["documentID"]), int(item["itemID"]))
        for name, item in reversed(judged_segments(read))
    }
    segment_of_check = {
        (str(item["targetID"]), str(item["targetText"])): (
            str(item["documentID"]),
            int(item["itemID"]),
        )
        for batch in read
        for item in batch["items"]
        if item["itemType"] == "BAD" and is_content(str(item["documentID"]))
    }
    # ESA also asks for a score. The score of MQM is computed from the marked spans.
    marks, *scores = (question.name for question in setup.questionnaire.questions)
    with store.database.read() as connection:
        answered = read_answered(connection)
    store.close()
    found = []
    for one in answered:
        if one.purpose == "check":
            check = setup.checks[one.number]
            assert check.made_of is not None
            system = check.made_of[1]
            document, number = segment_of_check[system, check.texts[0]]
        else:
            system = one.systems[0]
            document, number = segment_of[setup.items[setup.trials[one.number].item].id, system]
        [values] = one.values
        assert one.recorded_at is not None and one.ms is not None
        spans = [appraise_span(span) for span in values[marks]]
        found.append(
            AppraiseRow(
                one.judge,
                system,
                number,
                "BAD" if one.purpose == "check" else "TGT",
                values[scores[0]] if scores else mqm_score(spans),
                document,
                spans,
                one.recorded_at - one.ms / 1000,
                one.recorded_at,
            )
        )
    return found


def overview_row(name: str, study: wellput.Study) -> list[str]:
    status = study.status()
    n_checks = sum(judge.checks for judge in status.judges)
    failed = sum(judge.checks_failed for judge in status.judges)
    return [
        name,
        status.design,
        f"{status.done:,}",
        f"{len(status.judges)}",
        f"{status.seconds:.1f} s",
        f"{n_checks - failed} of {n_checks} ({1 - failed / n_checks:.3f})",
        status.ranking[0].systems[0].system,
    ]


def largest_difference(study: wellput.Study, path: Path) -> float:
    """Between the estimates of `rank` from the study and from the file."""
    one, other = (
        wellput.rank(given).to_dict()["questions"][0] for given in (study.judgments(), path)
    )
    pairs = zip(one["systems"], other["systems"], strict=True)
    return float(max(abs(a[key] - b[key]) for a, b in pairs for key in ("estimate", "low", "high")))


def check_rows(
    rows: Mapping[str, list[AppraiseRow]], names: Any, theirs: Mapping[str, Any]
) -> list[list[str]]:
    printed = printed_checks(theirs["attention_checks"])
    prefilled = repaired(read_rows(data_path(PREFILLED_CAMPAIGN)))
    _, counted = checks_of_script(prefilled, names)
    found = []
    for title, own in rows.items():
        passed = checks_passed(own, names, counted)
        for what, key in (
            ("lower score", "score"),
            ("more spans", "spans"),
            ("change marked", "mark"),
        ):
            other = printed[f"OK-{title.lower()}_{key}"]
            found.append(
                [f"{title}: {what}, {passed['n']:.0f} checks", f"{passed[key]:.3f}", f"{other:.3f}"]
            )
    return found


INTRODUCTION = """\
Does `wellput study import` make a study that gives the same figures as the scripts of the campaign itself? {equal} of {n_figures} figures are the same as printed, and none differs by more than {largest:.2f}. Two annotation
campaigns on WMT23 English–German (Kocmi et al. 2024) were imported by `wellput study import BATCHES SCORES -o STUDY`. They used the protocols ESA and MQM, and Appraise, the annotation tool of WMT.

This is what `wellput study status` says of the two studies, and of a third study with both rounds of ESA (the same outputs were judged a second time, by other people):
"""
BEFORE_FIGURES = """\
The ranking of a study is the same as that by `wellput rank SCORES`: estimates and intervals differ by at most {difference:.0e}.

- *login*: the account in Appraise for one task. A person may have several logins.
- *median time of a segment*: the time ends when the next segment of the same login begins.
- *attention checks passed*: an attention check is an output of the same task with some words replaced or left out. It is passed if a mark touches a changed character or, where words were only left out, a character beside the gap. One check of the campaign shows the unchanged output, and is not imported.

## Compared with the campaign's own scripts

The column *from the study* was computed from the study's database, by the rules of the scripts. The column *theirs* was computed from Appraise's files by the scripts in the repository
wmt-conference/ErrorSpanAnnotation.
"""
AFTER_FIGURES = """\
- The first five rows are the agreement of the two rounds of ESA, on the 743 outputs that all campaigns of the repository have.
- The minutes and seconds are of these outputs only, and a time above the 95% quantile is replaced by the median, so they differ from the first table.
- The last six rows are shares of the attention checks that were passed, by three rules: the check got a lower score than the unchanged output, or more spans, or a mark where the text was changed. The scripts count only 59 checks: they leave out a check if, in another campaign of the repository (ESA-AI), the answer before or after it is about a check, too.

[Error spans of a campaign](span_agreement.md) says more about the rules.

## γ compared with pygamma-agreement 0.5.9

γ (Mathet et al. 2015) says how far two annotators mark the same places with the same severity: 1 is perfect, 0 is chance. The two rounds of ESA, put into one study, count as two annotators; the texts are the first 50, 200 or 800 outputs, joined into one text.

- *observed*: the disagreement in the annotators' marks. In this table, *theirs* means the figures of pygamma-agreement.
- *largest difference for random marks*: γ compares the observed disagreement with that of marks at random places, which pygamma-agreement draws. Both programs computed the disagreement of the same random marks, with at most this difference (pygamma-agreement computes with numbers of 32 bits).
"""


def page(checkout: Path) -> str:
    batches = checkout / BATCHES
    names = segments(batches)
    theirs = json.loads(ran(SCRIPTS_PYTHON, SCRIPTS, folder=checkout))
    files = {kind: Path(data_path(CAMPAIGNS[kind])) for kind in ("ESA", "MQM")}
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        studies = {kind: study_of(batches, [file], folder, kind) for kind, file in files.items()}
        overviews = [overview_row(kind, study) for kind, study in studies.items()]
        difference = max(largest_difference(study, files[kind]) for kind, study in studies.items())
        both = study_of(batches, [files["ESA"], checkout / SECOND_ROUND], folder, "both")
        overviews.append(overview_row("ESA, both rounds", both))
        rows = {kind: repaired(rows_of(folder / f"{kind}.db", batches)) for kind in files}
        every = repaired(rows_of(folder / "both.db", batches))
        for study in (*studies.values(), both):
            study.close()
    logins = {row.login for row in rows["ESA"]}
    first, second = (
        answers([row for row in every if (row.login in logins) == is_first], names)
        for is_first in (True, False)
    )
    overlap = set(theirs["overlap"])
    time_rows = []
    for kind, own in rows.items():
        shown = [row for name, row in answers(own, names).items() if name in overlap]
        minutes, median = minutes_of_task(shown)
        other = theirs["times"][f"{kind}-1"]
        time_rows += [
            [f"{kind}: minutes of a task", f"{minutes:.2f}", f"{other[0]:.2f}"],
            [f"{kind}: median seconds of a segment", f"{median:.2f}", f"{other[1]:.2f}"],
        ]
    agreed = agreement_rows(first, second, theirs)
    figures = [*agreed, *time_rows, *check_rows(rows, names, theirs)]
    gamma = gamma_rows(marked_by_rounds(first, second, names))
    return "\n".join(
        [
            "# A campaign of Appraise, imported as a finished study",
            "",
            INTRODUCTION.format(
                equal=sum(own == other for _, own, other in figures),
                n_figures=len(figures),
                largest=max(abs(float(own) - float(other)) for _, own, other in figures),
            ),
            table(
                [
                    "campaign",
                    "design",
                    "judgments",
                    "logins",
                    "median time of a segment",
                    "attention checks passed",
                    "best system",
                ],
                overviews,
            ),
            "",
            BEFORE_FIGURES.format(difference=difference),
            table(["figure", "from the study", "theirs"], figures),
            "",
            AFTER_FIGURES,
            table(
                [
                    "part",
                    "observed, from the study",
                    "observed, theirs",
                    "γ, from the study",
                    "γ, theirs",
                    "largest difference for random marks",
                ],
                [row[:6] for row in gamma],
            ),
            "",
        ]
    )


def main() -> None:
    if CHECKOUT not in os.environ:
        raise SystemExit(f"Set {CHECKOUT} to a checkout of wmt-conference/ErrorSpanAnnotation.")
    write_page("imported-campaign", page(Path(os.environ[CHECKOUT])))


if __name__ == "__main__":
    main()

"""Reads ratings by MQM (Multidimensional Quality Metrics, where people mark errors) in the format of
github.com/google/wmt-mqm-human-evaluation: TSV with a row for each error that a rater marked.

The columns are `system`, `rater`, `category`, `severity`, and the segment's number in the test set,
`globalSegId` (`seg_id` in older files), in any order. The TSV is not quoted: a double quote is an
ordinary character.
"""

from __future__ import annotations

from wellput.core.errors import InputError, Problems, counted
from wellput.core.judgment import Judgment
from wellput.io.files import InputFile, PathLike, check_readable

MQM_QUESTION = "mqm"
SEGMENT_COLUMNS = ("globalSegId", "seg_id")
REQUIRED_COLUMNS = ("system", "rater", "category", "severity")
# The weights of Freitag et al. 2021, "Experts, Errors, and Context"; also those of mt-metrics-eval's
# score_mqm.py.
SEVERITY_WEIGHTS = {"major": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0}
MINOR_PUNCTUATION_WEIGHT = 0.1
NON_TRANSLATION_WEIGHT = 25.0
# Rows with this severity test the rater's attention, not the translation.
ATTENTION_TEST_SEVERITY = "hotw"


def read_mqm(path: PathLike) -> list[Judgment]:
    """Each rater's score of each segment of each system: minus the sum of the error weights.

    A major error has the weight 5, a minor error 1, a minor punctuation error 0.1, and a text that is
    no translation 25; so 0 is perfect and higher is better. The item is the segment's number, the
    question is `mqm`, and the extra column `doc` has the document's name.
    """
    file = InputFile(path)
    check_readable(file)
    lines = file.lines()
    header = next(lines).removesuffix("\r").split("\t")
    segment = next((name for name in SEGMENT_COLUMNS if name in header), SEGMENT_COLUMNS[0])
    if missing := [name for name in (*REQUIRED_COLUMNS, segment) if name not in header]:
        raise InputError(f"{file.name} is not an MQM table: no column {', '.join(missing)}.")
    problems = Problems(file.name)
    sums: dict[tuple[str, str, str], float] = {}  # by rater, item and system
    documents: dict[str, str] = {}
    for number, line in enumerate(lines, start=2):
        cells = line.removesuffix("\r").split("\t")
        row = dict(zip(header, cells, strict=False))
        if missing := [name for name in (*REQUIRED_COLUMNS, segment) if name not in row]:
            missing_cells = counted(len(header) - len(cells), "cell")
            problems.add(f"line {number}", f"{missing_cells} too few: no {', '.join(missing)}")
        elif (weight := _checked_weight(row, f"line {number}", problems)) is not None:
            key = (row["rater"], row[segment], row["system"])
            sums[key] = sums.get(key, 0.0) + weight
            documents.setdefault(row[segment], row.get("doc", ""))
    problems.raise_if_any()
    if not sums:
        raise InputError(f"{file.name} has no ratings.")
    return [  # `-total` would be −0.0 for a perfect translation
        Judgment(rater, item, system, MQM_QUESTION, 0.0 - total, {"doc": documents[item]})
        for (rater, item, system), total in sums.items()
    ]


read_judgments = read_mqm
"""`io.readers` calls every module of judgments by this name."""


def knows(path: PathLike) -> bool:
    """Whether the header of a file has the columns of an MQM table."""
    file = InputFile(path)
    if file.suffix != ".tsv":
        return False
    header = next(file.lines(), "").removesuffix("\r").split("\t")
    return set(REQUIRED_COLUMNS) <= set(header)


def weight_of(category: str, severity: str) -> float | None:
    """The weight of an error of this category and severity; None for an unknown severity."""
    severity, category = severity.lower(), category.lower()
    weight = SEVERITY_WEIGHTS.get(severity)
    if weight and category.startswith("non-translation"):
        return NON_TRANSLATION_WEIGHT
    if severity == "minor" and category.startswith("fluency/punctuation"):
        return MINOR_PUNCTUATION_WEIGHT
    return weight


def _checked_weight(row: dict[str, str], where: str, problems: Problems) -> float | None:
    """The row's weight; None for a row that does not count or has a problem."""
    if row["severity"].lower().startswith(ATTENTION_TEST_SEVERITY):
        return None
    weight = weight_of(row["category"], row["severity"])
    if weight is None:
        known = ", ".join(SEVERITY_WEIGHTS)
        problems.add(where, f"the severity {row['severity']!r} is not one of {known}")
    return weight

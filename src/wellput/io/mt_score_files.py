"""Single score files of mt-metrics-eval: `NAME.seg.score` with a line SYSTEM<tab>SCORE for each segment
of each system in turn, `NAME.sys.score` with a line a system; `None` for no score.

`io.mt_metrics_eval` reads them inside a folder, with the texts; here one stands by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wellput.core.errors import InputError, Problems
from wellput.core.judgment import Judgment
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.output import check_writable, replacing_text

LEVEL_SUFFIXES = (".seg.score", ".sys.score")


def knows(path: PathLike) -> bool:
    return InputFile(path).suffix == ".score"


def read_judgments(path: PathLike) -> list[Judgment]:
    """The scores of a file. Judge and question are NAME; the item is the number of the segment."""
    level = _level(path)
    name = Path(path).name.removesuffix(level).rpartition(".")[2]
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    found: list[Judgment] = []
    places: dict[str, int] = {}
    for number, line in enumerate(file.lines(), start=1):
        cells = line.split()
        if len(cells) != 2 or not _is_score(cells[1]):
            problems.add(f"line {number}", f"not SYSTEM SCORE: {line[:80]!r}")
            continue
        system, score = cells
        places[system] = places.get(system, 0) + 1
        if score != "None":
            item = str(places[system]) if level == ".seg.score" else "all"
            found.append(Judgment(name, item, system, name, float(score)))
    problems.raise_if_any()
    if not found:
        raise InputError(f"{file.name} holds no scores.")
    return found


def write_score_file(answers: Sequence[Judgment], items: Sequence[str], path: PathLike) -> None:
    """The mean rating of each output, over judges, in the order of the items; one question only."""
    level = _level(path)
    questions = sorted({answer.question for answer in answers})
    if len(questions) > 1:
        raise InputError(
            f"A score file has one score an output, and there are answers to {', '.join(questions)}. "
            "Choose one with question=."
        )
    spaced = sorted(
        {answer.system for answer in answers if answer.system.split() != [answer.system]}
    )
    if spaced:
        raise InputError(
            f"mt-metrics-eval allows no spaces in the name of a system: {spaced[0]!r}."
        )
    given: dict[tuple[str, str], list[float]] = {}
    for answer in answers:
        key = (answer.system, answer.item if level == ".seg.score" else "")
        given.setdefault(key, []).append(answer.value)
    rows = items if level == ".seg.score" else [""]
    with replacing_text(path) as file:
        for system in dict.fromkeys(answer.system for answer in answers):
            for item in rows:
                values = given.get((system, item))
                score = "None" if values is None else repr(sum(values) / len(values))
                file.write(f"{system}\t{score}\n")


def check_score_file(path: PathLike) -> None:
    """Raises at once where a score file cannot be written."""
    _level(path)
    check_writable(path)


def _level(path: PathLike) -> str:
    for level in LEVEL_SUFFIXES:
        if str(path).endswith(level):
            return level
    raise InputError(f"{path}: the name of a score file ends in {' or '.join(LEVEL_SUFFIXES)}.")


def _is_score(text: str) -> bool:
    if text == "None":
        return True
    try:
        return float(text) == float(text)
    except ValueError:
        return False

"""Reads data of github.com/google-research/mt-metrics-eval, version 2: folders of a test set, with the
texts, human scores and metric scores of its language pairs, and single score files.

A language pair is named as if it were a folder inside the test set: `wmt21.news/zh-en`. It may be
left out if the test set has only one. Items are the lines of the source, numbered from 1.

A score file (`NAME.seg.score`) has a line SYSTEM<tab>SCORE for each segment of the first system, then
of the second, and so on; or (`NAME.sys.score`) one line for each system. `None` is a missing score.

Scores of metrics are such files in the folder `metric-scores/PAIR`. By a rule of the format, higher is
better in all of them, even for error rates and MetricX.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import NO_TAGS, Item
from wellput.core.judgment import Judgment
from wellput.core.source import EvalSource
from wellput.io.external_scores import ExternalScores, ItemPlaces
from wellput.io.files import InputFile, PathLike, check_readable, file_fingerprint
from wellput.io.jsonl import read_json_lines
from wellput.io.lines import LineSource
from wellput.io.output import check_writable, replacing_text

HumanScoreLevel = Literal["seg", "doc", "domain", "sys"]

LANGUAGE_PAIR_NAME = re.compile(r"\w+-\w+")
NO_TRANSLATION = "[No translation supplied]"
SCORE_SUFFIX = ".score"
LEVEL_SUFFIXES = (".seg.score", ".sys.score")
# A file of texts has a text on each line, or JSON lines with the text under this key, by folder.
TEXT_KEYS = {"sources": "source", "references": "target", "system-outputs": "hypothesis"}


@dataclass(frozen=True, slots=True)
class LanguagePair:
    """One language pair of a test set. `kind` in its methods is a folder of texts (a key of
    `TEXT_KEYS`)."""

    folder: Path
    name: str

    def file(self, kind: str, path: Path) -> InputFile:
        return JsonColumn(path, TEXT_KEYS[kind]) if path.suffix == ".jsonl" else InputFile(path)

    def files(self, kind: str, folder: Path, pattern: str) -> list[tuple[Path, InputFile]]:
        paths = sorted(p for p in folder.glob(pattern) if p.suffix in (".txt", ".jsonl"))
        return [(path, self.file(kind, path)) for path in paths]


class JsonColumn(InputFile):
    """The texts under one key of JSON lines, read like the lines of a text file."""

    def __init__(self, path: PathLike, key: str) -> None:
        super().__init__(path)
        self._key = key

    def lines(self) -> Iterator[str]:
        problems = Problems(self.name)
        for number, record in read_json_lines(InputFile(self.path), problems):
            text = record.get(self._key) if isinstance(record, dict) else None
            if isinstance(text, str):
                yield text
            else:
                problems.add(f"line {number}", f'no text under "{self._key}"')
        problems.raise_if_any()

    def line_blocks(self, size: int) -> Iterator[list[str]]:
        block: list[str] = []
        for line in self.lines():
            block.append(line)
            if len(block) == size:
                yield block
                block = []
        if block:
            yield block

    def count_lines(self) -> int:
        return sum(1 for _ in self.lines())


def knows(path: PathLike) -> bool:
    """Whether the path is a language pair of a test set, or a score file."""
    return _is_score_file(path) or find_language_pair(path) is not None


def _is_score_file(path: PathLike) -> bool:
    return InputFile(path).suffix == SCORE_SUFFIX and not Path(path).is_dir()


def find_language_pair(path: PathLike) -> LanguagePair | None:
    """The language pair that a path names; None if it names none."""
    path = Path(path)
    if (path / "sources").is_dir():
        pairs = _pair_names(path)
        if len(pairs) != 1:
            raise InputError(
                f"{path} has {len(pairs)} language pairs. Name one: "
                f"{', '.join(str(path / pair) for pair in pairs[:20])}"
            )
        return LanguagePair(path, pairs[0])
    if (
        LANGUAGE_PAIR_NAME.fullmatch(path.name)
        and (path.parent / "sources").is_dir()
        and not path.exists()
    ):
        pairs = _pair_names(path.parent)
        if path.name not in pairs:
            raise InputError(
                f"{path.parent} has no language pair {path.name}; it has {', '.join(pairs[:20])}."
            )
        return LanguagePair(path.parent, path.name)
    return None


def _language_pair(path: PathLike) -> LanguagePair:
    pair = find_language_pair(path)
    if pair is None:
        raise InputError(f"{path} is not a folder of mt-metrics-eval: it has no folder sources.")
    return pair


def _pair_names(folder: Path) -> list[str]:
    """The language pairs of a test set."""
    return sorted({path.stem for path in (folder / "sources").iterdir() if "-" in path.stem})


def open_evalset(path: PathLike) -> TranslationSource:
    """The evaluation set of a language pair: its source, all references in the order of their names,
    and all systems.

    A reference that is also a system is scored against the other references; a test set's only
    reference is left out of the systems.
    """
    pair = _language_pair(path)
    (_, source), *_ = pair.files("sources", pair.folder / "sources", f"{pair.name}.*")
    references = {
        path.stem.removeprefix(f"{pair.name}."): file
        for path, file in pair.files("references", pair.folder / "references", f"{pair.name}.*.*")
    }
    outputs = {
        path.stem: file
        for path, file in pair.files(
            "system-outputs", pair.folder / "system-outputs" / pair.name, "*.*"
        )
        if path.stem not in references or len(references) > 1
    }
    if not outputs:
        where = pair.folder / "system-outputs" / pair.name
        raise InputError(f"Nothing to score: no system's output in {where}.")
    lines = LineSource(
        references=list(references.values()), outputs=outputs, trees=None, source=source
    )
    check_readable(*lines.files)
    return TranslationSource(lines, list(references), pair, _documents(pair))


class TranslationSource(EvalSource):
    """The items of a language pair; `documents` has for each item its domain, which becomes a tag,
    and its document."""

    def __init__(
        self,
        lines: LineSource,
        reference_names: Sequence[str],
        pair: LanguagePair,
        documents: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._lines = lines
        self._names = reference_names
        self.pair = pair
        self._documents = documents

    def blocks(self) -> Iterator[list[Item]]:
        start = 0
        for block in self._lines.blocks():
            yield [self._item(item, place) for place, item in enumerate(block, start)]
            start += len(block)

    def _item(self, item: Item, place: int) -> Item:
        """The item with its document and domain, by its place in the file. An output that is one of
        the references is compared with the other references only."""
        has_document = place < len(self._documents)
        domain, document = self._documents[place] if has_document else (None, None)
        other_references = {
            name: (*item.references[:i], *item.references[i + 1 :])
            for i, name in enumerate(self._names)
            if name in item.outputs
        }
        outputs = {name: text for name, text in item.outputs.items() if text != NO_TRANSLATION}
        return item._replace(
            outputs=outputs,
            references_by_system=other_references,
            document=document,
            tags=NO_TAGS if domain is None else {"domain": domain},
        )


def read_judgments(path: PathLike) -> list[Judgment]:
    """The scores of a score file, or the human scores of the segments of a language pair."""
    return _read_score_file(path) if _is_score_file(path) else read_human_scores(path)


def read_human_scores(path: PathLike, *, level: HumanScoreLevel = "seg") -> list[Judgment]:
    """The human scores of a language pair, from all files `human-scores/PAIR.NAME.LEVEL.score`.

    Judge and question are NAME (the scores are averages over people). `level` decides what an item is:
    "seg", the number of the segment; "doc", the name of the document; "domain", the name of the domain;
    "sys", the empty text. Segments have the names of their document and domain as extra columns. Scores
    that are `None` are left out.
    """
    pair = _language_pair(path)
    folder = pair.folder / "human-scores"
    files = sorted(folder.glob(f"{pair.name}.*.{level}.score"))
    if not files:
        raise InputError(f"There is no file {pair.name}.*.{level}.score in {folder}.")
    documents = _documents(pair)
    return [judgment for file in files for judgment in _human_scores(pair, file, level, documents)]


def _documents(pair: LanguagePair) -> list[tuple[str, str]]:
    """Each segment's domain and document; empty if the test set has no documents."""
    path = pair.folder / "documents" / f"{pair.name}.docs"
    if not path.exists():
        return []
    rows: list[tuple[str, str]] = []
    problems = Problems(str(path))
    for number, line in enumerate(InputFile(path).lines(), start=1):
        match line.split():
            case [domain, document]:
                rows.append((domain, document))
            case _:
                problems.add(f"line {number}", "not a domain and a document")
    problems.raise_if_any()
    return rows


def _human_scores(
    pair: LanguagePair, path: Path, level: HumanScoreLevel, documents: Sequence[tuple[str, str]]
) -> Iterator[Judgment]:
    """The human scores of one file. `documents` has the domain and document of each segment."""
    name = path.name.removeprefix(f"{pair.name}.").removesuffix(f".{level}.score")
    document_names = list(dict.fromkeys(document for _, document in documents))
    places: dict[str, int] = {}
    problems = Problems(str(path))
    for number, line in enumerate(InputFile(path).lines(), start=1):
        cells = line.split()
        score = _score(cells, 3 if level == "domain" else 2)
        if score == "bad":
            expected = "DOMAIN SYSTEM SCORE" if level == "domain" else "SYSTEM SCORE"
            problems.add(f"line {number}", f"not {expected}: {line!r}")
            continue
        system = cells[-2]
        # The scores of a system are in the order of the segments or documents.
        place = places[system] = places.get(system, -1) + 1
        extra: dict[str, str] = {}
        if level == "seg":
            item = str(place + 1)
            if place < len(documents):
                extra = {"domain": documents[place][0], "document": documents[place][1]}
        elif level == "doc":
            item = document_names[place] if place < len(document_names) else str(place + 1)
        else:
            item = cells[0] if level == "domain" else ""
        if isinstance(score, float) and not problems:
            yield Judgment(name, item, system, name, score, extra)
    problems.raise_if_any()


def _score(cells: Sequence[str], width: int) -> float | Literal["bad"] | None:
    """The last cell as a finite number; None for the word None, "bad" for anything else."""
    if len(cells) != width:
        return "bad"
    if cells[-1] == "None":
        return None
    try:
        score = float(cells[-1])
    except ValueError:
        return "bad"
    return score if math.isfinite(score) else "bad"


def _read_score_file(path: PathLike) -> list[Judgment]:
    """The scores of a file `NAME.seg.score` or `NAME.sys.score`. Judge and question are NAME; the
    item is the number of the segment, or `all` for scores of systems."""
    suffix = _level_suffix(path)
    name = Path(path).name.removesuffix(suffix).rpartition(".")[2]
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    judgments: list[Judgment] = []
    places: dict[str, int] = {}
    for number, line in enumerate(file.lines(), start=1):
        cells = line.split()
        score = _score(cells, 2)
        if score == "bad":
            problems.add(f"line {number}", f"not SYSTEM SCORE: {line[:80]!r}")
            continue
        system = cells[0]
        places[system] = places.get(system, 0) + 1
        if isinstance(score, float):
            item = str(places[system]) if suffix == ".seg.score" else "all"
            judgments.append(Judgment(name, item, system, name, score))
    problems.raise_if_any()
    if not judgments:
        raise InputError(f"{file.name} holds no scores.")
    return judgments


def write_score_file(answers: Sequence[Judgment], items: Sequence[str], path: PathLike) -> None:
    """Writes the judges' mean rating of each output (or of each system, by the file's name), in the
    order of `items`. All answers must be to one question."""
    suffix = _level_suffix(path)
    questions = sorted({answer.question for answer in answers})
    if len(questions) > 1:
        raise InputError(
            f"A score file has one score for each output, and there are answers to "
            f"{', '.join(questions)}. Choose one with question=."
        )
    names_with_spaces = sorted(
        {answer.system for answer in answers if answer.system.split() != [answer.system]}
    )
    if names_with_spaces:
        raise InputError(
            f"mt-metrics-eval allows no spaces in the name of a system: {names_with_spaces[0]!r}."
        )
    ratings: dict[tuple[str, str], list[float]] = {}
    for answer in answers:
        key = (answer.system, answer.item if suffix == ".seg.score" else "")
        ratings.setdefault(key, []).append(answer.number)
    rows = items if suffix == ".seg.score" else [""]
    with replacing_text(path) as file:
        for system in dict.fromkeys(answer.system for answer in answers):
            for item in rows:
                values = ratings.get((system, item))
                score = "None" if values is None else repr(sum(values) / len(values))
                file.write(f"{system}\t{score}\n")


def check_score_file(path: PathLike) -> None:
    """Raises an error if the score file cannot be written; called before long work begins."""
    _level_suffix(path)
    check_writable(path)


def _level_suffix(path: PathLike) -> str:
    """The suffix of a score file, which says whether it has scores of segments or of systems."""
    for suffix in LEVEL_SUFFIXES:
        if str(path).endswith(suffix):
            return suffix
    raise InputError(f"{path}: the name of a score file ends in {' or '.join(LEVEL_SUFFIXES)}.")


SEGMENT_SUFFIX, SYSTEM_SUFFIX = LEVEL_SUFFIXES


def scored_metric_names(pair: LanguagePair) -> list[str]:
    """The metrics that have scores of segments, in the order of their names."""
    return sorted(file.name.removesuffix(SEGMENT_SUFFIX) for file in _segment_files(pair))


def _segment_files(pair: LanguagePair) -> Sequence[Path]:
    return list(_metric_folder(pair).glob(f"*{SEGMENT_SUFFIX}"))


def _metric_folder(pair: LanguagePair) -> Path:
    """The folder with the metrics' scores of a language pair."""
    return pair.folder / "metric-scores" / pair.name


def read_metric_scores(pair: LanguagePair, name: str) -> ExternalScores:
    """One metric's scores; items are the numbers of the segments, from 1."""
    path = _metric_folder(pair) / f"{name}{SEGMENT_SUFFIX}"
    segments = _scores_by_system(path)
    if not segments:
        raise InputError(f"{path} has no scores.")
    system_path = _metric_folder(pair) / f"{name}{SYSTEM_SUFFIX}"
    systems = _scores_by_system(system_path) if system_path.exists() else {}
    n_items = max(map(len, segments.values()))
    return ExternalScores(
        metric=name,
        path=str(path),
        items=ItemPlaces([str(number) for number in range(1, n_items + 1)]),
        scores={system: np.array(scores) for system, scores in segments.items()},
        version="",
        fingerprint=(file_fingerprint(path) or "unknown")[:12],
        system_scores={system: scores[0] for system, scores in systems.items()},
    )


def _scores_by_system(path: Path) -> dict[str, list[float]]:
    """Each system's scores in the order of the lines, NaN for None."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    scores: dict[str, list[float]] = {}
    for number, line in enumerate(file.lines(), start=1):
        try:
            system, score = line.split()
            value = np.nan if score == "None" else float(score)
        except ValueError:
            problems.add(f"line {number}", f"not SYSTEM SCORE: {line[:80]!r}")
            continue
        if np.isinf(value):
            problems.add(f"line {number}", f"the score {score} is not finite")
        scores.setdefault(system, []).append(value)
    problems.raise_if_any()
    return scores

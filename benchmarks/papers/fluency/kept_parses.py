"""Parses kept in files, so that an interrupted benchmark can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.link_grammar import LinkGrammar, LinkParse

BLOCK = 50


class KeptLinks(LinkGrammar):
    """`LinkGrammar` that writes each result to a file of JSON lines and parses no sentence twice."""

    def __init__(self, path: Path, *, workers: int, timeout: int = 3) -> None:
        super().__init__(workers=workers, timeout=timeout)
        self._path = path
        self._kept = {own["sentence"]: LinkParse(**own) for own in _lines(path)}

    def parse(
        self, sentences: Iterable[str], *, on_progress: Callable[[int], None] = lambda _: None
    ) -> list[LinkParse]:
        given = list(sentences)
        new = [sentence for sentence in dict.fromkeys(given) if sentence not in self._kept]
        for begin in range(0, len(new), BLOCK):
            parses = super().parse(new[begin : begin + BLOCK], on_progress=on_progress)
            _append(self._path, map(asdict, parses))
            self._kept |= {parse.sentence: parse for parse in parses}
        return [self._kept[sentence] for sentence in given]


@dataclass(frozen=True)
class _KeptParse:
    """The part of a head-driven parse that `gleu_features` reads."""

    scored: SimpleNamespace
    fragments: int


class KeptCharts:
    """The head-driven parser in the same way, with the parts of a parse that gleu-fluency needs."""

    def __init__(self, path: Path, parser: HeadDrivenParser) -> None:
        self._path = path
        self._parser = parser
        self._kept = {own["words"]: own for own in _lines(path)}

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[_KeptParse]:
        by_text = {" ".join(words): words for words in sentences}
        new = [text for text in by_text if text not in self._kept]
        for begin in range(0, len(new), BLOCK):
            block = new[begin : begin + BLOCK]
            parses = self._parser.parse([by_text[text] for text in block], threads=threads)
            rows = [
                {"words": text, "slor": parse.scored.slor, "fragments": parse.fragments}
                for text, parse in zip(block, parses, strict=True)
            ]
            _append(self._path, rows)
            self._kept |= {str(row["words"]): row for row in rows}
        found = [self._kept[text] for text in map(" ".join, sentences)]
        return [_KeptParse(SimpleNamespace(slor=own["slor"]), own["fragments"]) for own in found]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _append(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)

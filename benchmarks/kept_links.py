"""Link grammar's results kept in a file, so that an interrupted benchmark goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from wellput.language.link_grammar import LinkGrammar, LinkParse

BLOCK = 50


class KeptLinks(LinkGrammar):
    """`LinkGrammar` that writes each result to a file of JSON lines and asks for none twice."""

    def __init__(self, path: Path, *, workers: int) -> None:
        super().__init__(workers=workers)
        self._path = path
        self._kept: dict[str, LinkParse] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                parse = LinkParse(**json.loads(line))
                self._kept[parse.sentence] = parse

    def parse(self, sentences: Iterable[str]) -> list[LinkParse]:
        given = list(sentences)
        new = [sentence for sentence in dict.fromkeys(given) if sentence not in self._kept]
        for begin in range(0, len(new), BLOCK):
            parses = super().parse(new[begin : begin + BLOCK])
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(parse)) + "\n" for parse in parses)
            self._kept |= {parse.sentence: parse for parse in parses}
        return [self._kept[sentence] for sentence in given]

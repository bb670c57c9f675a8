"""`MarkedOutput`: an output and the error spans that each judge marked in it, from the column `spans`.

A judgment with an empty cell says nothing about errors; one with `[]` says that there are none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wellput.core.clusters import clusters_among
from wellput.core.errors import InputError, Problems
from wellput.core.evalset import Item
from wellput.core.judgment import SPANS_COLUMN, ErrorSpan, Judgment, read_error_spans
from wellput.core.source import EvalSource
from wellput.stats.clusters import ClusteredItems
from wellput.stats.spans.marked_characters import Marked

Trial = tuple[str, str, str]
"""An item, a system, and the number of a sample (empty where the output has no samples)."""


@dataclass(frozen=True)
class MarkedOutput:
    """`item` is the item's place among those that have marks; `spans` has each judge's."""

    trial: Trial
    item: int
    text: str
    spans: Mapping[str, Sequence[ErrorSpan]]

    def marked(self, judge: str) -> Marked:
        """The characters that a judge marked."""
        return marked_characters(((span.start, span.end) for span in self.spans[judge]), self.text)


def marked_characters(spans: Iterable[tuple[int, int]], text: str) -> Marked:
    """Whether each character of a text lies in one of these spans."""
    found = np.zeros(len(text), np.bool_)
    for start, end in spans:
        found[max(start, 0) : max(end, 0)] = True
    return found


@dataclass(frozen=True)
class MarkedQuestion:
    """All marked outputs of one question, and the clusters of their items (`unit` says what a cluster
    is)."""

    question: str
    outputs: Sequence[MarkedOutput]
    items: Sequence[str]
    clusters: ClusteredItems
    unit: str = "item"
    judges: Sequence[str] = field(default=())


def has_spans(judgments: Iterable[object]) -> bool:
    """Whether any judgment says where errors are."""
    return any(isinstance(one, Judgment) and one.extra.get(SPANS_COLUMN) for one in judgments)


def marked_questions(
    source: EvalSource, judgments: Sequence[Judgment], *, cluster: str | None = None
) -> list[MarkedQuestion]:
    """The marks of each question that has any, with the outputs from the evalset. Raises InputError for
    cells that are not spans, and for spans that end after their text."""
    given = [one for one in judgments if one.extra.get(SPANS_COLUMN)]
    if not given:
        return []
    wanted = {one.item for one in given}
    items = {item.id: item for item in _items(source, wanted)}
    problems = Problems(f"The column {SPANS_COLUMN}")
    found: dict[str, dict[Trial, tuple[str, dict[str, list[ErrorSpan]]]]] = {}
    for one in given:
        text = output_text(items.get(one.item), one.system, one.sample)
        if text is None:
            continue
        where = f"judge {one.judge}, item {one.item}, system {one.system}"
        try:
            spans = read_error_spans(one.extra[SPANS_COLUMN])
        except InputError as error:
            problems.add(where, str(error))
            continue
        if beyond := [span for span in spans if span.end > len(text)]:
            problems.add(
                where,
                f"a span ends at {beyond[0].end}, but the output has {len(text)} characters",
            )
            continue
        own = found.setdefault(one.question, {})
        # Of a judge who marked an output twice, the first marks count.
        trial = (one.item, one.system, one.sample)
        own.setdefault(trial, (text, {}))[1].setdefault(one.judge, spans)
    problems.raise_if_any(
        advice="Offsets are characters of the output; end is the first character after the span."
    )
    return [_question(name, own, items, cluster) for name, own in found.items()]


def _question(
    name: str,
    trials: Mapping[Trial, tuple[str, Mapping[str, Sequence[ErrorSpan]]]],
    items: Mapping[str, Item],
    cluster: str | None,
) -> MarkedQuestion:
    names = list(dict.fromkeys(item for item, _, _ in trials))
    place_of = {item: place for place, item in enumerate(names)}
    clusters = clusters_among(
        [items[item].document for item in names], [items[item].tags for item in names], cluster
    )
    codes = np.arange(len(names)) if clusters is None else clusters.codes
    return MarkedQuestion(
        name,
        [MarkedOutput(t, place_of[t[0]], text, spans) for t, (text, spans) in trials.items()],
        names,
        ClusteredItems.of(codes),
        "item" if clusters is None else clusters.unit,
        sorted({judge for _, spans in trials.values() for judge in spans}),
    )


def _items(source: EvalSource, wanted: Collection[str]) -> Iterable[Item]:
    for block in source.blocks():
        yield from (item for item in block if item.id in wanted)


def output_text(item: Item | None, system: str, sample: str) -> str | None:
    """The text that was judged; None where the evalset does not have it."""
    output = None if item is None else item.outputs.get(system)
    if isinstance(output, tuple):
        place = int(sample) if sample else 0
        output = output[place] if place < len(output) and (sample or len(output) == 1) else None
    return output if isinstance(output, str) else None

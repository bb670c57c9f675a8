"""`MarkedOutput`: an output and the error spans that each judge marked in it, from the column `spans`.

If a judgment's cell in this column is empty, it says nothing about errors; `[]` says that there are
none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wellput.core.clusters import clusters_among
from wellput.core.errors import InputError, Problems
from wellput.core.evalset import Item
from wellput.core.judgment import SPANS_COLUMN, ErrorSpan, Judgment, read_error_spans
from wellput.core.line_breaks import with_line_feeds
from wellput.core.source import EvalSource
from wellput.stats.clusters import ClusteredItems
from wellput.stats.spans.marked_characters import Marked

Trial = tuple[str, str, str]
"""An item, a system, and the number of a sample (empty where the output has no samples)."""


@dataclass(frozen=True)
class MarkedOutput:
    """An output and its error spans. `item` is the place of its item among the items that have marks;
    `spans` has the spans by judge."""

    trial: Trial
    item: int
    text: str
    spans: Mapping[str, Sequence[ErrorSpan]]

    def marked(self, judge: str) -> Marked:
        """The characters that a judge marked."""
        return marked_characters(((span.start, span.end) for span in self.spans[judge]), self.text)


def marked_characters(spans: Iterable[tuple[int, int]], text: str) -> Marked:
    """Whether each character of a text lies in one of these spans."""
    is_marked = np.zeros(len(text), np.bool_)
    for start, end in spans:
        is_marked[max(start, 0) : max(end, 0)] = True
    return is_marked


@dataclass(frozen=True)
class MarkedQuestion:
    """All marked outputs of one question. `items` has the ids of their items, and `clusters` says which
    items belong together; `unit` names what a cluster is: an item, or for example a document."""

    question: str
    outputs: Sequence[MarkedOutput]
    items: Sequence[str]
    clusters: ClusteredItems
    unit: str = "item"
    judges: Sequence[str] = field(default=())


def has_spans(judgments: Iterable[object]) -> bool:
    """Whether any judgment says where errors are."""
    return any(
        isinstance(judgment, Judgment) and judgment.extra.get(SPANS_COLUMN)
        for judgment in judgments
    )


def marked_questions(
    source: EvalSource, judgments: Sequence[Judgment], *, cluster: str | None = None
) -> list[MarkedQuestion]:
    """The marked outputs of each question that has marks; the texts come from the evalset. Raises
    InputError for cells that are not spans, and for spans that end after their text."""
    with_spans = [judgment for judgment in judgments if judgment.extra.get(SPANS_COLUMN)]
    if not with_spans:
        return []
    item_ids = {judgment.item for judgment in with_spans}
    items = {item.id: item for item in _items(source, item_ids)}
    problems = Problems(f"The column {SPANS_COLUMN}")
    trials_by_question: dict[str, dict[Trial, tuple[str, dict[str, list[ErrorSpan]]]]] = {}
    for judgment in with_spans:
        text = output_text(items.get(judgment.item), judgment.system, judgment.sample)
        if text is None:
            continue
        where = f"judge {judgment.judge}, item {judgment.item}, system {judgment.system}"
        try:
            spans = read_error_spans(judgment.extra[SPANS_COLUMN], text)
        except InputError as error:
            problems.add(where, str(error))
            continue
        text = with_line_feeds(text)  # offsets count a line break as one character
        if beyond := [span for span in spans if span.end > len(text)]:
            problems.add(
                where,
                f"a span ends at {beyond[0].end}, but the output has {len(text)} characters",
            )
            continue
        trials = trials_by_question.setdefault(judgment.question, {})
        # If a judge marked an output twice, the first marks count.
        trial = (judgment.item, judgment.system, judgment.sample)
        trials.setdefault(trial, (text, {}))[1].setdefault(judgment.judge, sorted(spans, key=str))
    problems.raise_if_any(
        advice="Offsets are characters of the output; end is the first character after the span."
    )
    return [_question(name, trials, items, cluster) for name, trials in trials_by_question.items()]


def _question(
    name: str,
    trials: Mapping[Trial, tuple[str, Mapping[str, Sequence[ErrorSpan]]]],
    items: Mapping[str, Item],
    cluster: str | None,
) -> MarkedQuestion:
    """The marked outputs of one question; `trials` has each output's text and its spans by judge. The
    outputs are sorted, because the computation of γ lays them end to end, and γ must not depend on the
    order of the judgments."""
    names = sorted({item for item, _, _ in trials})
    place_of = {item: place for place, item in enumerate(names)}
    clusters = clusters_among(
        [items[item].document for item in names], [items[item].tags for item in names], cluster
    )
    codes = np.arange(len(names)) if clusters is None else clusters.codes
    return MarkedQuestion(
        name,
        [MarkedOutput(t, place_of[t[0]], *trials[t]) for t in sorted(trials)],
        names,
        ClusteredItems.of(codes),
        "item" if clusters is None else clusters.unit,
        sorted({judge for _, spans in trials.values() for judge in spans}),
    )


def _items(source: EvalSource, item_ids: Collection[str]) -> Iterable[Item]:
    for block in source.blocks():
        yield from (item for item in block if item.id in item_ids)


def output_text(item: Item | None, system: str, sample: str) -> str | None:
    """The text that was judged; None where the evalset does not have it."""
    output = None if item is None else item.outputs.get(system)
    if isinstance(output, tuple):
        place = int(sample) if sample else 0
        output = output[place] if place < len(output) and (sample or len(output) == 1) else None
    return output if isinstance(output, str) else None

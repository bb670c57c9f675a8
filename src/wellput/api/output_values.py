"""Numbers for each output of an evalset, by (system, item), or for each judged sample: a metric's
score, or the length. Also the documents and tags of items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.judged_samples import (
    JudgedSamples,
    OutputName,
    sample_counts,
)
from wellput.agreement.panel import AnyJudgment, systems_of
from wellput.core.clusters import DOCUMENT, ITEM, tag_values
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import Item, Output
from wellput.core.metric import Metric
from wellput.core.plain_block import PlainBlock
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import ScoringPlan

if TYPE_CHECKING:
    from wellput.agreement.machines.judged_trials import OutputKey, OutputValues


def metric_values(
    source: EvalSource, metrics: Sequence[Metric], threads: int, on_phase: OnPhase
) -> tuple[list[OutputValues], tuple[str, ...]]:
    """For each metric its score of each output, negated where lower is better; and notes, for example
    on scores in a file that were not used."""
    plan = ScoringPlan(threads=threads, keep_rows=True)
    scored = score_source(source, metrics, plan=plan, on_phase=on_phase)
    values: list[OutputValues] = [
        {
            (system, item): float(value) * (-1.0 if table.higher_is_better is False else 1.0)
            for system, row in zip(table.systems, table.scores, strict=True)
            for item, value in zip(table.items, row, strict=True)
            if not math.isnan(value)
        }
        for table in scored.tables.values()
    ]
    return values, tuple(scored.notes)


def trial_values(
    source: EvalSource,
    answers: Sequence[AnyJudgment],
    values_in: Callable[[EvalSource], OutputValues],
) -> OutputValues:
    """The values of the judged outputs and, where answers name samples, of each judged sample.
    `values_in` gives the values in a source by (system, item). For every sample number, it is called
    with a source in which the judged outputs have only this sample."""
    outputs_by_sample: dict[str, dict[OutputName, None]] = {}
    for answer in answers:
        names = [(answer.item, system) for system in systems_of(answer)]
        outputs_by_sample.setdefault(answer.sample, {}).update(dict.fromkeys(names))
    if not any(outputs_by_sample):
        return values_in(source)
    counts = sample_counts(source, answers)
    values: dict[OutputKey, float] = {}
    for sample, outputs in outputs_by_sample.items():
        if not sample:
            values.update(values_in(source))
            continue
        samples: dict[str, dict[str, Sequence[int]]] = {}
        for item, system in outputs:
            if counts.get((item, system), 0) > 1:
                samples.setdefault(item, {})[system] = [int(sample)]
        found = values_in(JudgedSamples(source, samples) if samples else source)
        values.update(
            ((system, item, sample), found.get((system, item), math.nan))
            for item, system in outputs
        )
    return values


def output_lengths(source: EvalSource) -> OutputValues:
    """The number of characters of each output that is a text; if it has several samples, their mean."""
    return {
        (system, item.id): sum(map(len, texts)) / len(texts)
        for item in _items(source)
        for system, output in item.outputs.items()
        if (texts := _texts(output))
    }


def _texts(output: Output) -> tuple[str, ...]:
    if isinstance(output, str):
        return (output,)
    return output if isinstance(output, tuple) else ()


def output_mask(source: EvalSource, table: ScoreTable) -> NDArray[np.bool_]:
    """Systems × items of the table: whether there is an output, with a score or without."""
    systems = {name: place for place, name in enumerate(table.systems)}
    items = {name: place for place, name in enumerate(table.items)}
    has_output = np.zeros((len(systems), len(items)), np.bool_)
    for item in _items(source):
        has_output[[systems[name] for name in item.outputs if name in systems], items[item.id]] = (
            True
        )
    return has_output


def documents_of(source: EvalSource) -> dict[str, str] | None:
    """The document of each item that has one; None if no item has a document."""
    documents: dict[str, str] = {}
    # No tree is needed, so no text is parsed.
    for block in source.unparsed.blocks():
        if isinstance(block, PlainBlock):
            ids_and_documents = zip(block.ids, block.documents or (), strict=False)
            documents |= {item: document for item, document in ids_and_documents if document}
        else:
            documents |= {item.id: item.document for item in block if item.document}
    return documents or None


def units_of(source: EvalSource, cluster: str | None) -> tuple[str, dict[str, str] | None]:
    """What counts as one unit in intervals ("document", "item" or a tag), and the name of each item's
    unit; None if every item is a unit. `cluster` is as for `score`."""
    if cluster == ITEM:
        return ITEM, None
    if cluster is None or cluster == DOCUMENT:
        documents = documents_of(source)
        if documents is None and cluster == DOCUMENT:
            raise InputError("cluster='document': no item of the evalset has a document.")
        return (ITEM if documents is None else DOCUMENT), documents
    items = list(_items(source))
    values = tag_values([item.tags for item in items], cluster, keyword="cluster")
    return cluster, {
        item.id: value for item, value in zip(items, values, strict=True) if value is not None
    }


def item_tags(source: EvalSource, tag: str) -> dict[str, str]:
    """The value of a tag, for each item that has it."""
    return {item.id: item.tags[tag] for item in _items(source) if tag in item.tags}


def tag_names(source: EvalSource) -> list[str]:
    """The tags that any item has."""
    return list(dict.fromkeys(tag for item in _items(source) for tag in item.tags))


def _items(source: EvalSource) -> Iterator[Item]:
    """All items; no text is parsed, because no tree is needed."""
    for block in source.unparsed.blocks():
        yield from block

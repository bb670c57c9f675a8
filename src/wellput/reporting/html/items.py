"""The data of the explorer, the part of a report where readers browse the items: texts, alignments,
trees, scores, ratings.

Scores, ratings and their ranks (from 0, the worst of the outputs shown, to 100, the best) are lists
with a value for each metric or question. A *treelet* is a word of a tree with its direct dependents.

A page may hold thousands of outputs, so their data are short. A text is sent as its tokens, with
`WORD_JOINER` where the tokenizer cut without white space: the page gets the tokens and the text from
one string. If this string does not give the original text, text and tokens are both sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import Any, TypeVar

import numpy as np

from wellput.agreement.rankings.plain_ranking import LOWER_IS_BETTER
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import Batch, Item, Output
from wellput.core.metric import Floats, Metric
from wellput.core.tree import Tree, Word
from wellput.core.work import OnProgress, ignore_progress
from wellput.engine.explain import Explains
from wellput.language.trees.drawing import arcs, on_one_line, shown_relation, shown_tag
from wellput.metrics.accuracy import (
    AlignmentOptions,
    GenerationStringAccuracy,
    GenerationTreeAccuracy,
    reference_tokens_and_heads,
    reference_with_tree,
)
from wellput.metrics.alignments import WrongTreelet, alignment_steps, origins, wrong_treelets
from wellput.reporting.html.evaluation import ShownItems
from wellput.reporting.html.people import People

SIGNIFICANT_DIGITS = 4
M = TypeVar("M", bound=AlignmentOptions)


def explorer_items(
    shown_items: ShownItems,
    metrics: Sequence[Metric],
    tables: Mapping[str, ScoreTable],
    people: People | None,
    on_progress: OnProgress = ignore_progress,
) -> list[dict[str, Any]]:
    """A record for each item; its outputs are in the order of the systems, None if a system has
    none."""
    string_metric = _chosen(metrics, GenerationStringAccuracy())
    tree_metric = _chosen(metrics, GenerationTreeAccuracy())
    references_of = [_references(item) for item in shown_items.items]
    records = [
        _record(item, references, string_metric, tree_metric, len(shown_items.systems))
        for item, references in zip(shown_items.items, references_of, strict=True)
    ]
    figures = {
        name: _rounded(values) for name, values in _figures(shown_items, tables, people).items()
    }
    reasons = _reasons(shown_items, tables, people)
    for row, system in enumerate(shown_items.systems):
        item_places = [
            place for place, item in enumerate(shown_items.items) if system in item.outputs
        ]
        batch = Batch.of(system, [shown_items.items[place] for place in item_places])
        parts = _drawn(batch, string_metric, tree_metric, metrics)
        for place, output, drawn in zip(item_places, batch.outputs, parts, strict=True):
            # The page gets the number of the reference instead of its text.
            for part in drawn.values():
                if isinstance(part, dict):
                    part["reference"] = list(references_of[place]).index(part["reference"])
            entry = {**_shown(output, string_metric), **drawn}
            for name, values in figures.items():
                entry[name] = values[row][place]
            if (row, place) in reasons:
                entry["left_out"] = reasons[row, place]
            records[place]["outputs"][row] = entry
        on_progress(len(item_places))
    return records


def _chosen(metrics: Sequence[Metric], usual: M) -> M:
    """The metric of this kind among the report's metrics, with its options; else the usual one."""
    return next((metric for metric in metrics if type(metric) is type(usual)), usual)


def _references(item: Item) -> dict[str, Tree | None]:
    """The item's references with their trees: first the shared ones, then those of single systems."""
    tree_of: dict[str, Tree | None] = {}
    texts_with_trees = [(item.references, item.trees)]
    texts_with_trees += [
        (item.references_for(s), item.trees_for(s)) for s in item.references_by_system
    ]
    for texts, trees in texts_with_trees:
        for place, text in enumerate(texts):
            tree_of[text] = tree_of.get(text) or (trees[place] if place < len(trees) else None)
    return tree_of


def _record(
    item: Item,
    references: Mapping[str, Tree | None],
    string_metric: GenerationStringAccuracy,
    tree_metric: GenerationTreeAccuracy,
    n_systems: int,
) -> dict[str, Any]:
    """The record of an item; the outputs are filled in later."""
    shown: list[dict[str, Any]] = []
    for text, tree in references.items():
        tokens = string_metric.tokens(text)
        entry: dict[str, Any] = sent_text(text, tokens)
        if tree is not None:
            entry["tree"] = drawn_tree(text, tree, tree_metric, item.id)
        if item.references and text not in item.references:
            entry["changed"] = _changed(tokens, item.references, string_metric)
        shown.append(entry)
    optional_texts = {"source": item.source, "context": item.context}
    return {
        "id": item.id,
        **{name: text for name, text in optional_texts.items() if text},
        "references": shown,
        "outputs": [None] * n_systems,
    }


def _changed(
    tokens: Sequence[str], references: Sequence[str], string_metric: GenerationStringAccuracy
) -> list[int]:
    """The places of the words in a reference of one system alone that the closest shared reference
    lacks. References of single systems are paraphrases (see `wellput paraphrase`)."""
    paths = [
        alignment_steps(
            string_metric.tokens(reference), tokens, string_metric.costs, with_moves=False
        )
        for reference in references
    ]
    closest = min(paths, key=lambda path: sum(step.mark != "." for step in path))
    return [step.hypothesis for step in closest if step.mark in "si"]


def _drawn(
    batch: Batch,
    string_metric: GenerationStringAccuracy,
    tree_metric: GenerationTreeAccuracy,
    metrics: Sequence[Metric],
) -> list[dict[str, Any]]:
    """For each output the alignment, the treelets and the explanations of other metrics, if there
    are any. The metrics that align outputs with references are explained by the alignment."""
    parts: list[dict[str, Any]] = [{} for _ in range(len(batch))]
    referenced_batch = batch.with_references()
    referenced_parts = [
        part for part, references in zip(parts, batch.references, strict=True) if references
    ]
    is_text = len(referenced_batch) > 0 and all(isinstance(output, str) for output in batch.outputs)
    if is_text:
        for part, alignment in zip(
            referenced_parts, drawn_alignments(referenced_batch, string_metric), strict=True
        ):
            if alignment is not None:
                part["alignment"] = alignment
    if is_text and all(any(tree is not None for tree in row) for row in referenced_batch.trees):
        for part, treelets in zip(
            referenced_parts, drawn_treelets(referenced_batch, tree_metric), strict=True
        ):
            part["treelets"] = treelets
    if any(isinstance(output, tuple) for output in batch.outputs):
        return parts  # the page shows samples without drawings
    for metric in metrics:
        if isinstance(metric, Explains) and not isinstance(metric, AlignmentOptions):
            is_compared = "references" in metric.needs
            rows, explained_batch = (
                (referenced_parts, referenced_batch) if is_compared else (parts, batch)
            )
            texts = metric.explain(explained_batch) if len(explained_batch) else []
            for part, text, output in zip(rows, texts, explained_batch.outputs, strict=True):
                # An explanation begins with the output, which the page has already.
                explanation = dedent(text).removeprefix(f"{output}\n")
                if explanation:
                    part.setdefault("explained", []).append([metric.name, explanation])
    return parts


def _figures(
    shown_items: ShownItems, tables: Mapping[str, ScoreTable], people: People | None
) -> dict[str, Floats]:
    """Scores and ratings, and the ranks of both, as arrays scorers × systems × shown items. The
    scorers are metrics or questions."""
    places = list(shown_items.places)
    rows = [next(iter(tables.values())).row(system) for system in shown_items.systems]
    scores = np.stack([table.scores[rows][:, places] for table in tables.values()])
    oriented = [
        -values if table.higher_is_better is False else values
        for values, table in zip(scores, tables.values(), strict=True)
    ]
    figures = {"scores": scores, "ranks": np.stack([_percentiles(v) for v in oriented])}
    if people is not None:
        ratings = np.stack([values[rows][:, places] for values in people.ratings.values()])
        oriented = [
            -values if question in LOWER_IS_BETTER else values
            for values, question in zip(ratings, people.ratings, strict=True)
        ]
        figures |= {"people": ratings, "people_ranks": np.stack([*map(_percentiles, oriented)])}
    return figures


def _percentiles(values: Floats) -> Floats:
    """For each output, the percentage of the other outputs that it beats, ties counting half; NaN
    stays.

    >>> _percentiles(np.array([[3.0, 1.0, np.nan, 2.0, 2.0]])).tolist()
    [[100.0, 0.0, nan, 50.0, 50.0]]
    """
    from scipy.stats import rankdata

    known = ~np.isnan(values)
    ranks = np.full(values.shape, np.nan)
    if known.sum() > 1:
        ranks[known] = (rankdata(values[known]) - 1) / (known.sum() - 1) * 100
    return ranks


def _reasons(
    shown_items: ShownItems, tables: Mapping[str, ScoreTable], people: People | None
) -> dict[tuple[int, int], list[str | None]]:
    """For outputs that correlations and regression lines leave out (`People.left_out`), by the places
    of system and item: the reason for each question, None if the output is not left out."""
    if people is None:
        return {}
    table = next(iter(tables.values()))
    rows = {table.row(system): row for row, system in enumerate(shown_items.systems)}
    columns = {place: column for column, place in enumerate(shown_items.places)}
    reasons: dict[tuple[int, int], list[str | None]] = {}
    for number, question in enumerate(people.ratings):
        for (system, item), reason in people.left_out.get(question, {}).items():
            if item in columns:
                cell = rows[system], columns[item]
                reasons.setdefault(cell, [None] * len(people.ratings))[number] = reason
    return reasons


def _shown(output: Output, string_metric: GenerationStringAccuracy) -> dict[str, Any]:
    """The text of an output as it is sent to the page; several samples are numbered."""
    if isinstance(output, str):
        return sent_text(output, string_metric.tokens(output))
    if isinstance(output, tuple):
        return {"text": "\n".join(f"({i}) {text}" for i, text in enumerate(output, start=1))}
    from wellput.core.output_kinds import kind_of

    return {"text": kind_of(output).text_of(output)}


def _rounded(values: Floats) -> list[list[list[float | None]]]:
    """Numbers rounded to `SIGNIFICANT_DIGITS`, None for NaN; scorers × systems × items become lists
    systems × items × scorers.

    >>> _rounded(np.array([[[-12.34567, 0.0, np.nan]]]))
    [[[-12.35], [0.0], [None]]]
    """
    size = np.where(np.isfinite(values) & (values != 0), np.abs(values), 1.0)
    # Dividing, unlike multiplying by 0.01, gives the float that is written with few digits: 12.35.
    scale = 10.0 ** (SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(size)))
    rounded = np.moveaxis(np.round(values * scale) / scale, 0, -1)
    cells = rounded.astype(object)
    cells[~np.isfinite(rounded)] = None
    lists: list[list[list[float | None]]] = cells.tolist()
    return lists


WORD_JOINER = "\u2060"
MAX_ALIGNED_TOKENS = 2000
"""Longer texts have no alignment in the page: its cost grows with the square of the length."""


def sent_text(text: str, tokens: Sequence[str]) -> dict[str, Any]:
    """The text and its tokens as they are sent to the page: one string if both can be read from it.

    >>> sent_text("Two.", ["Two", "."]), sent_text("Two.", ["two", "."])
    ({'text': 'Two\\u2060.'}, {'text': 'Two.', 'tokens': ['two', '.']})
    """
    joined = glued(text, tokens)
    pieces = [token for token in joined.replace(WORD_JOINER, " ").split(" ") if token]
    if joined.replace(WORD_JOINER, "") == text and pieces == list(tokens):
        return {"text": joined}
    return {"text": text, "tokens": list(tokens)}


def glued(text: str, tokens: Sequence[str]) -> str:
    """Tokens with spaces where the text has white space and `WORD_JOINER` where it has none; the text
    itself if the tokenizer changed it.

    >>> glued("No, two.", ["No", ",", "two", "."]).replace(WORD_JOINER, "|")
    'No|, two|.'
    """
    pieces: list[str] = []
    start_of_rest = 0
    for token in tokens:
        start = text.find(token, start_of_rest)
        between = text[start_of_rest:start]
        if start < 0 or between.strip() or WORD_JOINER in token:
            return text
        if pieces:
            pieces.append(" " if between else WORD_JOINER)
        pieces.append(token)
        start_of_rest = start + len(token)
    return "".join(pieces)


def drawn_alignments(batch: Batch, metric: GenerationStringAccuracy) -> list[dict[str, Any] | None]:
    """For each output: the closest reference, a mark for each column of the alignment (`.sdim` as in
    `--explain`), and the place that each moved token came from."""
    drawn: list[dict[str, Any] | None] = []
    for row, (place, _) in enumerate(metric.chosen_references(batch)):
        reference = metric.tokens(batch.references[row][place])
        output = metric.tokens(batch.texts[row])
        if max(len(reference), len(output)) > MAX_ALIGNED_TOKENS:
            drawn.append(None)
            continue
        steps = alignment_steps(reference, output, metric.costs, with_moves=True)
        moves = origins(reference, output, steps)
        # Except for moves, a mark says which side of a step is empty. Moves have two marks: m is where
        # the word was, M is where it is now.
        marks = "".join(
            "M" if step.mark == "m" and step.reference < 0 else step.mark for step in steps
        )
        drawn.append(
            {
                "reference": batch.references[row][place],
                "marks": marks,
                **({"moves": [[to, origin] for to, origin in moves.items()]} if moves else {}),
            }
        )
    return drawn


def drawn_treelets(batch: Batch, metric: GenerationTreeAccuracy) -> list[dict[str, Any]]:
    """For each output: the best fitting reference that has a tree, the output's wrong treelets, and the
    words that belong to none (`loose`)."""
    drawn: list[dict[str, Any]] = []
    for row, (place, has_problems) in enumerate(metric.chosen_references(batch)):
        reference, tree = reference_with_tree(batch, row, place)
        entry: dict[str, Any] = {"reference": reference}
        if has_problems:
            tokens, heads = metric.tokens_and_heads(batch, row, reference, tree)
            output = metric.tokens(batch.texts[row])
            wrong, places, loose = wrong_treelets(
                tokens, heads, output, metric.costs, with_moves=True
            )
            entry["wrong"] = [_treelet(treelet, tokens, output, places) for treelet in wrong]
            entry["loose"] = " ".join(output[place] for place in loose)
        drawn.append(entry)
    return drawn


def drawn_tree(reference: str, tree: Tree, metric: GenerationTreeAccuracy, item: str) -> Any:
    """The tree over the reference's tokens: words, heads (the place of each word's head, −1 for the
    root), heights of the arcs in the drawing; also relations and tags if the tokens are the tree's
    words."""
    tokens, heads = reference_tokens_and_heads(reference, tree, metric.tokenize, item)
    over_tokens = Tree(
        tuple(Word(form, head + 1) for form, head in zip(tokens, heads, strict=True))
    )
    heights = [0] * len(tokens)
    for arc in arcs(over_tokens):
        heights[arc.word - 1] = arc.height
    drawn = {"words": [on_one_line(token) for token in tokens], "heads": heads, "heights": heights}
    if [word.form for word in tree.words] == tokens:
        drawn["relations"] = [shown_relation(tree, place) for place in range(len(tokens))]
        drawn["tags"] = [shown_tag(tree, place) for place in range(len(tokens))]
    return drawn


def _treelet(
    treelet: WrongTreelet, tokens: Sequence[str], output: Sequence[str], places: Sequence[int]
) -> dict[str, Any]:
    """A treelet with errors in words. `tokens` are those of the reference, `output` those of the
    output, and `places` the place in the output of each token of the reference."""
    return {
        "head": treelet.head,
        "expected": " ".join(tokens[node] for node in treelet.members),
        "found": " ".join(output[places[node]] for node in treelet.found),
        "errors": ", ".join(f"{n} {what}" for what, n in treelet.counts.items() if n),
    }

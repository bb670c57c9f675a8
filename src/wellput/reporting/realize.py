"""What `wellput realize` shows: sentences with their scores, how a tree was realized, and how well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wellput.core.counted import counted
from wellput.engine.realization import RealizationResult
from wellput.language.realize.systems import Realized
from wellput.reporting.score import score_report
from wellput.reporting.table import Report, Table, number

COLUMNS = ("tree", "rank", "sentence", "score", "log_prob", "is_exact")


def realize_report(result: RealizationResult) -> Report:
    """Scores against the trees' own order if there are any, else the sentences."""
    value, records = result.values(), result.records()
    explanations = "".join(f"{one}\n" for one in result.explanations)
    if result.evaluation is not None:
        scores = score_report(result.evaluation)
        return Report(scores.tables, value, scores.columns, scores.records, before=explanations)
    tables = [_sentences(records)]
    if result.shows_all:
        return Report(tables, value, COLUMNS, records, before=explanations)
    return Report(tables, value, COLUMNS, records, text=explanations or _best(result))


def _best(result: RealizationResult) -> str:
    """The best sentences, or where they are."""
    if result.path is None:
        return "".join(f"{sentence}\n" for sentence in result.sentences)
    return f"{counted(len(result.realized), 'sentence')} written to {result.path}.\n"


def _sentences(records: Sequence[dict[str, Any]]) -> Table:
    rows = [
        [
            str(record["tree"]),
            str(record["rank"]),
            number(record["score"], 2),
            record["sentence"] + ("" if record["is_exact"] else " *"),
        ]
        for record in records
    ]
    starred = ["*: the search was not exact."] if not all(r["is_exact"] for r in records) else []
    columns = ("tree", "rank", "score", "sentence")
    return Table(columns, rows, notes=starred, is_prose=True, caption="Realized sentences")


def explained(realized: Realized) -> str:
    """The tree with each node's supertag, the size of the lattice, and the path taken."""
    best = realized.best[0]
    lines = [*_drawn(realized), ""]
    if (lattice := realized.lattice) is not None:
        search = "exact" if realized.is_exact else "not exact: the best were kept"
        lines.append(
            f"lattice: {lattice.n_paths:,} orders in {lattice.n_arcs:,} arcs "
            f"({lattice.n_flat_arcs:,} with every phrase in its places); search {search}"
        )
    # Without a lattice a score is what a realization lacks to the best, and this is the best.
    figures = [] if realized.lattice is None else [f"score {best.score:.2f}"]
    figures += [] if best.log_prob is None else [f"log10 probability {best.log_prob:.2f}"]
    lines.append(f"path: {best.text}" + (f"   ({', '.join(figures)})" if figures else ""))
    return "\n".join(lines) + "\n"


def _drawn(realized: Realized) -> Iterator[str]:
    """A node a line, indented under its mother."""
    tree = realized.tree
    depths = [0] * len(tree)
    for node, head in enumerate(tree.heads):
        depths[node] = depths[head] + 1 if head >= 0 else 0
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(tree.daughters[node])
    labels = {node: "  " * depths[node] + " | ".join(tree.nodes[node].forms) for node in order}
    width = max(map(len, labels.values()))
    for node in order:
        supertag = realized.supertags[node] if realized.supertags else ""
        yield f"{labels[node]:{width}}  {supertag}".rstrip()

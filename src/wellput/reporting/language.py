"""The output of the commands for English sentences and trees: `wellput parse`, `convert`, `realize`
(puts the words of trees in order), `degrade`, `paraphrase`.

A terminal shows sentences as plain lines, unless they were written to a file. The other formats also
have the numbers (scores, counts, probabilities).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wellput.core.errors import counted
from wellput.core.result import Result
from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.reporting.score import score_report
from wellput.reporting.table import Report, Table, number

if TYPE_CHECKING:
    from wellput.engine.realization import RealizationResult
    from wellput.language.degrade.degraders import DegradedSentences
    from wellput.language.models.sentence_parsing import ParseResult
    from wellput.language.paraphrase.references import ParaphraseResult
    from wellput.language.realize.inputs import Realized


def parse_report(result: ParseResult) -> Report:
    """One row: the number of sentences and words, the mean log probability of a word, and the number of
    sentences parsed in several fragments."""
    [record] = result.records()
    lines, sentences = record["lines"], record["sentences"]
    per_word, fragmented = record["log_probability_per_word"], record["fragmented"]
    cells = [
        f"{sentences:,}",
        f"{record['words']:,}",
        "–" if per_word is None else f"{per_word:.3f}",
        "–" if fragmented is None else f"{fragmented:,}",
    ]
    empty = lines - sentences
    notes = []
    if empty:
        have = "has" if empty == 1 else "have"
        notes.append(f"{empty:,} of {counted(lines, 'line')} {have} no words and no tree.")
    if per_word is None:
        notes.append(
            "No log probabilities: this parser has no head-driven model, or every line is too long."
        )
    if result.summary.warning:
        notes.append(result.summary.warning)
    table = Table(
        ("sentences", "words", "log p per word", "in fragments"),
        [cells],
        notes=notes,
        caption="Parsed sentences",
    )
    # `not_english` has several numbers, so it is only in JSON.
    columns = tuple(name for name in record if name != "not_english")
    return Report([table], record, columns, [record])


REALIZE_COLUMNS = ("tree", "rank", "sentence", "score", "log_prob", "is_exact")


def realize_report(result: RealizationResult) -> Report:
    """Scores, if the sentences were compared with the trees' original word order; else the
    sentences."""
    value, records = result.values(), result.records()
    explanations = "".join(f"{explanation}\n" for explanation in result.explanations)
    if result.evaluation is not None:
        scores = score_report(result.evaluation)
        return Report(scores.tables, value, scores.columns, scores.records, before=explanations)
    tables = [_sentence_table(records)]
    if result.shows_all:
        return Report(tables, value, REALIZE_COLUMNS, records, before=explanations)
    return Report(
        tables, value, REALIZE_COLUMNS, records, text=explanations or _best_sentences(result)
    )


def _best_sentences(result: RealizationResult) -> str:
    """The best sentences, or the file to which they were written, as text."""
    if result.path is None:
        return "".join(f"{sentence}\n" for sentence in result.sentences)
    return f"{counted(len(result.realized), 'sentence')} written to {result.path}.\n"


def _sentence_table(records: Sequence[dict[str, Any]]) -> Table:
    rows = [
        [
            str(record["tree"]),
            str(record["rank"]),
            number(record["score"], 2),
            record["sentence"] + ("" if record["is_exact"] else " *"),
        ]
        for record in records
    ]
    notes = ["*: the search was not exact."] if not all(r["is_exact"] for r in records) else []
    columns = ("tree", "rank", "score", "sentence")
    return Table(columns, rows, notes=notes, is_prose=True, caption="Realized sentences")


def explained(realized: Realized) -> str:
    """How a sentence was realized, as text: the tree with each node's supertag (its syntactic
    category), the size of the lattice (all orders of the words that were possible), and the best path
    through it."""
    best = realized.best[0]
    lines = [*_drawn_tree(realized), ""]
    if (lattice := realized.lattice) is not None:
        exact = "exact" if realized.is_exact else "not exact: only the best were kept"
        lines.append(
            f"lattice: {lattice.n_paths:,} orders in {lattice.n_arcs:,} arcs "
            f"({lattice.n_flat_arcs:,} if arcs that stand for phrases are replaced by the phrases' own "
            f"arcs); the search was {exact}"
        )
    # Without a lattice the score is the distance from the best realization, so it is 0 here.
    figures = [] if realized.lattice is None else [f"score {best.score:.2f}"]
    figures += [] if best.log_prob is None else [f"log10 probability {best.log_prob:.2f}"]
    lines.append(f"path: {best.text}" + (f"   ({', '.join(figures)})" if figures else ""))
    return "\n".join(lines) + "\n"


def _drawn_tree(realized: Realized) -> Iterator[str]:
    """A line for each node, indented below its parent node."""
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


def degrade_report(result: DegradedSentences) -> Report:
    """A row for each record; on a terminal only the sentences, one on each line."""
    records = result.records()
    columns = ("system", "sentences", "example") if result.is_summary else ("system", "sentence")
    rows = [[str(record[column]) for column in columns] for record in records]
    table = Table(columns, rows, is_prose=True, caption="Sentences by system")
    lines = "".join(f"{text}\n" for text in result.sentences)
    return Report(
        [table], result.values(), columns, records, text=None if result.is_summary else lines
    )


PARAPHRASE_COLUMNS = (
    "item", "system", "reference", "word", "replacement", "source", "probability", "kept",
)  # fmt: skip


def paraphrase_report(result: ParaphraseResult) -> Report:
    """How many substitutions were proposed and kept; with `explain`, each of them."""
    value = result.values()
    proposed = len(result.substitutions)
    if not result.explain:
        table = Table(
            ["substitutions", ""],
            [["proposed", f"{proposed:,}"], ["kept", f"{result.kept:,}"]],
            notes=[result.signature],
            caption="Substitutions",
        )
        return Report([table], value, list(value), [value])
    rows = [
        [
            substitution.item,
            substitution.system,
            str(substitution.reference),
            substitution.word,
            substitution.replacement,
            substitution.source,
            "unknown"
            if math.isnan(substitution.probability)
            else number(substitution.probability, 2),
            "kept" if substitution.kept else "refused",
        ]
        for substitution in result.substitutions
    ]
    notes = [f"{result.kept:,} of {counted(proposed, 'proposal')} kept.", result.signature]
    table = Table(
        list(PARAPHRASE_COLUMNS), rows, notes=notes, is_prose=True, caption="Substitutions"
    )
    return Report([table], value, PARAPHRASE_COLUMNS, result.records())


CONVERSION_COLUMNS = ("relation", "words")


@dataclass(frozen=True, eq=False, repr=False)
class TreeConversion(Result):
    """The dependency trees that `wellput convert` made from other trees."""

    presented_by: ClassVar[str] = "wellput.reporting.language:conversion_report"

    trees: tuple[Tree, ...]

    def save(self, path: PathLike) -> None:
        """Writes the trees to a CoNLL-U file."""
        from wellput.io import write_trees

        write_trees(self.trees, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each relation, the most frequent first."""
        counts = Counter(word.relation for tree in self.trees for word in tree.words)
        ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        return [dict(zip(CONVERSION_COLUMNS, entry, strict=True)) for entry in ranked]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput convert`."""
        words = sum(len(tree.words) for tree in self.trees)
        return {"trees": len(self.trees), "words": words, "relations": self.records()}


def conversion_report(conversion: TreeConversion) -> Report:
    """A row for each dependency relation: how many words have it."""
    values = conversion.values()
    table = Table(
        CONVERSION_COLUMNS,
        [[record["relation"], f"{record['words']:,}"] for record in values["relations"]],
        notes=[f"{counted(values['trees'], 'tree')}, {counted(values['words'], 'word')}."],
        caption="Relations of the converted trees",
    )
    return Report([table], values, CONVERSION_COLUMNS, conversion.records())

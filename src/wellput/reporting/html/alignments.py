"""What an output has in common with its reference, in the few characters that a page of thousands of
outputs can afford.

A text travels as its tokens with `GLUE` where the tokenizer cut without white space, so that the page
has the tokens and the text from one string; where that is not the text as it was written, its tokens
travel beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wellput.core.evalset import Batch
from wellput.core.tree import Tree, Word
from wellput.metrics.accuracy import (
    GenerationStringAccuracy,
    GenerationTreeAccuracy,
    reference_tokens,
)
from wellput.metrics.alignments import WrongTreelet, aligned, origins, wrong_treelets
from wellput.trees.arcs import arcs, printable, relation, tag

GLUE = "\u2060"
LONGEST = 2000
"""Tokens of a text whose alignment is drawn; the cost grows with the square."""


def travelling(text: str, tokens: Sequence[str]) -> dict[str, Any]:
    """The text as it is, and its tokens: in one string where the page can tell them apart again.

    >>> travelling("Two.", ["Two", "."]), travelling("Two.", ["two", "."])
    ({'text': 'Two\\u2060.'}, {'text': 'Two.', 'tokens': ['two', '.']})
    """
    both = glued(text, tokens)
    apart = [token for token in both.replace(GLUE, " ").split(" ") if token]
    if both.replace(GLUE, "") == text and apart == list(tokens):
        return {"text": both}
    return {"text": text, "tokens": list(tokens)}


def glued(text: str, tokens: Sequence[str]) -> str:
    """Tokens with spaces where the text has white space and `GLUE` where it has none; the text itself,
    uncut, where the tokenizer rewrote it.

    >>> glued("No, two.", ["No", ",", "two", "."]).replace(GLUE, "|")
    'No|, two|.'
    """
    pieces: list[str] = []
    at = 0
    for token in tokens:
        start = text.find(token, at)
        between = text[at:start]
        if start < 0 or between.strip() or GLUE in token:
            return text
        if pieces:
            pieces.append(" " if between else GLUE)
        pieces.append(token)
        at = start + len(token)
    return "".join(pieces)


def drawn_alignments(batch: Batch, metric: GenerationStringAccuracy) -> list[dict[str, Any] | None]:
    """For each output: the reference it is closest to, what happened in each column of the alignment
    (`.sdim` as in `--explain`), and where each moved token came from."""
    drawn: list[dict[str, Any] | None] = []
    for row, (place, _) in enumerate(metric.chosen_references(batch)):
        reference = metric.tokens(batch.references[row][place])
        output = metric.tokens(batch.texts[row])
        if max(len(reference), len(output)) > LONGEST:
            drawn.append(None)
            continue
        steps = aligned(reference, output, metric.costs, with_moves=True)
        moves = origins(reference, output, steps)
        # The side that a step lacks can be told from its mark, but for moves: M is where it arrives.
        marks = "".join("M" if s.mark == "m" and s.reference < 0 else s.mark for s in steps)
        drawn.append(
            {
                "reference": batch.references[row][place],
                "marks": marks,
                **({"moves": [[to, at] for to, at in moves.items()]} if moves else {}),
            }
        )
    return drawn


def drawn_treelets(batch: Batch, metric: GenerationTreeAccuracy) -> list[dict[str, Any]]:
    """For each output: the reference with a tree that suits it best, and its wrong treelets."""
    drawn: list[dict[str, Any]] = []
    for row, (place, has_problems) in enumerate(metric.chosen_references(batch)):
        pairs = zip(batch.references[row], batch.trees[row], strict=False)
        reference, tree = [(text, tree) for text, tree in pairs if tree is not None][place]
        entry: dict[str, Any] = {"reference": reference}
        if has_problems:
            tokens, heads = reference_tokens(reference, tree, metric.tokenize, batch.ids[row])
            output = metric.tokens(batch.texts[row])
            wrong, places, loose = wrong_treelets(
                tokens, heads, output, metric.costs, with_moves=True
            )
            entry["wrong"] = [_treelet(treelet, tokens, output, places) for treelet in wrong]
            entry["loose"] = " ".join(output[place] for place in loose)
        drawn.append(entry)
    return drawn


def drawn_tree(reference: str, tree: Tree, metric: GenerationTreeAccuracy, item: str) -> Any:
    """The tree over the reference's tokens: words, heads (−1 the root's), heights of the arcs, and the
    relations and tags where the tokens are the tree's words."""
    tokens, heads = reference_tokens(reference, tree, metric.tokenize, item)
    over_tokens = Tree(
        tuple(Word(form, head + 1) for form, head in zip(tokens, heads, strict=True))
    )
    heights = [0] * len(tokens)
    for arc in arcs(over_tokens):
        heights[arc.word - 1] = arc.height
    drawn = {"words": [printable(token) for token in tokens], "heads": heads, "heights": heights}
    if [word.form for word in tree.words] == tokens:
        drawn["relations"] = [relation(tree, place) for place in range(len(tokens))]
        drawn["tags"] = [tag(tree, place) for place in range(len(tokens))]
    return drawn


def _treelet(
    treelet: WrongTreelet, tokens: Sequence[str], output: Sequence[str], places: Sequence[int]
) -> dict[str, Any]:
    return {
        "head": treelet.head,
        "expected": " ".join(tokens[node] for node in treelet.members),
        "found": " ".join(output[places[node]] for node in treelet.found),
        "errors": ", ".join(f"{n} {what}" for what, n in treelet.counts.items() if n),
    }

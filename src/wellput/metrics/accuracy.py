"""String and tree accuracy: 1 is perfect, below 0 is possible (Bangalore, Rambow & Whittaker 2000).

- `ssa`, simple string accuracy: 1 − (S + I + D) / R, with the substitutions, insertions and deletions
  of the cheapest alignment with the reference, and R, the number of the reference's tokens.
- `gsa`, generation string accuracy: a token deleted in one place and inserted in another is one error
  (a move), not two.
- `sta` and `gta`, the same in each treelet of the reference's dependency tree (a word with the words
  that depend on it directly): words that move together cost less than scattered words.

A corpus score divides the errors of all segments by the tokens of all references; `average=sentence`
gives the mean of segment scores. With several references a segment takes the one that gives the best
score. If the reference is empty, the score of the segment is undefined (1 if the output is empty
too), but its insertions count in the corpus score.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Integers
from wellput.core.tree import Tree
from wellput.language.trees.token_projection import heads_of_tokens
from wellput.metrics.alignments import (
    BlamedSpans,
    alignment_steps,
    draw_alignment,
    draw_treelets,
    token_spans,
)
from wellput.metrics.base import BaseMetric, lowered, lowered_lists, ratio
from wellput.text.tokenizers import (
    TokenizerName,
    is_native,
    lists_with_native_tokenizer,
    tokenize,
    tokenizer_signature,
    with_native_tokenizer,
)

(
    HYPOTHESIS_TOKENS,
    REFERENCE_TOKENS,
    SUBSTITUTIONS,
    INSERTIONS,
    DELETIONS,
    MOVES,
    STRING_SUBSTITUTIONS,
) = range(7)
"""The columns of counts; the last is only in `treelet_errors`."""
ACCURACY_PAPER = "Bangalore, Rambow & Whittaker 2000"


@dataclass(frozen=True)
class AlignmentOptions(BaseMetric):
    """The options of alignments. The paper says only that a substitution must cost less than a
    deletion and an insertion together. The costs 3, 3 and 4 are those of NIST's program sclite; with
    them, wellput computes the numbers of the paper's Table 1."""

    tokenize: TokenizerName = "13a"
    lowercase: bool = False
    insertion: int = 3
    deletion: int = 3
    substitution: int = 4

    def __post_init__(self) -> None:
        for option in ("insertion", "deletion", "substitution"):
            cost = getattr(self, option)
            self.require(1 <= cost <= 1000, f"{option}={cost} must be between 1 and 1000.")

    @property
    def costs(self) -> tuple[int, int, int]:
        """The costs of an insertion, a deletion and a substitution."""
        return self.insertion, self.deletion, self.substitution

    def alignment_signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        costs = "/".join(str(cost) for cost in self.costs)
        return f"case:{case}|tok:{tokenizer_signature(self.tokenize)}|costs:{costs}"


@dataclass(frozen=True)
class Accuracy(AlignmentOptions):
    """The base class of the four accuracies. Statistics: the six counts of the comparison with the
    chosen reference (tokens of the output and of the reference, substitutions, insertions, deletions,
    moves), the segment's score, and 1 if this score is defined."""

    bounds: ClassVar[Bounds] = (None, 1.0)
    average: Literal["corpus", "sentence"] = "corpus"
    paper = ACCURACY_PAPER

    @property
    def has_moves(self) -> bool:
        """Whether a moved token is one error, not two."""
        return "moves" in self.perfect

    def problems(self, counts: Floats) -> Floats:
        """The number of errors (the component `problems`) in each row of counts."""
        return counts[..., SUBSTITUTIONS] + counts[..., INSERTIONS] + counts[..., DELETIONS]

    @abstractmethod
    def errors(self, batch: Batch) -> tuple[Floats, Integers]:
        """The counts for every pair of an output and one of its references, and the number of pairs
        of each output."""

    def statistics(self, batch: Batch) -> Floats:
        counts, n_per_output = self.errors(batch)
        values = accuracy(self.problems(counts), counts[:, REFERENCE_TOKENS])
        chosen = best_of(values, n_per_output)
        values = values[chosen]
        defined = ~np.isnan(values)
        return np.column_stack(
            [counts[chosen, : MOVES + 1], np.where(defined, values, 0.0), defined]
        )

    def score(self, statistics: Floats) -> Floats:
        if self.average == "sentence":
            return ratio(statistics[..., -2], statistics[..., -1])
        return accuracy(self.problems(statistics), statistics[..., REFERENCE_TOKENS])

    def explain(self, batch: Batch) -> list[str]:
        """A drawing of each output's alignment with the reference it was scored against; empty if
        there are no errors."""
        return [
            "\n".join(self.drawing(batch, row, place)) if has_problems else ""
            for row, (place, has_problems) in enumerate(self.chosen_references(batch))
        ]

    def blamed(self, batch: Batch) -> list[BlamedSpans]:
        """The spans of each output's tokens that are substituted, inserted or moved in the alignment
        with the reference. Deleted tokens have no place in the output."""
        blamed_spans: list[BlamedSpans] = []
        for row, (place, has_problems) in enumerate(self.chosen_references(batch)):
            if not has_problems:
                blamed_spans.append([])
                continue
            reference = self.reference_tokens(batch, row, place)
            output = self.tokens(batch.texts[row])
            steps = alignment_steps(reference, output, self.costs, with_moves=self.has_moves)
            places = token_spans(batch.texts[row], output)
            wrong_places = [step.hypothesis for step in steps if step.mark != "."]
            spans = [places[at] for at in wrong_places if at >= 0]
            blamed_spans.append([span for span in spans if span is not None])
        return blamed_spans

    @abstractmethod
    def reference_tokens(self, batch: Batch, row: int, place: int) -> list[str]:
        """The tokens of one reference of the output. `place` counts only the references that the
        output can be scored against: for trees, those with a tree."""

    def chosen_references(self, batch: Batch) -> list[tuple[int, bool]]:
        """For each output, the place of the reference that it was scored against (counted as in
        `reference_tokens`), and whether output and reference differ."""
        counts, n_per_output = self.errors(batch)
        problems = self.problems(counts)
        chosen = best_of(accuracy(problems, counts[:, REFERENCE_TOKENS]), n_per_output)
        firsts = np.cumsum(n_per_output) - n_per_output
        return list(zip((chosen - firsts).tolist(), (problems[chosen] > 0).tolist(), strict=True))

    @abstractmethod
    def drawing(self, batch: Batch, row: int, place: int) -> list[str]:
        """The lines that show how an output differs from one of its references; `place` as in
        `reference_tokens`."""

    def tokens(self, text: str) -> list[str]:
        return tokenize(text.lower() if self.lowercase else text, self.tokenize)

    def signature(self) -> str:
        return f"{self.alignment_signature()}|average:{self.average}"


@dataclass(frozen=True)
class StringAccuracy(Accuracy):
    """Accuracy over the whole string."""

    def errors(self, batch: Batch) -> tuple[Floats, Integers]:
        return string_errors(batch, self)

    def reference_tokens(self, batch: Batch, row: int, place: int) -> list[str]:
        return self.tokens(batch.references[row][place])

    def drawing(self, batch: Batch, row: int, place: int) -> list[str]:
        reference = self.reference_tokens(batch, row, place)
        output = self.tokens(batch.texts[row])
        return draw_alignment(reference, output, self.costs, with_moves=self.has_moves)


@dataclass(frozen=True)
class TreeAccuracy(Accuracy):
    """Accuracy over the treelets of the reference's tree."""

    needs = frozenset({"references", "tree"})

    def errors(self, batch: Batch) -> tuple[Floats, Integers]:
        return treelet_errors(batch, self)

    def reference_tokens(self, batch: Batch, row: int, place: int) -> list[str]:
        return self.tokens_and_heads(batch, row, *reference_with_tree(batch, row, place))[0]

    def drawing(self, batch: Batch, row: int, place: int) -> list[str]:
        tokens, heads = self.tokens_and_heads(batch, row, *reference_with_tree(batch, row, place))
        output = self.tokens(batch.texts[row])
        return [
            *draw_alignment(tokens, output, self.costs, with_moves=self.has_moves),
            *draw_treelets(tokens, heads, output, self.costs, with_moves=self.has_moves),
        ]

    def tokens_and_heads(
        self, batch: Batch, row: int, reference: str, tree: Tree
    ) -> tuple[list[str], list[int]]:
        """The tokens of a reference of the row, and their heads in its tree."""
        return reference_tokens_and_heads(
            reference, tree, self.tokenize, batch.ids[row], lowercase=self.lowercase
        )


class SimpleAccuracy(Accuracy):
    """Accuracy in which each substitution, insertion and deletion is an error."""

    perfect: ClassVar[Mapping[str, float]] = {
        "score": 1.0,
        "substitutions": 0.0,
        "insertions": 0.0,
        "deletions": 0.0,
        "problems": 0.0,
    }

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return simple_components(statistics)


class GenerationAccuracy(Accuracy):
    """Accuracy in which a token that is deleted in one place and inserted in another is one error, a
    move, not two."""

    perfect: ClassVar[Mapping[str, float]] = {**SimpleAccuracy.perfect, "moves": 0.0}

    def problems(self, counts: Floats) -> Floats:
        return super().problems(counts) - counts[..., MOVES]

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return generation_components(statistics)


@dataclass(frozen=True)
class SimpleStringAccuracy(SimpleAccuracy, StringAccuracy):
    """`ssa`: accuracy over the string, without moves."""

    family = "ssa"
    about = "1 − (substitutions + insertions + deletions) / reference length"


@dataclass(frozen=True)
class GenerationStringAccuracy(GenerationAccuracy, StringAccuracy):
    """`gsa`: accuracy over the string, with moves."""

    family = "gsa"
    about = "ssa with a moved word as one error, not two"


@dataclass(frozen=True)
class SimpleTreeAccuracy(SimpleAccuracy, TreeAccuracy):
    """`sta`: accuracy over treelets, without moves."""

    family = "sta"
    about = "ssa over the treelets of the reference's dependency tree"


@dataclass(frozen=True)
class GenerationTreeAccuracy(GenerationAccuracy, TreeAccuracy):
    """`gta`: accuracy over treelets, with moves."""

    family = "gta"
    about = "gsa over the treelets of the reference's dependency tree"


def accuracy(problems: Floats, length: Floats) -> Floats:
    """1 − problems / length; for an empty reference 1 if there are no problems, otherwise NaN."""
    return np.where((length == 0) & (problems == 0), 1.0, 1.0 - ratio(problems, length))


def simple_components(statistics: Floats) -> dict[str, Floats]:
    """The components of scores without moves, by name."""
    substitutions, insertions, deletions = (
        statistics[..., column] for column in (SUBSTITUTIONS, INSERTIONS, DELETIONS)
    )
    return {
        "unchanged": statistics[..., REFERENCE_TOKENS] - substitutions - deletions,
        "substitutions": substitutions,
        "insertions": insertions,
        "deletions": deletions,
        "problems": substitutions + insertions + deletions,
        "length": statistics[..., REFERENCE_TOKENS],
    }


def generation_components(statistics: Floats) -> dict[str, Floats]:
    """The components of scores with moves, which are then not counted as deletions and insertions."""
    simple = simple_components(statistics)
    moves = statistics[..., MOVES]
    return {
        **simple,
        "insertions": simple["insertions"] - moves,
        "deletions": simple["deletions"] - moves,
        "moves": moves,
        "problems": simple["problems"] - moves,
    }


def best_of(values: Floats, n_per_output: Integers) -> NDArray[np.intp]:
    """The place in `values` of each output's largest value. `values` has the values of all outputs,
    one output after the other; `n_per_output` has the number of values of each. The first of equal
    values is taken, and NaN only if all values of the output are NaN."""
    starts = np.concatenate([[0], np.cumsum(n_per_output)[:-1]]).astype(np.intp)
    if np.all(n_per_output == 1):
        return starts
    ranked = np.where(np.isnan(values), -np.inf, values)
    best = starts.copy()
    for k in range(1, int(n_per_output.max(initial=1))):
        rows = np.flatnonzero(n_per_output > k)
        better = ranked[starts[rows] + k] > ranked[best[rows]]
        best[rows[better]] = starts[rows[better]] + k
    return best


def string_errors(batch: Batch, options: AlignmentOptions) -> tuple[Floats, Integers]:
    """The counts of the alignment of every output with each of its references, and the number of
    references of each output."""

    def compute() -> tuple[Floats, Integers]:
        outputs, references = batch.texts, batch.references
        if options.lowercase:
            outputs, references = lowered(outputs), lowered_lists(references)
        # Tokenizers written in Python are applied here, those in C++ by the kernel.
        outputs, tokenizer = with_native_tokenizer(outputs, options.tokenize)
        references, _ = lists_with_native_tokenizer(references, options.tokenize)
        counts = _native.string_errors(outputs, references, tokenizer, options.costs, batch.threads)
        return counts, np.fromiter(map(len, references), dtype=np.int64)

    return batch.shared(("string", options.alignment_signature()), compute)


def treelet_errors(batch: Batch, options: AlignmentOptions) -> tuple[Floats, Integers]:
    """The counts in the treelets of every reference that has a tree, and the number of such
    references of each output. A seventh column of counts has the substitutions in the alignment of
    the whole strings."""

    def compute() -> tuple[Floats, Integers]:
        outputs: list[str] = []
        references: list[list[str]] = []
        heads: list[int] = []
        rows: list[int] = []
        n_per_output = np.zeros(len(batch), dtype=np.int64)
        for row, trees in enumerate(batch.trees):
            for reference, tree in zip(batch.references[row], trees, strict=False):
                if tree is None:
                    continue
                tokens, token_heads = reference_tokens_and_heads(
                    reference,
                    tree,
                    options.tokenize,
                    batch.ids[row],
                    lowercase=options.lowercase,
                )
                outputs.append(batch.texts[row])
                references.append(tokens)
                heads += token_heads
                rows.append(row)
                n_per_output[row] += 1
        prepared, tokenizer = with_native_tokenizer(
            lowered(outputs) if options.lowercase else outputs, options.tokenize
        )
        head_array = np.array(heads, dtype=np.int32)
        try:
            counts = _native.treelet_errors(
                prepared, references, head_array, tokenizer, options.costs, batch.threads
            )
        except _native.TooLarge as error:
            # The C++ code gives the number of the pair; the caller expects the row of the batch.
            raise _native.TooLarge(rows[error.args[0]]) from None
        return counts, n_per_output

    return batch.shared(("treelets", options.alignment_signature()), compute)


def reference_with_tree(batch: Batch, row: int, place: int) -> tuple[str, Tree]:
    """The reference at this place among the row's references that have a tree, and its tree."""
    pairs = zip(batch.references[row], batch.trees[row], strict=False)
    return [(text, tree) for text, tree in pairs if tree is not None][place]


def reference_tokens_and_heads(
    reference: str, tree: Tree, tokenizer: TokenizerName, item: str, *, lowercase: bool = False
) -> tuple[list[str], list[int]]:
    """A reference's tokens, and the heads that these tokens have by the reference's tree (whose words
    may be divided in another way than the tokens).

    With `lowercase` the tokens are those of the lower-case text. The native tokenizers divide it in
    the same places as the original text. Other tokenizers may not, so they get the text and the tree
    in lower case.
    """
    if lowercase and not is_native(tokenizer):
        words = (replace(word, form=word.form.lower()) for word in tree.words)
        spans = (replace(span, form=span.form.lower()) for span in tree.multiwords)
        reference, tree = reference.lower(), Tree(tuple(words), tuple(spans))
    tokens = tokenize(reference, tokenizer)
    heads = heads_of_tokens(tree, tokens)
    if heads is None:
        # A tokenizer may change characters (13a turns &amp; into &): then the tree's words are
        # tokenized.
        rewritten = "".join(tokens)
        tokens = [token for word in tree.words for token in tokenize(word.form, tokenizer)]
        if "".join(tokens) == rewritten:
            heads = heads_of_tokens(retokenized(tree, tokenizer), tokens)
    if heads is None and heads_of_tokens(tree, reference.split()) is not None:
        raise InputError(
            f"Item {item}: the tokenizer {tokenizer} changes characters of the reference "
            f"{reference!r}: its tree cannot be laid over the tokens. Use another tokenizer for "
            "metrics over trees."
        )
    if heads is None:
        raise InputError(
            f"Item {item}: the tree does not match its reference. "
            f"Tree: {tree.text!r}; reference: {reference!r}. They must have the same characters."
        )
    return (lowered(tokens) if lowercase else tokens), heads


def retokenized(tree: Tree, tokenizer: TokenizerName) -> Tree:
    """The tree with the forms of its words rewritten by the tokenizer."""
    words = (replace(word, form=" ".join(tokenize(word.form, tokenizer))) for word in tree.words)
    return Tree(tuple(words))

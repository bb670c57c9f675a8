"""Rewriting the references of evaluation sets: for each system its own, closer to its output.

The nouns are `Substitution`, one proposal with where it was made, and `RewrittenSource`, an
evaluation set that is rewritten as it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from wellput.core.evalset import Batch, Item
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.language.paraphrase.proposals import Proposal
from wellput.language.paraphrase.rewriting import Edit, Rewriter, Rewritten, replace_tokens
from wellput.language.paraphrase.sentences import Sentence
from wellput.language.paraphrase.tree_edits import edited_tree, word_numbers


class Tags(Protocol):
    """A tagger of words (`language.tagger.Tagger`)."""

    def tag(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[list[str]]:
        """The Penn tags of each sentence's words."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """A proposal made for one system's reference, the first being number 0."""

    item: str
    system: str
    reference: int
    word: str
    replacement: str
    source: str
    probability: float
    kept: bool
    shown: str
    """The reference with the substitution marked: a quick [reply → answer] came."""

    def to_dict(self) -> dict[str, object]:
        names = ("item", "system", "reference", "word", "replacement", "source")
        return {
            **{name: getattr(self, name) for name in names},
            "probability": self.probability,
            "kept": self.kept,
        }


@dataclass(frozen=True)
class Paraphraser:
    """A rewriter with the tagger that tells a word's category, and its name for signatures."""

    method: str
    rewriter: Rewriter
    fingerprint: str
    tagger: Tags | None = None

    @property
    def signature(self) -> str:
        return f"paraphrase:{self.method}|model:{self.fingerprint[:8]}"

    def rewrite_batch(self, batch: Batch) -> Batch:
        """The same rows with references, and their trees, as rewritten for their outputs."""
        rewritten = self._rewrite(batch.outputs, batch.references, batch.trees, batch.threads)
        return replace(
            batch,
            references=[[own.text for own, _ in row] for row in rewritten],
            trees=[
                [tree for _, tree in row] if trees else []
                for row, trees in zip(rewritten, batch.trees, strict=True)
            ],
            memo={},
        )

    def rewrite_items(
        self, items: Sequence[Item], *, threads: int = 1
    ) -> tuple[list[Item], list[Substitution]]:
        """The items with references of their own for every output that is text; what was proposed."""
        made: list[dict[str, list[tuple[Rewritten, Tree | None]]]] = [{} for _ in items]
        systems = dict.fromkeys(system for item in items for system in item.outputs)
        for system in systems:
            rows = [
                i
                for i, item in enumerate(items)
                if isinstance(item.outputs.get(system), str) and item.references_for(system)
            ]
            rewritten = self._rewrite(
                [items[i].outputs[system] for i in rows],
                [items[i].references_for(system) for i in rows],
                [items[i].trees_for(system) for i in rows],
                threads,
            )
            for i, row in zip(rows, rewritten, strict=True):
                made[i][system] = row
        substitutions = [
            _substitution(item.id, system, number, proposal, rewritten)
            for item, by_system in zip(items, made, strict=True)
            for system, row in by_system.items()
            for number, (rewritten, _) in enumerate(row)
            for proposal in rewritten.proposals
        ]
        return [_with(item, own) for item, own in zip(items, made, strict=True)], substitutions

    def _rewrite(
        self,
        outputs: Sequence[object],
        references: Sequence[Sequence[str]],
        trees: Sequence[Sequence[Tree | None]],
        threads: int,
    ) -> list[list[tuple[Rewritten, Tree | None]]]:
        """By row and reference."""
        texts = [str(output) for output in outputs]
        flat = [reference for row in references for reference in row]
        sentences = self._sentences(flat, threads)
        # An output's tags are not asked for: which of its words are names its capitals tell.
        own = {text: Sentence.of(text) for text in dict.fromkeys(texts)}
        pairs, aligned = [], []
        for text, row, row_trees in zip(texts, references, trees, strict=True):
            for place, reference in enumerate(row):
                tree = row_trees[place] if row_trees else None
                sentence = sentences[reference]
                numbers = None if tree is None else word_numbers(tree, sentence)
                if numbers is not None:
                    sentence = sentence.fixed_where([number is None for number in numbers])
                pairs.append((sentence, own[text]))
                aligned.append((tree, numbers))
        results = iter(zip(self.rewriter.rewrite(pairs), aligned, strict=True))
        rows = []
        for row in references:
            made = []
            for _ in row:
                rewritten, (tree, numbers) = next(results)
                if tree is not None and numbers is not None and rewritten.edits:
                    tree = edited_tree(tree, numbers, rewritten.edits, rewritten.text)
                made.append((rewritten, tree))
            rows.append(made)
        return rows

    def _sentences(self, texts: Sequence[str], threads: int) -> dict[str, Sentence]:
        sentences = {text: Sentence.of(text) for text in dict.fromkeys(texts)}
        if self.tagger is None:
            return sentences
        tags = self.tagger.tag([s.tokens for s in sentences.values()], threads=threads)
        return {
            text: replace(sentence, tags=tuple(own))
            for (text, sentence), own in zip(sentences.items(), tags, strict=True)
        }


class RewrittenSource(EvalSource):
    """An evaluation set whose references are rewritten block by block as it is read."""

    def __init__(
        self,
        source: EvalSource,
        paraphraser: Paraphraser,
        *,
        threads: int = 1,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._source = source
        self._paraphraser = paraphraser
        self._threads = threads
        self._on_progress = on_progress
        self.substitutions: list[Substitution] = []
        """Of the last reading."""
        self.references = 0
        """How many were looked at in it, once for each output."""

    def blocks(self) -> Iterator[list[Item]]:
        self.substitutions, self.references = [], 0
        for block in self._source.blocks():
            items, substitutions = self._paraphraser.rewrite_items(block, threads=self._threads)
            self.substitutions += substitutions
            self.references += sum(
                len(item.references_for(system)) for item in block for system in item.outputs
            )
            self._on_progress(len(block))
            yield items


def _substitution(
    item: str, system: str, number: int, proposal: Proposal, rewritten: Rewritten
) -> Substitution:
    return Substitution(
        item=item,
        system=system,
        reference=number,
        word=proposal.word,
        replacement=proposal.replacement.text,
        source=proposal.replacement.source,
        probability=proposal.probability,
        kept=proposal.is_kept,
        shown=replace_tokens(
            rewritten.reference,
            [
                Edit(
                    proposal.first,
                    proposal.last,
                    f"[{rewritten.reference.covered(proposal.first, proposal.last)} → "
                    f"{proposal.replacement.text}]",
                )
            ],
        ),
    )


def substitution_items(substitutions: Sequence[Substitution]) -> list[Item]:
    """Substitutions as an evaluation set: a system `kept` or `refused` says what the filter decided.

    What several systems brought about in one reference is one item.
    """
    items: dict[str, Item] = {}
    for one in substitutions:
        name = f"{one.item}/{one.reference}/{one.word}→{one.replacement}"
        if name not in items:
            items[name] = Item(name, {"kept" if one.kept else "refused": one.shown})
    return list(items.values())


def _with(item: Item, made: Mapping[str, list[tuple[Rewritten, Tree | None]]]) -> Item:
    references = {
        system: tuple(rewritten.text for rewritten, _ in row) for system, row in made.items()
    }
    trees = {
        system: tuple(tree for _, tree in row)
        for system, row in made.items()
        if any(tree is not None for _, tree in row)
    }
    return item._replace(
        references_by_system={**item.references_by_system, **references},
        trees_by_system={**item.trees_by_system, **trees},
    )

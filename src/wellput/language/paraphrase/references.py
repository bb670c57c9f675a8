"""Rewriting the references of evaluation sets, for each system closer to its outputs.

`Substitution` is one proposal with its item and system, `RewrittenSource` an evaluation set that is
rewritten as it is read, and `ParaphraseResult` the two together.

The tree of a reference is edited with its words, so that tree metrics still work. A word that replaces
a word takes its place in the tree. Where a phrase changes its number of words, its first word is the
head and hangs where the old phrase's head hung; the other words are `fixed` to it, and the dependents
of the old words hang from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from wellput.core.evalset import Batch, Item
from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.core.tree import Multiword, Tree, Word
from wellput.io import write_evalset
from wellput.io.files import PathLike
from wellput.language.paraphrase.rewriting import (
    Proposal,
    ReferenceEdit,
    Rewriter,
    Rewritten,
    replace_tokens,
)
from wellput.language.paraphrase.sentences import Sentence


def word_numbers(tree: Tree, sentence: Sentence) -> list[int | None]:
    """By token of the sentence, the number of its word in the tree (from 1); None where token and word
    do not coincide, and in multiword tokens."""
    covered = {n for m in tree.multiwords for n in range(m.first, m.last + 1)}
    by_span: dict[tuple[int, int], int] = {}
    place = 0
    for number, form, is_single in _surface(tree, covered):
        begin = sentence.text.find(form, place)
        if begin < 0:
            return [None] * len(sentence.tokens)
        place = begin + len(form)
        if is_single:
            by_span[begin, place] = number
    return [by_span.get(span) for span in sentence.spans]


def _surface(tree: Tree, covered: set[int]) -> list[tuple[int, str, bool]]:
    tokens = [(n, w.form, True) for n, w in enumerate(tree.words, 1) if n not in covered]
    tokens += [(m.first, m.form, False) for m in tree.multiwords]
    return sorted(tokens)


def edited_tree(
    tree: Tree, numbers: Sequence[int | None], edits: Sequence[ReferenceEdit], text: str
) -> Tree:
    """The tree of the rewritten reference; every edited token must have a number."""
    words = list(tree.words)
    # From the end, so that the numbers of earlier words stay right.
    multiwords = list(tree.multiwords)
    for edit in sorted(edits, key=lambda edit: -edit.first):
        span = [number for number in numbers[edit.first : edit.last] if number is not None]
        words = _replaced(words, span, edit)
        grown = len(edit.text.split(" ")) - len(span)
        multiwords = [
            replace(m, first=m.first + grown, last=m.last + grown) if m.first > span[-1] else m
            for m in multiwords
        ]
    comments = tuple(
        f"text = {text}" if comment.partition("=")[0].strip() == "text" else comment
        for comment in tree.comments
    )
    return Tree(tuple(words), tuple[Multiword, ...](multiwords), comments)


def _replaced(words: list[Word], span: list[int], edit: ReferenceEdit) -> list[Word]:
    first, last = span[0], span[-1]
    forms = edit.text.split(" ")
    head = next((n for n in span if not first <= words[n - 1].head <= last), first)
    # A head within the span becomes the new head; numbers after the span move.
    grown = len(forms) - len(span)

    def moved(number: int) -> int:
        if first <= number <= last:
            return first
        return number + grown if number > last else number

    old = words[head - 1]
    tail_misc = words[last - 1].misc
    new = []
    for place, form in enumerate(forms):
        misc = tail_misc if place == len(forms) - 1 else "_"
        lemma = "_" if edit.lemma_changes else old.lemma
        if place == 0:
            new.append(replace(old, form=form, lemma=lemma, head=moved(old.head), misc=misc))
        else:
            new.append(Word(form, first, upos=old.upos, relation="fixed", misc=misc))
    before = [replace(word, head=moved(word.head)) for word in words[: first - 1]]
    after = [replace(word, head=moved(word.head)) for word in words[last:]]
    return [*before, *new, *after]


class WordTagger(Protocol):
    """A tagger of words, such as `language.models.tagger.Tagger`."""

    def tag(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[list[str]]:
        """The Penn tags of each sentence's words."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """A proposal for one system's reference; `reference` counts from 0."""

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
    """A rewriter, a tagger for the categories of words, and the method's name for signatures."""

    method: str
    rewriter: Rewriter
    fingerprint: str
    tagger: WordTagger | None = None

    @property
    def signature(self) -> str:
        return f"paraphrase:{self.method}|model:{self.fingerprint[:8]}"

    def rewrite_batch(self, batch: Batch) -> Batch:
        """The same rows with references and trees rewritten for their outputs."""
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
        """The items with rewritten references for every output that is text; and all proposals."""
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
        # Outputs are not tagged: capitals tell which of their words are names.
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
        """The substitutions of the last reading."""
        self.references = 0
        """The number of references in the last reading, counted once for each output."""

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
                ReferenceEdit(
                    proposal.first,
                    proposal.last,
                    f"[{rewritten.reference.covered(proposal.first, proposal.last)} → "
                    f"{proposal.replacement.text}]",
                )
            ],
        ),
    )


def substitution_items(by_method: Mapping[str, Sequence[Substitution]]) -> list[Item]:
    """Substitutions as an evaluation set. Its tags say what each method decided: `kept` or `refused`.
    Its systems have the same names: `kept` if a method keeps it.

    The same substitution in one reference, for several systems or by several methods, is one item:
    judges see it once and cannot tell where it comes from.
    """
    shown: dict[str, str] = {}
    decided: dict[str, dict[str, str]] = {}
    for method, substitutions in by_method.items():
        for one in substitutions:
            name = f"{one.item}/{one.reference}/{one.word}→{one.replacement}"
            shown.setdefault(name, one.shown)
            decided.setdefault(name, {}).setdefault(method, "kept" if one.kept else "refused")
    return [
        Item(name, {"kept" if "kept" in tags.values() else "refused": shown[name]}, tags=tags)
        for name, tags in decided.items()
    ]


def drawn_substitutions(items: Sequence[Item], n: int, rng: np.random.Generator) -> list[Item]:
    """At most n of the substitutions that each method keeps, drawn at random; an item that serves two
    methods is there once.

    Every item gets a random number, and each method the items with its n lowest. So methods share as
    many items as they can, and each still has a random sample of its own. What a method keeps beyond
    its sample loses the method's tag: otherwise it would also be measured on what others drew.
    """
    numbers = rng.random(len(items))
    methods = dict.fromkeys(method for item in items for method in item.tags)
    drawn: dict[int, set[str]] = {}
    for method in methods:
        kept = [place for place, item in enumerate(items) if item.tags.get(method) == "kept"]
        for place in sorted(kept, key=lambda place: float(numbers[place]))[:n]:
            drawn.setdefault(place, set()).add(method)

    def tags(place: int) -> dict[str, str]:
        own = items[place].tags.items()
        return {method: tag for method, tag in own if tag != "kept" or method in drawn[place]}

    return [items[place]._replace(tags=tags(place)) for place in sorted(drawn)]


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


@dataclass(frozen=True, repr=False)
class ParaphraseResult(Result):
    """`evalset` has the new references; it is in memory unless it was written to a file. With `explain`
    every substitution is shown, otherwise only their number."""

    presented_by: ClassVar[str] = "wellput.reporting.language:paraphrase_report"

    evalset: EvalSource
    substitutions: tuple[Substitution, ...]
    signature: str
    explain: bool = False

    @property
    def kept(self) -> int:
        """The number of proposals that were made."""
        return sum(substitution.kept for substitution in self.substitutions)

    def save(self, path: PathLike) -> None:
        """Writes the evaluation set with its new references."""
        write_evalset(self.evalset, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each substitution, kept or refused."""
        return [substitution.to_dict() for substitution in self.substitutions]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput paraphrase`."""
        if self.explain:
            return {"substitutions": self.records(), "signature": self.signature}
        proposed = len(self.substitutions)
        return {"proposed": proposed, "kept": self.kept, "signature": self.signature}

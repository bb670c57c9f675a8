"""Rewrites the references of evaluation sets; each system gets references closer to its own outputs.

`Substitution` is one proposed replacement with its item and system, `RewrittenSource` is an evaluation
set whose references are rewritten as it is read, and `ParaphraseResult` holds both.

The tree of a reference is edited together with its words, so that tree metrics still work. A word that
replaces a word takes its place in the tree. If either of the two is a phrase, the first new word is
attached where the head of the replaced words was. The other new words are attached to the first new
word with the relation `fixed`. The dependents of the replaced words keep their relations and are
attached to the first new word.
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
    """For each token of the sentence, the number of its word in the tree (from 1). None where no word
    has exactly the token's characters, and in multiword tokens."""
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
    """The tokens of the tree's text in order: the number of the (first) word, the form, and whether the
    token is a single word. `covered` are the words inside multiword tokens."""
    tokens = [(n, w.form, True) for n, w in enumerate(tree.words, 1) if n not in covered]
    tokens += [(m.first, m.form, False) for m in tree.multiwords]
    return sorted(tokens)


def edited_tree(
    tree: Tree, numbers: Sequence[int | None], edits: Sequence[ReferenceEdit], text: str
) -> Tree:
    """The tree of a reference that is rewritten to `text` by the edits. `numbers` has the tree's word
    number for each token, as from `word_numbers`; every edited token must have one."""
    words = list(tree.words)
    multiwords = list(tree.multiwords)
    # Edits are made from the end, so that the numbers of earlier words stay right.
    for edit in sorted(edits, key=lambda edit: -edit.first):
        span = [number for number in numbers[edit.first : edit.last] if number is not None]
        words = _replaced(words, span, edit)
        n_added = len(edit.text.split(" ")) - len(span)
        multiwords = [
            replace(m, first=m.first + n_added, last=m.last + n_added) if m.first > span[-1] else m
            for m in multiwords
        ]
    comments = tuple(
        f"text = {text}" if comment.partition("=")[0].strip() == "text" else comment
        for comment in tree.comments
    )
    return Tree(tuple(words), tuple[Multiword, ...](multiwords), comments)


def _replaced(words: list[Word], span: list[int], edit: ReferenceEdit) -> list[Word]:
    """The words of the tree with those numbered in `span` replaced by the words of the edit."""
    first, last = span[0], span[-1]
    forms = edit.text.split(" ")
    # The word of the span whose head lies outside the span.
    head = next((n for n in span if not first <= words[n - 1].head <= last), first)
    # Heads inside the span become the first new word; numbers after the span change by `n_added`.
    n_added = len(forms) - len(span)

    def moved(number: int) -> int:
        if first <= number <= last:
            return first
        return number + n_added if number > last else number

    old = words[head - 1]
    tail_misc = words[last - 1].misc  # it may say that no space follows
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
    """A proposed replacement of `word` in a reference for one system. `reference` is the number of the
    reference, from 0; `source` says where the replacement comes from; `probability` is that of the
    filter, which judges whether the replacement fits; `kept` says whether the replacement was made."""

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
    """A rewriter, a tagger for the words' parts of speech, and the method's name for signatures."""

    method: str
    rewriter: Rewriter
    fingerprint: str
    tagger: WordTagger | None = None

    @property
    def signature(self) -> str:
        return f"paraphrase:{self.method}|model:{self.fingerprint[:8]}"

    def rewrite_batch(self, batch: Batch) -> Batch:
        """The same rows, with references and their trees rewritten for the row's output."""
        rewritten = self._rewrite(batch.outputs, batch.references, batch.trees, batch.threads)
        return replace(
            batch,
            references=[[reference.text for reference, _ in row] for row in rewritten],
            trees=[
                [tree for _, tree in row] if trees else []
                for row, trees in zip(rewritten, batch.trees, strict=True)
            ],
            memo={},  # what metrics computed for the old references is not valid
        )

    def rewrite_items(
        self, items: Sequence[Item], *, threads: int = 1
    ) -> tuple[list[Item], list[Substitution]]:
        """The items with rewritten references for every output that is text; and all proposals, made or
        refused."""
        rewritten_items: list[dict[str, list[tuple[Rewritten, Tree | None]]]] = [{} for _ in items]
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
                rewritten_items[i][system] = row
        substitutions = [
            _substitution(item.id, system, number, proposal, rewritten)
            for item, by_system in zip(items, rewritten_items, strict=True)
            for system, row in by_system.items()
            for number, (rewritten, _) in enumerate(row)
            for proposal in rewritten.proposals
        ]
        new_items = [
            _with_references(item, by_system)
            for item, by_system in zip(items, rewritten_items, strict=True)
        ]
        return new_items, substitutions

    def _rewrite(
        self,
        outputs: Sequence[object],
        references: Sequence[Sequence[str]],
        trees: Sequence[Sequence[Tree | None]],
        threads: int,
    ) -> list[list[tuple[Rewritten, Tree | None]]]:
        """For each row (an output with its references and their trees), each reference rewritten for
        the output, with its tree."""
        texts = [str(output) for output in outputs]
        flat = [reference for row in references for reference in row]
        sentences = self._sentences(flat, threads)
        # Outputs are not tagged: their names are recognized by capitals.
        output_sentences = {text: Sentence.of(text) for text in dict.fromkeys(texts)}
        pairs, aligned = [], []
        for text, row, row_trees in zip(texts, references, trees, strict=True):
            for place, reference in enumerate(row):
                tree = row_trees[place] if row_trees else None
                sentence = sentences[reference]
                numbers = None if tree is None else word_numbers(tree, sentence)
                if numbers is not None:
                    sentence = sentence.fixed_where([number is None for number in numbers])
                pairs.append((sentence, output_sentences[text]))
                aligned.append((tree, numbers))
        results = iter(zip(self.rewriter.rewrite(pairs), aligned, strict=True))
        rows = []
        for row in references:
            rewritten_row = []
            for _ in row:
                rewritten, (tree, numbers) = next(results)
                if tree is not None and numbers is not None and rewritten.edits:
                    tree = edited_tree(tree, numbers, rewritten.edits, rewritten.text)
                rewritten_row.append((rewritten, tree))
            rows.append(rewritten_row)
        return rows

    def _sentences(self, texts: Sequence[str], threads: int) -> dict[str, Sentence]:
        sentences = {text: Sentence.of(text) for text in dict.fromkeys(texts)}
        if self.tagger is None:
            return sentences
        tagged = self.tagger.tag([s.tokens for s in sentences.values()], threads=threads)
        return {
            text: replace(sentence, tags=tuple(tags))
            for (text, sentence), tags in zip(sentences.items(), tagged, strict=True)
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
        self.n_references = 0
        """The number of references in the last reading, counted once for each output."""

    def blocks(self) -> Iterator[list[Item]]:
        self.substitutions, self.n_references = [], 0
        for block in self._source.blocks():
            items, substitutions = self._paraphraser.rewrite_items(block, threads=self._threads)
            self.substitutions += substitutions
            self.n_references += sum(
                len(item.references_for(system)) for item in block for system in item.outputs
            )
            self._on_progress(len(block))
            yield items


def _substitution(
    item: str, system: str, number: int, proposal: Proposal, rewritten: Rewritten
) -> Substitution:
    """A proposal for a reference (its `number`) of an item, with the text in which the change is
    shown."""
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
    """The substitutions of several methods as the items of an evaluation set, for judges. The tags of
    an item say what each method decided: `kept` or `refused`. The item's only system is `kept` if a
    method keeps the substitution, otherwise `refused`.

    The same substitution in one reference, for several systems or by several methods, is one item:
    judges see it once and cannot tell where it comes from.
    """
    texts: dict[str, str] = {}
    decisions: dict[str, dict[str, str]] = {}
    for method, substitutions in by_method.items():
        for proposed in substitutions:
            name = f"{proposed.item}/{proposed.reference}/{proposed.word}→{proposed.replacement}"
            texts.setdefault(name, proposed.shown)
            decision = "kept" if proposed.kept else "refused"
            decisions.setdefault(name, {}).setdefault(method, decision)
    return [
        Item(name, {"kept" if "kept" in tags.values() else "refused": texts[name]}, tags=tags)
        for name, tags in decisions.items()
    ]


def drawn_substitutions(items: Sequence[Item], n: int, rng: np.random.Generator) -> list[Item]:
    """At most `n` of the substitutions that each method keeps, drawn at random. An item that is drawn
    for two methods is returned once.

    Every item gets a random number, and each method gets those of its kept items that have the `n`
    lowest numbers. So the methods share as many items as possible, and each method's items are still a
    random sample. An item that a method keeps but that was drawn only for other methods loses this
    method's tag; otherwise the method would not be measured on a random sample.
    """
    numbers = rng.random(len(items))
    methods = dict.fromkeys(method for item in items for method in item.tags)
    drawn: dict[int, set[str]] = {}
    for method in methods:
        kept = [place for place, item in enumerate(items) if item.tags.get(method) == "kept"]
        for place in sorted(kept, key=lambda place: float(numbers[place]))[:n]:
            drawn.setdefault(place, set()).add(method)

    def tags(place: int) -> dict[str, str]:
        tags_of_item = items[place].tags.items()
        return {
            method: tag for method, tag in tags_of_item if tag != "kept" or method in drawn[place]
        }

    return [items[place]._replace(tags=tags(place)) for place in sorted(drawn)]


def _with_references(
    item: Item, by_system: Mapping[str, list[tuple[Rewritten, Tree | None]]]
) -> Item:
    """The item with the rewritten references, and their trees, of each system."""
    references = {
        system: tuple(rewritten.text for rewritten, _ in row) for system, row in by_system.items()
    }
    trees = {
        system: tuple(tree for _, tree in row)
        for system, row in by_system.items()
        if any(tree is not None for _, tree in row)
    }
    return item._replace(
        references_by_system={**item.references_by_system, **references},
        trees_by_system={**item.trees_by_system, **trees},
    )


@dataclass(frozen=True, repr=False)
class ParaphraseResult(Result):
    """The evaluation set with the new references, and all proposed substitutions. The evaluation set
    is in memory unless it was written to a file. With `explain` every substitution is shown, otherwise
    only their number."""

    presented_by: ClassVar[str] = "wellput.reporting.language:paraphrase_report"

    evalset: EvalSource
    substitutions: tuple[Substitution, ...]
    signature: str
    explain: bool = False

    @property
    def kept(self) -> int:
        """The number of proposed substitutions that were made in a reference."""
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

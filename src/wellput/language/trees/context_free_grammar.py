"""Context-free grammars read off treebanks: `PhraseRule`s and the words of a category, with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from wellput.core.tree import Constituent, Tree
from wellput.language.trees.constituents import (
    fold,
    head_parts,
    named,
    plain,
    without_empty_elements,
)


class PhraseRule(NamedTuple):
    """A phrase and its parts; `head` is the place of the head among them (from 0), or None in a
    grammar without heads."""

    phrase: str
    parts: tuple[str, ...]
    head: int | None = None

    def __str__(self) -> str:
        marked = (
            f"{part}*" if place == self.head else part for place, part in enumerate(self.parts)
        )
        return f"{self.phrase} → {' '.join(marked)}"


@dataclass(frozen=True, slots=True)
class ContextFreeGrammar:
    """Counts: `starts` counts the categories of whole sentences, `rules` the rules, and
    `lexicon[tag, word]` the words with their tags."""

    starts: Counter[str] = field(default_factory=Counter)
    rules: Counter[PhraseRule] = field(default_factory=Counter)
    lexicon: Counter[tuple[str, str]] = field(default_factory=Counter)


def grammar_of_constituents(
    constituents: Iterable[Constituent],
    *,
    with_heads: bool = False,
    predicative_nouns: bool = False,
) -> ContextFreeGrammar:
    """Reads a grammar off constituent trees. Ignored: empty elements, function tags, and the outermost
    bracket if it has no name.

    `with_heads` marks the head of each rule. Then `predicative_nouns` says that a predicative noun or
    adjective heads its clause, as in `to_dependencies`; otherwise it has no effect.
    """
    grammar = ContextFreeGrammar()
    for constituent in constituents:
        kept = without_empty_elements(constituent)
        bare = plain(constituent)
        if kept is None or bare is None:
            continue
        # The heads come from the tree with its function tags, which mark predicates.
        heads = head_parts(kept, predicative_nouns=predicative_nouns) if with_heads else None
        _count(bare, heads, grammar)
    return grammar


def grammar_of_dependencies(
    trees: Iterable[Tree], *, column: Literal["upos", "xpos"] = "upos"
) -> ContextFreeGrammar:
    """The grammar of dependency trees: a word of category C and all below it are a phrase [C], made
    of its daughters' phrases and C itself, in the order of the words.

    Such rules cannot give the word order of a non-projective tree; `projectivize` it first.

    >>> from wellput.core.tree import Word
    >>> tree = Tree((Word("I", 2, upos="PRON"), Word("see", 0, upos="VERB")))
    >>> [str(rule) for rule in grammar_of_dependencies([tree]).rules]
    ['[PRON] → PRON*', '[VERB] → [PRON] VERB*']
    """
    grammar = ContextFreeGrammar()
    for tree in trees:
        categories = [getattr(word, column) for word in tree.words]
        parts: list[list[str]] = [[] for _ in tree.words]
        heads = [0] * len(tree.words)
        for place, word in enumerate(tree.words):
            # Words come from left to right: daughters on the left are there already, those on the
            # right are added later.
            heads[place] = len(parts[place])
            parts[place].append(categories[place])
            phrase = f"[{categories[place]}]"
            if word.head == 0:
                grammar.starts[phrase] += 1
            else:
                parts[word.head - 1].append(phrase)
            grammar.lexicon[categories[place], word.form] += 1
        for place, name in enumerate(categories):
            grammar.rules[PhraseRule(f"[{name}]", tuple(parts[place]), heads[place])] += 1
    return grammar


def _count(constituent: Constituent, heads: list[int] | None, grammar: ContextFreeGrammar) -> None:
    grammar.starts[named(constituent).label] += 1
    places = iter(heads or ())

    def visit(node: Constituent, parts: list[str]) -> str:
        head = next(places, None)
        if node.word is not None:
            grammar.lexicon[node.label, node.word] += 1
        elif node.label:
            grammar.rules[PhraseRule(node.label, tuple(parts), head)] += 1
        return node.label

    fold(constituent, visit)

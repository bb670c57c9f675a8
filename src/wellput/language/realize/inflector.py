"""The `Inflector`: the forms of a word by its lemma, part of speech and features.

Forms from the treebank come first (`be`, `not`, `a` have several, such as `not` and `n't`), then
those of lemminflect's dictionary and rules, which are for English. For other languages, rules of
endings are learned from the treebank. `choose_wording` chooses among several forms when the
order is known: `not` or `n't`, `a` or `an`, `is` or `'s`, and the lexemes of a synset make a lattice
with one state after every word, and the n-gram model chooses a path.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.model_files import ModelFile, packed_strings
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.word_analysis import UsualValues
from wellput.language.realize.inputs import UNKNOWN_LABEL, Node
from wellput.language.realize.lattice import Automaton, Lattice, choose_paths

# The least share that a form must have among the forms of a lemma with its features.
MIN_FORM_SHARE = 0.04
MIN_FORM_COUNT = 2
LONGEST_ENDING = 4
INFLECTED_TAGS = frozenset(
    ["NNS", "NNPS", "VBD", "VBN", "VBG", "VBZ", "VBP", "JJR", "JJS", "RBR", "RBS"]
)
# The Penn tag of a word with a universal tag: of the first line whose features the word all has.
PENN_TAGS: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {
    "NOUN": (("NNS", frozenset(["Number=Plur"])),),
    "PROPN": (("NNPS", frozenset(["Number=Plur"])),),
    "ADJ": (("JJR", frozenset(["Degree=Cmp"])), ("JJS", frozenset(["Degree=Sup"]))),
    "ADV": (("RBR", frozenset(["Degree=Cmp"])), ("RBS", frozenset(["Degree=Sup"]))),
    "VERB": (
        ("VBG", frozenset(["VerbForm=Ger"])),
        ("VBG", frozenset(["VerbForm=Part", "Tense=Pres"])),
        ("VBN", frozenset(["VerbForm=Part"])),
        ("VBD", frozenset(["Tense=Past"])),
        ("VBZ", frozenset(["Tense=Pres", "Number=Sing", "Person=3"])),
    ),
}
PENN_TAGS["AUX"] = PENN_TAGS["VERB"]


@dataclass(frozen=True)
class WordForm:
    """A form that a node may take, and the natural log of its share among the forms seen."""

    form: str
    log_share: float = 0.0


@dataclass(frozen=True, eq=False)
class Inflector:
    """`seen` has the forms of (lemma, tag, features), the most frequent first, where they differ from
    those of `rules`; without rules, from lemminflect's."""

    seen: Mapping[tuple[str, str, str], tuple[WordForm, ...]]
    rules: UsualValues | None = None

    def forms(self, node: Node) -> tuple[WordForm, ...]:
        """The forms of a node's lemma, the most frequent first."""
        tag = penn_tag(node) if self.rules is None else treebank_tag(node)
        for feats in (node.feats, "") if self.rules is None else (node.feats,):
            if known := self.seen.get((node.lemma, tag, feats)):
                return known
        if self.rules is not None:
            return (WordForm(form_by_rule(self.rules, node.lemma, tag, node.feats)),)
        if "Number=Ptan" in node.feats or (tag == "NNPS" and node.lemma.endswith("s")):
            return (WordForm(node.lemma),)
        return (WordForm(dictionary_form(node.lemma, tag)),)

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        rows = [(key, form) for key, forms in sorted(self.seen.items()) for form in forms]
        return {
            **packed_strings(f"{name}.lemmas", [key[0] for key, _ in rows]),
            **packed_strings(f"{name}.tags", [key[1] for key, _ in rows]),
            **packed_strings(f"{name}.feats", [key[2] for key, _ in rows]),
            **packed_strings(f"{name}.forms", [form.form for _, form in rows]),
            f"{name}.shares": np.array([form.log_share for _, form in rows], np.float32),
            **({} if self.rules is None else self.rules.arrays(f"{name}.rules")),
        }

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> Inflector:
        columns = [file.strings(f"{name}.{column}") for column in ("lemmas", "tags", "feats")]
        shares = file.arrays[f"{name}.shares"].tolist()
        seen: dict[tuple[str, str, str], tuple[WordForm, ...]] = {}
        for lemma, tag, feats, form, share in zip(
            *columns, file.strings(f"{name}.forms"), shares, strict=True
        ):
            key = (lemma, tag, feats)
            seen[key] = (*seen.get(key, ()), WordForm(form, share))
        has_rules = f"{name}.rules.keys.ends" in file.arrays
        return cls(seen, UsualValues.from_file(file, f"{name}.rules") if has_rules else None)


def learn_inflections(trees: Iterable[Tree]) -> Inflector:
    """From English treebank trees whose ordinary first words are in lower case."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for tree in trees:
        for word in tree.words:
            if word.lemma == UNKNOWN_LABEL != word.form:
                continue
            node = Node((word.form,), "", word.upos, word.xpos, word.lemma, word.feats)
            tag = penn_tag(node)
            for feats in (word.feats, ""):
                counts.setdefault((word.lemma, tag, feats), Counter())[word.form] += 1
    seen: dict[tuple[str, str, str], tuple[WordForm, ...]] = {}
    for (lemma, tag, feats), forms in counts.items():
        total = sum(forms.values())
        ranked = sorted(forms.items(), key=lambda entry: (-entry[1], entry[0]))
        kept = [
            WordForm(form, round(math.log(count / total), 3))
            for form, count in ranked
            if count >= MIN_FORM_COUNT and count >= MIN_FORM_SHARE * total
        ]
        usual = dictionary_form(lemma, tag)
        general = seen.get((lemma, tag, "")) if feats else None
        if kept and (len(kept) > 1 or kept[0].form != usual) and general != tuple(kept):
            seen[lemma, tag, feats] = tuple(kept)
    return Inflector(seen)


def learn_inflection_rules(trees: Iterable[Tree]) -> Inflector:
    """The same for any language: rules of endings, and the forms that differ from them."""
    nodes = [
        (Node((word.form,), "", word.upos, word.xpos, word.lemma, word.feats), word.form)
        for tree in trees
        for word in tree.words
        if word.lemma != UNKNOWN_LABEL or word.form == UNKNOWN_LABEL
    ]
    rules = UsualValues.learn(
        (_rule_keys(node.lemma, treebank_tag(node), node.feats), _change(node.lemma, form))
        for node, form in nodes
    )
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for node, form in nodes:
        key = (node.lemma, treebank_tag(node), node.feats)
        counts.setdefault(key, Counter())[form] += 1
    seen: dict[tuple[str, str, str], tuple[WordForm, ...]] = {}
    for key, forms in counts.items():
        total = sum(forms.values())
        ranked = sorted(forms.items(), key=lambda entry: (-entry[1], entry[0]))
        kept = tuple(
            WordForm(form, round(math.log(count / total), 3))
            for form, count in ranked
            if count >= MIN_FORM_SHARE * total
        )
        if len(kept) > 1 or kept[0].form != form_by_rule(rules, *key):
            seen[key] = kept
    return Inflector(seen, rules)


def treebank_tag(node: Node) -> str:
    """The treebank's own tag of a node, or the universal one."""
    return node.xpos if node.xpos != UNKNOWN_LABEL else node.upos


def _rule_keys(lemma: str, tag: str, feats: str) -> tuple[str, ...]:
    whole = f"{tag} {feats}"
    endings = (f"{whole} -{lemma[-n:]}" for n in range(1, min(LONGEST_ENDING, len(lemma)) + 1))
    return (whole, *endings)


def _change(lemma: str, form: str) -> str:
    """How many characters to take off the lemma's end, and what to add."""
    kept = 0
    while kept < min(len(lemma), len(form)) and lemma[kept] == form[kept]:
        kept += 1
    return f"{len(lemma) - kept} {form[kept:]}"


def form_by_rule(rules: UsualValues, lemma: str, tag: str, feats: str) -> str:
    """The form by the rule of the longest known ending; the lemma where there is none."""
    removed, _, added = rules.get(_rule_keys(lemma, tag, feats), "0 ").partition(" ")
    if not removed.isdecimal():
        raise InputError("The realizer's rules for forms are damaged: train it again.")
    return lemma[: max(len(lemma) - int(removed), 0)] + added or lemma


def penn_tag(node: Node) -> str:
    """The Penn tag of a node; where it has none, made from its universal tag and features."""
    if node.xpos != UNKNOWN_LABEL:
        return node.xpos
    features = set(node.feats.split("|"))
    for tag, needed in PENN_TAGS.get(node.upos, ()):
        if needed <= features:
            return tag
    return node.upos


def has_dictionary() -> bool:
    """Whether lemminflect is installed."""
    return find_spec("lemminflect") is not None


@cache
def dictionary_form(lemma: str, tag: str) -> str:
    """The form that lemminflect gives a lemma.

    >>> dictionary_form("mouse", "NNS"), dictionary_form("sing", "VBD"), dictionary_form("of", "IN")
    ('mice', 'sang', 'of')
    """
    if tag not in INFLECTED_TAGS:
        return lemma
    try:
        import lemminflect
    except ImportError:
        raise InputError("Lemmas need lemminflect: pip install 'wellput[realize]'") from None
    forms: tuple[str, ...] = lemminflect.getInflection(lemma, tag=tag)
    return forms[0] if forms else lemma


Alternatives = Sequence[Sequence[WordForm]]


def choose_wording(
    sentences: Sequence[Alternatives],
    ngrams: NgramModel | None,
    *,
    share_weight: float,
    threads: int = 1,
) -> list[list[str]]:
    """The chosen forms of each sentence. A sentence has for each place the possible forms, the most
    frequent first. `share_weight` is the weight of a form's frequency beside the n-gram model, which
    also knows it."""
    chosen = [[forms[0].form for forms in sentence] for sentence in sentences]
    if ngrams is None:
        return chosen
    open_ = [n for n, sentence in enumerate(sentences) if any(len(forms) > 1 for forms in sentence)]
    lattices = [_lattice(sentences[n], share_weight) for n in open_]
    for n, lattice, choice in zip(
        open_, lattices, choose_paths(lattices, ngrams, threads=threads), strict=True
    ):
        chosen[n] = [lattice.words[word] for word in choice.paths[0].words]
    return chosen


def _lattice(sentence: Alternatives, share_weight: float) -> Lattice:
    words = [form for forms in sentence for form in forms]
    states = [state for state, forms in enumerate(sentence) for _ in forms]
    arcs = np.array([(state, state + 1, word) for word, state in enumerate(states)], np.int32)
    weights = share_weight * np.array([word.log_share for word in words])
    automaton = Automaton(len(sentence) + 1, arcs, weights)
    return Lattice(tuple(word.form for word in words), (automaton,))

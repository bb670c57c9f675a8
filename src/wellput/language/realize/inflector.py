"""The `Inflector`: the forms of a word by its lemma, part of speech and features.

Forms come from the treebank, which has several for lemmas such as `not` (`not` and `n't`). Where the
treebank has none, they come from the dictionary and rules of lemminflect, which are for English. For
other languages, rules of endings are learned from the treebank.

`choose_wording` chooses among several forms once the order of the words is known: `not` or `n't`, `a`
or `an`, `is` or `'s`, or one of the words of a synset. The forms make a lattice with one state after
every word, and the n-gram model chooses a path.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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

# A form is kept if it has at least this share of the occurrences of its lemma with the same features.
MIN_FORM_SHARE = 0.04
# A form of English must also occur at least this often.
MIN_FORM_COUNT = 2
# Rules depend on at most this many last letters of the lemma.
MAX_ENDING_LETTERS = 4
# Tags of words whose form differs from their lemma.
INFLECTED_TAGS = frozenset(
    ["NNS", "NNPS", "VBD", "VBN", "VBG", "VBZ", "VBP", "JJR", "JJS", "RBR", "RBS"]
)
# Comparatives and superlatives that treebanks also give as lemmas: they are not compared again.
COMPARED = frozenset(["better", "best", "worse", "worst", "more", "most", "less", "least"])
# By universal tag: Penn tags, each with the features that a word with this tag must have. The first
# that fits is taken.
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
    """A form that a node may take, and the natural log of its share among the node's possible forms."""

    form: str
    log_share: float = 0.0


@dataclass(frozen=True, eq=False)
class Inflector:
    """`seen` maps (lemma, tag, features) to the forms in the treebank, the most frequent first, where
    they differ from the form by `rules`. Without rules (for English), lemminflect takes their
    place."""

    seen: Mapping[tuple[str, str, str], tuple[WordForm, ...]]
    rules: UsualValues | None = None

    def forms(self, node: Node) -> tuple[WordForm, ...]:
        """The forms of a node's lemma, the most frequent first."""
        tag = penn_tag(node) if self.rules is None else treebank_tag(node)
        # For English, the features "" mean: the lemma with this tag and any features.
        for feats in (node.feats, "") if self.rules is None else (node.feats,):
            if known := self.seen.get((node.lemma, tag, feats)):
                return known
        if self.rules is not None:
            return (WordForm(form_by_rule(self.rules, node.lemma, tag, node.feats)),)
        # A word that has only a plural (Ptan), such as "scissors", is not inflected, nor is a plural
        # name whose lemma ends with s.
        if "Number=Ptan" in node.feats or (tag == "NNPS" and node.lemma.endswith("s")):
            return (WordForm(node.lemma),)
        return (WordForm(dictionary_form(node.lemma, _tag_in_dictionary(node))),)

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
        forms_by_key: dict[tuple[str, str, str], tuple[WordForm, ...]] = {}
        for lemma, tag, feats, form, share in zip(
            *columns, file.strings(f"{name}.forms"), shares, strict=True
        ):
            key = (lemma, tag, feats)
            forms_by_key[key] = (*forms_by_key.get(key, ()), WordForm(form, share))
        # `packed_strings` stores the places where keys end.
        has_rules = f"{name}.rules.keys.ends" in file.arrays
        return cls(
            forms_by_key, UsualValues.from_file(file, f"{name}.rules") if has_rules else None
        )


def learn_inflections(trees: Iterable[Tree]) -> Inflector:
    """An inflector for English, learned from treebank trees in which ordinary words are in lower case
    at the beginning of the sentence too."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for tree in trees:
        for word in tree.words:
            if word.lemma == UNKNOWN_LABEL != word.form:  # no lemma ("_" is also a word)
                continue
            node = Node((word.form,), "", word.upos, word.xpos, word.lemma, word.feats)
            tag = penn_tag(node)
            for feats in (word.feats, ""):
                counts.setdefault((word.lemma, tag, feats), Counter())[word.form] += 1
    forms_by_key: dict[tuple[str, str, str], tuple[WordForm, ...]] = {}
    for (lemma, tag, feats), forms in counts.items():
        total = sum(forms.values())
        ranked = sorted(forms.items(), key=lambda entry: (-entry[1], entry[0]))
        kept = [
            WordForm(form, round(math.log(count / total), 3))
            for form, count in ranked
            if count >= MIN_FORM_COUNT and count >= MIN_FORM_SHARE * total
        ]
        by_dictionary = dictionary_form(lemma, tag)
        without_feats = forms_by_key.get((lemma, tag, "")) if feats else None
        is_as_in_dictionary = [form.form for form in kept] == [by_dictionary]
        # Forms that the dictionary, or the entry without features, gives too are not stored.
        if kept and not is_as_in_dictionary and without_feats != tuple(kept):
            forms_by_key[lemma, tag, feats] = tuple(kept)
    return Inflector(forms_by_key)


def learn_inflection_rules(trees: Iterable[Tree]) -> Inflector:
    """An inflector for any language, learned from treebank trees: rules of endings, and the forms that
    differ from these rules."""
    nodes_and_forms = [
        (Node((word.form,), "", word.upos, word.xpos, word.lemma, word.feats), word.form)
        for tree in trees
        for word in tree.words
        if word.lemma != UNKNOWN_LABEL or word.form == UNKNOWN_LABEL
    ]
    rules = UsualValues.learn(
        (_rule_keys(node.lemma, treebank_tag(node), node.feats), _change(node.lemma, form))
        for node, form in nodes_and_forms
    )
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for node, form in nodes_and_forms:
        key = (node.lemma, treebank_tag(node), node.feats)
        counts.setdefault(key, Counter())[form] += 1
    forms_by_key: dict[tuple[str, str, str], tuple[WordForm, ...]] = {}
    for key, forms in counts.items():
        total = sum(forms.values())
        ranked = sorted(forms.items(), key=lambda entry: (-entry[1], entry[0]))
        kept = tuple(
            WordForm(form, round(math.log(count / total), 3))
            for form, count in ranked
            if count >= MIN_FORM_SHARE * total
        )
        if len(kept) > 1 or kept[0].form != form_by_rule(rules, *key):
            forms_by_key[key] = kept
    return Inflector(forms_by_key, rules)


def treebank_tag(node: Node) -> str:
    """The treebank's own tag of a node, or the universal one."""
    return node.xpos if node.xpos != UNKNOWN_LABEL else node.upos


def _rule_keys(lemma: str, tag: str, feats: str) -> tuple[str, ...]:
    """The keys of the rules that may apply, from the most general to the longest ending of the
    lemma."""
    tag_and_feats = f"{tag} {feats}"
    max_letters = min(MAX_ENDING_LETTERS, len(lemma))
    endings = (f"{tag_and_feats} -{lemma[-n:]}" for n in range(1, max_letters + 1))
    return (tag_and_feats, *endings)


def _change(lemma: str, form: str) -> str:
    """A rule that turns the lemma into the form: how many characters to take off the lemma's end, and
    what to add (`1 ies` for *city*, *cities*)."""
    n_common = 0
    while n_common < min(len(lemma), len(form)) and lemma[n_common] == form[n_common]:
        n_common += 1
    return f"{len(lemma) - n_common} {form[n_common:]}"


def form_by_rule(rules: UsualValues, lemma: str, tag: str, feats: str) -> str:
    """The form by the rule for the longest known ending of the lemma; the lemma where no rule
    applies."""
    removed, _, added = rules.get(_rule_keys(lemma, tag, feats), "0 ").partition(" ")
    if not removed.isdecimal():
        raise InputError("The realizer's rules for forms are damaged: train it again.")
    return lemma[: max(len(lemma) - int(removed), 0)] + added or lemma


def penn_tag(node: Node) -> str:
    """The Penn tag of a node; where it has none, the tag that its universal tag and features give."""
    if node.xpos != UNKNOWN_LABEL:
        return node.xpos
    features = set(node.feats.split("|"))
    for tag, needed in PENN_TAGS.get(node.upos, ()):
        if needed <= features:
            return tag
    return node.upos


def _tag_in_dictionary(node: Node) -> str:
    """The Penn tag of a node for the dictionary. A verb, adjective or adverb in a name, which has the
    tag of a name, is inflected by its features: *Greater* London, *Breaking* Bad."""
    if node.xpos in ("NNP", "NNPS") and node.upos in ("VERB", "AUX", "ADJ", "ADV"):
        return penn_tag(replace(node, xpos=UNKNOWN_LABEL))
    return penn_tag(node)


def has_dictionary() -> bool:
    """Whether lemminflect is installed."""
    return find_spec("lemminflect") is not None


@cache
def dictionary_form(lemma: str, tag: str) -> str:
    """The form that lemminflect gives a lemma.

    >>> dictionary_form("mouse", "NNS"), dictionary_form("sing", "VBD"), dictionary_form("of", "IN")
    ('mice', 'sang', 'of')
    """
    if tag not in INFLECTED_TAGS or (
        lemma.lower() in COMPARED and tag in ("JJR", "JJS", "RBR", "RBS")
    ):
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
    form_frequency_weight: float,
    threads: int = 1,
) -> list[list[str]]:
    """The chosen forms of each sentence; without n-grams, the most frequent ones. A sentence has the
    possible forms of each word, the most frequent first. `form_frequency_weight` is the weight of a
    form's log share beside the n-gram model's log probability, which depends on the form's frequency
    too."""
    chosen = [[forms[0].form for forms in sentence] for sentence in sentences]
    if ngrams is None:
        return chosen
    undecided = [
        n for n, sentence in enumerate(sentences) if any(len(forms) > 1 for forms in sentence)
    ]
    lattices = [_lattice(sentences[n], form_frequency_weight) for n in undecided]
    for n, lattice, choice in zip(
        undecided, lattices, choose_paths(lattices, ngrams, threads=threads), strict=True
    ):
        chosen[n] = [lattice.words[word] for word in choice.paths[0].words]
    return chosen


def _lattice(sentence: Alternatives, form_frequency_weight: float) -> Lattice:
    words = [form for forms in sentence for form in forms]
    states = [state for state, forms in enumerate(sentence) for _ in forms]
    arcs = np.array([(state, state + 1, word) for word, state in enumerate(states)], np.int32)
    weights = form_frequency_weight * np.array([word.log_share for word in words])
    automaton = Automaton(len(sentence) + 1, arcs, weights)
    return Lattice(tuple(word.form for word in words), (automaton,))

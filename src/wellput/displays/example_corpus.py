"""A synthetic example corpus: a small grammar makes the sentences, rules make the contexts (what may
decide which display is shown), and the displays of an invented speaker are drawn with given
probabilities plus noise.

The corpus shows how the commands work. It cannot show what people do or like. The numbers below and in
`example_data` were chosen to reproduce the pattern of Figure 4 of Foster (2008).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import count
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from wellput.core.errors import InputError
from wellput.core.evalset import ORIGINAL, EvalSet, Item
from wellput.core.options import checks_options
from wellput.core.result import Result
from wellput.displays.schedules import Derivation, nodes_of, words_of
from wellput.displays.strategies import DisplayRule, conditions_of
from wellput.io import check_table, write_evalset
from wellput.io.files import PathLike

Node: TypeAlias = dict[str, Any]
Chances: TypeAlias = list[
    tuple[DisplayRule, list[list[str]], np.ndarray[Any, np.dtype[np.float64]]]
]
"""Rules, and for contexts that fit a rule the displays (lists of motions) and their probabilities."""

SYNTHETIC_NOTICE = (
    "Synthetic example: written by a grammar, displays drawn by chance, shown by nobody."
)
DEFAULT_SENTENCES = 240
DEFAULT_NOISE = 0.05
IDLE_NOISE_SHARE = 0.85
"""The share of the noise in which no display is shown."""

COMMON_WORD_SHARE = 1 / 3
"""The share of common words among the words of a kind. The other words are always new information."""

NEW_COMMON_WORD_SHARE = 0.52
"""The probability that a common word is new information."""

MODIFIED_WORD_SHARE = 0.7
"""The probability that a word that is not common has a modifier."""

EVALUATION_SHARES = {"neutral": 0.3, "positive": 0.4, "negative": 0.3}
"""The probabilities of how the listener likes a property."""


def example_corpus(
    n: int = DEFAULT_SENTENCES, *, noise: float = DEFAULT_NOISE, seed: int = 12345
) -> EvalSet:
    """`n` sentences with derivations and the displays of the invented speaker.

    `noise` is the probability that a node's display does not depend on its context.
    """
    if n < 1 or not 0 <= noise <= 1:
        raise InputError(f"n={n} must be 1 or more, noise={noise:g} between 0 and 1.")
    rng = np.random.default_rng(seed)
    grammar, chances = _data("grammar"), _chances(_data("speaker")["chances"])
    width = len(str(n))
    items = []
    for number in range(1, n + 1):
        derivation = _derive(grammar, rng)
        outputs = {ORIGINAL: _displays(derivation, chances, noise, rng)}
        text = " ".join(words_of(derivation)).replace(" ,", ",") + "."
        name = f"synthetic-{number:0{width}}"
        items.append(Item(name, outputs, (text,), context=SYNTHETIC_NOTICE, derivation=derivation))
    return EvalSet(items)


@dataclass(frozen=True, repr=False)
class ExampleCorpus(Result):
    """`evalset` is the corpus. The displays are the outputs of the system `original`."""

    presented_by: ClassVar[str] = "wellput.displays.reports:example_summary"

    evalset: EvalSet
    noise: float
    seed: int
    path: PathLike | None = None

    def save(self, path: PathLike) -> None:
        """Writes the corpus."""
        write_evalset(self.evalset, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each sentence: its text, and how many displays it has."""
        return [
            {"item": item.id, "text": item.references[0], "displays": len(item.outputs[ORIGINAL])}
            for item in self.evalset
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput displays example`."""
        return {
            "file": None if self.path is None else str(self.path),
            "items": len(self.evalset),
            "noise": self.noise,
            "seed": self.seed,
            "about": SYNTHETIC_NOTICE,
        }


@checks_options
def example(
    *,
    n: int = DEFAULT_SENTENCES,
    noise: float = DEFAULT_NOISE,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> ExampleCorpus:
    """Makes a synthetic example corpus: sentences from a small grammar, displays of an invented
    speaker. It shows how the commands work, not what people do or like.

    Parameters
    ----------
    n
        The number of sentences.
    noise
        The share of nodes whose display does not depend on their context.
    path
        Writes the corpus.
    seed
        The seed of everything random.
    threads
        No effect here.

    Returns
    -------
    ExampleCorpus
        `evalset` is the corpus.

    Raises
    ------
    InputError
        A number is out of range.

    Examples
    --------
    >>> import wellput
    >>> corpus = wellput.displays.example(n=2).evalset
    >>> corpus.items[0].references[0]
    'Although it feeds the garden-hoverflies, our lupin by the porch has smoky blossoms in harvest.'
    >>> len(corpus.items[0].outputs["original"])
    5
    """
    if path is not None:
        check_table(path)
    corpus = ExampleCorpus(example_corpus(n, noise=noise, seed=seed), noise, seed, path)
    if path is not None:
        corpus.save(path)
    return corpus


def _data(name: str) -> Any:
    """The content of a JSON file in `example_data`."""
    place = files("wellput.displays") / "example_data" / f"{name}.json"
    return json.loads(place.read_text(encoding="utf-8"))


def _derive(grammar: Mapping[str, Any], rng: np.random.Generator) -> Node:
    """A sentence of the grammar. Every node has its context. A symbol of the grammar is a phrase, as in
    `AP:COLOR` (the label before the colon), or a word with its tag, as in `the/DT`."""
    numbers = count()

    def node(symbol: str) -> Node:
        word, _, tag = symbol.partition("/")
        name = f"n{next(numbers)}"
        if tag:
            return _leaf(grammar, name, word, tag, rng)
        lines = grammar["rules"][symbol]
        children = [node(part) for part in lines[int(rng.integers(len(lines)))].split()]
        phrase: Node = {"id": name, "label": symbol.partition(":")[0]}
        described = [
            child["features"] for child in children if "property" in child.get("features", {})
        ]
        # A phrase around a single property is about that property.
        if len(described) == 1 and phrase["label"] in ("AP", "PP", "NP"):
            phrase["features"] = {k: v for k, v in described[0].items() if k != "property"}
        return {**phrase, "children": children}

    derivation = node(grammar["start"])
    first = next(child for child in nodes_of(derivation) if "word" in child)
    cast("Node", first)["word"] = first["word"].capitalize()
    return derivation


def _leaf(
    grammar: Mapping[str, Any], name: str, word: str, tag: str, rng: np.random.Generator
) -> Node:
    """A word as a leaf of the derivation. A `word` in angle brackets names a kind of word, such as
    <season>, of which one is drawn."""
    if not word.startswith("<"):
        # A pronoun (PRP) is about something that is known already.
        given = {"features": {"information": "given"}} if tag == "PRP" else {}
        return {"id": name, "label": tag, "word": word, **given}
    kind = word.strip("<>")
    choices = grammar["words"][kind].split()
    rank = int(rng.choice(len(choices), p=_shares(len(choices))))
    chosen = choices[rank]
    is_common = rank < COMMON_WORD_SHARE * len(choices)
    modifiers = grammar["modifiers"].get(kind, "").split()
    if modifiers and not is_common and rng.random() < MODIFIED_WORD_SHARE:
        chosen = f"{modifiers[int(rng.integers(len(modifiers)))]}-{chosen}"
    features = {"semantics": chosen}
    if kind in grammar["properties"]:
        evaluations = list(EVALUATION_SHARES)
        drawn = rng.choice(len(evaluations), p=list(EVALUATION_SHARES.values()))
        features |= {"property": kind, "evaluation": evaluations[int(drawn)]}
    is_new = not is_common or rng.random() < NEW_COMMON_WORD_SHARE
    features["information"] = "new" if is_new else "given"
    is_liked_or_disliked = features.get("evaluation", "neutral") != "neutral"
    if is_new or is_liked_or_disliked:  # a pitch accent, in the notation ToBI
        features["prosody"] = "L+H*" if is_new and is_liked_or_disliked else "H*"
    return {"id": name, "label": tag, "word": chosen, "features": features}


def _shares(n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The k-th most common word is √k times rarer than the first."""
    shares = np.arange(1, n + 1) ** -0.5
    return np.asarray(shares / shares.sum())


def _chances(entries: Sequence[Mapping[str, Any]]) -> Chances:
    """The speaker's probabilities, from the entries of the JSON file."""
    chances: Chances = []
    for entry in entries:
        # The first display is none; it has the probability that the others leave.
        displays = [[], *(text.split(",") for text in entry["displays"])]
        shares = [float(share) for share in entry["displays"].values()]
        rule = DisplayRule(conditions_of(entry["when"]), 0)  # only its conditions are used
        chances.append((rule, displays, np.array([1 - sum(shares), *shares])))
    return chances


def _displays(
    derivation: Derivation, chances: Chances, noise: float, rng: np.random.Generator
) -> dict[str, list[str]]:
    """The speaker's motions on each node of a sentence that has any."""
    all_displays = [motions for _, displays, _ in chances for motions in displays if motions]
    schedule: dict[str, list[str]] = {}
    for node in nodes_of(derivation):
        features = {**node.get("features", {}), "label": node.get("label")}
        _, displays, shares = next(
            rule_with_displays
            for rule_with_displays in chances
            if rule_with_displays[0].fits(features)
        )
        if rng.random() < noise:
            motions = (
                []
                if rng.random() < IDLE_NOISE_SHARE
                else all_displays[int(rng.integers(len(all_displays)))]
            )
        else:
            motions = displays[int(rng.choice(len(displays), p=shares))]
        if motions:
            schedule[node["id"]] = motions
    return schedule

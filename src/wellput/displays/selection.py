"""`select`: chooses schedules (the displays of a sentence) for every sentence by one or more
strategies.

Strategies that learn from a corpus use k-fold cross-validation, so that the displays of a sentence
never influence what is chosen for it. If the user gives other sentences to train on, the strategies
learn from these instead.

Displays are chosen node by node of the sentence's derivation (the tree over its words), depth first and
independently of each other, as in Foster (2008). `strategies` describes the strategies. The *context*
of a node is its label and its features, on which the choice of its display depends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import MAX_PROBLEMS_SHOWN, InputError, counted, did_you_mean
from wellput.core.evalset import EvalSet, Item
from wellput.core.metric import Floats, Integers
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.displays.corpus import UNKNOWN_DISPLAY, Contexts, DisplayCorpus, sentences_of
from wellput.displays.schedules import display_motions
from wellput.displays.strategies import (
    ContextFrequencies,
    DisplayModel,
    choose_by_rules,
    read_rules,
)
from wellput.io import check_files, check_table, write_evalset
from wellput.io.files import PathLike

Strategy: TypeAlias = Literal["rule", "majority", "weighted", "learned"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True, repr=False)
class Selection(Result):
    """The sentences with their new systems, one for each strategy. `displays` has the number of
    displays that each chose; `backed_off` has for each the number of nodes whose context was shortened
    to 0, 1, … features. `nodes` is the number of all nodes."""

    presented_by: ClassVar[str] = "wellput.displays.reports:selection_summary"

    evalset: EvalSet
    nodes: int
    context: tuple[str, ...]
    displays: Mapping[str, int]
    backed_off: Mapping[str, Mapping[int, int]]
    seed: int

    def save(self, path: PathLike) -> None:
        """Writes the sentences with their new systems."""
        write_evalset(self.evalset, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each strategy."""
        return [
            {"system": name, "displays": n, "nodes": self.nodes}
            for name, n in self.displays.items()
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput displays select`."""
        return {
            "items": len(self.evalset),
            "nodes": self.nodes,
            "context": list(self.context),
            "systems": [
                {"system": name, "displays": n, "backed_off": dict(self.backed_off.get(name, {}))}
                for name, n in self.displays.items()
            ],
            "seed": self.seed,
        }


@checks_options
def select(
    evalset: EvalSource | PathLike,
    *,
    strategy: Names = (),
    folds: int = 10,
    train: EvalSource | PathLike | None = None,
    context: Names = (),
    backoff: bool = True,
    rules: str = "foster2008",
    temperature: float = 1.0,
    replace: bool = False,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> Selection:
    """Chooses displays for the nodes of every sentence, by one or more strategies. Each becomes a
    system.

    Parameters
    ----------
    evalset
        Sentences with derivations: an `EvalSet`, or the path of one. To learn from them, they need the
        displays that people showed as the outputs of a system named `original`.
    strategy
        `rule`, `majority`, `weighted`, `learned` (default: the first three).
    folds, train
        The number of folds of the cross-validation, or other sentences to learn from.
    context
        The features of a context (default: all of them, the label first). For a context that the
        training sentences do not have, the last feature is dropped first.
    backoff
        Whether a context that the training sentences do not have is shortened; otherwise it is an
        error.
    rules
        For the strategy `rule`: `foster2008`, `foster2008-table1`, `foster2008-comic`, or a JSON file.
    temperature
        For the strategy `learned`: 1 draws by probability, 0 takes the most probable display.
    replace
        Replaces systems that have the name of a strategy.
    path
        Writes the sentences with their new systems.
    seed
        The seed of folds and draws.
    threads
        No effect here.

    Returns
    -------
    Selection
        `evalset` has the new systems, `displays` the number of displays that each chose.

    Raises
    ------
    InputError
        A sentence has no derivation, no sentence has displays to learn from, or a name is unknown.

    Examples
    --------
    >>> import wellput
    >>> corpus = wellput.displays.example(n=30).evalset
    >>> chosen = wellput.displays.select(corpus, strategy="rule,majority", folds=3)
    >>> chosen.evalset.systems
    ('original', 'rule', 'majority')
    """
    check_files([path], [evalset, train, rules])
    if path is not None:
        check_table(path)
    if temperature < 0:
        raise InputError(f"temperature={temperature:g} must be 0 or more.")
    strategies = strategies_named(strategy)
    selection = select_displays(
        sentences_of(evalset, trees=True).items,
        strategies,
        training=() if train is None else sentences_of(train).items,
        folds=folds,
        context=split_names(context) or None,
        backoff=backoff,
        rules=rules,
        temperature=temperature,
        replace=replace,
        seed=seed,
    )
    if path is not None:
        selection.save(path)
    return selection


def strategies_named(strategy: Names) -> list[Strategy]:
    """The strategies with these names, each once; the first three if no name is given."""
    names = split_names(strategy)
    for name in names:
        if name not in STRATEGIES:
            raise InputError(
                f"No strategy {name!r}.{did_you_mean(name, STRATEGIES)} "
                f"The strategies are {', '.join(STRATEGIES)}."
            )
    return cast("list[Strategy]", list(dict.fromkeys(names)) or list(STRATEGIES[:3]))


@dataclass(frozen=True, eq=False)
class NodeFold:
    """Two masks over the nodes of the corpus: `training` marks the nodes to train on, `targets` those
    to choose displays for."""

    training: NDArray[np.bool_]
    targets: NDArray[np.bool_]


def select_displays(
    items: Sequence[Item],
    strategies: Sequence[Strategy] = ("rule", "majority", "weighted"),
    *,
    training: Sequence[Item] = (),
    folds: int = 10,
    context: Sequence[str] | None = None,
    backoff: bool = True,
    rules: str = "foster2008",
    temperature: float = 1.0,
    replace: bool = False,
    seed: int = 12345,
) -> Selection:
    """Adds a system for each strategy, with the strategy's name.

    Without `training` the strategies learn from the sentences' own original displays, in `folds` folds.
    `context` names the features of a context (default: all). For a context that the training sentences
    do not have, the last feature is dropped first; without `backoff` such a context is an error.
    `rules` is the name of a shipped set or a JSON file.
    """
    _refuse_known(items, strategies, replace=replace)
    corpus = DisplayCorpus.of([*training, *items])
    names = corpus.feature_names() if context is None else tuple(context)
    _refuse_unknown(names, corpus)
    chosen: dict[str, Integers] = {}
    backed_off: dict[str, dict[int, int]] = {}
    learning = [name for name in strategies if name != "rule"]
    if "rule" in strategies:
        chosen["rule"] = choose_by_rules(corpus, read_rules(rules))
    if learning:
        contexts = corpus.contexts(names)
        node_folds = _folds(corpus, len(training), folds, seed)
        for name in learning:
            # Each strategy has its own random numbers, whichever others are used.
            draws = np.random.default_rng([seed, crc32(name.encode())]).random(len(corpus.rows))
            result = np.zeros(len(corpus.rows), dtype=np.int64)
            lengths = np.full(len(corpus.rows), len(names), dtype=np.int64)
            for fold in node_folds:
                _choose(name, corpus, contexts, fold, draws, temperature, result, lengths)
            chosen[name] = result
            if name != "learned":
                is_target = np.logical_or.reduce([fold.targets for fold in node_folds])
                backed_off[name] = _shortened_counts(lengths[is_target], len(names))
                if not backoff:
                    _refuse_unseen(corpus, contexts, lengths, is_target, name)
    in_order: dict[str, Integers] = {name: chosen[name] for name in strategies}
    added, counts = _with_schedules(corpus, len(training), in_order)
    n_nodes = int((corpus.rows >= len(training)).sum())
    return Selection(EvalSet(added), n_nodes, names, counts, backed_off, seed)


def _choose(
    name: Strategy,
    corpus: DisplayCorpus,
    contexts: Contexts,
    fold: NodeFold,
    draws: Floats,
    temperature: float,
    result: Integers,
    lengths: Integers,
) -> None:
    """Chooses the displays of one fold by a strategy: fills in `result` with the codes of the displays,
    and `lengths` with the number of features that were used of each node's context. `draws` has a
    random number for each node."""
    numbers = contexts.numbers[fold.targets]
    if name == "learned":
        model = DisplayModel(contexts, corpus.displays, fold.training)
        result[fold.targets] = model.choose(numbers, draws[fold.targets], temperature=temperature)
        return
    frequencies = ContextFrequencies(contexts, corpus.displays, fold.training)
    lengths[fold.targets] = frequencies.counted_levels[numbers]
    if name == "majority":
        result[fold.targets] = frequencies.majority()[numbers]
    else:
        result[fold.targets] = frequencies.weighted(numbers, draws[fold.targets])


def _folds(corpus: DisplayCorpus, n_training: int, k: int, seed: int) -> list[NodeFold]:
    """The folds: sentences are divided at random into k parts of about equal size. With training
    sentences, which come first in the corpus, there is one fold. Sentences without original displays
    are not trained on."""
    annotated = corpus.is_annotated
    if n_training:
        if not annotated[:n_training].any():
            raise InputError("No training sentence has original displays to learn from.")
        is_training = corpus.rows < n_training
        return [NodeFold(is_training & (corpus.displays != UNKNOWN_DISPLAY), ~is_training)]
    n = int(annotated.sum())
    if n == 0:
        raise InputError(
            "There is nothing to learn from: no sentence has an output of the system original. Give "
            "training sentences (train=FILE), or choose by rules (strategy='rule')."
        )
    if k < 2 or n < k:
        raise InputError(
            f"{k} folds need at least {k} annotated sentences, and there are {n}. "
            "Use fewer folds (at least 2), more sentences, or other sentences to train on (train=FILE)."
        )
    rng = np.random.default_rng([seed, crc32(b"folds")])
    fold_of_sentence = np.zeros(len(corpus.items), dtype=np.int64)
    fold_of_sentence[annotated] = rng.permutation(np.arange(n) % k)
    fold_of_sentence[~annotated] = np.arange(len(corpus.items) - n) % k
    fold_of_node = fold_of_sentence[corpus.rows]
    is_known = corpus.displays != UNKNOWN_DISPLAY
    return [NodeFold(is_known & (fold_of_node != fold), fold_of_node == fold) for fold in range(k)]


def _shortened_counts(lengths: Integers, full: int) -> dict[int, int]:
    """How many nodes' contexts were cut to each number of features."""
    values, counts = np.unique(lengths[lengths < full], return_counts=True)
    return {int(value): int(n) for value, n in zip(values, counts, strict=True)}


def _refuse_known(items: Sequence[Item], strategies: Sequence[str], *, replace: bool) -> None:
    """Raises InputError if a strategy has the name of a system that exists already, unless `replace` is
    true."""
    systems = {system for item in items for system in item.outputs}
    known = [name for name in strategies if name in systems]
    if known and not replace:
        raise InputError(
            f"There is already a system {', '.join(known)}. Replace it (replace=True), or rename it."
        )


def _refuse_unknown(names: Sequence[str], corpus: DisplayCorpus) -> None:
    """Raises InputError for features that no node has."""
    known = {"label", "word", *corpus.feature_names()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"No node has the feature {', '.join(unknown)}; there are {', '.join(sorted(known))}."
        )


def _refuse_unseen(
    corpus: DisplayCorpus,
    contexts: Contexts,
    lengths: Integers,
    is_target: NDArray[np.bool_],
    name: str,
) -> None:
    """Raises InputError for nodes whose context had to be shortened; `is_target` marks the nodes for
    which a display was chosen."""
    unseen = np.flatnonzero(is_target & (lengths < len(contexts.names)))
    if len(unseen):
        raise InputError.collect(
            f"{name}: {counted(len(unseen), 'node')} {'has' if len(unseen) == 1 else 'have'} a context "
            "without a training example:",
            [
                f"item {corpus.items[int(corpus.rows[place])].id}, node {corpus.nodes[place]['id']}: "
                f"{contexts.described(int(contexts.numbers[place]))}"
                for place in map(int, unseen[:MAX_PROBLEMS_SHOWN])
            ],
            "Use fewer features (context=), more sentences, or allow shorter contexts (backoff=True).",
            total=len(unseen),
        )


def _with_schedules(
    corpus: DisplayCorpus, n_training: int, chosen: Mapping[str, Integers]
) -> tuple[list[Item], dict[str, int]]:
    """The sentences with a schedule of each new system, and the number of displays of each."""
    start = int(np.searchsorted(corpus.rows, n_training))
    schedules: list[dict[str, dict[str, list[str]]]] = [
        {name: {} for name in chosen} for _ in corpus.items
    ]
    counts: dict[str, int] = {}
    for name, codes in chosen.items():
        places = start + np.flatnonzero(codes[start:])
        counts[name] = len(places)
        motions = {int(code): display_motions(int(code)) for code in np.unique(codes)}
        rows = corpus.rows[places].tolist()
        for place, row, code in zip(places.tolist(), rows, codes[places].tolist(), strict=True):
            schedules[row][name][corpus.nodes[place]["id"]] = motions[code]
    return [
        item._replace(outputs={**item.outputs, **added})
        for item, added in zip(corpus.items[n_training:], schedules[n_training:], strict=True)
    ], counts

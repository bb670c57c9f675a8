"""The strategies that choose displays: by rules, by how often each display occurs in each context
(majority, weighted), and by a model of the context (learned).

A display is chosen for each node of a sentence's derivation (the tree over its words). The *context* of
a node is its label and its features.

Rules are data: `{"when": {"property": "*", "evaluation": ["positive"]}, "display": ["tn=r",
"bw=u"]}`. The first rule whose conditions a node meets gives its display. A condition is a value of
a feature, a list of values, or `*` for any. A node that meets no rule has no display.

Frequencies: majority takes the most common display of a context, weighted draws one by relative
frequency. A context that the training sentences do not have is shortened: its last feature is
dropped, then the one before, until the training sentences have the shortened context. Displays are
counted for every *level*, the number of features that a context is shortened to.

The model, which is not in Foster's paper (2008), is a multinomial logistic regression over the context.
Every value of every feature has a weight for every display, so the model also works in contexts that
the training sentences do not have. Weights are penalized by half their squares (scikit-learn's C = 1),
the intercepts are not. The temperature divides the log probabilities before a display is drawn: with 1,
displays are drawn by their probabilities; a lower temperature prefers probable displays; 0 always takes
the most probable one.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, did_you_mean
from wellput.core.metric import Floats, Integers
from wellput.displays.corpus import Contexts, DisplayCorpus
from wellput.displays.schedules import MOTIONS, display_code, unknown_motion
from wellput.io.files import InputFile, check_readable

if TYPE_CHECKING:
    from scipy.sparse import csr_array


SHIPPED_RULES = ("foster2008", "foster2008-table1", "foster2008-comic")
ANY_VALUE = "*"


@dataclass(frozen=True)
class DisplayRule:
    """`when` has the allowed values of each feature, None for any value; `display` is the code of the
    display to show."""

    when: Mapping[str, frozenset[Hashable] | None]
    display: int

    def fits(self, features: Mapping[str, Hashable]) -> bool:
        """Whether a node with these features meets all conditions."""
        return all(
            features.get(name) is not None and (values is None or features[name] in values)
            for name, values in self.when.items()
        )


def read_rules(name: str) -> list[DisplayRule]:
    """The rules of a shipped set, by its name, or of a JSON file."""
    if name in SHIPPED_RULES:
        text = (files("wellput.displays") / "rules" / f"{name}.json").read_text(encoding="utf-8")
    else:
        if not name.endswith(".json"):
            raise InputError(
                f"No rules {name!r}.{did_you_mean(name, SHIPPED_RULES)} The shipped rules are "
                f"{', '.join(SHIPPED_RULES)}; a file of your own must end in .json."
            )
        file = InputFile(name)
        check_readable(file)
        text = b"".join(file.chunks()).decode("utf-8-sig", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}.") from None
    entries = value.get("rules") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(f'{name} has no rules: it needs "rules": [{{"when": …, "display": …}}].')
    problems: list[str] = []
    rules = [
        _checked_rule(entry, f"rule {n}", problems) for n, entry in enumerate(entries, start=1)
    ]
    if problems:
        raise InputError.collect(f"{name} has rules that cannot be used:", problems)
    return rules


def _checked_rule(entry: Any, where: str, problems: list[str]) -> DisplayRule:
    """An entry of a JSON file as a rule; what is wrong with it is added to `problems`."""
    when = entry.get("when") if isinstance(entry, dict) else None
    display = entry.get("display") if isinstance(entry, dict) else None
    if not isinstance(when, dict):
        problems.append(f'{where}: "when" must be an object of features and values')
        when = {}
    if not isinstance(display, list):
        problems.append(f'{where}: "display" must be a list of motions')
        display = []
    known = [motion for motion in display if isinstance(motion, str) and motion in MOTIONS]
    problems += [f"{where}: {unknown_motion(motion)}" for motion in display if motion not in known]
    for name, value in when.items():
        if not all(isinstance(allowed, str | int | float | bool) for allowed in _listed(value)):
            problems.append(f"{where}: {name} must be a value, a list of values, or {ANY_VALUE}")
            when = {}
    return DisplayRule(conditions_of(when), display_code(known))


def conditions_of(when: Mapping[str, Any]) -> dict[str, frozenset[Hashable] | None]:
    """The allowed values of each feature, None for any value.

    >>> conditions_of({"property": "*", "evaluation": "positive"})
    {'property': None, 'evaluation': frozenset({'positive'})}
    """
    return {
        name: None if value == ANY_VALUE else frozenset(_listed(value))
        for name, value in when.items()
    }


def _listed(value: Any) -> list[Any]:
    """The allowed values of a condition as a list."""
    return value if isinstance(value, list) else [value]


def choose_by_rules(corpus: DisplayCorpus, rules: Sequence[DisplayRule]) -> Integers:
    """The code of each node's display, by the first rule that fits."""
    names = list(dict.fromkeys(name for rule in rules for name in rule.when))
    contexts = corpus.contexts(names)
    chosen = [_first_display(rules, dict(zip(names, row, strict=True))) for row in contexts.values]
    return np.array(chosen, dtype=np.int64)[contexts.numbers]


def _first_display(rules: Sequence[DisplayRule], features: Mapping[str, Hashable]) -> int:
    """The display of the first rule that fits; 0, no display, if none fits."""
    return next((rule.display for rule in rules if rule.fits(features)), 0)


@dataclass(frozen=True, eq=False)
class ContextLevel:
    """Contexts shortened to their first features. `shortened` has, for each full context, the number of
    its shortened context. `contexts` (numbers of shortened contexts), `displays` and `counts` have an
    entry for each pair of shortened context and display that occurs, ordered by context. Displays are
    places in `ContextFrequencies.seen`."""

    shortened: Integers
    contexts: Integers
    displays: Integers
    counts: Integers

    @property
    def totals(self) -> Integers:
        """How many nodes have each shortened context."""
        size = int(self.shortened.max()) + 1
        return np.bincount(self.contexts, self.counts, minlength=size).astype(np.int64)


class ContextFrequencies:
    """How often each display occurs in each context, over some nodes with known displays."""

    def __init__(self, contexts: Contexts, displays: Integers, nodes: NDArray[np.bool_]) -> None:
        """`displays` has the code of each node's display; `nodes` marks the nodes of the corpus to
        count. `seen` are the codes of the displays that these nodes have."""
        seen, inverse = np.unique(displays[nodes], return_inverse=True)
        pairs, counts = np.unique(
            contexts.numbers[nodes] * max(len(seen), 1) + inverse, return_counts=True
        )
        context, display = pairs // max(len(seen), 1), pairs % max(len(seen), 1)
        self.seen = seen
        self.overall = np.bincount(inverse, minlength=len(seen))
        self.levels = [
            _context_level(shortened, context, display, counts)
            for shortened in _shortened_contexts(contexts)
        ]
        self.counted_levels = self._counted_levels()

    def _counted_levels(self) -> Integers:
        """The highest level at which each context occurs among the counted nodes; −1 if it does not
        occur at any level."""
        highest = np.full(len(self.levels[0].shortened), -1, dtype=np.int64)
        for number, level in enumerate(self.levels):
            highest[level.totals[level.shortened] > 0] = number
        return highest

    def majority(self) -> Integers:
        """The most common display of each context. Among equals, the one that is more common overall,
        then the one with the lower code."""
        chosen = np.zeros(len(self.counted_levels), dtype=np.int64)
        for number, level in enumerate(self.levels):
            # Sorted so that the last entry of each context has its most common display.
            order = np.lexsort(
                (-level.displays, self.overall[level.displays], level.counts, level.contexts)
            )
            last = np.flatnonzero(np.diff(level.contexts[order], append=-1))
            best = np.zeros(int(level.shortened.max()) + 1, dtype=np.int64)
            best[level.contexts[order[last]]] = self.seen[level.displays[order[last]]]
            is_at_level = self.counted_levels == number
            chosen[is_at_level] = best[level.shortened[is_at_level]]
        return chosen

    def weighted(self, numbers: Integers, draws: Floats) -> Integers:
        """The code of a display for each node. `numbers` has the number of each node's context, `draws`
        a random value from [0, 1) for each."""
        chosen = np.zeros(len(numbers), dtype=np.int64)
        levels_of_nodes = self.counted_levels[numbers]
        for number, level in enumerate(self.levels):
            is_at_level = levels_of_nodes == number
            if not is_at_level.any():
                continue
            # The training nodes are numbered, context by context, and display by display within a
            # context. The draw takes one of the nodes with the right context, and so its display.
            ends = np.cumsum(level.counts)
            totals = level.totals
            short = level.shortened[numbers[is_at_level]]
            target = (
                np.floor(draws[is_at_level] * totals[short]) + (np.cumsum(totals) - totals)[short]
            )
            chosen[is_at_level] = self.seen[
                level.displays[np.searchsorted(ends, target, side="right")]
            ]
        return chosen


def _shortened_contexts(contexts: Contexts) -> list[Integers]:
    """For each level, the number of each full context's shortened context."""
    levels: list[Integers] = []
    for length in range(len(contexts.names) + 1):
        short: dict[tuple[Hashable, ...], int] = {}
        numbers = [short.setdefault(values[:length], len(short)) for values in contexts.values]
        levels.append(np.array(numbers, dtype=np.int64))
    return levels


def _context_level(
    shortened: Integers, context: Integers, display: Integers, counts: Integers
) -> ContextLevel:
    """The counts of a level, from the counts of full contexts and displays."""
    order = np.lexsort((display, shortened[context]))
    contexts, displays, counts = shortened[context][order], display[order], counts[order]
    is_first = np.ones(len(contexts), dtype=np.bool_)
    is_first[1:] = (np.diff(contexts) != 0) | (np.diff(displays) != 0)
    first = np.flatnonzero(is_first)
    summed = np.add.reduceat(counts, first) if len(first) else counts
    return ContextLevel(shortened, contexts[first], displays[first], summed.astype(np.int64))


MAX_FIT_ITERATIONS = 200


class DisplayModel:
    """A multinomial logistic regression that predicts the displays of nodes from their contexts. `seen`
    are the codes of the displays that it was trained on."""

    def __init__(self, contexts: Contexts, displays: Integers, nodes: NDArray[np.bool_]) -> None:
        from scipy.optimize import minimize

        self.seen, inverse = np.unique(displays[nodes], return_inverse=True)
        k = len(self.seen)
        used, rows = np.unique(contexts.numbers[nodes], return_inverse=True)
        counts = np.bincount(rows * k + inverse, minlength=len(used) * k).reshape(-1, k)
        self._design = indicators(contexts)
        x = self._design[used]
        totals = counts.sum(axis=1, keepdims=True)

        def loss(flat: Floats) -> tuple[float, Floats]:
            weights = flat.reshape(-1, k)
            log_p = log_softmax(x @ weights)
            penalized = weights.copy()
            penalized[0] = 0.0  # the intercepts
            gradient = x.T @ (totals * np.exp(log_p) - counts) + penalized
            value = -(counts * log_p).sum() + 0.5 * (penalized**2).sum()
            return float(value), np.asarray(gradient).ravel()

        fitted = minimize(
            loss,
            np.zeros(x.shape[1] * k),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": MAX_FIT_ITERATIONS},
        )
        self._weights = fitted.x.reshape(-1, k)

    def log_probabilities(self) -> Floats:
        """The log probability of every display (the columns, as in `seen`) in every context."""
        return log_softmax(np.asarray(self._design @ self._weights))

    def choose(self, numbers: Integers, draws: Floats, *, temperature: float) -> Integers:
        """The code of a display for each node, as `ContextFrequencies.weighted`."""
        scores = self.log_probabilities()
        if temperature == 0:
            return np.asarray(self.seen[scores.argmax(axis=1)][numbers], dtype=np.int64)
        ends = np.exp(log_softmax(scores / temperature)).cumsum(axis=1)
        ends[:, -1] = 1.0  # exactly, in spite of rounding
        return np.asarray(self.seen[(draws[:, None] >= ends[numbers]).sum(axis=1)], dtype=np.int64)


def indicators(contexts: Contexts) -> csr_array:
    """Contexts × columns: one column for the intercept, then one for each value of each feature."""
    from scipy.sparse import csr_array

    columns: dict[tuple[int, Hashable], int] = {}
    indices: list[int] = []
    for values in contexts.values:
        indices.append(0)
        indices += [
            columns.setdefault((feature, value), len(columns) + 1)
            for feature, value in enumerate(values)
        ]
    width = len(contexts.names) + 1
    starts = np.arange(0, len(indices) + 1, width)
    shape = (len(contexts.values), len(columns) + 1)
    return csr_array((np.ones(len(indices)), np.array(indices, np.int64), starts), shape=shape)


def log_softmax(scores: Floats) -> Floats:
    """The log probabilities of each row of scores."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))

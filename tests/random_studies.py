"""Small random studies: what people have on the first day. Few items, few judges, outputs that are
empty or missing, items without references, ratings that are all equal, tiny or far apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference

WORDS = (
    "the cat",
    "sat on",
    "a",
    "it rains",
    "in harbor",
    "ferry",
    "leaves at",
    "noon",
    "not",
    "two",
    "3",
)
SHARE_WITH_OUTPUT = 0.95


def text_of(rng: Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 5, 8])))


@dataclass(frozen=True)
class Study:
    evalset: EvalSet
    ratings: list[Judgment]
    choices: list[Preference]


def study_of(rng: Random) -> Study:
    systems = [f"S{k}" for k in range(rng.randint(1, 6))]
    quality = {system: rng.choice([1, 2, 3, 4, 6]) for system in systems}
    has_documents, has_tags = rng.random() < 0.3, rng.random() < 0.4
    items = []
    for i in range(rng.choice([1, 2, 3, 5, 9, 11, 14, 25])):
        outputs: dict[str, Any] = {
            system: text_of(rng) for system in systems if rng.random() < SHARE_WITH_OUTPUT
        }
        if outputs and rng.random() < 0.15:
            outputs[next(iter(outputs))] = (text_of(rng), text_of(rng))
        references = tuple(text_of(rng) or "x" for _ in range(rng.choice([0, 1, 1, 1, 1, 2])))
        document = f"d{i // 2}" if has_documents else None
        tags = {"domain": rng.choice("ab")} if has_tags else {}
        items.append(Item(str(i), outputs, references, document=document, tags=tags))
    judges = [f"j{j}" for j in range(rng.randint(1, 5))]
    value = value_of(rng, quality)
    left_out = rng.choice([0, 0.3])
    ratings = [
        Judgment(
            judge if rng.random() < 0.97 else "model:x", item.id, system, "q", value(j, system)
        )
        for j, judge in enumerate(judges)
        for item in items
        for system in item.outputs
        if rng.random() >= left_out
    ]
    spread = rng.choice([0, 2])
    choices = []
    for judge in judges:
        for item in items:
            if len(item.outputs) > 1 and rng.random() < 0.8:
                a, b = rng.sample(list(item.outputs), 2)
                better = quality[a] - quality[b] + rng.gauss(0, spread)
                choice: Literal["a", "b", "tie"]
                choice = "a" if better > 0 else "b" if better < 0 else "tie"
                choices.append(Preference(judge, item.id, a, b, "q", choice))
    return Study(EvalSet(items), ratings, choices)


def value_of(rng: Random, quality: dict[str, int]) -> Callable[[int, str], float]:
    """A function from judge and system to a rating, of one of many kinds of scales."""
    kinds: list[Callable[[int, str], float]] = [
        lambda judge, system: 3.0,
        lambda judge, system: float(rng.randint(1, 5)),
        lambda judge, system: quality[system] + 0.5 * judge + rng.gauss(0, 1),
        lambda judge, system: float(rng.random() < quality[system] / 7),
        lambda judge, system: float(min(7, quality[system] + rng.choice([0, 0, 1]))),
        lambda judge, system: 1e9 * rng.random(),
        lambda judge, system: 1e-9 * rng.random(),
        lambda judge, system: float(judge),
    ]
    return rng.choice(kinds)

"""The example of `wellput demo`: announcements of a harbor town by seven systems, and simulated judges.

The evalset is `evalset.jsonl`. Its systems:

- `careful` writes well, and says what the source says.
- `template` fills in templates: correct, but stiff.
- `realizer` is the output of `wellput realize --input labels` for the tree of the first reference.
- `smooth` writes fluent English and gets most facts wrong.
- `hasty` drops words and confuses facts; two of its outputs are missing and one is empty.
- `jumbled` has nearly all words of a reference in a broken order.
- `lr` is the output of `wellput realize --model lr` for the same tree without its labels (relations and
  parts of speech).

Judges are simulated: a rating is the worth of an output plus effects of the judge and the item. The
worth is the rating that the author gave to the output after reading it beside its source and
references, for being correct and well written: from 1 to 7, in steps of a half. The file `worth.tsv`
has all worths.

    rating = worth − severity of the judge + tendency of the judge for the system
             − difficulty of the item + noise

rounded to a whole number from 1 to 7. Each part is drawn from a normal distribution around 0.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np

from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats
from wellput.io import read_evalset

EXAMPLE_BASELINE = "careful"


def harbor_example() -> EvalSet:
    """60 items, each with two references and their trees, and seven systems."""
    with as_file(files("wellput.example") / "evalset.jsonl") as path:
        return read_evalset(path)


def probe_example() -> EvalSet:
    """The second references of the example, with the changes that `wellput probe` makes in them. They
    are stored in a file, so that `wellput probe` can test a fitted metric without a parser."""
    with as_file(files("wellput.example") / "probe_texts.jsonl.gz") as path:
        return read_evalset(path)


EXAMPLE_QUESTION = "quality (simulated)"
LOWEST_RATING, HIGHEST_RATING = 1, 7
N_JUDGES = 8
SEVERITY_SD = 0.5
"""A severe judge rates every output lower than other judges do."""
TENDENCY_SD = 0.25
"""A judge likes or dislikes the style of a system, in all ratings of this system."""
DIFFICULTY_SD = 0.3
"""The outputs of a difficult item are rated lower, by every judge."""
NOISE_SD = 0.9
"""A judge who rates the same output again does not give exactly the same rating."""
JUDGES_SEED = 7
"""A fixed seed: the judges are the same, whatever seed is given for resampling."""


@dataclass(frozen=True, slots=True)
class JudgeEffects:
    """The effects on ratings, in units of the rating scale. Items and systems have the order of
    `worth.tsv`."""

    severity: Floats
    """Shape (judges)."""
    tendency: Floats
    """Shape (systems, judges)."""
    difficulty: Floats
    """Shape (items)."""
    noise: Floats
    """Shape (items, systems, judges)."""

    @classmethod
    def drawn(cls, n_items: int, n_systems: int) -> JudgeEffects:
        """Random effects for this many items and systems, always the same."""
        rng = np.random.default_rng(JUDGES_SEED)
        return cls(
            severity=rng.normal(0, SEVERITY_SD, N_JUDGES),
            tendency=rng.normal(0, TENDENCY_SD, (n_systems, N_JUDGES)),
            difficulty=rng.normal(0, DIFFICULTY_SD, n_items),
            noise=rng.normal(0, NOISE_SD, (n_items, n_systems, N_JUDGES)),
        )

    @property
    def total(self) -> Floats:
        """The sum of all effects, with their signs: shape (items, systems, judges)."""
        return self.tendency - self.severity - self.difficulty[:, None, None] + self.noise


def read_worths() -> dict[str, dict[str, float]]:
    """The worth of each output, by item and system; NaN for a missing output."""
    with (files("wellput.example") / "worth.tsv").open(encoding="utf-8") as lines:
        return {
            row.pop("item"): {system: float(worth or "nan") for system, worth in row.items()}
            for row in csv.DictReader(lines, delimiter="\t")
        }


def judges_of_item(place: int) -> list[int]:
    """The four of the eight judges who rate all outputs of the item at this place (from 0).

    Items come in pairs: the other four judges rate the other item of the pair. Among 14 items in a row,
    any two judges have three items in common.
    """
    # Of the numbers 0 to 7, half have an even number of bits in common with any mask from 1 to 7.
    mask, parity = 1 + place // 2 % (N_JUDGES - 1), place % 2
    return [judge for judge in range(N_JUDGES) if (judge & mask).bit_count() % 2 == parity]


def simulated_judgments(evalset: EvalSet) -> list[Judgment]:
    """The ratings of all outputs of the evalset, which is the example or a part of it.

    The ratings of an output do not depend on which part of the example is given.
    """
    worths = read_worths()
    systems = list(next(iter(worths.values())))
    worth = np.array([list(row.values()) for row in worths.values()])
    unrounded = worth[:, :, None] + JudgeEffects.drawn(*worth.shape).total
    ratings = np.clip(unrounded.round(), LOWEST_RATING, HIGHEST_RATING)
    places = {item: place for place, item in enumerate(worths)}
    return [
        Judgment(
            f"simulated {judge + 1}",
            item.id,
            system,
            EXAMPLE_QUESTION,
            float(ratings[places[item.id], systems.index(system), judge]),
        )
        for item in evalset
        for system in item.outputs
        for judge in judges_of_item(places[item.id])
    ]

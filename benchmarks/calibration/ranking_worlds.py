"""Simulated studies in which the truth about the systems is known.

Judges are severe or mild and have tastes, items and documents are hard or easy and suit some systems,
and a part of the judgments is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wellput.agreement.rankings.judgment_design import QuestionData
from wellput.stats.mixed.equations import Codes, Floats, MixedDesign, crossed_codes, renumbered

POINTS_PER_UNIT = 1.3
"""A unit of the simulated scale in points of the rating scale."""
TIE_WITHIN = 0.4
"""Choices between outputs that are closer than this, in log odds, are ties."""


@dataclass(frozen=True)
class World:
    """Judges × systems × items; `share` of all possible judgments are there. `deviations` has the standard deviations
    of the effects.

    `kind` is linear (whole points), ordinal, binary or choices. With `has_one_system_a_judge` each judge sees one
    system only. Systems with neighboring ranks differ by the `gap` that a study is asked for.
    """

    title: str
    judges: int
    systems: int
    items: int
    deviations: Mapping[str, float]
    share: float = 0.8
    per_document: int = 1
    kind: str = "linear"
    noise: float = 0.8
    has_one_system_a_judge: bool = False

    def study(self, rng: np.random.Generator, gap: float) -> QuestionData:
        if self.kind == "choices":
            return self._choices(rng, gap)
        cells = rng.random((self.judges, self.systems, self.items)) < self.share
        if self.has_one_system_a_judge:
            own = np.arange(self.judges)[:, None] % self.systems == np.arange(self.systems)
            cells &= own[:, :, None]
        judge, system, item = (renumbered(codes) for codes in np.nonzero(cells))
        mains = self._mains(judge, item)
        factors = {
            **mains,
            **{f"{name}:system": crossed_codes(mains[name], system) for name in mains},
        }
        felt = -gap * system + self._noise(rng, len(judge))
        for name, deviation in self.deviations.items():
            felt += rng.normal(0, deviation, int(factors[name].max()) + 1)[factors[name]]
        return self._data(self._answers(felt), MixedDesign(system, factors), judge, item)

    def difference(self, gap: float) -> float:
        """The difference of systems with neighboring ranks on the model's scale."""
        return gap * POINTS_PER_UNIT if self.kind == "linear" else gap

    def _answers(self, felt: Floats) -> Floats:
        if self.kind == "binary":
            return (felt > -0.3).astype(np.float64)
        if self.kind == "ordinal":
            return np.digitize(felt, [-1.8, -0.5, 0.4, 1.5]).astype(np.float64)
        return np.asarray((4 + POINTS_PER_UNIT * felt).round())  # whole points: many ties

    def _mains(self, judge: Codes, item: Codes) -> dict[str, Codes]:
        mains = {"judge": judge, "item": item}
        if self.per_document > 1:
            mains["document"] = renumbered(item // self.per_document)
        return mains

    def _noise(self, rng: np.random.Generator, n: int) -> Floats:
        return rng.normal(0, self.noise, n) if self.kind == "linear" else rng.logistic(0, 1, n)

    def _choices(self, rng: np.random.Generator, gap: float) -> QuestionData:
        pairs = np.array([(a, b) for a in range(self.systems) for b in range(a)])
        judge, pair, item = (
            renumbered(codes)
            for codes in np.nonzero(rng.random((self.judges, len(pairs), self.items)) < self.share)
        )
        systems = pairs[pair]
        latent = -gap * (systems[:, 0] - systems[:, 1]) + rng.logistic(0, 1, len(judge))
        factors = {}
        for name, main in self._mains(judge, item).items():
            both = np.stack([main, main], axis=1)
            codes = crossed_codes(both, systems)
            factors[name], factors[f"{name}:system"] = both, codes
            deviation = self.deviations.get(f"{name}:system", 0.0)
            effects = rng.normal(0, deviation, int(codes.max()) + 1)[codes]
            latent += effects[:, 0] - effects[:, 1]
        values = np.where(np.abs(latent) < TIE_WITHIN, 0.5, latent > 0)
        return self._data(values, MixedDesign(systems, factors), judge, item)

    def _data(self, values: Floats, design: MixedDesign, judge: Codes, item: Codes) -> QuestionData:
        return QuestionData(
            "quality",
            values,
            design,
            tuple(f"S{system}" for system in range(self.systems)),
            tuple(f"J{judge}" for judge in range(int(judge.max()) + 1)),
            judge,
            item,
            self._mains(judge, item).get("document"),
        )


def first_judgments(data: QuestionData, order: Codes, n: int) -> QuestionData:
    """The study with only the first `n` judgments of this order."""
    kept = np.zeros(len(data.values), np.bool_)
    kept[order[:n]] = True
    judges = renumbered(data.judges[kept])
    documents = None if data.documents is None else renumbered(data.documents[kept])
    return QuestionData(
        data.question,
        data.values[kept],
        data.design.rows(kept),
        data.system_names,
        tuple(f"J{judge}" for judge in range(int(judges.max()) + 1)),
        judges,
        renumbered(data.items[kept]),
        documents,
    )


OUTPUTS = {"judge": 0.5, "item": 0.6, "judge:system": 0.3, "item:system": 0.5}
DOCUMENTS = {
    "judge": 0.5,
    "item": 0.3,
    "document": 0.5,
    "judge:system": 0.2,
    "item:system": 0.2,
    "document:system": 0.4,
}
LATENT = {"judge": 0.8, "item": 0.8, "judge:system": 0.5, "item:system": 0.6}
STRONG = {**OUTPUTS, "judge:system": 0.8}
WITHOUT_TASTES = {**OUTPUTS, "judge:system": 0.0}
SEVERE = {**WITHOUT_TASTES, "judge": 0.3}
WORLDS = (
    World("3 judges, 60 items", 3, 3, 60, OUTPUTS),
    World("4 judges, 100 items", 4, 3, 100, OUTPUTS),
    World("6 judges, 60 items", 6, 3, 60, OUTPUTS),
    World("12 judges, 30 items", 12, 4, 30, OUTPUTS),
    World("4 items, 5 judges", 5, 3, 4, OUTPUTS),
    World("6 items, 5 judges", 5, 3, 6, OUTPUTS),
    World("8 items, 10 judges", 10, 3, 8, OUTPUTS),
    World("6 judges without tastes", 6, 3, 60, WITHOUT_TASTES),
    World("6 judges of strong tastes", 6, 3, 60, STRONG),
    World("8 systems, 6 judges, 40 items", 6, 8, 40, OUTPUTS, share=0.5),
    World("a crowd of 30, 8% of the cells", 30, 4, 60, OUTPUTS, share=0.08),
    World("12 documents of 5 items", 6, 3, 60, DOCUMENTS, per_document=5),
    World("4 documents of 8 items, 5 judges", 5, 3, 32, DOCUMENTS, per_document=8),
    World("3 documents of 12 items, 6 judges", 6, 3, 36, DOCUMENTS, per_document=12),
    World("2 documents of 12 items, 6 judges", 6, 3, 24, DOCUMENTS, per_document=12),
    World("2 judges for each of 3 systems", 6, 3, 30, SEVERE, has_one_system_a_judge=True),
    World("3 judges for each of 2 systems", 6, 2, 30, SEVERE, has_one_system_a_judge=True),
    World("5 judges for each of 3 systems", 15, 3, 30, SEVERE, has_one_system_a_judge=True),
    World("grades 1 to 5, 8 judges, 30 items", 8, 3, 30, LATENT, kind="ordinal"),
    World("grades 1 to 5, a crowd of 30", 30, 3, 30, LATENT, kind="ordinal", share=0.15),
    World("yes or no, 8 judges, 40 items", 8, 3, 40, LATENT, kind="binary"),
    World("choices, 3 judges, 60 items", 3, 2, 60, LATENT, kind="choices"),
    World("choices with ties, 10 judges", 10, 4, 30, LATENT, kind="choices", share=0.25),
)
PEEKED = (
    World("8 judges at the same time", 8, 3, 40, OUTPUTS, share=0.6),
    World("20 judges one after the other", 20, 3, 40, OUTPUTS, share=0.25),
    World("20 judges of strong tastes, one after the other", 20, 3, 40, STRONG, share=0.25),
    World("choices, 12 judges at the same time", 12, 2, 40, LATENT, kind="choices", share=0.6),
)

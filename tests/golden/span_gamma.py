"""Writes span_gamma.json: the disorders of best alignments and of random panels, by
pygamma-agreement 0.5.9.

python -m venv /tmp/oracle && /tmp/oracle/bin/pip install pygamma-agreement==0.5.9
/tmp/oracle/bin/python tests/golden/span_gamma.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from pyannote.core import Segment
from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum, ShuffleContinuumSampler

Mark = tuple[int, int, int, int]
RANDOM_PANELS = 150
KEPT_PANELS = 4


def spans(
    rng: np.random.Generator, judges: int, length: int, most: int, longest: int
) -> list[Mark]:
    found = {(0, 0, 5, 0), (judges - 1, length - 4, length, 1)}
    for judge in range(judges):
        for _ in range(int(rng.integers(0, most))):
            start = int(rng.integers(0, length - longest))
            kind = int(rng.integers(0, 2))
            found.add((judge, start, start + int(rng.integers(1, longest)), kind))
    return sorted(found)


def continuum(marks: list[Mark], judges: int) -> Any:
    made = Continuum()
    for judge in range(judges):
        made.add_annotator(f"judge {judge}")
    for judge, start, end, kind in marks:
        made.add(f"judge {judge}", Segment(start, end), "ab"[kind])
    return made


def listed(sample: Any) -> list[tuple[int, float, float, int]]:
    names = list(sample.annotators)
    return [
        (names.index(judge), unit.segment.start, unit.segment.end, "ab".index(unit.annotation))
        for judge, unit in sample
    ]


def main() -> None:
    rng = np.random.default_rng(5)
    difference = CombinedCategoricalDissimilarity()
    alignments = []
    for judges, length, most, longest in ((2, 200, 8, 30), (3, 200, 6, 30), (4, 200, 5, 30)):
        for _ in range(5):
            marks = spans(rng, judges, length, most, longest)
            best = continuum(marks, judges).get_best_alignment(difference)
            alignments.append({"judges": judges, "spans": marks, "disorder": float(best.disorder)})
    panels = []
    for judges in (2, 3):
        marks = spans(rng, judges, 1200, 20, 25)
        made = continuum(marks, judges)
        np.random.seed(1)  # noqa: NPY002 - pygamma-agreement draws from this one
        sampler = ShuffleContinuumSampler()
        sampler.init_sampling(made)
        drawn = [sampler.sample_from_continuum for _ in range(RANDOM_PANELS)]
        disorders = [float(one.get_best_alignment(difference).disorder) for one in drawn]
        panels.append(
            {
                "judges": judges,
                "length": 1200,
                "spans": marks,
                "observed": float(made.get_best_alignment(difference).disorder),
                "drawn": [
                    {"spans": listed(one), "disorder": disorder}
                    for one, disorder in list(zip(drawn, disorders, strict=True))[:KEPT_PANELS]
                ],
                "mean": float(np.mean(disorders)),
                "sd": float(np.std(disorders, ddof=1)),
                "n": RANDOM_PANELS,
            }
        )
    path = Path(__file__).with_name("span_gamma.json")
    path.write_text(json.dumps({"alignments": alignments, "panels": panels}) + "\n")


if __name__ == "__main__":
    main()

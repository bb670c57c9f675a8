"""`agree` says which errors the best metric does not notice, where it is shown to agree with people."""

from __future__ import annotations

import pytest

import wellput
from wellput.agreement.advice import shown_to_agree
from wellput.agreement.probe_results import BlindSpots, Probe
from wellput.agreement.result import Agreement
from wellput.core.judgment import Judgment

ENGLISH = "The {} ferry leaves the old harbor at noon today"
GERMAN = "Das {} Schiff fährt heute um zwölf vom alten Hafen ab"
SYSTEMS = "ABCDEF"


def judged(sentence: str) -> tuple[wellput.EvalSet, list[Judgment]]:
    """System s of six leaves out s words, in some items one more, and people notice most of it."""
    references = [sentence.format(color) for color in ("red", "blue", "small", "slow") * 5]
    lost = {name: [s + item % 2 for item in range(20)] for s, name in enumerate(SYSTEMS)}
    outputs = {
        name: [
            " ".join(text.split()[: len(text.split()) - n])
            for text, n in zip(references, own, strict=True)
        ]
        for name, own in lost.items()
    }
    ratings = [
        Judgment(judge, str(item + 1), name, "quality", 9.0 - n + (item * n + shift) % 3)
        for judge, shift in (("Kim", 0), ("Lee", 1))
        for name, own in lost.items()
        for item, n in enumerate(own)
    ]
    return wellput.EvalSet.of(outputs, references), ratings


def test_the_best_metric_is_probed() -> None:
    result = wellput.agree(*judged(ENGLISH), "ssa,length")
    hint = result.advice[-1]
    assert hint.startswith("In 60 texts of the example of wellput demo, ssa does not notice these")
    assert hint.endswith("See wellput probe -m ssa.")
    assert hint in str(result).replace("\n", " ")
    assert result.to_dict()["advice"][-1] == hint


def test_outputs_in_another_language_are_no_reason_to_probe() -> None:
    result = wellput.agree(*judged(GERMAN), "ssa")
    assert "probe" not in " ".join(result.advice)


def row(metric: str, value: float, p: float | None, question: str = "q") -> Agreement:
    return Agreement(
        metric,
        question,
        "segment",
        "none",
        "pearson",
        value,
        low=value - 0.1,
        high=value + 0.1,
        p_value=p,
        p_adjusted=p,
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("a", 0.5, 0.01), row("b", 0.4, 0.01)], ["a"]),
        ([row("a", 0.5, 0.2), row("b", 0.4, 0.01)], []),  # the best one may agree by chance
        ([row("a", 0.5, None)], []),
        ([row("a", -0.5, 0.01)], []),
        ([row("length-only", 0.9, 0.01), row("words", 0.8, 0.01), row("a", 0.5, 0.01)], ["a"]),
        ([row("a", 0.5, 0.01), row("b", 0.4, 0.01, "r")], ["a", "b"]),
    ],
)
def test_the_best_metrics_that_are_shown_to_agree(
    rows: list[Agreement], expected: list[str]
) -> None:
    assert shown_to_agree(rows, neutral=["words"]) == expected


def test_what_is_missed_is_what_misleads_and_what_is_not_seen() -> None:
    def probe(kind: str, severity: str, accuracy: float, low: float) -> Probe:
        wins = (accuracy, 0.0, low, 1.0)
        return Probe(
            "m", kind, severity, 60, *wins, 0.1, None, None, 0.0, 1 - accuracy, 0.9 - accuracy
        )

    probes = (
        probe("negation", "critical", 1.0, 0.94),
        probe("number", "major", 0.5, 0.37),
        probe("casing", "harmless", 0.5, 0.37),
        probe("name", "major", 0.1, 0.02),
    )
    assert [one.verdict for one in probes] == ["noticed", "blind", "blind", "misled"]
    assert BlindSpots(60, probes, "").missed == ["name", "number"]

"""Error spans of judges: how far they agree, and who blames the words that people marked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import wellput
from wellput.agreement.blamed_words import PEOPLE
from wellput.agreement.marked_outputs import marked_questions
from wellput.agreement.span_summary import marked_by_half, panels_of, summarize_spans
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.metrics.accuracy import GenerationStringAccuracy
from wellput.metrics.alignments import token_spans
from wellput.stats.spans import gamma

TEXTS = [
    "the cat sat on a mat",
    "it rains all day",
    "we eat at seven",
    "a boat came",
    "go home now",
]
Spans = Sequence[tuple[Any, ...]]


def cell(spans: Spans) -> str:
    keys = ("start", "end", "severity")
    return json.dumps([dict(zip(keys, span, strict=False)) for span in spans])


def judgment(
    judge: str, item: int, spans: Spans, system: str = "A", value: float = 1.0
) -> Judgment:
    return Judgment(judge, str(item), system, "errors", value, {"spans": cell(spans)})


def evalset(texts: Sequence[str] = TEXTS, documents: Sequence[str] | None = None) -> EvalSet:
    return EvalSet(
        [
            Item(
                str(place),
                {"A": text},
                references=(text.replace("a mat", "the mat").replace("seven", "nine"),),
                document=documents[place] if documents else None,
            )
            for place, text in enumerate(texts)
        ]
    )


def summary(marks: Mapping[str, Mapping[int, Spans]], **options: Any) -> Any:
    answers = [judgment(j, item, own) for j, of in marks.items() for item, own in of.items()]
    [marked] = marked_questions(evalset(**options), answers)
    return summarize_spans(marked)


def test_characters_pooled_over_pairs_and_outputs() -> None:
    """Two judges: 3 of 3 and 7 characters in output 0, none of 4 and 2 in output 1.

    F1 = 2 · 3 / (3 + 7 + 4 + 2). By chance 3 · 7 / 20 + 4 · 2 / 16 characters are marked by both.
    """
    found = summary({"x": {0: [(4, 7)], 1: [(0, 4)]}, "y": {0: [(0, 7)], 1: [(9, 11)]}})
    assert found.f1["value"] == pytest.approx(6 / 16)
    assert found.chance == pytest.approx(2 * (21 / 20 + 8 / 16) / 16)
    assert found.leave_one_out["value"] == pytest.approx(6 / 16)
    assert (found.n_judges, found.n_shared, found.n_spans) == (2, 2, 4)
    [x, y] = found.judges
    assert (x.precision, x.recall) == (pytest.approx(3 / 7), pytest.approx(3 / 9))
    assert (y.precision, y.recall) == (x.recall, x.precision)


def test_the_rest_is_what_half_of_the_others_marked() -> None:
    """Of two others one is enough, of three it takes two."""
    marks = [np.array(row, bool) for row in ([1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0])]
    assert marked_by_half(marks[:2]).tolist() == [True, True, True, False]
    assert marked_by_half(marks).tolist() == [False, True, True, False]


def test_nothing_marked_by_both_says_nothing() -> None:
    found = summary({"x": {0: [], 1: []}, "y": {0: [], 1: []}})
    assert found.f1["value"] is None and found.gamma["value"] is None
    assert found.severity is None and found.missing is None


def test_judges_without_shared_outputs() -> None:
    found = summary({"x": {0: [(0, 3)]}, "y": {1: [(0, 2)]}})
    assert found.f1 is None
    assert found.note == "no two judges marked errors in the same output"


def test_severities_of_spans_that_two_judges_marked() -> None:
    """Three pairs, two with the same severity; a span without a partner does not count."""
    found = summary(
        {
            "x": {0: [(0, 3, "minor"), (4, 7, "major")], 1: [(0, 2, "minor")]},
            "y": {0: [(0, 3, "minor"), (5, 7, "minor")], 1: [(0, 3, "minor"), (9, 12, "major")]},
        }
    )
    assert found.severity["n"] == 3
    assert found.severity["same"] == pytest.approx(2 / 3)
    # α: 2 of 6 ordered pairs differ; 5 minor and 1 major differ by chance in 2 · 5 of 6 · 5.
    assert found.severity["value"] == pytest.approx(1 - (2 / 6) / (10 / 30))


def test_what_is_missing_has_no_place() -> None:
    gone = ("missing", "missing", "major")
    found = summary(
        {
            "x": {0: [gone], 1: [(0, 2, "minor")], 2: []},
            "y": {0: [gone], 1: [(0, 2, "minor")], 2: []},
        }
    )
    assert found.f1["value"] == 1.0 and found.gamma["value"] == 1.0
    assert found.n_missing == 2 and found.missing["alpha"] == 1.0


def test_outputs_are_laid_end_to_end_for_each_set_of_judges() -> None:
    answers = [
        *(judgment(j, item, [(1, 3, "minor")]) for j in "xy" for item in (0, 1)),
        *(judgment(j, 2, [(0, 2, "major")]) for j in "xyz"),
        judgment("x", 3, [(0, 1)]),
    ]
    [marked] = marked_questions(evalset(), answers)
    panels = panels_of([one for one in marked.outputs if len(one.spans) > 1])
    two, three = sorted(panels, key=lambda panel: panel.spans.n_judges)
    # The first text has 20 characters, and a place between two: the second begins at 21.
    assert sorted(set(two.spans.starts.tolist())) == [1, 22]
    assert two.text_ends.tolist() == [21, 38]
    assert three.spans.n_judges == 3 and three.text_items.tolist() == [2]


def limited_to(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamma, "MIN_MAX_STEPS", steps)
    monkeypatch.setattr(gamma, "MAX_STEPS_PER_SPAN", 0)


def many_marks(n_judges: int) -> dict[str, dict[int, Spans]]:
    spans = [(0, 2, "minor"), (3, 5, "minor"), (6, 8, "minor"), (9, 12, "minor")]
    return {f"j{n}": {0: spans, 1: spans[: n + 1]} for n in range(n_judges)}


def test_gamma_of_many_judges_is_that_of_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three judges' spans take about 100,000 steps at a time, those of three pairs about 17,000. There
    are one observed panel and at least 30 random panels."""
    limited_to(31 * 50_000, monkeypatch)
    found = summary(many_marks(3))
    assert found.note.startswith("γ is that of all pairs of judges: to align the spans")
    assert 0 < found.gamma["value"] < 1


def test_gamma_of_very_many_judges_is_that_of_some_of_their_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited_to(31 * 30_000, monkeypatch)
    found = summary(many_marks(5))
    assert re.match(r"γ is that of [3-5] of 10 pairs of judges, drawn at random: ", found.note)
    assert 0 < found.gamma["value"] < 1
    assert found == summary(many_marks(5))


def test_gamma_is_undefined_where_two_judges_have_too_many_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited_to(31 * 5_000, monkeypatch)
    found = summary(many_marks(3))
    assert found.gamma["value"] is None
    assert found.note == (
        "γ is undefined: there are too many ways to align the spans of even two judges"
    )
    assert found.f1["value"] > 0


def test_gamma_says_if_its_random_shifts_are_fewer_than_precision_asks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert summary(many_marks(2)).gamma["draws"] > 80
    limited_to(60 * 5_300, monkeypatch)
    found = summary(many_marks(2))
    assert 30 <= found.gamma["draws"] < 80
    assert re.fullmatch(
        rf"γ is from {found.gamma['draws']} random shifts, because more would take long: the "
        r"disagreement expected by chance is known to within \d\.\d%",
        found.note,
    )


def test_many_marks_of_four_judges_are_aligned_by_pairs() -> None:
    """All four at once take seconds for each of at least 30 random shifts."""
    rng = np.random.default_rng(1)
    marks: dict[str, dict[int, list[tuple[int, int, str]]]] = {}
    for judge in "abcd":
        for item in (0, 1):
            starts = rng.integers(0, 980, 100).tolist()
            marks.setdefault(judge, {})[item] = [
                (start, start + int(rng.integers(1, 16)), str(rng.choice(["minor", "major"])))
                for start in starts
            ]
    found = summary(marks, texts=["x y " * 250] * 2)
    assert found.note.startswith("γ is that of all pairs of judges")
    assert found.gamma["draws"] >= 30


def test_spans_outside_the_output_are_named() -> None:
    answers = [judgment("x", 0, [(0, 99)]), judgment("y", 1, [(3, 3)])]
    bad = Judgment("z", "0", "A", "errors", 1.0, {"spans": "{not json"})
    with pytest.raises(InputError) as raised:
        marked_questions(evalset(), [*answers, bad])
    message = str(raised.value)
    assert (
        "judge x, item 0, system A: a span ends at 99, but the output has 20 characters" in message
    )
    assert "judge y, item 1, system A: span 1 goes from 3 to 3: it has no characters" in message
    assert "judge z, item 0, system A: its spans are not JSON" in message


def test_an_empty_cell_says_nothing_about_errors() -> None:
    silent = Judgment("y", "0", "A", "errors", 1.0, {"spans": ""})
    [marked] = marked_questions(evalset(), [judgment("x", 0, [(0, 3)]), silent])
    assert list(marked.outputs[0].spans) == ["x"]


def test_tokens_are_found_in_the_text_again() -> None:
    assert token_spans('He said "no".', ["He", "said", '"', "no", '"', "."]) == [
        (0, 2), (3, 7), (8, 9), (9, 11), (11, 12), (12, 13),
    ]  # fmt: skip
    # 13a makes & of &amp;: it has no place, and the next token is found again.
    assert token_spans("a &amp; b", ["a", '"', "b"]) == [(0, 1), None, (8, 9)]


def test_gsa_blames_what_its_alignment_marks() -> None:
    items = [Item("1", {"A": "a cat sat on the mat"}, references=("the cat sat on the mat",))]
    assert GenerationStringAccuracy().blamed(Batch.of("A", items)) == [[(0, 1)]]
    right = [Item("1", {"A": "the cat"}, references=("the cat",))]
    assert GenerationStringAccuracy().blamed(Batch.of("A", right)) == [[]]


def level_span(**options: Any) -> Any:
    """gsa blames "a" (15 to 16) and "seven" (10 to 15); people marked the second, and "cat"."""
    answers = [
        judgment(judge, item, own, value=float(item + place))
        for place, judge in enumerate(("x", "y"))
        for item, own in enumerate([[(4, 7)], [], [(10, 15)], [], []])
    ]
    machine = [judgment("model:m", item, [(0, 2)] if item else [(4, 7)]) for item in range(4)]
    return wellput.agree(evalset(), [*answers, *machine], "gsa", level="span", **options)


def test_blamed_words_against_people() -> None:
    found = level_span()
    rows = {row.scorer: row for row in found.blamed}
    # Each of two judges: 5 of the 6 blamed characters are marked, 5 of the 8 marked are blamed.
    assert rows["gsa"].precision["value"] == pytest.approx(5 / 6)
    assert rows["gsa"].recall["value"] == pytest.approx(5 / 8)
    assert rows["gsa"].f1["value"] == pytest.approx(10 / 14)
    assert rows["gsa"].chance["f1"] == pytest.approx(2 * (1 * 3 / 20 + 5 * 5 / 15) / 14)
    # The machine blames 3 + 2 + 2 + 2 characters and says nothing about output 4.
    assert rows["model:m"].precision["value"] == pytest.approx(3 / 9)
    assert rows["model:m"].n_outputs == 4
    assert rows[PEOPLE].f1["value"] == 1.0
    assert found.ranking[0].question == "errors"
    assert found.to_dict()["blamed"][0]["scorer"] == "gsa"
    assert list(found.to_pandas()["scorer"]) == ["gsa", "model:m", "people"]


def test_the_tables_say_who_blames_what() -> None:
    shown = str(level_span())
    assert "Who blames the words that people marked: errors" in shown
    assert "gsa blames 8% of all characters, and a person marked 83% of these." in shown
    assert "people among themselves" in shown


def test_every_agreement_says_how_far_people_mark_the_same_errors() -> None:
    answers = [
        judgment(judge, item, own, value=float(item + place))
        for place, judge in enumerate(("x", "y"))
        for item, own in enumerate([[(4, 7)], [], [(10, 15)], [], []])
    ]
    found = wellput.agree(evalset(), answers, "ssa")
    assert found.spans[0].f1 is not None
    assert found.spans[0].f1["value"] == 1.0
    assert "Do judges mark the same errors?" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "domain"}, "by= is for correlations"),
        ({"coefficient": "kendall", "models": True}, "coefficient=, models= are for correlations"),
    ],
)
def test_options_of_correlations_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        level_span(**options)


def test_a_metric_that_blames_nothing_is_refused() -> None:
    answers = [judgment("x", 0, [(0, 3)])]
    with pytest.raises(InputError, match="bleu blames none"):
        wellput.agree(evalset(), answers, "bleu", level="span")
    with pytest.raises(InputError, match="needs error spans"):
        wellput.agree(evalset(), [Judgment("x", "0", "A", "q", 1.0)], "gsa", level="span")


def test_documents_are_left_out_whole() -> None:
    marks: dict[str, dict[int, Spans]] = {
        "x": {place: [(0, 2)] for place in range(5)},
        "y": {place: [(0, 3)] if place % 2 else [(1, 2)] for place in range(5)},
    }
    alone, together = summary(marks), summary(marks, documents=["d", "d", "e", "e", "f"])
    assert alone.unit == "item" and together.unit == "document"
    assert alone.f1["value"] == together.f1["value"]
    assert alone.f1["low"] != together.f1["low"]


def test_the_order_of_judgments_and_of_marks_changes_nothing() -> None:
    marks: dict[str, dict[int, Spans]] = {
        "J1": {0: [(0, 5, "minor"), (6, 9, "major")], 1: [(0, 4, "major")]},
        "J2": {0: [(0, 5, "minor"), (0, 5, "major")], 1: [(2, 6, "minor")]},
    }
    rows = [
        judgment(judge, place, spans)
        for judge, outputs in marks.items()
        for place, spans in outputs.items()
    ]
    turned = [
        judgment(judge, place, list(reversed(spans)))
        for judge, outputs in reversed(marks.items())
        for place, spans in reversed(outputs.items())
    ]
    first, second = (
        summarize_spans(marked_questions(evalset(), answers)[0]) for answers in (rows, turned)
    )
    assert repr(first) == repr(second)

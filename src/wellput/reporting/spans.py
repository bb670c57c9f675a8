"""Tables about error spans: how far judges mark the same errors, and which metrics find the words that
people marked as wrong. To *blame* a word is to say that it is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wellput.agreement.blamed_words import PEOPLE, BlamedWords
from wellput.agreement.result import AgreementResult
from wellput.agreement.span_summary import SpanSummary
from wellput.core.errors import counted
from wellput.reporting.table import Table, number, p_text, with_interval

BLAME_COLUMNS = (
    "scorer", "question", "precision", "precision_low", "precision_high", "precision_chance", "recall",
    "recall_low", "recall_high", "recall_chance", "f1", "f1_low", "f1_high", "f1_chance",
    "above_chance", "p_value", "n_outputs", "share_blamed", "share_marked",
)  # fmt: skip
MAX_JUDGES_SHOWN = 20
"""A table of judges has at most this many rows."""


def span_tables(result: AgreementResult) -> list[Table]:
    """A table with a row for each question; for questions with three judges or more, also a table of
    the judges."""
    return [
        _span_table(result),
        *(_judges_table(row) for row in result.spans if len(row.judges) > 2),
    ]


def _span_table(result: AgreementResult) -> Table:
    rows = [
        [
            row.question,
            str(row.n_judges),
            str(row.n_shared),
            str(row.n_spans),
            _figure(row.f1),
            _or_dash(row.chance),
            _extremes(row.pairs),
            _figure(row.leave_one_out),
            _figure(row.gamma),
            _figure(row.severity),
        ]
        for row in result.spans
    ]
    return Table(
        columns=[
            "question",
            "judges",
            "outputs",
            "spans",
            "F1",
            "chance",
            "pairs (min to max)",
            "against the rest",
            "γ",
            "severity α",
        ],
        rows=rows,
        title="Do judges mark the same errors?",
        notes=[*(note for row in result.spans for note in _sentences(row)), *_method(result)],
        name="spans",
    )


def _sentences(row: SpanSummary) -> list[str]:
    """What the figures of one question mean."""
    if row.f1 is None:
        return [f"{row.question}: {row.note}."]
    sentences = []
    if row.f1["value"] is not None:
        sentences.append(
            f"{row.question}: of the characters that one judge marked, another marked "
            f"{row.f1['value']:.0%}; {row.chance or 0.0:.0%} would be chance."
        )
    if row.severity is not None and row.severity["same"] is not None:
        sentences.append(
            f"{row.question}: where two judges marked the same place "
            f"({counted(row.severity['n'], 'pair')} of spans), they gave the same severity in "
            f"{row.severity['same']:.0%}."
        )
    if row.n_missing:
        alpha = "" if row.missing is None else _or_dash(row.missing["alpha"])
        agreed = f" On whether something is missing, α is {alpha}." if alpha else ""
        sentences.append(
            f"{row.question}: {counted(row.n_missing, 'mark')} for something that is missing "
            f"{'has' if row.n_missing == 1 else 'have'} no place in the output and "
            f"{'is' if row.n_missing == 1 else 'are'} not in F1 and γ.{agreed}"
        )
    if row.note:
        sentences.append(f"{row.question}: {row.note}.")
    return sentences


def _method(result: AgreementResult) -> list[str]:
    """What the figures mean, and how they were computed."""
    if all(row.f1 is None for row in result.spans):
        return []
    draws = max((row.gamma["draws"] for row in result.spans if row.gamma), default=0)
    units = ", ".join(dict.fromkeys(f"{row.unit}s" for row in result.spans))
    return [
        "F1: twice the characters that both judges marked, divided by those that each marked; pooled "
        "over all pairs of judges. Chance: each marks as many characters of each output, anywhere in "
        "it. Against the rest: each judge, and what at least half of the other judges marked.",
        f"γ (Mathet et al. 2015): 1 is perfect agreement on places and severities, 0 is chance, from "
        f"{counted(draws, 'random shift')} of the marks.",
        f"[low, high]: {100 * result.confidence:g}% intervals, by leaving {units} out one at a time. "
        f"They hold for these systems and judges, other {units}.",
    ]


def _judges_table(row: SpanSummary) -> Table:
    ordered = sorted(row.judges, key=lambda judge: -1.0 if judge.f1 is None else judge.f1)
    shown = ordered[:MAX_JUDGES_SHOWN]
    hidden = len(ordered) - len(shown)
    return Table(
        columns=["judge", "outputs", "spans", "precision", "recall", "F1"],
        rows=[
            [
                judge.judge,
                str(judge.n_outputs),
                str(judge.n_spans),
                *(_or_dash(figure) for figure in (judge.precision, judge.recall, judge.f1)),
            ]
            for judge in shown
        ],
        title=f"Each judge against the rest: {row.question}",
        notes=[
            "Precision: the share of the judge's marked characters that at least half of the others "
            "marked. Recall: the share of theirs that the judge marked. Lowest F1 first.",
            *([f"{counted(hidden, 'judge')} with a higher F1 not shown."] if hidden else []),
        ],
        name="span-judges",
    )


def blame_tables(result: AgreementResult) -> list[Table]:
    """For each question, how far metrics that say which words are wrong blame the words that people
    marked."""
    questions = dict.fromkeys(row.question for row in result.blamed)
    return [
        _blame_table(result, question, [row for row in result.blamed if row.question == question])
        for question in questions
    ]


def _blame_table(result: AgreementResult, question: str, rows: list[BlamedWords]) -> Table:
    unit = next((row.unit for row in result.spans if row.question == question), "item")
    return Table(
        columns=[
            "who blames",
            "precision",
            "by chance",
            "recall",
            "by chance",
            "F1",
            "by chance",
            "above chance",
            "p",
            "outputs",
        ],
        rows=[
            [
                "people among themselves" if row.scorer == PEOPLE else row.scorer,
                _figure(row.precision),
                _or_dash(row.chance["precision"]),
                _figure(row.recall),
                _or_dash(row.chance["recall"]),
                _figure(row.f1),
                _or_dash(row.chance["f1"]),
                _figure(row.above_chance, sign=True),
                p_text(row.above_chance["p_value"]),
                str(row.n_outputs),
            ]
            for row in rows
        ],
        title=f"Who blames the words that people marked: {question}",
        notes=[
            *_blame_sentences(rows),
            "Precision: the share of the blamed characters that a person marked. Recall: the share of "
            "a person's marked characters that are blamed. By chance: as many characters of each "
            "output are blamed, anywhere in it.",
            f"[low, high]: {100 * result.confidence:g}% intervals, by leaving {unit}s out one at a "
            f"time. Intervals and p hold for these systems and judges, other {unit}s.",
        ],
        name="blamed",
    )


def _blame_sentences(rows: list[BlamedWords]) -> list[str]:
    """The figures of the best metric in words, and how far two people agree. `rows` are sorted, best
    first."""
    people = next((row for row in rows if row.scorer == PEOPLE), None)
    others = [row for row in rows if row.scorer != PEOPLE and row.f1["value"] is not None]
    if not others:
        return []
    best = others[0]
    sentences = [
        f"{best.scorer} blames {best.share_blamed or 0:.0%} of all characters, and a person marked "
        f"{best.precision['value'] or 0:.0%} of these. It finds {best.recall['value'] or 0:.0%} of "
        f"what a person marked; blaming as much at random finds {best.chance['recall'] or 0:.0%}."
    ]
    if people is not None and people.f1["value"] is not None:
        sentences.append(
            f"Two people reach an F1 of {number(people.f1['value'], 2)} with each other."
        )
    return sentences


def _figure(figure: Mapping[str, Any] | None, *, sign: bool = False) -> str:
    """A figure with its interval as text."""
    if figure is None or figure["value"] is None:
        return "–"
    shown = number(figure["value"], 2, sign=sign)
    return with_interval(shown, figure["low"], figure["high"], 2, sign=sign)


def _extremes(pairs: Mapping[str, float] | None) -> str:
    """The lowest and the highest value of all pairs of judges."""
    if pairs is None:
        return "–"
    return f"{number(pairs['min'], 2)} to {number(pairs['max'], 2)}"


def _or_dash(figure: float | None) -> str:
    return "–" if figure is None else number(figure, 2)

"""The tables of `wellput judge`: what a model answered, and what it would be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wellput.core.errors import counted, visible
from wellput.reporting.table import Report, Table, interval_text, number, p_with_relation

if TYPE_CHECKING:
    from wellput.studies.machines.judge_results import (
        JudgedSystem,
        JudgePlan,
        JudgeResult,
        Spending,
    )

CSV_COLUMNS = ("judge", "question", "system", "mean", "n")
REASON_WORDS = {
    "refusal": "refused",
    "unparsable": "not an allowed answer",
    "empty": "empty",
    "cut off": "cut off",
    "rejected": "rejected by the endpoint",
    "failed": "no reply",
}
"""Why a trial has no answer, in words."""


def judge_report(result: JudgeResult) -> Report:
    """The mean of each system on each question, the trials without an answer, and the cost."""
    table = Table(
        ["system", *_questions(result.systems), "answers"],
        _rows(result.systems),
        title=f"What {result.judge} answered",
        notes=_notes(result),
        caption="A machine's answers",
    )
    return Report([table], result.values(), CSV_COLUMNS, result.records())


def _questions(systems: Sequence[JudgedSystem]) -> list[str]:
    """The questions, in their order."""
    return list(dict.fromkeys(row.question for row in systems))


def _rows(systems: Sequence[JudgedSystem]) -> list[list[str]]:
    """A row for each system, with its mean on each question and its number of answers. `systems` has an
    entry for each system and question."""
    questions = _questions(systems)
    judged_of = {(judged.system, judged.question): judged for judged in systems}
    rows = []
    for system in dict.fromkeys(judged.system for judged in systems):
        by_question = [judged_of.get((system, question)) for question in questions]
        cells = ["" if judged is None else number(judged.mean, 2) for judged in by_question]
        n = sum(judged.n for judged in by_question if judged is not None)
        rows.append([system, *cells, f"{n:,}"])
    return rows


def _notes(result: JudgeResult) -> list[str]:
    are_choices = result.design == "pairwise"
    notes = [
        f"{'Share of choices won' if are_choices else 'Plain means'} by a machine, not by people. "
        "`wellput vet` says how far it may be trusted.",
        f"{result.answered:,} of {counted(result.trials, 'trial')} answered{_scores(result)}.",
    ]
    if result.unanswered:
        parts = [
            f"{n:,} {REASON_WORDS.get(reason, reason)}" for reason, n in result.unanswered.items()
        ]
        where = result.files.get("unanswered")
        notes.append(f"Without an answer: {', '.join(parts)}{f'; see {where}' if where else ''}.")
    if result.left_out:
        notes.append(
            f"{counted(result.left_out, 'trial')} not asked: the limit of costs is reached. The same "
            "command with a higher max_cost= continues from here."
        )
    if result.injection is not None:
        notes.append(_injection(result))
    notes.append(_cost(result.requests, result.retries, result.known, result.spending))
    notes.append(result.signature)
    return notes


def _scores(result: JudgeResult) -> str:
    """How scores were made of the model's replies, in words."""
    n = result.scores_from.get("probabilities", 0)
    if not n:
        return "; scores are the answers as written"
    if n == result.answered:
        return "; scores are expected values from the probabilities of tokens"
    return f"; {n:,} scores are expected values from the probabilities of tokens, the others as written"


def _injection(result: JudgeResult) -> str:
    """How much a text gains that contains an instruction to the model (a prompt injection)."""
    effect = result.injection
    assert effect is not None
    unit = "share of choices" if result.design == "pairwise" else "points"
    interval = interval_text(effect.low, effect.high, 2, sign=True)
    if interval:
        interval = f" {interval}, p {p_with_relation(effect.p_value)}"
    return (
        f"A text that orders the judge to favor it gains {number(effect.value, 2, sign=True)} ({unit})"
        f"{interval}, over {counted(effect.n or 0, 'item')}."
    )


def _cost(requests: int, retries: int, known: int, spent: Spending) -> str:
    again = f", {retries:,} tried again" if retries else ""
    before = f", {known:,} known from before" if known else ""
    money = "" if spent.money is None else f", {spent.money:,.4f} in money"
    limit = "" if spent.limit is None else f" of at most {spent.limit:,g}"
    return (
        f"{counted(requests, 'request')}{again}{before}. Spent in all: {spent.tokens_in:,} tokens "
        f"read, {spent.tokens_out:,} written{money}{limit}."
    )


def plan_report(plan: JudgePlan) -> Report:
    """The first prompt, and what all requests would cost."""
    rows = [
        ["judge", plan.judge],
        ["sent to", plan.endpoint],
        ["trials", f"{plan.trials:,}"],
        ["requests", f"{plan.requests:,}"],
        ["known from before", f"{plan.known:,}"],
        ["tokens, about", f"{plan.tokens_in:,} read, {plan.tokens_out:,} written"],
        ["tokens, at most", f"{plan.most_tokens_in:,} read, {plan.tokens_out:,} written"],
    ]
    if plan.money is not None and plan.most_money is not None:
        rows.append(["cost, about", f"{plan.money:,.4f}"])
        rows.append(["cost, at most", f"{plan.most_money:,.4f}"])
    notes = [
        'Nothing was sent. "About" assumes four bytes for a token, "at most" one byte. Retries are not '
        "counted.",
        plan.signature,
    ]
    prompt = "\n\n".join(
        f"[{message['role']}]\n{visible(message['content'])}" for message in plan.messages
    )
    table = Table(
        ["what would be asked", ""], rows, notes=notes, is_prose=True, caption="A dry run"
    )
    record = plan.records()[0]
    return Report([table], plan.values(), list(record), [record], before=f"{prompt}\n\n")

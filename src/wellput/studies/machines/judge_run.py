"""`JudgeRun`: one model with one rubric (the questions for a machine judge). It says what would be
asked, and turns the answers into a result and its files.

`PlannedModel` stands for a model that is not available yet, so that a dry run can show the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.core.judgment import Judgment, Preference
from wellput.core.work import OnPhase
from wellput.io import write_judgments
from wellput.io.files import PathLike
from wellput.io.output import path_beside, write_text
from wellput.io.tables import writing_table
from wellput.studies.machines.answer_log import AnswerLog
from wellput.studies.machines.asking import ChatModel
from wellput.studies.machines.budget import Budget, Cost
from wellput.studies.machines.judge_results import JudgedSystem, JudgePlan, JudgeResult, Spending
from wellput.studies.machines.machine_judge import (
    UNANSWERED_COLUMNS,
    Answered,
    AskingOptions,
    judgments_of,
    most_cost,
    reasons,
    requests_for,
    unanswered_rows,
)
from wellput.studies.machines.readings import SHARE_OF_FIRST, Reply
from wellput.studies.machines.rubrics import MachineTrial, Rubric
from wellput.studies.machines.signatures import UsedReplies, digest_in, signature_of

BYTES_PER_TOKEN = 4
"""A rough value for English, used only to estimate costs in a dry run."""


def files_beside(path: PathLike | None) -> dict[str, str]:
    """The files that are written beside the judgments at `path`: the trials without an answer, and how
    the judgments were made. None are written without a `path`, or beside standard output."""
    if path is None or str(path) == "-":
        return {}
    return {
        "unanswered": str(path_beside(path, "unanswered.csv")),
        "judge": str(path_beside(path, "judge.json")),
    }


@dataclass(frozen=True)
class StoredJudgments:
    """All judgments of a machine in a study, with the signature that they have there."""

    judgments: list[Judgment] | list[Preference]
    signature: str


@dataclass(frozen=True)
class JudgeRun:
    """A model with its name as a judge, what it is asked, how it is asked, and what this may cost."""

    model: ChatModel
    rubric: Rubric
    options: AskingOptions
    budget: Budget
    judge: str

    def plan(self, trials: Sequence[MachineTrial], log_path: Path | None) -> JudgePlan:
        """What would be asked. The log of answers at `log_path` is read, not written."""
        requests = requests_for(self.model, self.rubric, trials, self.options)
        known: set[str] = set()
        if log_path is not None and log_path.exists():
            log = AnswerLog(log_path, Budget(), is_read_only=True)
            known = {r.name for r, _ in requests if log.answer_to(r.name) is not None}
        new = [(request, prompt) for request, prompt in requests if request.name not in known]
        most = most_cost(new)
        n_requests = len({request.name for request, _ in new})
        estimated = Cost(most.tokens_in // BYTES_PER_TOKEN, most.tokens_out)
        has_price = self.budget.price is not None
        first_prompt = requests[0][1]
        return JudgePlan(
            judge=self.judge,
            model=self.model.model,
            design=self.rubric.questionnaire.kind,
            signature=signature_of(self.model, self.rubric, self.options),
            endpoint=self.model.identity.get("endpoint", "this machine"),
            messages=first_prompt.messages,
            trials=len(trials),
            requests=n_requests,
            known=len(known),
            tokens_in=estimated.tokens_in,
            tokens_out=estimated.tokens_out,
            most_tokens_in=most.tokens_in,
            money=self.budget.worth(estimated) if has_price else None,
            most_money=self.budget.worth(most) if has_price else None,
        )

    def result(
        self,
        answered: Answered,
        effect: Estimate | None,
        path: PathLike | None,
        log_path: Path | None,
        on_phase: OnPhase,
        stored: StoredJudgments | None = None,
    ) -> JudgeResult:
        """The result of the answers. With a `path`, also writes the judgments and their further files.
        `effect` is the estimate of prompt injection, `log_path` the file of the log. `stored` are the
        judgments of a study that has the answers."""
        judgments: list[Judgment] | list[Preference]
        if stored is None:
            used = UsedReplies(answered.trials)
            signature = signature_of(self.model, self.rubric, self.options, used)
            judgments = judgments_of(answered.trials, self.judge, signature)
        else:
            signature, judgments = stored.signature, stored.judgments
        counts: dict[str, int] = {}
        for asked in answered.trials:
            if asked.reading.label is not None:
                # A study stores the answer in its words, not the probabilities.
                source = asked.reading.scores_from if stored is None else "text"
                counts[source] = counts.get(source, 0) + 1
        files = {} if log_path is None else {"answers": str(log_path)}
        if path is not None and str(path) != "-":
            files |= {"judgments": str(path), **files_beside(path)}
        spent = self.budget.spent
        result = JudgeResult(
            judge=self.judge,
            model=self.model.model,
            digest=self.model.digest or digest_in(signature),
            design=self.rubric.questionnaire.kind,
            signature=signature,
            trials=len(answered.trials) + answered.n_left_out,
            answered=sum(asked.reading.label is not None for asked in answered.trials),
            unanswered=reasons(answered.trials),
            left_out=answered.n_left_out,
            requests=answered.outcome.n_answered,
            retries=answered.outcome.n_retries,
            known=answered.n_known_before,
            scores_from=counts,
            spending=Spending(
                spent.tokens_in,
                spent.tokens_out,
                None if self.budget.price is None else self.budget.worth(spent),
                self.budget.limit,
            ),
            systems=tuple(_systems(judgments)),
            injection=effect,
            files=files,
            judgments=cast("tuple[Judgment, ...] | tuple[Preference, ...]", tuple(judgments)),
        )
        if path is not None:
            on_phase("writing judgments")
            self._write(result, answered, judgments, path)
        return result

    def _write(
        self,
        result: JudgeResult,
        answered: Answered,
        judgments: list[Judgment] | list[Preference],
        path: PathLike,
    ) -> None:
        if not judgments:
            raise InputError(
                f"{self.judge} answered nothing that can be used: {_in_words(result.unanswered)}."
            ).with_result(result)
        write_judgments(judgments, path)
        if str(path) == "-":
            return
        with writing_table(
            result.files["unanswered"], UNANSWERED_COLUMNS, mark_formulas=True
        ) as sink:
            sink.write(unanswered_rows(answered.trials, self.judge))
        record = {
            **result.to_dict(),
            "models_that_answered": list(answered.models),
            "questionnaire": self.rubric.questionnaire.to_json(),
            "show_source": self.rubric.show_source,
            "show_reference": self.rubric.show_reference,
            "unit": self.rubric.unit,
            "options": asdict(self.options),
            **dict(self.model.identity),
        }
        write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", result.files["judge"])


@contextmanager
def opened_log(log_path: Path | None, budget: Budget) -> Iterator[AnswerLog]:
    """The log of answers at a path, or in memory if there is no path. The end of the block closes
    it."""
    log = AnswerLog(log_path, budget)
    try:
        yield log
    finally:
        log.close()


def _systems(judgments: Sequence[Judgment] | Sequence[Preference]) -> list[JudgedSystem]:
    """The mean value of each system on each question, the best system of a question first."""
    values: dict[tuple[str, str], list[float]] = {}
    for judgment in judgments:
        question = judgment.question
        if isinstance(judgment, Preference):
            share = float(judgment.extra.get("share", SHARE_OF_FIRST[judgment.choice]))
            values.setdefault((question, judgment.system_a), []).append(share)
            values.setdefault((question, judgment.system_b), []).append(1 - share)
        else:
            values.setdefault((question, judgment.system), []).append(judgment.number)
    systems = [
        JudgedSystem(question, system, sum(values_of_one) / len(values_of_one), len(values_of_one))
        for (question, system), values_of_one in values.items()
    ]
    questions = list(dict.fromkeys(system.question for system in systems))
    return sorted(systems, key=lambda system: (questions.index(system.question), -system.mean))


def _in_words(unanswered: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in unanswered.items()) or "nothing was asked"


NO_ENDPOINT_YET = "nobody yet"
"""To whom requests would be sent, in the table of a dry run."""
NO_NAME_YET = "unnamed"


class PlannedModel:
    """A model of which at most the name and the endpoint are known. It cannot be asked."""

    digest = ""

    def __init__(self, model: str | None, endpoint: str | None) -> None:
        self.model = model or NO_NAME_YET
        self.identity: Mapping[str, str] = {
            "model": self.model,
            "endpoint": endpoint or NO_ENDPOINT_YET,
        }

    def complete(self, request: Mapping[str, Any]) -> Reply:
        raise InputError("A dry run asks nothing.")

    def close(self) -> None:
        """Nothing is open."""

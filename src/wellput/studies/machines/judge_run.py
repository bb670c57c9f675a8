"""`JudgeRun`: one model with one rubric. It says what would be asked, and turns the answers into a
result and its files.

`PlannedModel` stands for a model that is not there yet, so that a dry run can show the prompt.
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
from wellput.io.output import write_text
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
    signature_of,
    unanswered_rows,
)
from wellput.studies.machines.readings import SHARE_OF_FIRST, Reply
from wellput.studies.machines.rubrics import MachineTrial, Rubric

BYTES_PER_TOKEN = 4
"""Roughly, in English; only for the estimate of a dry run."""


def beside(path: PathLike, ending: str) -> Path:
    """A file beside the judgments: `judgments.csv` and `judge.json` give `judgments.judge.json`."""
    name = Path(path).name
    for suffix in (".gz", ".xz"):
        name = name.removesuffix(suffix)
    return Path(path).with_name(f"{Path(name).stem}.{ending}")


@dataclass(frozen=True)
class JudgeRun:
    """A model with its name as a judge, what it is asked, and what it may cost."""

    model: ChatModel
    rubric: Rubric
    options: AskingOptions
    budget: Budget
    judge: str

    def plan(self, trials: Sequence[MachineTrial], where: Path | None) -> JudgePlan:
        """What would be asked. The log is read, not written."""
        requests = requests_for(self.model, self.rubric, trials, self.options)
        known: set[str] = set()
        if where is not None and where.exists():
            with opened_log(where, Budget()) as log:
                known = {r.name for r, _ in requests if log.answer_to(r.name) is not None}
        new = [(request, prompt) for request, prompt in requests if request.name not in known]
        most = most_cost(new)
        n_requests = len({request.name for request, _ in new})
        about = Cost(most.tokens_in // BYTES_PER_TOKEN, most.tokens_out)
        has_price = self.budget.price is not None
        first_prompt = requests[0][1]
        return JudgePlan(
            judge=self.judge,
            model=self.model.model,
            design=self.rubric.questionnaire.kind,
            signature=signature_of(self.model, self.rubric, self.options, None),
            endpoint=self.model.identity.get("endpoint", "this machine"),
            messages=first_prompt.messages,
            trials=len(trials),
            requests=n_requests,
            known=len(known),
            tokens_in=about.tokens_in,
            tokens_out=about.tokens_out,
            most_tokens_in=most.tokens_in,
            money=self.budget.worth(about) if has_price else None,
            most_money=self.budget.worth(most) if has_price else None,
        )

    def result(
        self,
        answered: Answered,
        effect: Estimate | None,
        path: PathLike | None,
        where: Path | None,
        on_phase: OnPhase,
        stored: list[Judgment] | list[Preference] | None = None,
    ) -> JudgeResult:
        """The judgments; with a path also their files. A study gives its own judgments as `stored`."""
        signature = signature_of(self.model, self.rubric, self.options, answered)
        judgments = stored
        if judgments is None:
            judgments = judgments_of(answered.trials, self.judge, signature)
        counts: dict[str, int] = {}
        for one in answered.trials:
            if one.reading.label is not None:
                # A study stores the answers as people give them.
                source = one.reading.scores_from if stored is None else "text"
                counts[source] = counts.get(source, 0) + 1
        files = {} if where is None else {"answers": str(where)}
        if path is not None and str(path) != "-":
            files |= {
                "judgments": str(path),
                "unanswered": str(beside(path, "unanswered.csv")),
                "judge": str(beside(path, "judge.json")),
            }
        spent = self.budget.spent
        result = JudgeResult(
            judge=self.judge,
            model=self.model.model,
            digest=self.model.digest or "+".join(answered.fingerprints),
            design=self.rubric.questionnaire.kind,
            signature=signature,
            trials=len(answered.trials) + answered.n_left_out,
            answered=sum(one.reading.label is not None for one in answered.trials),
            unanswered=reasons(answered.trials),
            left_out=answered.n_left_out,
            requests=answered.asked.n_answered,
            retries=answered.asked.n_retries,
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
def opened_log(where: Path | None, budget: Budget) -> Iterator[AnswerLog]:
    """The log of answers at a path, or in memory."""
    log = AnswerLog(where, budget)
    try:
        yield log
    finally:
        log.close()


def _systems(judgments: Sequence[Judgment] | Sequence[Preference]) -> list[JudgedSystem]:
    values: dict[tuple[str, str], list[float]] = {}
    for one in judgments:
        if isinstance(one, Preference):
            share = float(one.extra.get("share", SHARE_OF_FIRST[one.choice]))
            values.setdefault((one.question, one.system_a), []).append(share)
            values.setdefault((one.question, one.system_b), []).append(1 - share)
        else:
            values.setdefault((one.question, one.system), []).append(one.number)
    found = [
        JudgedSystem(question, system, sum(own) / len(own), len(own))
        for (question, system), own in values.items()
    ]
    questions = list(dict.fromkeys(one.question for one in found))
    return sorted(found, key=lambda one: (questions.index(one.question), -one.mean))


def _in_words(unanswered: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in unanswered.items()) or "nothing was asked"


NOWHERE = "nobody yet"
UNNAMED = "unnamed"


class PlannedModel:
    """A name, which may be missing. It cannot be asked."""

    digest = ""

    def __init__(self, model: str | None, endpoint: str | None) -> None:
        self.model = model or UNNAMED
        self.identity: Mapping[str, str] = {"model": self.model, "endpoint": endpoint or NOWHERE}

    def complete(self, request: Mapping[str, Any]) -> Reply:
        raise InputError("A dry run asks nothing.")

    def close(self) -> None:
        """Nothing is open."""

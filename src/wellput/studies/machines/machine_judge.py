"""A model judges an evalset: trials become requests, replies become judgments.

`ask_trials` sends the requests and gives each trial its `Reading`, the value of the model's answer.
`judgments_of` makes judgments from the readings, like those of a person, under a judge named
`model:NAME`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias, cast

from wellput.core.errors import visible
from wellput.core.judgment import SAMPLE_COLUMN, Judgment, PairwiseChoice, Preference
from wellput.core.work import OnProgress, ignore_progress
from wellput.studies.machines.answer_log import AnswerLog, request_hash
from wellput.studies.machines.asking import ChatModel, Request, RequestOutcome, ask_all
from wellput.studies.machines.budget import Cost, max_cost_of
from wellput.studies.machines.prompts import Prompt
from wellput.studies.machines.readings import Reading, Reply, read_reply
from wellput.studies.machines.rubrics import MachineTrial, Rubric

ScoresOption: TypeAlias = Literal["auto", "text"]
TOP_LOGPROBS = 20
"""So many of the most probable tokens are asked for, with their probabilities."""


@dataclass(frozen=True)
class AskingOptions:
    """How a model is asked. With `scores` "auto", the model is asked for the probabilities of tokens;
    with "text", only for its answer. `parallel` is the number of requests that are under way at a
    time, `retries` how often a failed request is sent again."""

    temperature: float = 0.0
    max_tokens: int = 16
    scores: ScoresOption = "auto"
    parallel: int = 8
    retries: int = 8
    seed: int = 12345

    def body(self, prompt: Prompt, repeat: int) -> dict[str, Any]:
        """The request of the OpenAI protocol, without the name of the model."""
        body: dict[str, Any] = {
            "messages": list(prompt.messages),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed + repeat,
        }
        if self.scores == "auto":
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return body


@dataclass(frozen=True)
class AskedTrial:
    """A trial about which the model was asked, with the reading of its answer. `reply` is None if no
    reply came; then `why` has the reason."""

    trial: MachineTrial
    reading: Reading
    reply: Reply | None = None
    why: str = ""


@dataclass(frozen=True)
class Answered:
    """All trials about which the model was asked, with the outcome; without the `n_left_out` trials
    that the limit of costs did not allow. `n_known_before` is the number of requests that the log had
    an answer to. `models` are the names of the models that answered, as the endpoint gives them."""

    trials: tuple[AskedTrial, ...]
    outcome: RequestOutcome
    n_left_out: int = 0
    n_known_before: int = 0
    models: tuple[str, ...] = ()


def requests_for(
    model: ChatModel, rubric: Rubric, trials: Sequence[MachineTrial], options: AskingOptions
) -> list[tuple[Request, Prompt]]:
    """The request of each trial. Trials that show the same texts share a request."""
    identity = model.identity
    requests = []
    for trial in trials:
        prompt = rubric.prompt(trial.question, trial.shown)
        body = options.body(prompt, trial.repeat)
        name = request_hash(identity, body, trial.repeat)
        requests.append(
            (Request(name, body, max_cost_of(prompt.n_bytes, options.max_tokens)), prompt)
        )
    return requests


def most_cost(requests: Sequence[tuple[Request, Prompt]]) -> Cost:
    """The most that all requests can cost together. Requests with the same name are sent once."""
    by_name = {request.name: request.max_cost for request, _ in requests}
    return sum(by_name.values(), Cost())


def ask_trials(
    model: ChatModel,
    rubric: Rubric,
    trials: Sequence[MachineTrial],
    log: AnswerLog,
    options: AskingOptions,
    *,
    has_answered: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> Answered:
    """Asks the model about every trial, and reads its replies. `has_answered` is as for `ask_all`."""
    requests = requests_for(model, rubric, trials, options)
    n_known = len({r.name for r, _ in requests if log.answer_to(r.name) is not None})
    outcome = ask_all(
        model,
        [request for request, _ in _in_order(model, requests)],
        log,
        parallel=options.parallel,
        retries=options.retries,
        has_answered=has_answered,
        on_progress=on_progress,
    )
    asked_trials: list[AskedTrial] = []
    n_left_out = 0
    for trial, (request, prompt) in zip(trials, requests, strict=True):
        reply = log.answer_to(request.name)
        if reply is not None:
            asked_trials.append(AskedTrial(trial, read_reply(prompt, reply), reply))
        elif request.name in outcome.rejections:
            why = outcome.rejections[request.name]
            asked_trials.append(AskedTrial(trial, Reading(reason="rejected"), why=why))
        elif request.name in outcome.failures:
            why = outcome.failures[request.name]
            asked_trials.append(AskedTrial(trial, Reading(reason="failed"), why=why))
        else:
            n_left_out += 1
    replies = [trial.reply for trial in asked_trials if trial.reply is not None]
    return Answered(
        tuple(asked_trials),
        outcome,
        n_left_out,
        n_known,
        tuple(sorted({reply.model for reply in replies if reply.model})),
    )


def _in_order(
    model: ChatModel, requests: list[tuple[Request, Prompt]]
) -> list[tuple[Request, Prompt]]:
    """The requests in the order of asking. A local model gets those with the same instructions in a
    row, so that it reads the instructions only once."""
    if "endpoint" in model.identity:
        return requests
    return sorted(requests, key=lambda pair: pair[1].messages[0]["content"])


def judgments_of(
    answered: Sequence[AskedTrial], judge: str, signature: str
) -> list[Judgment] | list[Preference]:
    """The judgments of the trials that were answered. In a pair, `system_a` was shown first.

    The column `mass` is the probability of all allowed answers together, empty if the probabilities of
    tokens were not used."""
    judgments: list[Any] = []
    for asked in answered:
        trial, reading = asked.trial, asked.reading
        if reading.label is None:
            continue
        columns = {
            "repeat": str(trial.repeat),
            "answer": _words(reading.label),
            "scores_from": reading.scores_from,
            "mass": "" if reading.mass is None else f"{reading.mass:.4f}",
            "ms": "" if asked.reply is None else str(asked.reply.ms),
            "signature": signature,
        }
        if trial.sample is not None:
            columns[SAMPLE_COLUMN] = str(trial.sample)
        if reading.spans is not None:
            columns["spans"] = reading.spans
        name = trial.question.name
        if trial.question.kind == "choice":
            assert reading.value is not None
            columns_of_pair = {
                "swapped": str(int(trial.is_swapped)),
                "share": f"{reading.value:.4f}",
            }
            choice = cast("PairwiseChoice", reading.label)
            a, b = trial.systems
            judgments.append(
                Preference(judge, trial.item, a, b, name, choice, columns_of_pair | columns)
            )
        elif reading.value is not None and not math.isnan(reading.value):
            # A mean under probabilities has digits without meaning; a written number stays as it is.
            is_mean = reading.scores_from == "probabilities"
            value = round(reading.value, 6) if is_mean else reading.value
            judgments.append(Judgment(judge, trial.item, trial.systems[0], name, value, columns))
    return judgments


UNANSWERED_COLUMNS = (
    "judge", "item", "systems", "question", "repeat", "swapped", "reason", "text",
)  # fmt: skip
MAX_TEXT_CHARACTERS = 500


def unanswered_rows(answered: Sequence[AskedTrial], judge: str) -> list[list[str]]:
    """A row for each trial without a usable answer: which trial it is, the reason, and the text that
    came instead of an answer."""
    rows = []
    for asked in answered:
        if asked.reading.reason is None:
            continue
        trial = asked.trial
        text = asked.why if asked.reply is None else asked.reply.text or asked.reply.refusal
        rows.append(
            [
                judge,
                trial.item,
                json.dumps(list(trial.systems), ensure_ascii=False),
                trial.question.name,
                str(trial.repeat),
                str(int(trial.is_swapped)),
                asked.reading.reason,
                _not_a_formula(visible(text[:MAX_TEXT_CHARACTERS])),
            ]
        )
    return rows


def _not_a_formula(text: str) -> str:
    """The text, marked so that a spreadsheet does not read it as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _words(label: float | str) -> str:
    """An answer as the text of a column: a number with all its digits, without an exponent.

    >>> _words("tie"), _words(4.0), _words(1_234_567.5), _words(4e-7)
    ('tie', '4', '1234567.5', '0.0000004')
    """
    return label if isinstance(label, str) else f"{Decimal(repr(label)):f}".removesuffix(".0")


def with_output(trial: MachineTrial, place: int, output: str) -> MachineTrial:
    """The trial with another text at one place of the shown outputs."""
    outputs = tuple(
        output if other_place == place else other
        for other_place, other in enumerate(trial.shown.outputs)
    )
    return replace(trial, shown=replace(trial.shown, outputs=outputs))


def reasons(answered: Sequence[AskedTrial]) -> Mapping[str, int]:
    """The number of trials without a usable answer, by reason."""
    counts: dict[str, int] = {}
    for asked in answered:
        if asked.reading.reason is not None:
            counts[asked.reading.reason] = counts.get(asked.reading.reason, 0) + 1
    return counts

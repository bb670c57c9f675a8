"""A model judges an evalset: trials become requests, replies become judgments.

`ask_trials` asks, and gives each trial its reading. `judgments_of` writes what was read as a person's
judgments are written, under a judge named `model:NAME`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, cast

from wellput import __version__
from wellput.core.errors import visible
from wellput.core.judgment import SAMPLE_COLUMN, Judgment, PairwiseChoice, Preference
from wellput.core.work import OnProgress, ignore_progress
from wellput.studies.machines.answer_log import AnswerLog, request_hash
from wellput.studies.machines.asking import Asked, ChatModel, Request, ask_all
from wellput.studies.machines.budget import Cost, most_of
from wellput.studies.machines.prompts import Prompt
from wellput.studies.machines.readings import Reading, Reply, read_reply
from wellput.studies.machines.rubrics import MachineTrial, Rubric

ScoresOption: TypeAlias = Literal["auto", "text"]
TOP_LOGPROBS = 20
DIGEST_CHARACTERS = 12


@dataclass(frozen=True)
class AskingOptions:
    """How a model is asked. `scores` is `auto` where probabilities of tokens are wanted."""

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
    """A trial that the model was asked, with the reading of its answer. `reply` is None if no reply
    came; `why` says why."""

    trial: MachineTrial
    reading: Reading
    reply: Reply | None = None
    why: str = ""


@dataclass(frozen=True)
class Answered:
    """All trials that were asked, with the outcome. Trials that the limit of costs left out are
    not among them."""

    trials: tuple[AskedTrial, ...]
    asked: Asked
    n_left_out: int = 0
    n_known_before: int = 0
    models: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = field(default=())


def requests_for(
    model: ChatModel, rubric: Rubric, trials: Sequence[MachineTrial], options: AskingOptions
) -> list[tuple[Request, Prompt]]:
    """The request of each trial. Trials that show the same texts share a request."""
    identity = model.identity
    found = []
    for trial in trials:
        prompt = rubric.prompt(trial.question, trial.shown)
        body = options.body(prompt, trial.repeat)
        name = request_hash(identity, body, trial.repeat)
        found.append((Request(name, body, most_of(prompt.n_bytes, options.max_tokens)), prompt))
    return found


def most_cost(requests: Sequence[tuple[Request, Prompt]]) -> Cost:
    """The most that all requests can cost together; each is paid for once."""
    by_name = {request.name: request.most for request, _ in requests}
    return sum(by_name.values(), Cost())


def ask_trials(
    model: ChatModel,
    rubric: Rubric,
    trials: Sequence[MachineTrial],
    log: AnswerLog,
    options: AskingOptions,
    *,
    on_progress: OnProgress = ignore_progress,
) -> Answered:
    """Asks the model about every trial, and reads its replies."""
    requests = requests_for(model, rubric, trials, options)
    n_known = len({r.name for r, _ in requests if log.answer_to(r.name) is not None})
    asked = ask_all(
        model,
        [request for request, _ in _in_order(model, requests)],
        log,
        parallel=options.parallel,
        retries=options.retries,
        on_progress=on_progress,
    )
    found: list[AskedTrial] = []
    n_left_out = 0
    for trial, (request, prompt) in zip(trials, requests, strict=True):
        reply = log.answer_to(request.name)
        if reply is not None:
            found.append(AskedTrial(trial, read_reply(prompt, reply), reply))
        elif request.name in asked.rejections:
            why = asked.rejections[request.name]
            found.append(AskedTrial(trial, Reading(reason="rejected"), why=why))
        elif request.name in asked.failures:
            why = asked.failures[request.name]
            found.append(AskedTrial(trial, Reading(reason="failed"), why=why))
        else:
            n_left_out += 1
    replies = [one.reply for one in found if one.reply is not None]
    return Answered(
        tuple(found),
        asked,
        n_left_out,
        n_known,
        tuple(sorted({reply.model for reply in replies if reply.model})),
        tuple(sorted({reply.fingerprint for reply in replies if reply.fingerprint})),
    )


def _in_order(
    model: ChatModel, requests: list[tuple[Request, Prompt]]
) -> list[tuple[Request, Prompt]]:
    """A local model gets all requests with the same instructions in a row: it reads them only once."""
    if "endpoint" in model.identity:
        return requests
    return sorted(requests, key=lambda pair: pair[1].messages[0]["content"])


def signature_of(
    model: ChatModel, rubric: Rubric, options: AskingOptions, answered: Answered | None
) -> str:
    """The model and what it was asked, in one line. Judgments are comparable if their signatures are
    equal.

    The digest is the hash of a local file, or what the endpoint calls its `system_fingerprint`.
    """
    prints = () if answered is None else answered.fingerprints
    digest = model.digest[:DIGEST_CHARACTERS] or "+".join(prints) or "unknown"
    dropped = getattr(model, "dropped", ())
    temperature = "default" if "temperature" in dropped else f"{options.temperature:g}"
    parts = {
        "model": model.model,
        "digest": digest,
        "design": rubric.questionnaire.kind,
        "prompt": rubric.hash,
        "temperature": temperature,
        "scores": "text" if "logprobs" in dropped else options.scores,
        "version": f"wellput-{__version__}",
    }
    return "|".join(f"{name}:{_one_word(value)}" for name, value in parts.items())


def _one_word(value: str) -> str:
    return "".join("_" if c in "|,\n\r" or not c.isprintable() else c for c in value)


def judgments_of(
    answered: Sequence[AskedTrial], judge: str, signature: str
) -> list[Judgment] | list[Preference]:
    """The judgments of the trials that were answered. In a pair, `system_a` was shown first."""
    found: list[Any] = []
    for one in answered:
        trial, reading = one.trial, one.reading
        if reading.label is None:
            continue
        beside = {
            "repeat": str(trial.repeat),
            "answer": _words(reading.label),
            "scores_from": reading.scores_from,
            "mass": "" if reading.mass is None else f"{reading.mass:.4f}",
            "ms": "" if one.reply is None else str(one.reply.ms),
            "signature": signature,
        }
        if trial.sample is not None:
            beside[SAMPLE_COLUMN] = str(trial.sample)
        if reading.spans is not None:
            beside["spans"] = reading.spans
        name = trial.question.name
        if trial.question.kind == "choice":
            assert reading.value is not None
            pair = {"swapped": str(int(trial.is_swapped)), "share": f"{reading.value:.4f}"}
            choice = cast("PairwiseChoice", reading.label)
            a, b = trial.systems
            found.append(Preference(judge, trial.item, a, b, name, choice, pair | beside))
        elif reading.value is not None and not math.isnan(reading.value):
            value = round(reading.value, 6)
            found.append(Judgment(judge, trial.item, trial.systems[0], name, value, beside))
    return found


UNANSWERED_COLUMNS = (
    "judge", "item", "systems", "question", "repeat", "swapped", "reason", "text",
)  # fmt: skip
MAX_TEXT_CHARACTERS = 500


def unanswered_rows(answered: Sequence[AskedTrial], judge: str) -> list[list[str]]:
    """The trials without an answer: why, and the text that came instead of it."""
    rows = []
    for one in answered:
        if one.reading.reason is None:
            continue
        trial = one.trial
        said = one.why if one.reply is None else one.reply.text or one.reply.refusal
        rows.append(
            [
                judge,
                trial.item,
                json.dumps(list(trial.systems), ensure_ascii=False),
                trial.question.name,
                str(trial.repeat),
                str(int(trial.is_swapped)),
                one.reading.reason,
                _not_a_formula(visible(said[:MAX_TEXT_CHARACTERS])),
            ]
        )
    return rows


def _not_a_formula(text: str) -> str:
    """The text so that a spreadsheet does not compute it."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _words(label: float | str) -> str:
    return label if isinstance(label, str) else f"{label:g}"


def with_output(trial: MachineTrial, place: int, output: str) -> MachineTrial:
    """The trial with another text at one place."""
    outputs = tuple(
        output if number == place else own for number, own in enumerate(trial.shown.outputs)
    )
    return replace(trial, shown=replace(trial.shown, outputs=outputs))


def reasons(answered: Sequence[AskedTrial]) -> Mapping[str, int]:
    """How many trials have no answer, by reason."""
    counts: dict[str, int] = {}
    for one in answered:
        if one.reading.reason is not None:
            counts[one.reading.reason] = counts.get(one.reading.reason, 0) + 1
    return counts

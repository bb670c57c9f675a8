"""`Reading`: the value of a model's answer. An answer that is not exactly one of those allowed has no
value; its reading has the reason instead, and nothing is guessed.

If the reply has the probabilities of tokens, they are used: the value on a scale is the mean of its
points, weighted by their probabilities; the value of a choice is the probability that the version
shown first is better, where a tie counts one half.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from wellput.studies.machines.error_spans import read_spans, spans_value
from wellput.studies.machines.prompts import Prompt
from wellput.studies.questions import MAY_HAVE_THOUSANDS

ScoresFrom: TypeAlias = Literal["probabilities", "text"]
"""Where the value of an answer comes from."""
NoAnswer: TypeAlias = Literal["refusal", "unparsable", "empty", "cut off", "rejected", "failed"]
"""Why an answer has no value."""
TokenProbabilities: TypeAlias = Sequence[tuple[str, float]]
"""Tokens that could have stood at one place of the answer, with their log probabilities."""

MIN_MASS = 0.5
"""Probabilities are used only if the allowed answers together have at least this probability."""
MAX_MASS = 1.01
"""If the allowed answers together have more than this, the numbers are not probabilities (rounding
allows a little more than 1), and they are not used."""

WRAPPING = " \t\r\n*_`\"'“”‘’.()[]"
"""Characters that a model may put around its answer."""
THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
"""What a reasoning model writes before its answer."""
REFUSAL = re.compile(
    r"(i['’]?m |i am )?(very |so )?(sorry|unable|afraid)"
    r"|i (can['’]?t|cannot|can not|won['’]?t|will not)\b"
    r"|as an ai\b|i (do not|don['’]t) (feel|have|wish)",
    re.IGNORECASE,
)
NUMBER = re.compile(r"[0-9]+([.,][0-9]+)?")


@dataclass(frozen=True)
class Reply:
    """A model's reply. `tokens` are the last tokens of the `text`, each with the tokens that could
    have stood in its place. `tokens_in` and `tokens_out` are the numbers of tokens that were paid for,
    None if the endpoint does not say. `finish` is why the model stopped. `model` and `fingerprint` say
    which model answered, `ms` in how many milliseconds. `without` are the parameters of the request
    that were left out, because the endpoint does not know them."""

    text: str
    tokens: tuple[tuple[str, TokenProbabilities], ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    finish: str = ""
    refusal: str = ""
    model: str = ""
    fingerprint: str = ""
    ms: int = 0
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The value of an answer.

    `label` is the allowed answer that was given, in the form of people's answers. `value` is the mean
    under the probabilities if they are used, else the number of the label; for a choice, it is the
    probability that the version shown first is better, where a tie counts one half. `mass` is the
    probability of all allowed answers together. If there is no usable answer, `reason` says why. Error
    `spans` are JSON.
    """

    label: float | str | None = None
    value: float | None = None
    scores_from: ScoresFrom = "text"
    mass: float | None = None
    reason: NoAnswer | None = None
    spans: str | None = None


def read_reply(prompt: Prompt, reply: Reply) -> Reading:
    """The value of a reply to a prompt."""
    if reply.refusal or reply.finish == "content_filter":
        return Reading(reason="refusal")
    # A point before an answer is not taken away: .5 is not 5.
    text = THOUGHT.sub("", reply.text).rstrip(WRAPPING).lstrip(WRAPPING.replace(".", ""))
    if not text and prompt.text_to_mark is None:
        return Reading(reason="cut off" if reply.finish == "length" else "empty")
    if prompt.text_to_mark is not None:
        spans = read_spans(prompt.text_to_mark, THOUGHT.sub("", reply.text))
        if spans is not None:
            value = spans_value(spans)
            return Reading(value, value, spans=json.dumps(spans, ensure_ascii=False))
    label = None if prompt.text_to_mark is not None else _label(prompt, text)
    if label is None:
        if REFUSAL.match(text):
            return Reading(reason="refusal")
        return Reading(reason="cut off" if reply.finish == "length" else "unparsable")
    probabilities = _probabilities(prompt, reply, text)
    if probabilities is not None:
        mass = sum(probabilities.values())
        return Reading(label, _weighted_mean(probabilities), "probabilities", mass)
    return Reading(label, _number(label))


def _label(prompt: Prompt, text: str) -> float | str | None:
    """The allowed answer that the text gives, None if it is not allowed."""
    question = prompt.question
    if prompt.allowed:
        given = text.upper() if question.kind == "choice" else text
        return prompt.allowed.get(given)
    if question.kind == "number":
        if not NUMBER.fullmatch(text) or MAY_HAVE_THOUSANDS.fullmatch(text):
            return None
        number, reason = question.widget.checked(question, float(text.replace(",", ".")))
    else:
        number, reason = question.widget.checked(question, text)
    return None if reason else number


def _probabilities(prompt: Prompt, reply: Reply, text: str) -> dict[float | str, float] | None:
    """The probabilities of the allowed answers at the place of the answer in the reply; None if they
    cannot be known.

    An answer of several characters may be split into several tokens. Then the first token has the
    probability of all answers that begin with it. So probabilities of such scales are used only if an
    answer of several characters is one of the tokens.
    """
    if prompt.question.kind not in ("points", "slider", "choice"):
        return None
    alternatives = next(
        (top for token, top in reversed(reply.tokens) if _bare(token) == _bare(text)), None
    )
    if not alternatives:
        return None
    probabilities: dict[float | str, float] = {}
    has_long_token = False
    for token, logprob in alternatives:
        bare = _bare(token)
        if bare in prompt.allowed:
            has_long_token |= len(bare) > 1
            value = prompt.allowed[bare]
            probability = math.exp(min(logprob, 0.0))
            probabilities[value] = probabilities.get(value, 0.0) + probability
    if any(len(label) > 1 for label in prompt.allowed) and not has_long_token:
        return None
    return probabilities if MIN_MASS <= sum(probabilities.values()) <= MAX_MASS else None


def _bare(token: str) -> str:
    """A token without the characters around an answer, in capitals."""
    return token.strip(WRAPPING).upper()


def _weighted_mean(probabilities: Mapping[float | str, float]) -> float:
    total = sum(probabilities.values())
    return sum(_number(label) * weight for label, weight in probabilities.items()) / total


SHARE_OF_FIRST: Mapping[str, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""The value of a choice, by the answer: 1 if the version shown first is better, one half for a tie."""


def _number(label: float | str) -> float:
    """The number of a label: of a choice, the value in `SHARE_OF_FIRST`; NaN for other words."""
    return SHARE_OF_FIRST.get(label, math.nan) if isinstance(label, str) else label


def reply_of(record: Mapping[str, Any], *, ms: int) -> Reply:
    """The reply in a response of the OpenAI protocol. Raises ValueError if the response has none."""
    try:
        choice = record["choices"][0]
        message = choice["message"]
        content = message.get("content")
        usage = record.get("usage") or {}
        tokens = tuple(
            (str(entry["token"]), _alternatives(entry["top_logprobs"]))
            for entry in ((choice.get("logprobs") or {}).get("content") or ())[-MAX_KEPT_TOKENS:]
        )
        return Reply(
            text=_text(content),
            tokens=tokens,
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            finish=str(choice.get("finish_reason") or ""),
            refusal=str(message.get("refusal") or ""),
            model=str(record.get("model") or ""),
            fingerprint=str(record.get("system_fingerprint") or ""),
            ms=ms,
        )
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"no answer in the response ({type(error).__name__})") from None


MAX_KEPT_TOKENS = 8
"""Only this many last tokens of a reply are kept with their alternatives, since the answer stands at
its end."""


def _alternatives(records: Sequence[Mapping[str, Any]]) -> TokenProbabilities:
    return tuple((str(record["token"]), float(record["logprob"])) for record in records)


def _text(content: object) -> str:
    """The text of a message. Raises TypeError if it is not a text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts, as some endpoints send them
        return "".join(str(part["text"]) for part in content if part.get("type") == "text")
    raise TypeError


MAX_TOKENS_OF_ANSWER = 10**9
"""A number above this cannot be a count of tokens."""


def _count(value: object) -> int | None:
    """A number of tokens, None if the value cannot be one."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS_OF_ANSWER else None

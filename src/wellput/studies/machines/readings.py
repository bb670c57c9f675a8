"""`Reading`: what the answer of a model is worth. An answer that is not exactly one of those allowed
has no value, but a reason: nothing is guessed.

Where the reply has the probabilities of tokens, the value of a scale is its expected value under them;
a choice keeps the share that the first version won.
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

ScoresFrom: TypeAlias = Literal["probabilities", "text"]
NoAnswer: TypeAlias = Literal["refusal", "unparsable", "empty", "cut off", "rejected", "failed"]
TokenProbabilities: TypeAlias = Sequence[tuple[str, float]]
"""Tokens that could have stood at one place of the answer, with their log probabilities."""

MIN_MASS = 0.5
"""Probabilities are used only if the allowed answers together have at least this probability."""
MAX_MASS = 1.01
"""More than 1, but for rounding, is no probability: such numbers say nothing about the answer."""

WRAPPING = " \t\r\n*_`\"'“”‘’.()[]"
THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
REFUSAL = re.compile(
    r"(i['’]?m |i am )?(very |so )?(sorry|unable|afraid)"
    r"|i (can['’]?t|cannot|can not|won['’]?t|will not)\b"
    r"|as an ai\b|i (do not|don['’]t) (feel|have|wish)",
    re.IGNORECASE,
)
NUMBER = re.compile(r"[0-9]+([.,][0-9]+)?")


@dataclass(frozen=True)
class Reply:
    """What came back: the `text`; for its last tokens, the tokens that could have stood there; the
    tokens that were paid for, None where the endpoint does not say; who answered, and in how many
    milliseconds."""

    text: str
    tokens: tuple[tuple[str, TokenProbabilities], ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    finish: str = ""
    refusal: str = ""
    model: str = ""
    fingerprint: str = ""
    ms: int = 0


@dataclass(frozen=True)
class Reading:
    """The value of an answer.

    `label` is the allowed answer that was given, as people give it. `value` is the expected value, or
    the number of the label; for a choice the share that the first version won. `mass` is the
    probability of all allowed answers together. Where there is no answer, `reason` says why. Error
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
    text = THOUGHT.sub("", reply.text).strip(WRAPPING)
    if not text and prompt.spans_of is None:
        return Reading(reason="cut off" if reply.finish == "length" else "empty")
    if prompt.spans_of is not None:
        spans = read_spans(prompt.spans_of, THOUGHT.sub("", reply.text))
        if spans is not None:
            value = spans_value(spans)
            return Reading(value, value, spans=json.dumps(spans, ensure_ascii=False))
    label = None if prompt.spans_of is not None else _label(prompt, text)
    if label is None:
        if REFUSAL.match(text):
            return Reading(reason="refusal")
        return Reading(reason="cut off" if reply.finish == "length" else "unparsable")
    found = _probabilities(prompt, reply, text)
    if found is not None:
        return Reading(label, _expected(found), "probabilities", sum(found.values()))
    return Reading(label, _number(label))


def _label(prompt: Prompt, text: str) -> float | str | None:
    """The allowed answer that the text is, None where it is none of them."""
    question = prompt.question
    if prompt.allowed:
        given = text.upper() if question.kind == "choice" else text
        return prompt.allowed.get(given)
    if question.kind == "number":
        if not NUMBER.fullmatch(text):
            return None
        number, reason = question.widget.checked(question, float(text.replace(",", ".")))
    else:
        number, reason = question.widget.checked(question, text)
    return None if reason else number


def _probabilities(prompt: Prompt, reply: Reply, text: str) -> dict[float | str, float] | None:
    """The probability of every allowed answer where the answer stands, None where it cannot be known.

    An answer of several characters may be several tokens. Then the first of them has the probability of
    every answer that begins so: such scales are used only if the tokenizer keeps a whole answer.
    """
    if prompt.question.kind not in ("points", "slider", "choice"):
        return None
    place = next(
        (top for token, top in reversed(reply.tokens) if _bare(token) == _bare(text)), None
    )
    if not place:
        return None
    found: dict[float | str, float] = {}
    has_long_token = False
    for token, logprob in place:
        bare = _bare(token)
        if bare in prompt.allowed:
            has_long_token |= len(bare) > 1
            value = prompt.allowed[bare]
            found[value] = found.get(value, 0.0) + math.exp(min(logprob, 0.0))
    if any(len(label) > 1 for label in prompt.allowed) and not has_long_token:
        return None
    return found if MIN_MASS <= sum(found.values()) <= MAX_MASS else None


def _bare(token: str) -> str:
    return token.strip(WRAPPING).upper()


def _expected(found: Mapping[float | str, float]) -> float:
    total = sum(found.values())
    return sum(_number(label) * weight for label, weight in found.items()) / total


SHARE_OF_FIRST: Mapping[str, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}


def _number(label: float | str) -> float:
    """The number of a label; NaN for words."""
    return SHARE_OF_FIRST.get(label, math.nan) if isinstance(label, str) else label


def reply_of(record: Mapping[str, Any], *, ms: int) -> Reply:
    """The reply in a response of the OpenAI protocol. Raises ValueError where it is none."""
    try:
        choice = record["choices"][0]
        message = choice["message"]
        content = message.get("content")
        usage = record.get("usage") or {}
        tokens = tuple(
            (str(one["token"]), _alternatives(one["top_logprobs"]))
            for one in ((choice.get("logprobs") or {}).get("content") or ())[-MAX_KEPT_TOKENS:]
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
"""Only the last tokens of an answer are kept with their alternatives: the answer stands at its end."""


def _alternatives(records: Sequence[Mapping[str, Any]]) -> TokenProbabilities:
    return tuple((str(one["token"]), float(one["logprob"])) for one in records)


def _text(content: object) -> str:
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
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS_OF_ANSWER else None

"""What a model's answer is worth: expected values by hand, strict reading, nothing guessed."""

from __future__ import annotations

import math

import pytest

from wellput.studies.machines.error_spans import read_spans
from wellput.studies.machines.prompts import Prompt, ShownTexts
from wellput.studies.machines.readings import Reply, read_reply, reply_of
from wellput.studies.machines.rubrics import make_rubric


def prompt(design: str = "rating", points: int | None = None, ties: bool = False) -> Prompt:
    rubric = make_rubric("quality", design=design, points=points, ties=ties)
    texts = ("one", "two") if design == "pairwise" else ("one",)
    return rubric.prompt(rubric.questionnaire.questions[0], ShownTexts(texts))


def reply(text: str, **shares: float) -> Reply:
    """A reply of one token, with the probabilities of tokens (names without their first letter)."""
    top = tuple((name[1:].replace("_", " "), math.log(share)) for name, share in shares.items())
    return Reply(text, ((text, top),))


def test_the_value_is_the_expected_value_over_the_scale() -> None:
    # The scale has 0.8 of the probability: (1·0.1 + 4·0.3 + 7·0.4) / 0.8 = 4.1 / 0.8 = 5.125.
    found = read_reply(prompt(), reply("7", t1=0.1, t4=0.3, t7=0.4, tThe=0.2))
    assert found.label == 7
    assert found.value == pytest.approx(5.125)
    assert found.mass == pytest.approx(0.8)
    assert found.scores_from == "probabilities"


def test_tokens_with_a_space_before_them_are_the_same_answer() -> None:
    # (6·(0.2 + 0.3) + 7·0.5) / 1 = 6.5
    assert read_reply(prompt(), reply("7", t6=0.2, t_6=0.3, t7=0.5)).value == pytest.approx(6.5)


def test_where_the_scale_has_little_probability_the_text_counts() -> None:
    found = read_reply(prompt(), reply("7", t7=0.3, tThe=0.7))
    assert (found.value, found.scores_from, found.mass) == (7.0, "text", None)


def test_numbers_that_add_up_to_more_than_one_are_no_probabilities() -> None:
    found = read_reply(prompt(), reply("5", t5=0.9, t1=1.0, t2=1.0))
    assert (found.value, found.scores_from, found.mass) == (5, "text", None)
    rounded = read_reply(prompt(), reply("5", t5=0.5, t6=0.5000001))
    assert rounded.scores_from == "probabilities"


def test_the_share_of_the_first_version_is_its_probability_and_half_of_the_ties() -> None:
    # (1·0.6 + ½·0.2 + 0·0.2) / 1 = 0.7
    found = read_reply(prompt("pairwise", ties=True), reply("A", tA=0.6, tT=0.2, tB=0.2))
    assert found.label == "a" and found.value == pytest.approx(0.7)
    assert read_reply(prompt("pairwise"), Reply("b")).label == "b"
    assert read_reply(prompt("pairwise"), Reply("T")).reason == "unparsable"


def test_digits_that_begin_longer_numbers_are_not_taken_for_answers() -> None:
    # A tokenizer that writes 10 as "1", "0" gives "1" the probability of both 1 and 10.
    split = read_reply(prompt(points=10), reply("8", t1=0.5, t8=0.5))
    assert (split.value, split.scores_from) == (8.0, "text")
    # A tokenizer that knows "10" does not: (1·0.25 + 8·0.5 + 10·0.25) = 6.75.
    whole = read_reply(prompt(points=10), reply("8", t1=0.25, t8=0.5, t10=0.25))
    assert (whole.value, whole.scores_from) == (6.75, "probabilities")


@pytest.mark.parametrize("text", ["4", " 4\n", "4.", "**4**", "“4”", "<think>5? no, 6</think>\n4"])
def test_an_answer_may_be_wrapped(text: str) -> None:
    assert read_reply(prompt(), Reply(text)).value == 4.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4 or 5", "unparsable"),
        ("The answer is 4", "unparsable"),
        ("4/7", "unparsable"),
        ("4.5", "unparsable"),
        ("8", "unparsable"),
        ("-4", "unparsable"),
        ("٤", "unparsable"),
        ("four", "unparsable"),
        ("", "empty"),
        ("<think>hm</think>", "empty"),
        ("I'm sorry, but I can't rate this.", "refusal"),
        ("I cannot judge texts.", "refusal"),
        ("As an AI, I have no opinion.", "refusal"),
    ],
)
def test_nothing_is_guessed(text: str, reason: str) -> None:
    found = read_reply(prompt(), Reply(text))
    assert (found.label, found.value, found.reason) == (None, None, reason)


def test_refusals_by_the_endpoint_and_cut_answers_are_named() -> None:
    assert read_reply(prompt(), Reply("", refusal="no")).reason == "refusal"
    assert read_reply(prompt(), Reply("4", finish="content_filter")).reason == "refusal"
    assert read_reply(prompt(), Reply("This sentence is", finish="length")).reason == "cut off"


def test_sliders_and_magnitudes_are_numbers() -> None:
    assert read_reply(prompt("slider"), Reply("73")).value == 73.0
    assert read_reply(prompt("slider"), Reply("101")).reason == "unparsable"
    assert read_reply(prompt("magnitude"), Reply("12.5")).value == 12.5
    assert read_reply(prompt("magnitude"), Reply("0")).reason == "unparsable"
    assert read_reply(prompt("magnitude"), Reply("0.0000004")).value == 4e-7
    assert read_reply(prompt("magnitude"), Reply("12,5")).value == 12.5
    assert read_reply(prompt("magnitude"), Reply("1234,5")).value == 1234.5


@pytest.mark.parametrize(
    "text", ["1,000", "12,345", "999,999", "1,000,000", "1,000.5", ".5", "..5"]
)
@pytest.mark.parametrize("kind", ["magnitude", "slider", "rating"])
def test_a_number_that_may_be_another_one_has_no_value(kind: str, text: str) -> None:
    assert read_reply(prompt(kind), Reply(text)).reason == "unparsable"


@pytest.mark.parametrize(
    "answer",
    [
        "", "none", "{}", '["x"]', '[{"quote": "cat"}]', '[{"quote": "dog", "severity": "minor"}]',
        '[{"quote": "cat", "severity": "awful"}]', '[{"quote": "", "severity": "minor"}]',
        '[{"quote": "cat", "missing": "x", "severity": "minor"}]',
        '[{"quote": "cat", "severity": "minor"}, {"quote": "cat", "severity": "minor"}]',
        '[{"quote": 3, "severity": "minor"}]', "[" * 9999,
        '[{"quote": "cat", "severity": []}]', '[{"quote": "cat", "severity": {}}]',
        '[{"missing": "\\ud800", "severity": "minor"}]', "```" + " " * 100_000 + "x", "```", "````",
        '[{"quote": "cat", "severity": "minor", "category": "\\ud800"}]',
    ],
)  # fmt: skip
def test_spans_that_the_text_does_not_have_are_no_answer(answer: str) -> None:
    assert read_spans("The cat sat.", answer) is None


def test_spans_may_come_in_a_block_of_code() -> None:
    for block in ("```json\n[]\n```", "```[]```", "```\n\n []\n\n```"):
        assert read_spans("The cat sat.", block) == []
    found = read_spans("The cat sat.", '[{"quote": "cat", "severity": "major"}]')
    assert found == [{"start": 4, "end": 7, "severity": "major", "category": "", "text": "cat"}]


@pytest.mark.parametrize(
    "record",
    [
        {}, [], {"choices": []}, {"choices": [{}]}, {"choices": [{"message": 3}]},
        {"choices": [{"message": {"content": 3}}]},
        {"choices": [{"message": {"content": "4"}, "logprobs": {"content": [{"token": "4"}]}}]},
    ],
)  # fmt: skip
def test_a_response_of_another_shape_is_refused(record: object) -> None:
    with pytest.raises(ValueError, match="no answer in the response"):
        reply_of(record, ms=1)  # type: ignore[arg-type]


def test_a_count_of_tokens_that_cannot_be_is_not_believed() -> None:
    for count in (10**3000, -1, 1e308, True):
        usage = {"prompt_tokens": count, "completion_tokens": 7}
        found = reply_of({"choices": [{"message": {"content": "4"}}], "usage": usage}, ms=1)
        assert (found.tokens_in, found.tokens_out) == (None, 7)


def test_a_response_without_usage_is_read() -> None:
    found = reply_of({"choices": [{"message": {"content": [{"type": "text", "text": "4"}]}}]}, ms=1)
    assert (found.text, found.tokens_in) == ("4", None)

"""Scripts of texts."""

from __future__ import annotations

import pytest

import wellput
from wellput.text.scripts import share_of_other_scripts, unspaced_script


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.0),
        ("123 !!! 😀", 0.0),
        ("Čau, ça va? Việt Nam, ﬁne", 0.0),
        ("Ｆｕｌｌ width", 0.0),
        ("Привет", 1.0),
        ("γεια abcd", 0.5),
        ("שלום مرحبا नमस्ते สวัสดี 안녕 你好 こんにちは", 1.0),
    ],
)
def test_share_of_letters_that_are_not_latin(text: str, share: float) -> None:
    assert share_of_other_scripts(text) == share


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("今天天气很好。", "Chinese"),
        ("今日は天気がいいです。", "Japanese"),
        ("ラーメン", "Japanese"),
        ("我喜欢吃日本的很多很多拉面，也就是ラ面。", "Chinese"),
        ("안녕하세요", ""),
        ("The word 今 means now.", ""),
        ("", ""),
    ],
)
def test_scripts_without_spaces(text: str, script: str) -> None:
    assert unspaced_script(text) == script


def test_score_names_the_metrics_that_see_no_words_in_chinese() -> None:
    evalset = wellput.EvalSet.of({"A": ["今天下大雨。", "Bob"]}, [["今天下雨。"], ["Bob"]])
    [note] = wellput.score(evalset, "bleu,chrf,bleu:tokenize=zh").notes
    assert note.startswith("1 output is Chinese") and "words: bleu cannot see" in note
    assert wellput.score(evalset, "chrf").notes == ()

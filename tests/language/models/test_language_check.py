"""The shipped language check. The sentences are our own; docs/results/language_check.md has figures on
thousands of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.io.model_files import load_model_file, save_model_file
from wellput.language.models.language_check import (
    LanguageCheck,
    ReadText,
    checked_words,
    shipped_check,
    word_features,
)
from wellput.language.models.linear_model import LinearModel
from wellput.language.shipped import LANGUAGE_FILE, shipped

ENGLISH = (
    "The quick brown fox jumps over the lazy dog.",
    "i would like the cheapest flight from pittsburgh to atlanta",
    "New and new technology has been introduce to the sociaty of many contries.",
    "Aleksandar Kovačević was born in Niš and plays for Fenerbahçe.",
    "He whispered “Guten Tag, meine Damen und Herren” and left the room.",
    "See you tomorrow at the station ;)",
    "The function f(x) returns the sum of its arguments.",
    "I paid $5 (about 4 euros) for it; she paid nothing.",
    "Colorless green ideas sleep furiously.",
)
OTHER = (
    "Der Zug fährt heute erst um zwölf Uhr ab.",
    "Le bateau pour l'île part à midi du quai deux.",
    "El barco sale del muelle a las doce en punto.",
    "Il traghetto parte a mezzogiorno dal molo numero due.",
    "Færgen til øen sejler klokken tolv fra kajen.",
    "De veerboot vertrekt om twaalf uur van de kade.",
    "Prom na wyspę odpływa w południe z drugiego nabrzeża.",
    "Lautta lähtee saarelle kello kaksitoista laiturilta kaksi.",
    "Vapur öğlen saat on ikide iki numaralı iskeleden kalkıyor.",
    "Kapal itu berangkat pada siang hari dari dermaga dua.",
)
OTHER_SCRIPTS = ("今天下雨。", "雨です", "Привет!", "مرحبا", "γεια", "안녕하세요", "สวัสดี", "नमस्ते")
CODE = (
    "def area(r):\n    return 3.14 * r ** 2\n\nprint(area(2))",
    "for (int i = 0; i < n; i++) {\n  total += values[i];\n}",
    '{"name": "The ferry", "text": "It leaves at noon from the second pier."}',
    "SELECT name FROM ferries WHERE pier = 2;",
    "```\nThe ferry leaves at noon.\n```",
    "<html><head><title>The ferry leaves</title></head><body></body></html>",
    "$$ x = y^2 $$",
)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_stays_as_it_is(text: str) -> None:
    assert shipped_check().read(text) == ReadText(text)


@pytest.mark.parametrize("text", (*OTHER, *OTHER_SCRIPTS))
def test_other_languages(text: str) -> None:
    assert shipped_check().read(text) == ReadText("", "not English")


@pytest.mark.parametrize("text", CODE)
def test_code(text: str) -> None:
    assert shipped_check().read(text) == ReadText("", "code or markup")


@pytest.mark.parametrize("text", ["", " \n", "!!!", "😀😂🥰", "42", "1,000.5 – 3/4 …"])
def test_no_words(text: str) -> None:
    assert shipped_check().read(text) == ReadText("", "no words")


@pytest.mark.parametrize("text", ["Guten Tag", "Bonjour à tous", "Rio de Janeiro"])
def test_a_few_words_in_latin_script_are_taken_for_english(text: str) -> None:
    assert shipped_check().read(text).reason is None


def test_prose_in_markup_is_judged_by_its_prose() -> None:
    fence = "```python\nprint(1)\n```"
    assert shipped_check().read(f"# Ferries\n\n{ENGLISH[0]}\n\n{fence}") == ReadText(ENGLISH[0])
    assert shipped_check().read(f"- {ENGLISH[0]}\n- {ENGLISH[5]}") == ReadText(
        f"{ENGLISH[0]}\n\n{ENGLISH[5]}"
    )
    assert shipped_check().read(f"# The ferry leaves\n\n- {OTHER[0]}").reason == "not English"
    assert shipped_check().read("# The ferry leaves at noon") == ReadText(
        "The ferry leaves at noon"
    )


def test_lines_of_code_between_prose_are_left_out() -> None:
    text = f"{ENGLISH[0]}\n\nint total = sum(values, n);\n\n{ENGLISH[8]}"
    assert shipped_check().read(text) == ReadText(f"{ENGLISH[0]}\n\n{ENGLISH[8]}")


def test_web_addresses_are_no_words() -> None:
    assert checked_words("Go to https://www.beispiel.de/ein/langer/pfad or a@b.de now") == [
        "go", "to", "or", "now",
    ]  # fmt: skip


def test_features_of_a_word() -> None:
    # <ab>: the word, 2 letters, 3 pairs, 2 triples; the n-gram of four is the word itself.
    assert len(word_features("ab", 1 << 17)) == 1 + 2 + 3 + 2
    assert word_features("don’t", 1 << 17) == word_features("don't", 1 << 17)


def test_score_by_hand(tmp_path: Path) -> None:
    size = 1 << 10
    table = np.zeros(size, np.int8)
    for place in word_features("ab", size):
        table[place] = 1
    code = LinearModel(("a",), np.zeros(1), np.ones(1), np.ones(1), 0.0)
    check = LanguageCheck(table, 0.5, 0.25, 2.0, code)
    places = word_features("ab", size)
    weight = 2 * np.tanh(0.5 * sum(int(table[place]) for place in places) / 2)
    assert check.score(["ab", "ab", "ab", "ab"]) == pytest.approx(4 * weight / 2 + 0.25)
    check.save(tmp_path / "x.wpm", {})
    assert LanguageCheck.load(tmp_path / "x.wpm").score(["ab"]) == check.score(["ab"])


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    data = shipped(LANGUAGE_FILE).read_bytes()
    (tmp_path / "x.wpm").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="damaged"):
        LanguageCheck.load(tmp_path / "x.wpm")


def test_parsing_counts_lines_that_are_not_english() -> None:
    from wellput.language.models.sentence_parsing import ParseSummary

    summary = ParseSummary()
    summary.check_language([ENGLISH[0], ""])
    assert summary.warning == ""
    summary.check_language([OTHER[0]])
    assert (
        summary.warning == "1 line is not English prose, and its tree means little: not English 1."
    )
    summary.check_language([CODE[3], OTHER_SCRIPTS[0]])
    assert summary.warning == (
        "3 lines are not English prose, and their trees mean little: code or markup 1, not English 2."
    )


@pytest.mark.parametrize("name", ["code means", "code scales", "code weights", "numbers", "table"])
@pytest.mark.parametrize("length", [0, 2])
def test_a_forged_check_is_refused(tmp_path: Path, name: str, length: int) -> None:
    """An array of another length or without numbers, with the right hash."""
    file = load_model_file(shipped(LANGUAGE_FILE), LanguageCheck.kind)
    arrays = {one: np.array(array) for one, array in file.arrays.items()}
    arrays[name] = arrays[name][:length]
    if name == "table" and length:  # any length will do
        arrays["numbers"] = np.full(3, np.nan)
    save_model_file(tmp_path / "forged.wpm", LanguageCheck.kind, file.card, arrays)
    with pytest.raises(InputError, match="damaged"):
        LanguageCheck.load(tmp_path / "forged.wpm")


@pytest.mark.parametrize(
    ("name", "number"),
    [("code scales", 0.0), ("code scales", 1e-300), ("code weights", 1e300), ("code bias", np.nan)],
)
def test_numbers_that_would_overflow_are_refused(tmp_path: Path, name: str, number: float) -> None:
    file = load_model_file(shipped(LANGUAGE_FILE), LanguageCheck.kind)
    arrays = {one: np.array(array) for one, array in file.arrays.items()}
    arrays[name][-1] = number
    save_model_file(tmp_path / "forged.wpm", LanguageCheck.kind, file.card, arrays)
    with pytest.raises(InputError, match="damaged"):
        LanguageCheck.load(tmp_path / "forged.wpm")


@pytest.mark.parametrize("text", ["https://example.org/a/b", "www.example.org me@example.org"])
def test_addresses_alone_are_no_prose(text: str) -> None:
    assert shipped_check().read(text).reason == "code or markup"
    assert shipped_check().read(f"See {text}").reason is None

"""Trains the language check: `python -m benchmarks language-training GENERAL -o FOLDER`. Its card lies
beside it, and the folder's README.md is made again. GENERAL is the file that `python -m benchmarks
general-english` writes.

English is the training part of EWT, the same with misspelled words, the same with names of other
countries, and words drawn by their frequencies in general English. The other
languages are treebanks, cut into pieces of 4 to 16 words; every language counts the same. Lines of
code are those of the Python that runs this: its library, its headers and the scripts of its packages.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from benchmarks.catalog import EWT_TRAIN
from benchmarks.data import data_path, ewt, sources
from benchmarks.language.language_names import FILES_FOR_TRAINING, TRAINING
from benchmarks.language.language_texts import language
from wellput.core.metric import Floats
from wellput.language.models.english_training import ModelCard, card_path, read_card, readme
from wellput.language.models.language_check import (
    CODE_FEATURES,
    PROSE_WORD,
    LanguageCheck,
    checked_words,
    line_features,
    word_features,
)
from wellput.language.models.linear_model import LinearModel, fit_separating
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngrams import unigrams
from wellput.language.shipped import LANGUAGE_FILE

SEED = 12345
TABLE_SIZE = 1 << 17
WORD_LIMIT = 5.0
REGULARIZATION = 1e-6
MAX_ITERATIONS = 80
DRAWN_WORDS = 400_000
MISSPELLED_SHARE = 0.12
CODE_LINES = 30_000
PROSE_BIAS = 1.0
"""Taken off the score of code: of prose and code that look the same, prose is likelier."""

SHORT_LINE_SHARE = 0.5
CHAT_SHARE = 0.3
CHAT_BEGINNINGS = ("", "", "", "@user ", "A: ", "(", "*waves* ", "#1 ")
CHAT_ENDINGS = (
    ";", ";", " ;)", " :)", ":", ",", ")", " <3", " (see below)", "!!! :D", " #fun #today", " *smiles*",
)  # fmt: skip

Piece = Sequence[str]


def pieces(words: Sequence[str], rng: random.Random) -> Iterator[Piece]:
    """Pieces of 4 to 16 words; a rest of 3 words or more is one, too."""
    start = 0
    while start < len(words):
        piece = words[start : start + rng.randint(4, 16)]
        start += len(piece)
        if len(piece) >= 3:
            yield piece


def misspelled(piece: Piece, rng: random.Random) -> Piece:
    """The piece with a letter lost, doubled, changed or moved in some words."""
    return [
        _misspelled_word(word, rng) if len(word) > 2 and rng.random() < MISSPELLED_SHARE else word
        for word in piece
    ]


def _misspelled_word(word: str, rng: random.Random) -> str:
    place = rng.randrange(1, len(word))
    before, letter, after = word[:place], word[place], word[place + 1 :]
    changed = (
        before + after,
        before + letter + letter + after,
        before + rng.choice("aeioutnsrlhdmc") + after,
        before[:-1] + letter + before[-1] + after,
    )
    return rng.choice(changed)


def with_names(piece: Piece, names: Sequence[str], rng: random.Random) -> Piece:
    """The piece with one to three names, each of up to three words."""
    words = list(piece)
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        place = rng.randrange(len(words) + 1)
        first = rng.randrange(len(names) - 3)
        replaced = int(len(words) > 6 and rng.random() < 0.5)
        words[place : place + replaced] = names[first : first + rng.choice((1, 2, 2, 3))]
    return words


def english_pieces(general: Path, names: Sequence[str], rng: random.Random) -> list[Piece]:
    texts = [tree.text for tree in ewt("train")]
    plain = [piece for text in texts for piece in pieces(checked_words(text), rng)]
    frequencies = unigrams(load_model(general))
    known = [word for word in frequencies if PROSE_WORD.fullmatch(word)]
    shares = np.array([10 ** frequencies[word] for word in known]) ** 0.75
    drawn = np.random.default_rng(SEED).choice(len(known), DRAWN_WORDS, p=shares / shares.sum())
    return [
        *plain,
        *(misspelled(piece, rng) for piece in plain),
        *(with_names(piece, names, rng) for piece in plain),
        *pieces([known[place] for place in drawn], rng),
    ]


def fitted_table(
    english: Sequence[Piece], others: Sequence[Sequence[Piece]]
) -> tuple[Floats, float]:
    """The weights and the bias of the logistic model; both sides, and all languages of the other side,
    count the same."""
    rows = [*english, *(piece for own in others for piece in own)]
    weights = np.concatenate(
        [
            np.full(len(english), 1 / len(english)),
            *(np.full(len(own), 1 / len(own) / len(others)) for own in others),
        ]
    )
    y = np.where(np.arange(len(rows)) < len(english), 1.0, -1.0)
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(word, len(vocabulary)) for word in row] for row in rows]
    text = _sparse(numbers, len(vocabulary), [len(row) ** -0.5 for row in numbers])
    places = [word_features(word, TABLE_SIZE) for word in vocabulary]
    words = _sparse(places, TABLE_SIZE, [1.0] * len(places))
    text_turned, words_turned = text.T.tocsr(), words.T.tocsr()

    def objective(parameters: Floats) -> tuple[float, Floats]:
        table, bias = parameters[:-1], parameters[-1]
        squashed = np.tanh(words @ table / WORD_LIMIT)
        margins = y * (text @ (WORD_LIMIT * squashed) + bias)
        pull = -weights * y / (1 + np.exp(np.clip(margins, -500, 500)))
        slopes = words_turned @ ((text_turned @ pull) * (1 - squashed**2))
        return (
            float(weights @ np.logaddexp(0, -margins) + 0.5 * REGULARIZATION * table @ table),
            np.append(slopes + REGULARIZATION * table, pull.sum()),
        )

    found = minimize(
        objective,
        np.zeros(TABLE_SIZE + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS},
    )
    return found.x[:-1], float(found.x[-1])


def _sparse(places: Sequence[Sequence[int]], width: int, values: Sequence[float]) -> csr_matrix:
    lengths = [len(row) for row in places]
    return csr_matrix(
        (
            np.repeat(values, lengths),
            np.concatenate([np.array(row, dtype=np.int64) for row in places]),
            np.concatenate([[0], np.cumsum(lengths)]),
        ),
        shape=(len(places), width),
    )


def code_lines(rng: random.Random) -> list[str]:
    """As many lines of Python, C and scripts of the web."""
    paths = sysconfig.get_paths()
    found: list[str] = []
    for folder, suffixes in (
        (paths["stdlib"], (".py",)),
        (paths["include"], (".h",)),
        (paths["purelib"], (".js", ".css", ".html")),
    ):
        files = sorted(
            path
            for path in Path(folder).rglob("*")
            if path.suffix in suffixes
            and ("site-packages" not in path.parts or folder == paths["purelib"])
            and ".min." not in path.name
        )
        rng.shuffle(files)
        lines: list[str] = []
        for path in files:
            own = path.read_text(encoding="utf-8", errors="replace").splitlines()
            lines += [line[:300] for line in own if _is_plain_code(line)]
            if len(lines) > CODE_LINES // 3:
                break
        found += lines[: CODE_LINES // 3]
    return found


def _is_plain_code(line: str) -> bool:
    """Not a comment or a line of a docstring, which may be prose: it has a mark of code."""
    stripped = line.strip()
    return (
        bool(stripped) and stripped[0] not in "#*/\"'" and any(c in "=(){};:<>[]" for c in stripped)
    )


def prose_lines(rng: random.Random) -> Iterator[str]:
    """Sentences, and the lines of sentences that were broken into lines."""
    for tree in ewt("train"):
        yield tree.text
        tokens = tree.text.split()
        if len(tokens) > 15:
            place = rng.randint(7, 14)
            yield " ".join(tokens[:place])
            yield " ".join(tokens[place:])
        if len(tokens) > 5 and rng.random() < SHORT_LINE_SHARE:
            yield " ".join(tokens[: rng.randint(2, 5)]) + rng.choice(("", ";", ",", ":"))
        if rng.random() < CHAT_SHARE:
            yield f"{rng.choice(CHAT_BEGINNINGS)}{tree.text.rstrip('.')}{rng.choice(CHAT_ENDINGS)}"


def fitted_code(prose: Sequence[str], code: Sequence[str]) -> LinearModel:
    rows = np.array([line_features(line) for line in (*code, *prose)])
    is_code = np.arange(len(rows)) < len(code)
    model = fit_separating(CODE_FEATURES, rows, is_code, loss="logistic")
    return LinearModel(
        model.features, model.means, model.scales, model.weights, model.bias - PROSE_BIAS
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("general", type=Path)
    arguments.add_argument("-o", "--output", type=Path, required=True)
    given = arguments.parse_args()
    rng = random.Random(SEED)
    texts = [language(name) for name in TRAINING]
    others = [
        [piece for text in own for piece in pieces(checked_words(text), rng)] for own in texts
    ]
    names = [
        word.lower()
        for name, own in zip(TRAINING, texts, strict=True)
        if not name.startswith("German")  # all its nouns have capitals
        for text in own
        for _, word in pairwise(PROSE_WORD.findall(text))
        if word[0].isupper() and len(word) > 1
    ]
    english = english_pieces(given.general, names, rng)
    table, bias = fitted_table(english, others)
    scale = float(np.abs(table).max()) / 127
    code = fitted_code(list(prose_lines(rng)), code_lines(rng))
    check = LanguageCheck(np.rint(table / scale).astype(np.int8), scale, bias, WORD_LIMIT, code)
    path = given.output / LANGUAGE_FILE
    figures = {"languages": len(TRAINING), "pieces of English": len(english)}
    check.save(path, figures)
    write_card(path, given.general, {**figures, "pieces of other languages": sum(map(len, others))})
    print(f"{path}: {path.stat().st_size:,} bytes")


def write_card(path: Path, general: Path, figures: dict[str, Any]) -> None:
    data = [described(file) for file in (EWT_TRAIN, *FILES_FOR_TRAINING)]
    licences = ", ".join(sorted({one["licence"] for one in data}))
    frequencies = hashlib.sha256(general.read_bytes()).hexdigest()
    card = ModelCard(
        path.name, "language check", path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest(),
        licences, "python -m benchmarks language-training GENERAL -o FOLDER", data,
        {general.name: frequencies}, SEED, figures,
    )  # fmt: skip
    text = json.dumps(asdict(card), indent=1, ensure_ascii=False)
    card_path(path).write_text(f"{text}\n", encoding="utf-8")
    cards = [read_card(file) for file in sorted(path.parent.glob("*.w[lp]m"))]
    there = [one for one in cards if one is not None]
    (path.parent / "README.md").write_text(readme(there), encoding="utf-8")


def described(file: str) -> dict[str, Any]:
    """For the card: title, name, licence, size and hash of a file of sentences."""
    source, path = sources()[file], data_path(file)
    return {
        "title": source.source.partition("/")[2].replace("_", " ").partition(",")[0],
        "name": path.name,
        "role": "languages",
        "licence": source.licence,
        "bytes": path.stat().st_size,
        "sha256": source.sha256,
    }

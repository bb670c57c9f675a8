"""Fluency without references, against size of sequences, generators and people.

    python -m benchmarks.fluency REAL SOURCE [--n 1000] [--most 5000] [--no-gleu]

REAL and SOURCE are the folders of text that `wellput train english --real REAL --source SOURCE` trained
the shipped models on; a fifth of REAL was held out. Writes docs/results/fluency.md. Table and figure
numbers are those of Mutton et al. (2007).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, spearmanr

from benchmarks.corpora import read_jsonl
from benchmarks.fluency_data import (
    LENGTH,
    Made,
    Rated,
    gug,
    made_sets,
    rated_sets,
    some_of,
    texts_of,
)
from wellput.core.metric import Floats
from wellput.language.fluency_features import FEATURES, english_models
from wellput.language.fluency_model import FluencyModel
from wellput.language.gleu_features import FEATURES as GLEU_FEATURES
from wellput.language.gleu_model import GleuModel
from wellput.language.parsers import ENGLISH, load_parser
from wellput.language.shipped import shipped
from wellput.metrics.fluency_pools import whole_sentences
from wellput.metrics.fluency_training import graded_texts, train_fluency
from wellput.metrics.gleu_fluency import english_parsers

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "fluency.md"
RESAMPLES = 1000
GENERATORS = ("sequence", "pos", "supertag", "cfg")
Columns = dict[str, Floats]


class Scorers:
    """All scores of texts: length, `fluency`, `gleu-fluency`, and each feature of both alone.

    Lower-is-better features are negated, so that every column should rise with quality.
    """

    def __init__(self, *, has_gleu: bool) -> None:
        self.models = english_models()
        self.fluency = FluencyModel.load(shipped("fluency.wpm"))
        self.gleu = GleuModel.load(shipped("gleu-fluency.wpm")) if has_gleu else None

    def __call__(self, texts: Sequence[str]) -> Columns:
        features = self.models.features(texts)
        columns = {"length": np.array([float(len(text.split())) for text in texts])}
        columns["fluency"] = np.nan_to_num(self.fluency.scores(features))
        titles = {"ngrams": "ngrams (SLOR)"}
        for name, column in zip(FEATURES, features.T, strict=True):
            columns[f"· {titles.get(name, name)}"] = _filled(column)
        if self.gleu is not None:
            rows = self.gleu.normalized(english_parsers(2).features(texts))
            columns["gleu-fluency"] = _filled(self.gleu.distances(rows))
            for place, name in enumerate(GLEU_FEATURES):
                sign = 1 if name == "log_probability" else -1
                columns[f"· gleu {name}"] = _filled(sign * rows[:, place])
        return columns


def _filled(column: Floats) -> Floats:
    """An output without words is as bad as the worst."""
    return np.where(np.isnan(column), np.nanmin(column), column)


def interval(function: Callable[..., float], *columns: Floats, seed: int = 1) -> str:
    """The value with its 95% bootstrap interval over rows."""
    rng = np.random.default_rng(seed)
    n = len(columns[0])
    drawn = [
        function(*(column[places] for column in columns))
        for places in (rng.integers(n, size=n) for _ in range(RESAMPLES))
    ]
    if np.isnan(function(*columns)):
        return "–"
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return f"{_short(function(*columns))} ({_short(low)} to {_short(high)})"


def _short(value: float) -> str:
    if np.isnan(value):
        return "–"
    digits = f"{abs(value):.3f}".removeprefix("0")
    return f"−{digits}" if value < 0 else digits


def pearson(x: Floats, y: Floats) -> float:
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if np.ptp(x) and np.ptp(y) else float("nan")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    return [*lines, ""]


def joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def accuracy_lines(real: Columns, fake: Columns) -> list[str]:
    """Real sentences against sequences of size 1; the area under the curve for all scorers."""
    n = min(len(real["length"]), len(fake["length"]))
    rows = []
    for name in real:
        a, b = real[name][:n], fake[name][:n]
        ranks = rankdata(np.concatenate([a, b]))
        area = (ranks[:n].sum() - n * (n + 1) / 2) / (n * n)
        rows.append([name, _short(float(area))])
    lines = ["## Real sentences against sequences of size 1\n"]
    if "gleu-fluency" in real:
        right = np.concatenate([real["gleu-fluency"][:n] > 0, fake["gleu-fluency"][:n] < 0])
        share = interval(lambda x: float(x.mean()), right.astype(np.float64))
        lines.append(
            f"`gleu-fluency` puts {share} of {2 * n} new sentences on the right side of 0.\n"
        )
    return [*lines, *table(["scorer", "area under the ROC curve"], rows)]


def size_lines(sizes: Mapping[int, Columns]) -> list[str]:
    """Tables 2, 4 and 5, Figure 2: correlation with the size of sequences, and means by size."""
    whole = joined([*sizes.values()])
    size = np.concatenate([np.full(len(part["length"]), float(s)) for s, part in sizes.items()])
    rows = [
        [
            name,
            interval(pearson, whole[name], size),
            _short(float(spearmanr(whole[name], size)[0]) if np.ptp(whole[name]) else np.nan),
            *(_short(float(part[name].mean())) for part in sizes.values()),
        ]
        for name in whole
    ]
    title = f"## Size of sequences, {len(size):,} sentences of {LENGTH} words (Tables 2, 4, 5; Figure 2)\n"
    header = ["scorer", "Pearson", "Spearman", *(f"mean at {s}" for s in sizes)]
    return [title, *table(header, rows)]


def generator_lines(kinds: Mapping[str, Columns]) -> list[str]:
    """Table 6: means by generator; bold where one is not below real sentences, intervals apart."""
    rows = []
    for name in kinds["real"]:
        cells = []
        bound = _mean_bounds(kinds["real"][name])[0]
        for kind, columns in kinds.items():
            mean, high = float(columns[name].mean()), _mean_bounds(columns[name])[1]
            fools = kind != "real" and high >= bound
            cells.append(f"**{_short(mean)}**" if fools else _short(mean))
        rows.append([name, *cells])
    note = "Bold: the 95% interval of the mean is not below that of real sentences, so the generator fools it.\n"
    return ["## Means by generator (Table 6)\n", *table(["scorer", *kinds], rows), note]


def _mean_bounds(column: Floats) -> tuple[float, float]:
    half = 1.96 * float(column.std(ddof=1)) / np.sqrt(len(column))
    return float(column.mean()) - half, float(column.mean()) + half


def people_lines(sets: Sequence[Rated], scored: Sequence[Columns]) -> list[str]:
    """Tables 8 and 9 on public ratings: Pearson with people; within the top quarter below."""
    lines = ["## People (Tables 8, 9)\n", "Pearson with mean ratings, 95% bootstrap intervals.\n"]
    header = ["scorer", *(f"{rated.name} ({len(rated.texts):,})" for rated in sets)]
    rows = [
        [
            name,
            *(interval(pearson, c[name], r.ratings) for r, c in zip(sets, scored, strict=True)),
        ]
        for name in scored[0]
    ]
    lines += table(header, rows)
    lines.append("Within the top quarter of ratings:\n")
    top = [rated.ratings >= np.quantile(rated.ratings, 0.75) for rated in sets]
    rows = [
        [
            name,
            *(
                _short(pearson(c[name][t], r.ratings[t]))
                for r, c, t in zip(sets, scored, top, strict=True)
            ),
        ]
        for name in ("length", "fluency", "gleu-fluency", "· ngrams (SLOR)")
        if name in scored[0]
    ]
    return [*lines, *table(header, rows)]


def fit_lines(scorers: Scorers) -> list[str]:
    """Least squares over all scores of the sentences, as `wellput fit` does without --stepwise."""
    train, dev = gug("train"), gug("dev")
    x, z = (
        np.column_stack([*scorers(part.texts).values(), np.ones(len(part.texts))])
        for part in (train, dev)
    )
    weights = np.linalg.lstsq(x, train.ratings, rcond=None)[0]
    found = interval(pearson, z @ weights, dev.ratings)
    return [
        f"Fitted to the {len(train.texts):,} ratings of GUG train by least squares: {found} on GUG dev.\n"
    ]


def jfleg_lines(score: Callable[[Sequence[str]], Columns]) -> list[str]:
    rows = list(read_jsonl("fluency/jfleg_test.jsonl.gz"))
    before = score([row["source"] for row in rows])
    after = score([row["references"][0] for row in rows])
    changed = np.array([row["source"] != row["references"][0] for row in rows])
    cells = [
        [name, interval(lambda x: float(x.mean()), _wins(after[name], before[name])[changed])]
        for name in before
    ]
    return [
        f"## JFLEG: learners' sentences against their first rewriting ({int(changed.sum())} changed)\n",
        *table(["scorer", "rewriting scores higher (ties half)"], cells),
    ]


def _wins(a: Floats, b: Floats) -> Floats:
    return np.asarray((a > b) + 0.5 * (a == b), np.float64)


def shuffle_lines(scorers: Scorers, real: Path) -> list[str]:
    rng = np.random.default_rng(3)
    sentences = [words for words in whole_sentences([real], is_held_out=True) if len(words) >= 8]
    shuffled = [_shuffled(words, rng) for words in sentences]
    pair = [
        scorers.fluency.scores(scorers.models.features(texts_of(s))) for s in (sentences, shuffled)
    ]
    share = float(np.mean(pair[0] > pair[1]))
    return [
        f"`fluency` is higher for a sentence than for its own shuffle (the stop stays last) in {share:.2%} of "
        f"{len(sentences):,} new sentences of 8 words and more.\n"
    ]


def _shuffled(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    inner = list(words[:-1])
    while True:
        mixed = [inner[place] for place in rng.permutation(len(inner))]
        if mixed != inner:
            return [mixed[0][:1].upper() + mixed[0][1:], *mixed[1:], words[-1]]


def speed_lines(scorers: Scorers, made: Made) -> list[str]:
    texts = list(dict.fromkeys(text for part in made.sequences.values() for text in part))
    started = time.process_time()
    scorers.models.features(texts)
    rate = len(texts) / (time.process_time() - started)
    return [
        f"`fluency`: {rate:,.0f} sentences of {LENGTH} words a second on one core, models loaded.\n"
    ]


def left_out_lines(scorers: Scorers, made: Made, real: Path, source: Path) -> list[str]:
    """`fluency` trained without a generator, on that generator's sentences."""
    pools = whole_sentences([real]), whole_sentences([source])
    parser = load_parser(ENGLISH)
    texts = {"sequence": made.sequences[1], **made.generated}
    rows = []
    for name in GENERATORS:
        rng = np.random.default_rng(12345)
        graded = list(graded_texts(*pools, parser, rng, left_out=name))
        model = train_fluency(graded, scorers.models)
        means = [
            interval(lambda x: float(x.mean()), model.scores(scorers.models.features(part)))
            for part in (made.real, texts[name])
        ]
        rows.append([name, *means])
    return [
        "## `fluency` trained without one generator\n",
        *table(["left out", "mean of real sentences", "mean of its sentences"], rows),
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("real", type=Path)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("--n", type=int, default=1000)
    arguments.add_argument("--most", type=int, default=5000, help="sentences of a rated set")
    arguments.add_argument("--no-gleu", action="store_true")
    given = arguments.parse_args()
    scorers = Scorers(has_gleu=not given.no_gleu)
    quick = Scorers(has_gleu=False)
    made = made_sets(given.real, given.source, given.n, seed=12345)
    sizes = {size: scorers(texts) for size, texts in made.sequences.items()}
    real = scorers(made.real)
    kinds = {"real": real, "sequence-1": sizes[1]}
    kinds |= {name: scorers(texts) for name, texts in made.generated.items()}
    sets = [some_of(rated, given.most) for rated in rated_sets()]
    steps: list[Callable[[], list[str]]] = [
        partial(accuracy_lines, real, sizes[1]),
        partial(size_lines, sizes),
        partial(generator_lines, kinds),
        lambda: people_lines(sets, [scorers(rated.texts) for rated in sets]),
        partial(fit_lines, quick),
        partial(jfleg_lines, quick),
        lambda: ["## Order and speed\n"],
        partial(shuffle_lines, scorers, given.real),
        partial(speed_lines, scorers, made),
        partial(left_out_lines, scorers, made, given.real, given.source),
    ]
    lines = ["# Fluency without references\n", "Written by `python -m benchmarks.fluency`.\n"]
    for step in steps:
        lines += step()
        RESULTS.write_text("\n".join(lines), encoding="utf-8")
        print(f"{len(lines)} lines", flush=True)


if __name__ == "__main__":
    main()

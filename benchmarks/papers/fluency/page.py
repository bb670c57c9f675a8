"""Fluency without references, against size of sequences, generators and people.

    python -m benchmarks fluency REAL SOURCE KEPT [--first 1000] [--most 5000]
    python -m benchmarks fluency REAL SOURCE KEPT --texts

REAL and SOURCE are the folders of text that `wellput train english --real REAL --source SOURCE` trained
the shipped models on; a fifth of REAL was held out. KEPT is a folder for parses and for the parts of
the page, so that an interrupted run can be resumed: a part that is there is not made again. For the rows
of perplexity `--texts` writes KEPT/texts.json, and `python -m benchmarks neural-scores` makes KEPT/neural.jsonl from
it. Writes docs/results/fluency.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.pages import write_page
from benchmarks.papers.fluency.figures import (
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
from benchmarks.papers.fluency.order import left_out_lines, shuffle_lines, speed_lines
from benchmarks.papers.fluency.rerank import rerank_lines
from benchmarks.papers.fluency.scorers import NEURAL, Columns, Scorers, with_references
from benchmarks.papers.fluency.texts import (
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
from wellput.core.metric import Floats

SEED = 12345
N, OWN = 1000, 300
"""Sentences of each kind, of Brown and of the held-out text."""
WHOLE_SCORERS = ("length", "fluency", "gleu-fluency", NEURAL, "bleu", "chrf")
"""Without single features and the other measures of perplexity."""


def accuracy_lines(texts: Mapping[str, tuple[Columns, Columns]]) -> list[str]:
    """Real sentences against sequences of size 1; the area under the curve for all scorers."""
    lines = [
        "## Real sentences against sequences of single words\n",
        f"[`wellput degrade`](../commands/degrade.md) makes the sequences: {LENGTH} words, each drawn by "
        "how often it follows the word before. *Held-out books and speeches*: sentences from the books and speeches of the training text that were not used in training.\n",
    ]
    areas: dict[str, list[str]] = {}
    for name, (real, fake) in texts.items():
        if "gleu-fluency" in real:
            right = np.concatenate([real["gleu-fluency"] > 0, fake["gleu-fluency"] < 0])
            share = interval(mean, right.astype(np.float64))
            lines.append(
                f"{name[0].upper()}{name[1:]}: `gleu-fluency` gives {share} of {len(right):,} sentences a score with the right "
                "sign, above 0 for real sentences and below 0 for sequences.\n"
            )
        for scorer in real:
            areas.setdefault(scorer, []).append(short(_area(real[scorer], fake[scorer])))
    lines.append(
        "The area under the ROC curve is the share of pairs of a real sentence and a sequence in which the "
        "real sentence scores higher; .5 is chance.\n"
    )
    header = ["area under the ROC curve", *texts]
    return [*lines, *table(header, [[scorer, *cells] for scorer, cells in areas.items()])]


def _area(real: Floats, fake: Floats) -> float:
    n, m = len(real), len(fake)
    if np.isnan(real).any() or np.isnan(fake).any():
        return float("nan")
    ranks = rankdata(np.concatenate([real, fake]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def size_lines(name: str, sizes: Mapping[int, Columns]) -> list[str]:
    """Correlation with the size of sequences, and means by size."""
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
    numbers = [f"{len(part['length']):,}" for part in sizes.values()]
    counts = f"{numbers[0]} of each" if len({*numbers}) == 1 else ", ".join(numbers)
    return [
        f"## Size of sequences: {name}\n",
        f"A sentence of *size* N is made of sequences of N words that stand together in real sentences, so "
        "larger sizes should score higher. There are "
        f"{len(size):,} sentences of {LENGTH} words: {counts} of the sizes {', '.join(map(str, sizes))}. "
        "*Pearson* and *Spearman* are correlations of the score with the size, and *mean at N* is the mean "
        "score of the sentences of size N. Small, medium and large are Cohen's words for correlations from "
        ".1, .3 and .5; *none* is below .1.\n",
        *table(["scorer", "Pearson", "Spearman", *(f"mean at {s}" for s in sizes)], rows),
    ]


def joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def generator_lines(name: str, kinds: Mapping[str, Columns]) -> list[str]:
    """Means by generator; bold where one is not below real sentences, intervals apart."""
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
        f"## Means by generator: {name}\n",
        f"The sentences are {counts}; the generators of `wellput degrade` made all but the real ones. "
        "*sequence-1* has sequences of single words, as above; *pos* and *supertag* fill templates of parts of speech, or of supertags (parts of speech with "
        "their syntactic context); *cfg* uses the rules of a grammar; *errors* puts mistakes into real "
        "sentences. Bold: the 95% interval of the mean is not below the interval of real sentences, so the "
        "generator fools the scorer.\n",
        *table(["scorer", *kinds], rows),
    ]


def people_lines(sets: Sequence[Rated], scored: Sequence[Columns]) -> list[str]:
    """Public ratings: Pearson with people."""
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
        "## People\n",
        "The table has Pearson's r of each score with people's mean ratings. After the name of a data set "
        "stands the number of its texts. GUG has sentences of learners of English, rated for "
        "grammar; TMU-GFM has sentences of learners that were corrected, rated for fluency; Lau 2015 sentences of "
        "Wikipedia that were translated into another language and back, rated for acceptability; SFRES and BAGEL outputs "
        "of dialog systems, rated for naturalness; WebNLG outputs of systems that put facts into words, "
        "rated for fluency. `bleu` and `chrf` need references: for GUG these are people's corrections from "
        "JFLEG, for WebNLG the text that a person wrote.\n",
        *table(header, rows),
        *_advantage_lines(pairs, header),
        *_top_lines(pairs, header),
    ]


def _advantage_lines(pairs: Sequence[tuple[Rated, Columns]], header: Sequence[str]) -> list[str]:
    others = ["length", "gleu-fluency", NEURAL]
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
    note = "How much higher the correlation of `fluency` with people is than that of other scorers (differences of absolute values; bold if the interval is above 0):\n"
    return [note, *table(["advantage of `fluency`", *header[1:]], rows)]


def _top_lines(pairs: Sequence[tuple[Rated, Columns]], header: Sequence[str]) -> list[str]:
    rows = []
    for name in WHOLE_SCORERS:
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
        "The correlation with people among the texts in the top quarter of ratings, and the number of "
        "these texts (– if all their ratings are equal):\n",
        *table(header, rows),
    ]


def fit_lines(scorers: Scorers) -> list[str]:
    """Least squares over scores of the sentences, as `wellput fit` does without --stepwise."""
    train, dev = gug("train"), gug("dev")
    parts = [scorers(part.texts, has_gleu=False, has_features=True) for part in (train, dev)]
    neural = [name for name in parts[0] if name.startswith("perplexity")]
    ours = [name for name in parts[0] if name not in neural]
    lines = [
        "## Sums of scores that are fitted to ratings\n",
        f"A weighted sum of scores is fitted by least squares to the {len(train.texts):,} ratings of GUG's "
        "training part. The table has its correlation with the ratings of the development part (GUG dev).\n",
    ]
    rows = []
    for title, names in (
        ("fluency, its features and length", ours),
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
        "## Learners' sentences against rewritings by people\n",
        "JFLEG has sentences of learners of English with rewritings by people. The table has the share of "
        f"{len(rows)} sentences whose first rewriting scores higher than the learner's sentence; equal "
        "scores count half.\n",
        *table(["scorer", "rewriting scores higher"], cells),
    ]


def scored_sets(scorers: Scorers, sets: Sequence[Rated]) -> list[Columns]:
    return [
        scorers(rated.texts)
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


NOTES = """\
## What else to know

- [Fluency on every kind of text](fluency_kinds.md#how-choices-were-made) says on which data choices for today's `fluency` were made.
- The formula of the feature `nulls` of `gleu-fluency` was chosen on its training sentences, a part of GUG train, and sentences from the books, the speeches and Brown. Of these sentences from Brown, 150 of each size are also in the table of sizes above.
- On most of these sets people rate long sentences lower. `fluency` depends on the mistakes in a sentence more than on its length, so on TMU-GFM and WebNLG (without empty outputs) length alone agrees better with people.
- Brown's sentences are harder for `gleu-fluency` than sentences of the kind that it was trained on: it takes more real sentences from Brown for generated ones.
"""
HEAD = """\
# Fluency without references

Do scorers that need no reference distinguish real sentences from worse ones, and do they agree with people? All of them score real sentences higher than random sequences of words,
`perplexity` most surely. On most of seven sets of rated texts `fluency` agrees better with people than `gleu-fluency`. `perplexity` (its measure *penalized*) agrees better than `fluency` with
ratings of learners' sentences, and worse with ratings of the outputs of WebNLG's systems.

- [`fluency`](../metrics/fluency.md) and [`gleu-fluency`](../metrics/gleu-fluency.md) are the models in the package. A row *· gleu* is a single [feature](../metrics/gleu-fluency.md#features) of `gleu-fluency`,
  negated if lower is better.
- `perplexity` is that of the language model SmolLM2 with 135 million weights, with three [measures](../metrics/perplexity.md#options).
- `length` is the number of words between spaces. Where the page speaks of sentences of 24 words, punctuation marks count as words, too.
- –: the scorer was not run, or its scores are all equal.

No sentence of this page was in the training text of the models. The tables have 95% bootstrap intervals in parentheses.
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("real", type=Path)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("kept", type=Path)
    arguments.add_argument("--texts", action="store_true", help="write all texts, nothing else")
    arguments.add_argument("--first", type=int, default=1000, help="of each kind of Brown")
    arguments.add_argument("--most", type=int, default=5000, help="of a rated set, to be parsed")
    given = arguments.parse_args()
    own = held_out(given.real, given.source, OWN, np.random.default_rng(SEED))
    brown = brown_text(N, np.random.default_rng(SEED))
    sets = rated_sets()
    if given.texts:
        texts = json.dumps(all_texts([own, brown], sets))
        (given.kept / "texts.json").write_text(texts, encoding="utf-8")
        return
    page = Page(Scorers(given.kept), own, brown.first(given.first), sets, given.most)
    parts = page.parts(given.real, given.source)
    for name, make in parts.items():
        path = given.kept / f"{name}.md"
        if not path.exists():
            path.write_text("\n".join(make()), encoding="utf-8")
            print(name, flush=True)
    texts_of_parts = [(given.kept / f"{name}.md").read_text(encoding="utf-8") for name in parts]
    write_page("fluency", "\n".join([HEAD, *texts_of_parts]))


@dataclass(frozen=True)
class Page:
    """The scorers and their texts; at most `most` rated texts of a set are used, because link grammar is slow."""

    scorers: Scorers
    own: Made
    brown: Made
    sets: Sequence[Rated]
    most: int

    def parts(self, real: Path, source: Path) -> dict[str, Callable[[], list[str]]]:
        return {
            "accuracy": self._accuracy,
            "sizes": lambda: size_lines(self.brown.name, self._sizes),
            "generators": lambda: generator_lines(self.brown.name, self._kinds),
            "people": self._people,
            "fit": lambda: fit_lines(self.scorers),
            "jfleg": lambda: jfleg_lines(self.scorers),
            "rerank": lambda: rerank_lines(1000),
            "shuffle": lambda: shuffle_lines(self.scorers, real),
            "speed": lambda: speed_lines(self.scorers, self.own),
            "left_out": lambda: left_out_lines(self.scorers, self.own, real, source),
            "notes": lambda: [NOTES],
        }

    @cached_property
    def _sizes(self) -> dict[int, Columns]:
        return {size: self.scorers(texts) for size, texts in self.brown.sequences.items()}

    @cached_property
    def _kinds(self) -> dict[str, Columns]:
        made = {name: self.scorers(texts) for name, texts in self.brown.generated.items()}
        return {"real": self.scorers(self.brown.real), "sequence-1": self._sizes[1], **made}

    def _accuracy(self) -> list[str]:
        own = self.scorers(self.own.real), self.scorers(self.own.sequences[1][: len(self.own.real)])
        brown = self._kinds["real"], self._kinds["sequence-1"]
        return accuracy_lines({self.own.name: own, self.brown.name: brown})

    def _people(self) -> list[str]:
        first, *others = self.sets
        sets = [first, *(some_of(rated, self.most) for rated in others)]
        return people_lines(sets, scored_sets(self.scorers, sets))

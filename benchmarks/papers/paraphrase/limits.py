"""Why filtered references agree with people no better than all of WordNet's: other ways to filter, and
how much the best filter could gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wellput.core.estimates import ScoreTable
from wellput.core.metric import Floats
from wellput.language.paraphrase.methods import ParaphraseOptions, make_paraphraser
from wellput.language.paraphrase.references import Paraphraser, Substitution

THRESHOLDS = (0.0, 0.05, 0.15, 0.3)
ROUNDS = 50


def other_ways() -> dict[str, Paraphraser]:
    """By name: jointly, without phrases, and `context` at other thresholds."""
    return {
        "joint": make_paraphraser(ParaphraseOptions(is_joint=True)),
        "words": make_paraphraser(ParaphraseOptions(has_phrases=False)),
        **{f"{t}": make_paraphraser(ParaphraseOptions(threshold=t)) for t in THRESHOLDS},
    }


def _standard(values: Floats) -> Floats:
    result: Floats = (values - values.mean()) / values.std()
    return result


class Limits:
    """One set and metric: the scores of judged outputs by method, and what people said of them.

    `found` has the methods of `other_ways`, and `none`, `wordnet` and `context`; `made` is what the
    threshold 0 lets pass.
    """

    def __init__(
        self, found: Mapping[str, ScoreTable], human: ScoreTable, made: Sequence[Substitution]
    ) -> None:
        self._cells = human.present & found["none"].present
        self.people: Floats = human.scores[self._cells]
        self.scores = {name: self._of(table) for name, table in found.items()}
        self.scores["soft"] = self._soft(made, found["none"])
        self.scores["oracle"] = self._oracle()
        items = np.broadcast_to(np.arange(self._cells.shape[1]), self._cells.shape)
        self.is_dev: NDArray[np.bool_] = items[self._cells] % 2 == 0

    def _of(self, table: ScoreTable) -> Floats:
        return np.nan_to_num(table.scores[self._cells])

    def _soft(self, made: Sequence[Substitution], like: ScoreTable) -> Floats:
        """The original score, and of what rewriting adds as much as the substitutions are probable."""
        row = {system: i for i, system in enumerate(like.systems)}
        column = {item: i for i, item in enumerate(like.items)}
        sums = np.zeros((*self._cells.shape, 2))
        for one in made:
            if one.kept:
                sums[row[one.system], column[one.item]] += one.probability, 1
        share = (sums[..., 0] / np.maximum(sums[..., 1], 1))[self._cells]
        return self.scores["none"] + share * (self.scores["0.0"] - self.scores["none"])

    def _oracle(self) -> Floats:
        """Chooses between each output's two scores, original and rewritten, the one that raises r while the
        other outputs keep theirs; again and again until nothing changes, from both beginnings."""
        both = [self.scores["none"], self.scores["wordnet"]]
        people = _standard(self.people)
        ends = []
        for chosen in both:
            for _ in range(ROUNDS):
                own = _standard(chosen)
                # The slope of r in each score, but for a factor.
                slope = people - (own @ people / len(own)) * own
                better = np.where(slope * (both[1] - both[0]) > 0, both[1], both[0])
                if (better == chosen).all():
                    break
                chosen = better
            ends.append(chosen)
        return max([*ends, *both], key=lambda own: float(np.corrcoef(own, self.people)[0, 1]))

    def r(self, method: str, chosen: NDArray[np.bool_] | None = None) -> float:
        where = np.ones(len(self.people), np.bool_) if chosen is None else chosen
        return float(np.corrcoef(self.scores[method][where], self.people[where])[0, 1])

    @property
    def share_that_differs(self) -> float:
        """The share of the judged outputs to which `context` and `wordnet` give different scores."""
        return float((self.scores["context"] != self.scores["wordnet"]).mean())

    def tuned(self) -> tuple[float, float, float]:
        """The threshold that is best on half the items; on the other half what it, and WordNet, change."""
        best = max(THRESHOLDS, key=lambda t: self.r(f"{t}", self.is_dev))
        base = self.r("none", ~self.is_dev)
        return (
            best,
            self.r(f"{best}", ~self.is_dev) - base,
            self.r("wordnet", ~self.is_dev) - base,
        )


def limits_section(found: Mapping[tuple[str, str], Limits]) -> Iterator[str]:
    """The page's lines, by name of the set and metric."""
    yield "## Could filtering beat WordNet?"
    yield ""
    yield (
        "The columns after *differ* are changes of r, as above. *differ*: the share of judged outputs "
        "whose score with "
        "`context` differs from the score with WordNet. *joint*: `context` with the option `--joint`. "
        "*words*: `context` "
        "without phrases. *soft*: all of WordNet's substitutions; the change of the score is weighted by "
        "the mean "
        "probability that `context` gives to them. *oracle*: for each output the score with the original "
        "or with the rewritten reference, whichever makes r larger. Only someone who knows the ratings "
        "could choose in "
        "this way, so this is about the most that a filter of whole references could gain. "
        "*tuned*: the threshold that is best on the even items, and the change with it on the odd items; "
        "the last column is WordNet's change on the odd items."
    )
    yield ""
    names = ("wordnet", "context", "joint", "words", "soft", "oracle")
    yield (
        "| set, metric | differ | "
        + " | ".join(names)
        + " | tuned: threshold | tuned: change | wordnet on the odd items |"
    )
    yield "| --- |" + " ---: |" * (len(names) + 4)
    for (data, metric), limits in found.items():
        changes = [f"{limits.r(name) - limits.r('none'):+.4f}" for name in names]
        threshold, tuned, plain = limits.tuned()
        cells = [f"{threshold:g}", f"{tuned:+.4f}", f"{plain:+.4f}"]
        differ = f"{limits.share_that_differs:.1%}"
        yield f"| {data}, {metric} | {differ} | " + " | ".join([*changes, *cells]) + " |"
    yield ""

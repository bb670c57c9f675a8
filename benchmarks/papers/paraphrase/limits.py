"""Could a better filter make paraphrased references agree better with people? Other ways to filter, and how much
the best filter could gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from wellput.core.estimates import ScoreTable
from wellput.core.metric import Floats
from wellput.language.paraphrase.methods import ParaphraseOptions, make_paraphraser
from wellput.language.paraphrase.references import Paraphraser

MAX_ROUNDS = 50
"""The choices of the oracle are improved in at most this many rounds."""


def other_ways() -> dict[str, Paraphraser]:
    """By column of the table: `context` with one other option."""
    return {
        "joint": make_paraphraser(ParaphraseOptions(is_joint=True)),
        "words-only": make_paraphraser(ParaphraseOptions(has_phrases=False)),
    }


def _standard(values: Floats) -> Floats:
    result: Floats = (values - values.mean()) / values.std()
    return result


class Limits:
    """One data set and metric: the scores of judged outputs by method, and people's ratings of them.

    `found` has the score tables of `none`, `wordnet`, `context` and the methods of `other_ways`.
    """

    def __init__(self, found: Mapping[str, ScoreTable], human: ScoreTable) -> None:
        is_judged = human.present & found["none"].present
        self.people: Floats = human.scores[is_judged]
        self.scores: dict[str, Floats] = {
            name: np.nan_to_num(table.scores[is_judged]) for name, table in found.items()
        }
        self.scores["oracle"] = self._oracle()

    def _oracle(self) -> Floats:
        """For each output its original or its rewritten score, chosen so that r is high: each output takes
        the score that raises r while the others keep theirs, until nothing changes. This is done twice,
        beginning with all original and with all rewritten scores; the better end counts."""
        both = [self.scores["none"], self.scores["wordnet"]]
        people = _standard(self.people)
        ends = []
        for chosen in both:
            for _ in range(MAX_ROUNDS):
                own = _standard(chosen)
                # The derivative of r with respect to each score, up to a factor.
                slope = people - (own @ people / len(own)) * own
                better = np.where(slope * (both[1] - both[0]) > 0, both[1], both[0])
                if (better == chosen).all():
                    break
                chosen = better
            ends.append(chosen)
        return max([*ends, *both], key=lambda own: float(np.corrcoef(own, self.people)[0, 1]))

    def r(self, method: str) -> float:
        return float(np.corrcoef(self.scores[method], self.people)[0, 1])

    @property
    def share_that_differs(self) -> float:
        """The share of the judged outputs to which `context` and `wordnet` give different scores."""
        return float((self.scores["context"] != self.scores["wordnet"]).mean())


def limits_section(found: Mapping[tuple[str, str], Limits]) -> Iterator[str]:
    """The page's lines, by name of the set and metric."""
    yield "## Could another filter beat all of WordNet's proposals?"
    yield ""
    yield (
        "*Differ*: the share of judged outputs whose score with `context` differs from the score with `wordnet`. The other columns are changes of r, as above; `--joint` and `--words-only` are options of `wellput paraphrase`, used with `context`. The *oracle* takes for each output the original reference or the one rewritten with all of WordNet's proposals, whichever makes r larger. Only someone who knows the ratings could choose in this way, so a filter that keeps all or none of a reference's replacements can hardly gain more."
    )
    yield ""
    names = ("wordnet", "context", "joint", "words-only", "oracle")
    yield "| data, metric | differ | `wordnet` | `context` | `--joint` | `--words-only` | oracle |"
    yield "| --- |" + " ---: |" * (len(names) + 1)
    for (data, metric), limits in found.items():
        changes = [f"{limits.r(name) - limits.r('none'):+.4f}" for name in names]
        yield f"| {data}, {metric} | {limits.share_that_differs:.1%} | {' | '.join(changes)} |"
    yield ""

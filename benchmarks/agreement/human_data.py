"""The noun `HumanData`: outputs with references that people judged, as an evalset and judgments.

If a file has only the mean or the median of several people's ratings, this counts as one judge, who is
called `mean` or `median`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.data import read_jsonl
from wellput.agreement.panel import Normalization
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment


class Rated(NamedTuple):
    """One judged output. `ratings` are the judges' answers by question, `scores` those of metrics that
    came with the file."""

    item: str
    system: str
    output: str
    references: tuple[str, ...]
    ratings: dict[str, list[float]]
    scores: dict[str, float] = {}  # noqa: RUF012  (a named tuple's default, never written to)


@dataclass(frozen=True)
class HumanData:
    """A set of judged outputs. `normalization` is None for wellput's own choice; `given` are scores
    of metrics that came with the set, by metric and (system, item)."""

    name: str
    about: str
    evalset: EvalSet
    judgments: tuple[Judgment, ...]
    normalization: Normalization | None = None
    given: Mapping[str, Mapping[tuple[str, str], float]] = field(default_factory=dict)


def human_data(
    name: str,
    about: str,
    rows: Iterator[Rated],
    *,
    judge: str,
    normalization: Normalization | None = None,
) -> HumanData:
    """The rows as an evalset and judgments. Several ratings of a row are those of the judges `judge-1`,
    `judge-2`, …, where `judge` is the given name."""
    outputs: dict[str, dict[str, str]] = {}
    references: dict[str, tuple[str, ...]] = {}
    judgments: list[Judgment] = []
    given: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        outputs.setdefault(row.item, {})[row.system] = row.output
        references[row.item] = row.references
        for metric, score in row.scores.items():
            given.setdefault(metric, {})[row.system, row.item] = score
        for question, values in row.ratings.items():
            judgments += [
                Judgment(who, row.item, row.system, question, value)
                for who, value in zip(_judges(judge, values), values, strict=True)
            ]
    items = [Item(item, found, references[item]) for item, found in outputs.items()]
    return HumanData(name, about, EvalSet(items), tuple(judgments), normalization, given)


def _judges(judge: str, values: Sequence[float]) -> list[str]:
    if len(values) == 1:
        return [judge]
    return [f"{judge}-{number}" for number in range(1, len(values) + 1)]


def _ratings(row: dict[str, Any], questions: Sequence[str]) -> dict[str, list[float]]:
    return {question: [float(row[question])] for question in questions}


def dialogue(file: str, name: str) -> HumanData:
    """BAGEL or SFRES (Novikova et al. 2017): medians of three crowd workers on scales of 1 to 6.

    An item is a dialogue act; where a system has several outputs for one, each is an item of its own.
    """

    def rows() -> Iterator[Rated]:
        seen: Counter[tuple[str, str]] = Counter()
        for row in read_jsonl(f"nlg_human/{file}"):
            seen[row["system"], row["src"]] += 1
            item = f"{row['src']} #{seen[row['system'], row['src']]}"
            yield Rated(
                item,
                row["system"],
                row["output"],
                tuple(row["references"]),
                _ratings(row, ("informativeness", "naturalness", "quality")),
            )

    about = "English sentences for dialogue acts, by two systems; ratings are medians of three judges, from 1 to 6"
    return human_data(name, about, rows(), judge="median")


def bagel() -> HumanData:
    return dialogue("d2t_bagel.jsonl.gz", "BAGEL")


def sfres() -> HumanData:
    return dialogue("d2t_sfres.jsonl.gz", "SFRES")


def webnlg(*, with_nothing_said: bool) -> HumanData:
    """WebNLG 2017: triples to English; means of about three crowd workers on scales of 1 to 3.

    The only reference in the file is a human text, which was judged as a tenth system; it is no system
    here. It is lower-cased, with spaces around punctuation marks, so outputs are written in this way,
    too. The file has scores of BLEU, METEOR and TER by the organizers, who had all references (TER is
    negated here). Two systems gave `null` or the empty string for 193 inputs; with `with_nothing_said`
    these outputs are kept.
    """

    def rows() -> Iterator[Rated]:
        found = list(read_jsonl("nlg_human/webnlg2017_human.jsonl.gz"))
        human = {row["mr"]: _tokenized(row["output"]) for row in found if row["system"] == "webnlg"}
        for row in found:
            says_nothing = row["output"].strip() in ("", "null")
            if row["system"] != "webnlg" and (with_nothing_said or not says_nothing):
                yield Rated(
                    row["mr"],
                    row["system"],
                    _tokenized(row["output"]),
                    (human[row["mr"]],),
                    _ratings(row, ("fluency", "grammar", "semantics")),
                    {
                        "their BLEU": row["bleu"],
                        "their METEOR": row["meteor"],
                        "their TER": -row["ter"],
                    },
                )

    which = "with" if with_nothing_said else "without"
    about = f"English texts for RDF triples, by nine systems, {which} the 193 outputs that are empty or `null`; ratings are means of about three judges, from 1 to 3"
    return human_data(f"WebNLG 2017, {which} empty outputs", about, rows(), judge="mean")


def _tokenized(text: str) -> str:
    """In lower case, with spaces around punctuation marks."""
    return " ".join(re.findall(r"\w+|[^\w\s]", text.lower()))


def summeval() -> HumanData:
    """SummEval: summaries by 16 systems with 11 references; means of three experts, 1 to 5."""

    def rows() -> Iterator[Rated]:
        references = {
            row["doc"]: tuple(row["references"])
            for row in read_jsonl("nlg_human/summeval_docs.jsonl.gz")
        }
        for row in read_jsonl("nlg_human/summeval_outputs.jsonl.gz"):
            yield Rated(
                row["doc"],
                row["system"],
                row["output"],
                references[row["doc"]],
                _ratings(row, ("coherence", "consistency", "fluency", "relevance")),
            )

    about = "news summaries by 16 systems, with 11 references; ratings are means of three experts, from 1 to 5"
    return human_data("SummEval", about, rows(), judge="mean")


def simplicity_da() -> HumanData:
    """Simplicity-DA: simplifications by six systems with 10 references; means of 15 judges' z."""

    def rows() -> Iterator[Rated]:
        for row in read_jsonl("nlg_human/simplicity_da.jsonl.gz"):
            questions = ("fluency", "meaning", "simplicity")
            ratings = {question: [float(row[f"{question}_z"])] for question in questions}
            yield Rated(
                row["sent_id"], row["system"], row["output"], tuple(row["references"]), ratings
            )

    about = "simplified sentences by six systems, with 10 references; ratings are means of 15 judges' z-scores"
    return human_data("Simplicity-DA", about, rows(), judge="mean")


def asset() -> HumanData:
    """ASSET's ratings: 15 people a sentence. The k-th ratings of two sentences may be by different people, so
    nothing is normalized."""

    def rows() -> Iterator[Rated]:
        for row in read_jsonl("nlg_human/asset_ratings.jsonl.gz"):
            ratings = {name: row[name] for name in ("fluency", "meaning", "simplicity")}
            yield Rated(str(row["id"]), "system", row["output"], tuple(row["references"]), ratings)

    about = "simplified sentences, one output for each source sentence, with 10 references; each output has 15 ratings from 0 to 100"
    return human_data("ASSET", about, rows(), judge="rater", normalization="none")


def da2016() -> HumanData:
    """Direct assessment of WMT 2013 translations into English: z-scores of the mean judge."""

    def rows() -> Iterator[Rated]:
        for row in read_jsonl("mt/da2016_wmt13.jsonl.gz"):
            yield Rated(
                f"{row['lp']} {row['seg']}",
                row["system"],
                html.unescape(row["output"]),
                (html.unescape(row["reference"]),),
                {"adequacy": [row["human_z"]]},
            )

    about = (
        "translations into English from five languages, by 70 systems; ratings are mean z-scores"
    )
    return human_data("DA2016", about, rows(), judge="mean")


def mqm() -> HumanData:
    """MQM of newstest2021 Chinese to English: weighted errors of professional translators, negated."""

    def rows() -> Iterator[Rated]:
        for row in read_jsonl("mt/mqm_newstest2021_zhen.jsonl.gz"):
            yield Rated(
                str(row["seg"]),
                row["system"],
                row["output"],
                tuple(row["references"].values()),
                {"MQM": [row["mqm"]]},
            )

    about = "translations from Chinese into English by eight systems, with one reference; professional translators marked and weighted errors (MQM), here negated"
    return human_data("MQM zh-en", about, rows(), judge="mean")


def wmt21(pair: str) -> HumanData:
    """Direct assessment of WMT 2021: about 1.3 ratings a segment, enough only for comparing systems.

    The human translations were judged as well, but their text is not in the file.
    """

    def rows() -> Iterator[Rated]:
        references = {
            row["seg"]: tuple(row["references"].values())
            for row in read_jsonl(f"mt/wmt21_{pair}_refs.jsonl.gz")
        }
        for row in read_jsonl(f"mt/wmt21_{pair}_da.jsonl.gz"):
            if row["output"] is not None:
                yield Rated(
                    str(row["seg"]),
                    row["system"],
                    row["output"],
                    references[row["seg"]],
                    {"DA": [row["z"]]},
                )

    about = (
        "translated news, with two references; ratings are mean z-scores of direct assessment (DA)"
    )
    return human_data(f"WMT21 {pair}", about, rows(), judge="mean")

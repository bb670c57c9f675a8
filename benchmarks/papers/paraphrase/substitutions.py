"""Judged substitutions from lexical-substitution corpora: SWORDS dev to measure on, CoInCo to learn from.

CoInCo's second part overlaps with SWORDS dev: its sentences that are in a text of SWORDS are left out.

    python -m benchmarks substitutions -o coinco.jsonl      (then: wellput train paraphrase --judged)
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator
from functools import cache

from benchmarks.catalog import COINCO, SWORDS
from benchmarks.data import data_path
from wellput.io import replacing
from wellput.language.models.inflection import INFLECTION_OF_TAG
from wellput.language.models.tagger import Tagger
from wellput.language.models.wordnet import WordNet, open_wordnet
from wellput.language.models.wordnet_files import Category
from wellput.language.paraphrase.candidates import CATEGORY_OF_TAG_LETTER, WordNetCandidates
from wellput.language.paraphrase.sentences import Sentence
from wellput.language.paraphrase.training import JudgedSubstitution
from wellput.language.shipped import shipped

CATEGORIES: dict[str, Category] = {
    "NOUN": "noun", "VERB": "verb", "ADJ": "adj", "ADV": "adv",
    "N": "noun", "V": "verb", "J": "adj", "R": "adv",
}  # fmt: skip
BASE_TAGS: dict[Category, str] = {"noun": "NN", "verb": "VB", "adj": "JJ", "adv": "RB"}
MIN_LETTERS = 8
"""Shorter sentences of CoInCo are left out: their letters may be in a text of SWORDS by chance."""


def swords_dev() -> Iterator[tuple[JudgedSubstitution, float]]:
    """The substitutions of SWORDS dev with the share of people who found them acceptable."""
    data = json.loads(gzip.decompress(data_path(SWORDS).read_bytes()))
    for number, entry in data["substitutes"].items():
        target = data["targets"][entry["target_id"]]
        text = data["contexts"][target["context_id"]]["context"]
        labels = data["substitute_labels"][number]
        score = labels.count("TRUE") / len(labels)
        if target["pos"] in CATEGORIES:
            yield (
                JudgedSubstitution(
                    text,
                    target["offset"],
                    target["target"],
                    entry["substitute"].lower(),
                    score >= 0.5,
                    target["pos"],
                ),
                score,
            )


def coinco() -> Iterator[JudgedSubstitution]:
    """Every WordNet synonym of the words that CoInCo asks about; it is right if one of about six people named it."""
    named = {}
    sentences, answers_given = map(data_path, COINCO)
    with gzip.open(answers_given, "rt", encoding="latin-1") as file:
        for line in file:
            key, _, answers = line.partition("::")
            named[key.strip()] = {
                answer.strip().rpartition(" ")[0] for answer in answers.split(";") if answer.strip()
            }
    swords = "#".join({_bare(judged.text) for judged, _ in swords_dev()})
    wordnet = open_wordnet()

    @cache
    def synonyms(word: str, category: Category) -> list[str]:
        return sorted({synonym.lemma.lower() for synonym in wordnet.synonyms(word, category)})

    with gzip.open(sentences, "rt", encoding="latin-1") as file:
        for line in file:
            key, number, place, text = line.rstrip("\n").split("\t")
            words = text.split()
            part = key.rpartition(".")[2]
            if len(_bare(text)) < MIN_LETTERS or _bare(text) in swords or part not in CATEGORIES:
                continue
            right = named.get(f"{key} {number}", set())
            word = words[int(place)]
            start = sum(len(other) + 1 for other in words[: int(place)])
            text = " ".join(words)
            yield from (
                JudgedSubstitution(text, start, word, other, other in right, part)
                for other in synonyms(word, CATEGORIES[part])
            )


def _bare(text: str) -> str:
    """Only the letters and digits, in lower case."""
    return re.sub(r"\W+", "", text.lower())


def in_form(
    judged: list[JudgedSubstitution], wordnet: WordNet, tagger: Tagger | None
) -> list[JudgedSubstitution]:
    """The substitutions with the inflected form of each replacement instead of its lemma, and with Penn tags: the
    tagger's tag if it agrees with the corpus about the category, else one that the word's form allows.
    Replacements without such a form are left out."""
    sentences = {text: Sentence.of(text) for text in dict.fromkeys(one.text for one in judged)}
    tags = {}
    if tagger is not None:
        found = tagger.tag([sentence.tokens for sentence in sentences.values()])
        tags = dict(zip(sentences, found, strict=True))
    source = WordNetCandidates(wordnet)
    forms: dict[tuple[str, str, Category], dict[str, str]] = {}
    result = []
    for one in judged:
        category = CATEGORIES[one.tag or ""]
        spans = [span[0] for span in sentences[one.text].spans]
        tag = tags[one.text][spans.index(one.start)] if tags and one.start in spans else ""
        if CATEGORY_OF_TAG_LETTER.get(tag[:1]) != category or tag.startswith("NNP"):
            tag = _tag_of_form(one.word, category, wordnet)
        key = one.word.lower(), tag, category
        if key not in forms:
            forms[key] = _forms(source, one.word.lower(), tag, wordnet, category)
        if form := forms[key].get(one.replacement):
            result.append(
                JudgedSubstitution(one.text, one.start, one.word, form, one.is_right, tag)
            )
    return result


def _tag_of_form(word: str, category: Category, wordnet: WordNet) -> str:
    analyses = wordnet.analyses(word, category)
    inflection = analyses[0].inflection if analyses else "base"
    letter = BASE_TAGS[category][0]
    fitting = (tag for tag, own in INFLECTION_OF_TAG.items() if own == inflection)
    return next((tag for tag in fitting if tag[0] == letter), BASE_TAGS[category])


def _forms(
    source: WordNetCandidates, word: str, tag: str, wordnet: WordNet, category: Category
) -> dict[str, str]:
    """By lemma, the form of each single word that the source proposes."""
    forms: dict[str, str] = {}
    for synonym in wordnet.synonyms(word, category, inflection=INFLECTION_OF_TAG.get(tag, "base")):
        text = synonym.text.lower()
        if " " not in text and source.replacements(word, tag, {text}):
            forms.setdefault(synonym.lemma.lower(), text)
    return forms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True)
    judged = in_form(list(coinco()), open_wordnet(), Tagger.load(shipped("tagger.wpm")))
    with replacing(parser.parse_args().output) as file:
        for one in judged:
            record = {
                "text": one.text,
                "start": one.start,
                "word": one.word,
                "replacement": one.replacement,
                "right": one.is_right,
                "tag": one.tag,
            }
            file.write((json.dumps(record, ensure_ascii=False) + "\n").encode())

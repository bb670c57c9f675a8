"""Our n-gram models beside IRSTLM's, in one run: `python -m benchmarks.ngram_model`.

Needs Debian's irstlm. Both train trigrams on the same file (Brown, Reuters, Gutenberg, a sentence or
line each) and write ARPA; both models are held against the text of EWT dev. Writes
docs/results/language_ngrams.md. Times are the clock's, the best of several turns taken in turns.
"""

from __future__ import annotations

import gzip
import io
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import DATA
from wellput.language.ngram_files import load_model, save_model
from wellput.language.ngrams import NgramModel
from wellput.text.tokenizers import tokenize

PAGE = Path(__file__).parents[1] / "docs" / "results" / "language_ngrams.md"
TLM = "/usr/lib/irstlm/bin/tlm"
TURNS = 3
COMMAND = "from wellput.cli import main; main()"


def brown() -> Iterator[str]:
    with zipfile.ZipFile(DATA / "corpora" / "brown.zip") as archive:
        for name in sorted(archive.namelist()):
            if re.fullmatch(r"brown/c[a-r]\d\d", name):
                for line in archive.read(name).decode().splitlines():
                    yield " ".join(token.rpartition("/")[0] for token in line.split())


def prose(archive: str, pattern: str) -> Iterator[str]:
    """Paragraphs cut into sentences after a full stop, tokenized."""
    with tarfile.open(DATA / "corpora" / archive) as files:
        for member in sorted(files.getmembers(), key=lambda member: member.name):
            file = files.extractfile(member) if re.search(pattern, member.name) else None
            if file is None:
                continue
            text = file.read().decode("latin-1")
            for paragraph in re.split(r"\n\s*\n", text.replace("&lt;", "<")):
                for sentence in re.split(r"(?<=[.!?])\s+", paragraph):
                    yield " ".join(tokenize(sentence))


def ewt_dev() -> list[str]:
    path = DATA / "treebank" / "en_ewt-ud-dev.conllu.gz"
    sentences: list[str] = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            rows = [line.split("\t") for line in block.split("\n") if line and line[0] != "#"]
            if words := [row[1].replace(" ", "_") for row in rows if row[0].isdecimal()]:
                sentences.append(" ".join(words))
    return sentences


def write_corpus(path: Path) -> tuple[int, int]:
    """Lines and words. Special names of IRSTLM do not occur; lines are in ASCII order of sources."""
    lines = words = 0
    with path.open("w", encoding="utf-8") as file:
        for sentence in (
            *brown(),
            *prose("reuters_aptemod.tar.xz", r"/(training|test)/\d+$"),
            *prose("gutenberg.tar.xz", r"\.txt$"),
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


def seconds(*command: str) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return time.perf_counter() - start


def perplexities(model: NgramModel, texts: list[str]) -> tuple[float, float, int]:
    summed = model.statistics(texts).sum(axis=0)
    known = model.perplexity(texts, include_unknown=False)
    return model.perplexity(texts), known, int(summed[3])


def main() -> None:
    dev = ewt_dev()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, irst = folder / "corpus.txt", folder / "marked.txt"
        lines, words = write_corpus(corpus)
        marked(corpus, irst)
        ours_arpa, irst_arpa = folder / "ours.arpa", folder / "irst.arpa"
        spilled = folder / "spilled.arpa"
        train = (sys.executable, "-c", COMMAND, "train", "lm", str(corpus), "--order", "3")
        ours = (*train, "-o", str(ours_arpa))
        # Singletons are kept, as ours are; Witten-Bell is tlm's -lm=wb.
        theirs = (TLM, f"-tr={irst}", "-n=3", "-lm=wb", "-ps=no", f"-oarpa={irst_arpa}")
        times = [(seconds(*ours), seconds(*theirs)) for _ in range(TURNS)]
        best = [min(column) for column in zip(*times, strict=True)]
        seconds(*train, "--memory-mb", "10", "-o", str(spilled))
        is_same = spilled.read_bytes() == ours_arpa.read_bytes()
        start = time.perf_counter()
        model = load_model(ours_arpa)
        arpa_s = time.perf_counter() - start
        save_model(model, folder / "ours.wlm")
        start = time.perf_counter()
        mapped = load_model(folder / "ours.wlm")
        mapped_s = time.perf_counter() - start
        start = time.perf_counter()
        n_scored = int(mapped.statistics(dev).sum(axis=0)[1])
        scoring_s = time.perf_counter() - start
        kneser_ney = perplexities(model, dev)
        witten_bell = perplexities(load_model(irst_arpa), dev)
        sizes = [path.stat().st_size / 1e6 for path in (ours_arpa, folder / "ours.wlm")]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    page = io.StringIO()
    page.write(f"""# N-gram models

Trigrams from Brown, Reuters and Gutenberg: {words:,} words on {lines:,} lines. `python -m benchmarks.ngram_model`
wrote this page; only ratios of times mean anything on another machine.

| | `wellput train lm` | IRSTLM `tlm -lm=wb` |
| --- | ---: | ---: |
| training, to an ARPA file (best of {TURNS}, s) | {best[0]:.1f} | {best[1]:.1f} |
| perplexity of EWT dev | {kneser_ney[0]:.1f} | {witten_bell[0]:.1f} |
| the same without unknown words | {kneser_ney[1]:.1f} | {witten_bell[1]:.1f} |
| unknown words | {kneser_ney[2]:,} | {witten_bell[2]:,} |

Training takes {best[0] / best[1]:.2f} times as long as IRSTLM's; the largest process took {peak:,.0f} MB. With `--memory-mb 10` (sorted
runs on disk) the file is {"the same byte for byte" if is_same else "NOT the same"}.

Both files are read and scored by wellput; IRSTLM gives `<unk>` a mass of its own, so the figure without unknown
words is the fairer one. EWT dev has {len(dev):,} sentences, {n_scored:,} words with the sentence ends.

The ARPA file has {sizes[0]:.0f} MB and is read in {arpa_s:.2f} s; the binary file has {sizes[1]:.0f} MB and is mapped in {1000 * mapped_s:.0f} ms.
One thread scores {n_scored / scoring_s / 1e6:.1f} million words a second, pages of the file read on the way.
""")
    PAGE.write_text(page.getvalue(), encoding="utf-8")
    print(page.getvalue())


if __name__ == "__main__":
    main()

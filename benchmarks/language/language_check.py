"""Measures the language check on text that it was not trained on; writes docs/results/language_check.md."""

from __future__ import annotations

import csv
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.catalog import GUG, MQM, WEBNLG
from benchmarks.data import data_path, ewt, read_jsonl
from benchmarks.language.language_names import (
    CODE,
    MARKDOWN,
    OTHER_LANGUAGES,
    OTHER_SCRIPTS,
    OTHER_SOURCES,
    TRAINING,
    code_file,
)
from benchmarks.language.language_texts import files_in, language
from benchmarks.pages import write_page
from wellput.language.models.language_check import (
    COMMENT,
    MIN_WORDS,
    LanguageCheck,
    checked_words,
    shipped_check,
)
from wellput.language.shipped import LANGUAGE_FILE, shipped
from wellput.text.scripts import share_of_other_scripts

SEED = 12345
CODE_REASONS = ("code or markup", "no words")
"""What the check may say of code: it may also be a few numbers, without words."""
BLOCK_COMMENT = re.compile(r'/\*.*?\*/|""".*?"""|^=begin.*?^=end', re.DOTALL | re.MULTILINE)
WORST_GRADE = 2.0
SNIPPETS_A_FILE = 4
"""Parts taken from each file of code."""
LINE_COMMENT = re.compile(r"(?<=[\s;{}(,])//.*")
MADE_TEXTS = 1000
"""Texts of each kind that are made here: drawn at random, or by adding markup."""
LETTERS_A_WORD = 5


@dataclass(frozen=True)
class Kind:
    """Texts of one kind. `wanted` are the reasons for which the check may say that they are not English prose; it is
    empty for English."""

    name: str
    texts: Sequence[str]
    wanted: tuple[str, ...] = ()


def long_enough(texts: Sequence[str]) -> list[str]:
    """Texts of five words or more; in other scripts, where words may not be spaced, of 25 letters."""
    return [
        text for text in texts if len(checked_words(text)) >= MIN_WORDS or _is_long_in_script(text)
    ]


def _is_long_in_script(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return share_of_other_scripts(text) > 0.5 and letters >= MIN_WORDS * LETTERS_A_WORD


def web_sentences() -> list[str]:
    return [tree.text for tree in ewt("test")]


def english_kinds() -> Iterator[Kind]:
    with data_path(GUG).open(encoding="utf-8", newline="") as file:
        learners = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    with data_path("fluency/tmu_gfm.csv").open(encoding="utf-8", newline="") as file:
        corrected = [row["output"] for row in csv.DictReader(file)]
    worst = [
        row["Sentence"]
        for row in learners
        if row["Average"] not in ("", "none") and float(row["Average"]) < WORST_GRADE
    ]
    found = {
        "the web (EWT test)": web_sentences(),
        "learners (GUG)": [row["Sentence"] for row in learners],
        "learners' worst sentences (GUG, mean grade below 2 of 4)": worst,
        "corrections of learners' sentences (TMU-GFM)": corrected,
        "sentences from data, lower-cased, many names (WebNLG)": [
            row["output"] for row in read_jsonl(WEBNLG) if row["output"]
        ],
        "machine translations from Chinese (MQM 2021)": [
            row["output"] for row in read_jsonl(MQM) if row["output"]
        ],
    }
    for name, texts in found.items():
        yield Kind(name, long_enough(texts))


def language_kinds(names: Sequence[str]) -> list[Kind]:
    return [
        Kind(name.replace("_", " "), long_enough(language(name)), ("not English",))
        for name in names
    ]


def snippets(text: str, rng: random.Random) -> Iterator[str]:
    """Parts of a program of 3 to 15 lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    for _ in range(SNIPPETS_A_FILE):
        n = rng.randint(3, 15)
        if len(lines) > n:
            start = rng.randrange(len(lines) - n)
            yield "\n".join(lines[start : start + n])


def without_comments(text: str) -> str:
    text = LINE_COMMENT.sub("", BLOCK_COMMENT.sub("", text))
    return "\n".join(line for line in text.split("\n") if COMMENT.match(line) is None)


def code_kinds(rng: random.Random) -> Iterator[Kind]:
    everything: list[str] = []
    for name in CODE:
        files = [without_comments(text) for text in files_in(code_file(name))]
        found = [one for text in files for one in snippets(text, rng)]
        yield Kind(name.replace("C-Plus-Plus", "C++"), found, CODE_REASONS)
        everything += found
    fenced = [f"```\n{text}\n```" for text in rng.sample(everything, MADE_TEXTS)]
    yield Kind("fenced blocks of code", fenced, CODE_REASONS)
    rows = [json.dumps(row, ensure_ascii=False) for row in read_jsonl(MQM)][:MADE_TEXTS]
    yield Kind("JSON objects", rows, CODE_REASONS)


EMOJI = "😀😂🥰👍🏽🎉🚀🔥❤️✨🙏🐈🌍☀️👩‍💻✅❌➡️"
MARKS = "!?.,;:-–—…*#()[]{}\"'/\\|@&%$€+=<>~^"


def wordless_kinds(rng: random.Random) -> Iterator[Kind]:
    def drawn(characters: str) -> list[str]:
        return ["".join(rng.choices(characters, k=rng.randint(1, 12))) for _ in range(MADE_TEXTS)]

    yield Kind("emoji", drawn(EMOJI), ("no words",))
    yield Kind("punctuation", drawn(MARKS), ("no words",))
    yield Kind("digits", drawn("0123456789 .,-/"), ("no words",))


def _bold(text: str) -> str:
    first, space, rest = text.partition(" ")
    return f"**{first}**{space}{rest}"


def _link(text: str) -> str:
    start, space, last = text.rpartition(" ")
    return f"{start}{space}[{last}](https://example.org/a_b?c=d)"


CODE_BLOCK = "```python\nfor name in names:\n    print(name)\n```"
TABLE = "| name | value |\n| --- | ---: |\n| one | 1 |\n| two | 2 |"
WRAPPERS: dict[str, Callable[[str], str]] = {
    "in bold, with a link": lambda text: _link(_bold(text)),
    "list": lambda text: f"- {text}\n- {text}",
    "numbered list": lambda text: f"1. {text}\n2. {text}",
    "under a heading": lambda text: f"## Results\n\n{text}",
    "with a block of code": lambda text: f"{text}\n\n{CODE_BLOCK}",
    "with a table": lambda text: f"{text}\n\n{TABLE}",
    "quotation": lambda text: f"> {text}",
    "HTML": lambda text: f'<div class="x"><p>{text}</p><br/></div>',
    "HTML with a script": lambda text: f"<p>{text}</p><script>var a = 1;</script>",
    "LaTeX": lambda text: (
        f"\\section{{Results}}\n\\textbf{{{text}}}\n\\begin{{equation}}a=b\\end{{equation}}"
    ),
}


def markup_rows(check: LanguageCheck) -> list[str]:
    """For each kind of markup: texts, those whose prose came out unchanged, and German ones noticed."""
    clean = [
        text for text in long_enough(web_sentences()) if not set(text) & set("*_[]<>\\$%&#~^{}`|")
    ]
    german = long_enough(language("German-PUD"))
    rows: list[str] = []
    for name, wrap in WRAPPERS.items():
        same = [check.read(wrap(text)).prose.split("\n\n")[0] == text for text in clean]
        silent = [check.read(wrap(text)).reason == "not English" for text in german]
        rows.append(f"| {name} | {len(clean):,} | {_percent(same)} | {_percent(silent)} |")
    return rows


def _percent(are_right: Sequence[bool]) -> str:
    return f"{100 * sum(are_right) / len(are_right):.1f}"


def table(kinds: Sequence[Kind], check: LanguageCheck, first: str) -> str:
    """A row for each kind, and one for all texts together."""
    lines = [
        f"| {first} | texts | right, % | the other texts were taken for |",
        "| --- | ---: | ---: | --- |",
    ]
    n_texts = n_right = 0
    for kind in kinds:
        wanted = kind.wanted or ("English",)
        found = [check.read(text).reason or "English" for text in kind.texts]
        right = [said in wanted for said in found]
        wrong = sorted(set(found) - set(wanted))
        counts = ", ".join(f"{name} {found.count(name)}" for name in wrong)
        lines.append(f"| {kind.name} | {len(right):,} | {_percent(right)} | {counts} |")
        n_texts += len(right)
        n_right += sum(right)
    lines.append(f"| **all** | {n_texts:,} | **{100 * n_right / n_texts:.1f}** | |")
    return "\n".join(lines)


def speed(check: LanguageCheck) -> tuple[float, float]:
    """Sentences a second, of plain English and of markdown."""
    plain = [tree.text for tree in ewt("test")] * 5
    marked = [f"- {_link(_bold(text))}" for text in plain]
    rates: list[float] = []
    for texts in (plain, marked):
        start = time.process_time()
        check.read_all(texts)
        rates.append(len(texts) / (time.process_time() - start))
    return rates[0], rates[1]


def main() -> None:
    rng = random.Random(SEED)
    check = shipped_check()
    documents = [text for text in files_in(MARKDOWN) if len(checked_words(text)) >= 30]
    markdown = Kind("whole files (read-me files of repositories)", documents)
    plain_rate, marked_rate = speed(check)
    english = long_enough(web_sentences())
    several = [" ".join(english[at : at + 5]) for at in range(0, len(english), 5)]
    size = shipped(LANGUAGE_FILE).stat().st_size
    write_page(
        "language-check",
        f"""# Language check

How often is wellput's [check](../language/language-check.md) right about whether a text is English prose? In each group of texts below (row *all*), it is right for at least 99% of the texts. `fluency` and `gleu-fluency` give no score to texts that are not English prose, and `parse` warns of them.

The check was trained on English and {len(TRAINING)} other languages, but on no text below. Sentences have at least {MIN_WORDS} words here, because the check takes shorter ones for English unless they are in another script. Its file has {size / 1000:.0f} kB. It reads {plain_rate:,.0f} sentences of EWT (English Web Treebank) in a second of processor time, or {marked_rate:,.0f} if they have markdown.

## English texts

{table(list(english_kinds()), check, "English")}

## Languages that were in training (other texts)

The names are those of treebanks of Universal Dependencies: the language, a hyphen, and the treebank.

{table(language_kinds(OTHER_SOURCES), check, "treebank")}

## Languages that were not in training

{table(language_kinds(OTHER_LANGUAGES), check, "treebank")}

## Other scripts

{table(language_kinds(OTHER_SCRIPTS), check, "treebank")}

## Code

{table(list(code_kinds(rng)), check, "code")}

The first rows have parts of programs, 3 to 15 lines each, without comments, because comments are prose. *Fenced* blocks stand between lines with three backticks, as in markdown.

## Texts without words

{table(list(wordless_kinds(rng)), check, "texts drawn at random")}

## Markup

{table([markdown, Kind("five sentences of prose (EWT test)", several)], check, "text")}

Sentences of EWT test and of German-PUD were also put into markup, one by one. *Unchanged*: the share of English sentences for which the check finds the same prose as without markup.
*German noticed*: the share of German sentences that are recognized as not English.

| markup | texts | unchanged, % | German noticed, % |
| --- | ---: | ---: | ---: |
{chr(10).join(markup_rows(check))}
""",
    )

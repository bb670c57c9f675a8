"""Penn constituents converted to dependencies, compared with the dependency version of the same sentences.

Prints the figures of docs/language/trees.md and docs/commands/convert.md: python -m benchmarks head-finding
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from benchmarks.data import data_path
from wellput.core.tree import Constituent, Tree
from wellput.io.trees import parse_constituent
from wellput.language.trees.constituents import PUNCTUATION_TAGS, to_dependencies, with_plain_labels
from wellput.language.trees.penn_dependencies import labeled_dependencies
from wellput.language.trees.projectivity import is_projective

CONSTITUENTS, DEPENDENCIES = "corpora/treebank.zip", "corpora/dependency_treebank.zip"

SUBJECTS = ("nsubj", "csubj", "expl")

Gold = list[tuple[str, str, int]]  # form, tag, head


def members(archive: zipfile.ZipFile, suffix: str) -> dict[str, str]:
    """The text of each member with a suffix by the member's bare name."""
    return {
        PurePosixPath(name).stem: archive.read(name).decode("ascii")
        for name in archive.namelist()
        if name.endswith(suffix)
    }


def constituents(text: str) -> Iterator[Constituent]:
    """The sentences of a file; each begins with a bracket at the start of a line."""
    for sentence in re.split(r"^(?=\()", text, flags=re.MULTILINE):
        if sentence.strip():
            yield parse_constituent(sentence)


def dependencies(text: str) -> Iterator[Gold]:
    """The sentences of a file, set apart by empty lines."""
    for block in text.split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line.strip()]
        if rows:
            yield [(form, tag, int(head)) for form, tag, head in rows]


def pairs() -> Iterator[tuple[Tree, Gold]]:
    """Each sentence converted, and as the dependency treebank has it."""
    ours, theirs = data_path(CONSTITUENTS), data_path(DEPENDENCIES)
    with zipfile.ZipFile(ours) as first, zipfile.ZipFile(theirs) as second:
        bracketed, golden = members(first, ".mrg"), members(second, ".dp")
    for name in sorted(bracketed):
        converted = [to_dependencies(tree) for tree in constituents(bracketed[name])]
        yield from zip(converted, dependencies(golden[name]), strict=True)


def verb_over_to(tree: Tree) -> Tree:
    """The infinitive as the head of its *to*, as the dependency treebank has it."""
    heads = [0, *(word.head for word in tree.words)]
    for place, word in enumerate(tree.words, start=1):
        to = heads[place]
        if word.xpos == "VB" and to and tree.words[to - 1].xpos == "TO":
            heads = [place if head == to else head for head in heads]
            heads[place], heads[to] = heads[to], place
    words = (replace(word, head=head) for word, head in zip(tree.words, heads[1:], strict=True))
    return replace(tree, words=tuple(words))


def subjects_without_tags() -> Counter[str]:
    """Subjects by `wellput convert`, with the function tags of the treebank and without."""
    counts: Counter[str] = Counter()
    with zipfile.ZipFile(data_path(CONSTITUENTS)) as archive:
        files = members(archive, ".mrg").values()
    for sentence in (one for text in files for one in constituents(text)):
        untagged = with_plain_labels(sentence)
        if untagged is None:
            continue
        words = labeled_dependencies(sentence).words, labeled_dependencies(untagged).words
        for with_tags, without in zip(*words, strict=True):
            is_subject = with_tags.relation in SUBJECTS
            is_found = without.relation in SUBJECTS
            counts["there"] += is_subject
            counts["found"] += is_found
            counts["right"] += is_subject and is_found and with_tags.head == without.head
    return counts


def main() -> None:
    counts: Counter[str] = Counter()
    wrong: Counter[tuple[str, str, str]] = Counter()
    for tree, gold in pairs():
        counts["sentences"] += 1
        counts["projective"] += is_projective(tree)
        if [word.form for word in tree.words] != [form for form, _, _ in gold]:
            counts["other words"] += 1
            continue
        adapted = verb_over_to(tree)
        has_conjunction = any(tag == "CC" for _, tag, _ in gold)
        tags = ["ROOT", *(tag for _, tag, _ in gold)]
        for word, other, (_, tag, head) in zip(tree.words, adapted.words, gold, strict=True):
            kind = "punctuation" if tag in PUNCTUATION_TAGS else "words"
            counts[kind] += 1
            counts[f"right {kind}"] += word.head == head
            counts[f"right {kind} adapted"] += other.head == head
            if not has_conjunction:
                counts["simple words"] += kind == "words"
                counts["right simple words"] += kind == "words" and other.head == head
            counts["roots"] += head == 0
            counts["right roots"] += head == word.head == 0
            if word.head != head and kind == "words":
                wrong[tag, tags[word.head], tags[head]] += 1
    print(f"{counts['sentences']:,} sentences, {counts['other words']} with other words")
    for kind in ("words", "punctuation", "roots"):
        right, total = counts[f"right {kind}"], counts[kind]
        print(f"{kind}: {right:,} of {total:,} as there, {right / total:.2%}")
    right, total = counts["right words adapted"], counts["words"]
    print(f"words, infinitives over their to: {right:,} of {total:,} as there, {right / total:.2%}")
    right, total = counts["right simple words"], counts["simple words"]
    print(f"the same, sentences without CC: {right:,} of {total:,} as there, {right / total:.2%}")
    print(f"projective: {counts['projective']:,}")
    print("most frequent differences (tag, our head's tag, theirs):")
    for (tag, ours, theirs), count in wrong.most_common(12):
        print(f"  {count:5,}  {tag:5} {ours:5} {theirs}")
    subjects = subjects_without_tags()
    right, there, found = (subjects[name] for name in ("right", "there", "found"))
    print(
        f"subjects without function tags: {right:,} of {there:,} are found, {right / there:.1%}; "
    )
    print(f"  {right:,} of {found:,} that are found are subjects, {right / found:.1%}")

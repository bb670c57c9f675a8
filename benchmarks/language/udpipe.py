"""Trains UDPipe 1 on CoNLL-U files and parses the words of a test file. It runs under the Python that
`UDPIPE_PYTHON` names: `python udpipe.py TRAIN DEV TEST PARSED`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

TAGGER = "iterations=5"
PARSER = "iterations=5;structured_interval=0"
"""Fewer rounds than the defaults (20 and 10), and no structured oracle; with the defaults it would train for hours."""


def sentences(udpipe: Any, path: str) -> Any:
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(Path(path).read_text(encoding="utf-8"))
    found, error = udpipe.Sentences(), udpipe.ProcessingError()
    while True:
        sentence = udpipe.Sentence()
        if not reader.nextSentence(sentence, error):
            break
        found.append(sentence)
    if error.occurred():
        sys.exit(error.message)
    return found


def main() -> None:
    import ufal.udpipe as udpipe  # type: ignore[import-not-found]

    train, dev, test, parsed = sys.argv[1:5]
    started = time.process_time()
    error = udpipe.ProcessingError()
    model = udpipe.Trainer.train(
        "morphodita_parsito",
        sentences(udpipe, train),
        sentences(udpipe, dev),
        "none",
        TAGGER,
        PARSER,
        error,
    )
    if error.occurred():
        sys.exit(error.message)
    file = Path(f"{parsed}.udpipe")
    file.write_bytes(
        model if isinstance(model, bytes) else model.encode("latin-1", "surrogateescape")
    )
    default = udpipe.Pipeline.DEFAULT
    loaded = udpipe.Model.load(str(file))
    pipeline = udpipe.Pipeline(loaded, "conllu", default, default, "conllu")
    text = Path(test).read_text(encoding="utf-8")
    Path(parsed).write_text(pipeline.process(text, error), encoding="utf-8")
    Path(f"{parsed}.seconds").write_text(f"{time.process_time() - started:.0f}\n")


if __name__ == "__main__":
    main()

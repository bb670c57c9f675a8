"""The English n-gram model that comes with wellput."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.language import shipped
from wellput.language.models.english_text import decapitalized
from wellput.text.english import treebank_words

needs_ngrams = pytest.mark.skipif(
    not (shipped.ENGLISH_FOLDER / "ngrams.wlm").exists(),
    reason="language/english/ngrams.wlm is missing",
)


def test_a_missing_model_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shipped, "ENGLISH_FOLDER", tmp_path)
    with pytest.raises(InputError, match=r"tagger\.wpm.*wellput train english"):
        shipped.shipped("tagger.wpm")


@needs_ngrams
def test_the_model_tells_word_order_and_case() -> None:
    model = shipped.english_ngrams()
    assert model is shipped.english_ngrams()
    assert model.order == 3
    texts = ["I don't know what to do.", "The dog's name is in the list."]
    words = [treebank_words(text).forms for text in texts]
    for sentence in words:
        right, wrong = " ".join(sentence), " ".join([*sentence[:2][::-1], *sentence[2:]])
        scores = model.sentence_scores(decapitalized([right, wrong], model))
        assert scores[0] > scores[1]
    starts = ["The end", "I see", "However , no", "London is big", "President Bush said"]
    assert decapitalized(starts, model) == [
        "the end", "I see", "however , no", "London is big", "President Bush said",
    ]  # fmt: skip


@needs_ngrams
def test_the_file_is_small() -> None:
    assert shipped.shipped("ngrams.wlm").stat().st_size <= 3_000_000


def test_the_files_are_small_together() -> None:
    """What everybody who installs wellput downloads: at most 20 MB."""
    assert sum(file.stat().st_size for file in shipped.ENGLISH_FOLDER.iterdir()) <= 20_000_000


@pytest.mark.parametrize(
    "card", sorted(shipped.ENGLISH_FOLDER.glob("*.card.json")), ids=lambda path: path.name
)
def test_a_card_describes_the_file_that_is_there(card: Path) -> None:
    described = json.loads(card.read_text(encoding="utf-8"))
    data = (card.parent / described["file"]).read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (
        described["bytes"],
        described["sha256"],
    )
    row = f"| `{described['sha256'][:16]}` |"
    assert row in (card.parent / "README.md").read_text(encoding="utf-8")

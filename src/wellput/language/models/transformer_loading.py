"""Loads a neural model of the Hugging Face library from a local folder (`wellput[neural]`). Nothing is
downloaded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError

UNUSED_WEIGHT_PREFIXES = ("pooler.",)
"""How the names of weights begin that no vector or probability depends on: many saved encoders lack
them."""


@dataclass(frozen=True, eq=False)
class LoadedTransformer:
    """A model on its device, with its tokenizer and the library that computes (`torch`)."""

    torch: Any
    tokenizer: Any
    model: Any
    device: str


def load_transformer(
    path: Path, *, auto_class: str, device: str, folder: str = "", **options: str
) -> LoadedTransformer:
    """The model in a folder, as the class `auto_class` of the library loads it. Raises InputError if
    the folder cannot be read, or lacks weights: the library would draw them at random. `options` are
    the library's; `folder` is given if `path` may be a file (GGUF) in that folder."""
    try:
        import torch
        import transformers
    except ImportError:
        raise InputError(
            f"{path} is a neural model, which needs torch and transformers: "
            "pip install 'wellput[neural]'"
        ) from None
    place = folder or str(path)
    try:
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
            place, local_files_only=True, **options
        )
        model, info = getattr(transformers, auto_class).from_pretrained(
            place, local_files_only=True, output_loading_info=True, **options
        )
    except Exception as error:  # damaged files raise errors of every kind
        reason = " ".join(str(error).split())
        raise InputError(
            f"Cannot load the model {path}. It may be damaged, or of a kind that the installed "
            f"transformers does not know: {reason}"
        ) from None
    missing = [name for name in info["missing_keys"] if not name.startswith(UNUSED_WEIGHT_PREFIXES)]
    if missing:
        raise InputError(_missing_weights_message(path, auto_class, sorted(missing)))
    chosen = _best_device(torch) if device == "auto" else device
    try:
        # The weights of a GGUF file are no longer quantized after loading, but model.float() still
        # raises an error for them. This method of torch's base class does not.
        model = torch.nn.Module.float(model).eval().to(chosen)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"Cannot use the device {chosen!r} here: {error}") from None
    return LoadedTransformer(torch, tokenizer, model, chosen)


def without_surrogates(text: str) -> str:
    """The text with question marks for halves of surrogate pairs, which tokenizers do not take."""
    return text.encode("utf-8", "replace").decode()


def files_fingerprint(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder."""
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(one for one in path.iterdir() if one.is_file())
    for file in files:
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def _missing_weights_message(path: Path, auto_class: str, missing: Sequence[str]) -> str:
    kind = "causal language model" if auto_class == "AutoModelForCausalLM" else "encoder"
    return (
        f"{path} is not a {kind}, or is incomplete: {len(missing)} of its weights are missing, such "
        f"as {missing[0]}."
    )


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"

"""`LocalModel`: a language model in a GGUF file that llama.cpp runs in this process (the extra
`local`). Nothing leaves the machine.

The same request always gets the same answer. llama.cpp by itself does not ensure this: it keeps the
state of the last prompt and uses it again for the tokens with which the next prompt begins alike, and
the last digits of its results depend on how many tokens these are. So the score of a text would depend
on the text before it. Here every request begins from the same state, the one after reading the
instructions only, so the instructions need to be read only once.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError, MissingExtra
from wellput.core.work import available_cores
from wellput.studies.machines.endpoint import Rejected
from wellput.studies.machines.readings import Reply, reply_of

GGUF_MAGIC = b"GGUF"
CONTEXT_TOKENS = 8192
QUIET_VERBOSITY = -1
"""The verbosity of llama.cpp at which it writes no messages."""


def import_llama_cpp() -> Any:
    """The package of the extra `local`. Raises MissingExtra."""
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtra("A local model", "local") from None
    return xllamacpp


class LocalModel:
    """The model in a file. It answers one request at a time, with all `threads`."""

    def __init__(self, path: str | Path, *, threads: int | None = None) -> None:
        self.file = Path(path)
        try:
            with self.file.open("rb") as file:
                magic = file.read(len(GGUF_MAGIC))
        except OSError as error:
            raise InputError(f"Cannot read the model {path}: {error.strerror}.") from None
        if magic != GGUF_MAGIC:
            raise InputError(f"{path} is not a GGUF file: it does not begin with GGUF.")
        self.model = self.file.stem
        self.threads = threads or available_cores()
        self._lock = threading.Lock()
        self._instructions: str | None = None

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        with self.file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def identity(self) -> dict[str, str]:
        return {"model": self.model, "digest": self.digest}

    def complete(self, request: Mapping[str, Any]) -> Reply:
        """The model's answer. Raises Rejected where the prompt is too long."""
        with self._lock:
            server = self._server
            began = time.monotonic()
            try:
                self._return_to(server, request["messages"][0])
                record = server.handle_chat_completions({**request, "cache_prompt": True})
            except (RuntimeError, ValueError) as error:
                raise Rejected(str(error)[:200]) from None
            ms = round(1000 * (time.monotonic() - began))
        if not isinstance(record, Mapping) or "error" in record:
            raise Rejected(str(record)[:200])
        try:
            return reply_of(record, ms=ms)
        except ValueError as error:
            raise Rejected(str(error)) from None

    def _return_to(self, server: Any, instructions: Mapping[str, str]) -> None:
        """Brings llama.cpp into the state after these instructions, by a short request that shares
        only the instructions with the next prompt. If the last request had other instructions, its
        state is not used."""
        has_same_instructions = self._instructions == instructions["content"]
        self._instructions = instructions["content"]
        short = {"messages": [instructions, {"role": "user", "content": "."}], "max_tokens": 1}
        server.handle_chat_completions({**short, "cache_prompt": has_same_instructions})

    def close(self) -> None:
        """Nothing to close: the model is freed with the object."""

    @cached_property
    def _server(self) -> Any:
        xllamacpp = import_llama_cpp()
        params = xllamacpp.CommonParams()
        params.model.path = str(self.file)
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        params.cpuparams.n_threads = self.threads
        params.cpuparams_batch.n_threads = self.threads
        params.verbosity = QUIET_VERBOSITY
        # llama.cpp also listens at a port of this machine. A random key keeps other programs out.
        params.api_keys = [secrets.token_urlsafe(24)]
        params.offline = True
        try:
            return xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            raise InputError(
                f"llama.cpp cannot load {self.file}: {str(error).rstrip('.')}. The file may be "
                "incomplete, or too large for the memory of this machine."
            ) from None

"""`preview`: one HTML page on which a talking head performs every sentence with the displays of every
system. The page needs no network. The displays of a system for one sentence are its *schedule*."""

from __future__ import annotations

import base64
import json
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from string import Template
from typing import Any, ClassVar

from wellput.core.errors import InputError, cannot_listen, did_you_mean
from wellput.core.evalset import EvalSet, Item
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, ignore_phase
from wellput.displays.corpus import sentences_of
from wellput.displays.schedules import schedules_of, words_of
from wellput.displays.talking_head import can_speak, performance, speak
from wellput.io import check_files, replacing
from wellput.io.files import PathLike

HEAD_FILES = files("wellput.displays") / "head"
SILENT_NOTE = (
    "espeak-ng is not installed: the head is silent, and the times of the words are estimated."
)


@dataclass(frozen=True, repr=False)
class Preview(Result):
    """`html` is the page with its sound. It needs no network. `serve` listens at `host` and `port`, and
    opens the page in the browser if `browser` is true."""

    presented_by: ClassVar[str] = "wellput.displays.reports:preview_summary"

    html: str
    sentences: int
    systems: tuple[str, ...]
    path: PathLike | None = None
    host: str = "127.0.0.1"
    port: int = 8010
    browser: bool = True

    def save(self, path: PathLike) -> None:
        """Writes the page."""
        with replacing(path) as file:
            file.write(self.html.encode(errors="backslashreplace"))

    def serve(self, on_address: Callable[[str], None] = lambda _: None) -> None:
        """Serves the page until Ctrl-C, and opens the browser if `browser` is true. `on_address` is
        called with the page's address."""
        import webbrowser

        with page_server(self.html, self.host, self.port) as server, suppress(KeyboardInterrupt):
            name = f"[{self.host}]" if ":" in self.host else self.host
            address = f"http://{name}:{server.server_address[1]}/"
            on_address(address)
            if self.browser:
                webbrowser.open(address)
            server.serve_forever()

    def records(self) -> list[dict[str, Any]]:
        """One record: what the page shows."""
        return [self.values()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput displays preview`."""
        output = None if self.path is None else str(self.path)
        return {"sentences": self.sentences, "systems": list(self.systems), "output": output}


@checks_options
def preview(
    evalset: EvalSource | PathLike,
    *,
    system: str | None = None,
    items: Names | None = None,
    n: int = 20,
    host: str = "127.0.0.1",
    port: int = 8010,
    browser: bool = True,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> Preview:
    """Makes a page on which the head performs the schedules of an evaluation set. The program espeak-ng
    makes the speech, if it is installed; without it the head is silent.

    Parameters
    ----------
    evalset
        An `EvalSet` with schedules, or the path of one.
    system
        The system shown first.
    items, n
        The ids of the sentences to show. Without ids, the first `n` sentences are shown.
    host, port, browser
        Where `serve()` serves the page (port 0 is any free port), and whether it opens the browser.
    path
        Writes the page.
    seed, threads
        No effect here.
    on_phase
        As for `score`.

    Returns
    -------
    Preview
        `html` is the page, `save("page.html")` writes it, `serve()` serves it until Ctrl-C.

    Raises
    ------
    InputError
        No system has schedules, or a name is unknown.

    Examples
    --------
    >>> import wellput
    >>> page = wellput.displays.preview(wellput.displays.example(n=1).evalset)
    >>> page.systems, "<!doctype html>" in page.html.lower()
    (('original',), True)
    """
    check_files([path], [evalset])
    if n < 1:
        raise InputError(f"n={n} must be 1 or more.")
    sentences = sentences_of(evalset)
    systems = _systems(sentences, system)
    shown = _chosen(sentences, items, n)
    title = "Displays" if isinstance(evalset, EvalSource) else str(evalset)
    page = preview_page(shown, systems, title=title, on_progress=on_phase("speaking sentences"))
    result = Preview(page, len(shown), tuple(systems), path, host, port, browser)
    if path is not None:
        result.save(path)
    return result


def _systems(sentences: EvalSet, first: str | None) -> list[str]:
    """The systems with schedules; `first` comes first."""
    performed = {system for item in sentences for system in schedules_of(item)}
    names = [name for name in sentences.systems if name in performed]
    if not names:
        raise InputError("Nothing to perform: no system has display schedules.")
    if first is not None and first not in names:
        raise InputError(
            f"No system {first!r} with schedules.{did_you_mean(first, names)} "
            f"The systems are {', '.join(names)}."
        )
    return names if first is None else [first, *(name for name in names if name != first)]


def _chosen(sentences: EvalSet, ids: Names | None, n: int) -> Sequence[Item]:
    """The sentences with these ids, or the first n."""
    if ids is None:
        return sentences.items[:n]
    by_id = {item.id: item for item in sentences}
    names = split_names(ids)
    unknown = [name for name in names if name not in by_id]
    if unknown:
        raise InputError(
            f"There is no item {', '.join(unknown)}.{did_you_mean(unknown[0], list(by_id))}"
        )
    return [by_id[name] for name in names]


def preview_page(
    items: Sequence[Item],
    systems: Sequence[str],
    *,
    title: str = "Displays",
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """The page with its sound. The first of `systems` is shown first."""
    sentences = []
    for item in items:
        if item.derivation is None:
            raise InputError(
                f"Item {item.id} has no derivation, so the head does not know its words."
            )
        speech = speak(words_of(item.derivation))
        schedules = schedules_of(item)
        shown = {
            system: performance(item.derivation, schedules[system], speech)
            for system in systems
            if system in schedules
        }
        # Words and mouth, which are the same for all systems, are stored once, without motions.
        spoken = performance(item.derivation, {}, speech)
        audio = None
        if speech.wav is not None:
            audio = f"data:audio/wav;base64,{base64.b64encode(speech.wav).decode()}"
        sentences.append(
            {
                "text": f"{item.id}: {' '.join(words_of(item.derivation))}",
                "speech": spoken,
                "motions": {system: performed["motions"] for system, performed in shown.items()},
                "audio": audio,
            }
        )
        if on_progress is not None:
            on_progress(1)
    shows_json = json.dumps({"sentences": sentences, "systems": list(systems)}, ensure_ascii=False)
    # The note of the items (such as that an example is synthetic), if all have the same.
    contexts = {item.context for item in items if item.context}
    notes = [*(contexts if len(contexts) == 1 else ()), *(() if can_speak() else (SILENT_NOTE,))]
    return Template((HEAD_FILES / "preview.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        note=escape(" ".join(notes)),
        style=(HEAD_FILES / "head.css").read_text(encoding="utf-8"),
        script=(HEAD_FILES / "head.js").read_text(encoding="utf-8"),
        shows=shows_json.replace("<", "\\u003c"),  # a "</script>" in a text must not end the script
    )


def page_server(page: str, host: str, port: int) -> ThreadingHTTPServer:
    """A listening server of this one page. Raises InputError if it cannot listen on the port."""
    body = page.encode("utf-8", "replace")

    class OnlyPage(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_page = self.path == "/"
            self.send_response(200 if is_page else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body) if is_page else 0))
            self.end_headers()
            with suppress(ConnectionError):  # the browser has left
                self.wfile.write(body if is_page else b"")

        def log_message(self, format: str, *arguments: object) -> None:
            """Writes nothing to the terminal."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Writes nothing of a browser that left before its answer."""
            if not isinstance(sys.exception(), ConnectionError):
                super().handle_error(request, client_address)

    try:
        return Server((host, port), OnlyPage)
    except OSError as error:
        raise cannot_listen(host, port, error) from error

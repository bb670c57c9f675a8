"""The head on a page of its own: every sentence with every system's displays, in one HTML file that
needs no network."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from string import Template

from wellput.core.displays import words_of
from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.displays.performance import performance
from wellput.displays.speech import can_speak, speak

HEAD = files("wellput.displays") / "head"
SILENT = "espeak-ng is not installed: the head is silent, and the times of the words are estimated."


def preview_page(
    items: Sequence[Item],
    systems: Sequence[str],
    *,
    title: str = "Displays",
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """The page, sound included; the first of `systems` is shown first."""
    sentences = []
    for item in items:
        if item.derivation is None:
            raise InputError(f"Item {item.id} has no derivation: the head does not know its words.")
        speech = speak(words_of(item.derivation))
        shown = {
            system: performance(item.derivation, output, speech)
            for system in systems
            if (output := item.outputs.get(system)) is not None and not isinstance(output, str)
        }
        spoken = performance(item.derivation, {}, speech)
        audio = None
        if speech.wav is not None:
            audio = f"data:audio/wav;base64,{base64.b64encode(speech.wav).decode()}"
        sentences.append(
            {
                "text": f"{item.id}: {' '.join(words_of(item.derivation))}",
                "speech": spoken,
                "motions": {system: each["motions"] for system, each in shown.items()},
                "audio": audio,
            }
        )
        if on_progress is not None:
            on_progress(1)
    value = json.dumps({"sentences": sentences, "systems": list(systems)}, ensure_ascii=False)
    contexts = {item.context for item in items if item.context}
    notes = [*(contexts if len(contexts) == 1 else ()), *(() if can_speak() else (SILENT,))]
    return Template((HEAD / "preview.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        note=escape(" ".join(notes)),
        style=(HEAD / "head.css").read_text(encoding="utf-8"),
        script=(HEAD / "head.js").read_text(encoding="utf-8"),
        shows=value.replace("<", "\\u003c"),  # nothing in it ends the script
    )


def page_server(page: str, host: str, port: int) -> ThreadingHTTPServer:
    """A server of nothing but the page, listening; raises InputError where it cannot."""
    body = page.encode()

    class OnlyPage(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_page = self.path == "/"
            self.send_response(200 if is_page else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body) if is_page else 0))
            self.end_headers()
            with suppress(BrokenPipeError):
                self.wfile.write(body if is_page else b"")

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing: the terminal is the user's."""

    try:
        return ThreadingHTTPServer((host, port), OnlyPage)
    except OSError as error:
        raise InputError(
            f"Cannot listen at {host}, port {port}: {error.strerror}. Try another --port or --host."
        ) from error

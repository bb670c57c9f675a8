"""A PostgreSQL server for the tests: in a temporary folder, on a Unix socket, stopped at the end. The
server refuses to run as root, so for root it runs as the user `postgres`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

USER = "postgres"


class Server:
    """A running server that makes databases."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self._folder = folder
        self._numbers = count(1)

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"study{next(self._numbers)}"
        with psycopg.connect(host=str(self._folder), user=USER, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://{USER}@/{name}?host={self._folder}"

    def run(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries / program), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]
        done = subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"


@contextmanager
def running_server(binaries: Path, *, is_durable: bool = False) -> Iterator[Server]:
    """A server in its own folder. The path is short, since paths of sockets must be. Databases of tests
    need not outlive a crash of the machine; if the server `is_durable`, they do."""
    folder = Path(tempfile.mkdtemp(prefix="wellput-pg-"))
    server = Server(binaries, folder)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        data = str(folder / "data")
        settings = ["-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        server.run("initdb", "-D", data, "-U", USER, *settings)
        fsync = "on" if is_durable else "off"
        options = f"-k {folder} -c listen_addresses='' -c max_connections=100 -c fsync={fsync}"
        log = str(folder / "log")
        server.run("pg_ctl", "-D", data, "-l", log, "-w", "-t", "60", "-o", options, "start")
        try:
            yield server
        finally:
            server.run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)

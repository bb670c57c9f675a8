"""Fingerprints of files."""

from __future__ import annotations

from pathlib import Path

from wellput.io.files import file_fingerprint


def test_fingerprints(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    # printf abc | sha256sum
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_fingerprint(path) == expected
    assert file_fingerprint("-") is None
    assert file_fingerprint(tmp_path) is None

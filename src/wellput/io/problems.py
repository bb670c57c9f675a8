"""The noun `Problems`: what is wrong with one file, gathered while reading goes on."""

from __future__ import annotations

from wellput.core.errors import SHOWN, InputError


class Problems:
    """The problems of one file. Counts them all and keeps those that will be shown: a file of ten
    million bad lines must not fill the memory with complaints."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kept: list[str] = []
        self.total = 0

    def __bool__(self) -> bool:
        return self.total > 0

    def add(self, where: str, what: str) -> None:
        """One more: `where` is a line, a row or an item, `what` says what is wrong there."""
        self.total += 1
        if len(self.kept) < SHOWN:
            self.kept.append(f"{where}: {what}")

    def raise_if_any(self, *, advice: str = "") -> None:
        """Raises one InputError for all of them."""
        if self.total:
            count = "a problem" if self.total == 1 else f"{self.total} problems"
            headline = f"{self.name} has {count}:"
            raise InputError.collect(headline, self.kept, advice, total=self.total)

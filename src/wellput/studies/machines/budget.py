"""`Cost`, `Price` and `Budget`: what requests cost, and a limit that they never exceed.

Before a request is sent, the most it can cost is reserved: a token has at least one byte, so a prompt
has at most as many tokens as bytes. When the answer is there, its true cost replaces that.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from wellput.core.errors import InputError

TOKENS_OF_FRAME = 32
"""The tokens that a chat template adds to a prompt, at most."""


@dataclass(frozen=True)
class Cost:
    """Tokens that were read and written."""

    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.tokens_in - other.tokens_in, self.tokens_out - other.tokens_out)


@dataclass(frozen=True)
class Price:
    """The price of a million tokens read and of a million tokens written, in any currency."""

    million_in: float
    million_out: float

    @classmethod
    def of(cls, text: str) -> Price:
        """The price that `"2.5,10"` says."""
        try:
            million_in, million_out = map(float, text.split(","))
        except ValueError:
            million_in = million_out = -1.0
        if not (0 <= million_in < float("inf") and 0 <= million_out < float("inf")):
            raise InputError(
                f"price={text!r}: give two numbers, the price of a million tokens read and of a "
                "million written, such as 2.5,10."
            )
        return cls(million_in, million_out)


def most_of(n_bytes: int, max_tokens: int) -> Cost:
    """The most that a request can cost."""
    return Cost(n_bytes + TOKENS_OF_FRAME, max_tokens)


class Budget:
    """What is spent, and what may be spent: money with a price, else tokens. Threads may share it."""

    def __init__(self, limit: float | None = None, price: Price | None = None) -> None:
        if limit is not None and not limit >= 0:
            raise InputError(f"max_cost={limit:g} must not be negative.")
        self.limit = limit
        self.price = price
        self.spent = Cost()
        self._reserved = Cost()
        self._changed = threading.Condition()

    def worth(self, cost: Cost) -> float:
        """A cost in the unit of the limit."""
        if self.price is None:
            return float(cost.tokens_in + cost.tokens_out)
        millionths = (
            cost.tokens_in * self.price.million_in + cost.tokens_out * self.price.million_out
        )
        return millionths / 1e6

    def spend(self, cost: Cost) -> None:
        """Counts what was spent earlier."""
        with self._changed:
            self.spent += cost

    def reserve(self, most: Cost) -> bool:
        """Reserves the most that a request can cost. While others are under way it waits for them if
        there is too little left. False: there is too little, and nothing is under way."""
        with self._changed:
            while self.limit is not None:
                if self.worth(self.spent + self._reserved + most) <= self.limit:
                    break
                if self._reserved == Cost():
                    return False
                self._changed.wait()
            self._reserved += most
            return True

    def settle(self, most: Cost, cost: Cost) -> None:
        """Replaces a reservation by what was spent."""
        with self._changed:
            self._reserved -= most
            self.spent += cost
            self._changed.notify_all()

"""`Cost`, `Price` and `Budget`: what requests to a model cost, and a limit that they never exceed.

Before a request is sent, the most that it can cost is reserved: a token has at least one byte, so a
prompt has at most as many tokens as bytes. When the answer has come, its true cost replaces the
reservation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from wellput.core.errors import InputError

TOKENS_OF_FRAME = 32
"""At most this many tokens are added to a prompt by the chat template, the frame of roles and
separators around messages."""


@dataclass(frozen=True)
class Cost:
    """The number of tokens that a model read (`tokens_in`) and wrote (`tokens_out`)."""

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
        """The price in a text such as `"2.5,10"`: a million tokens read cost 2.5, a million written
        cost 10."""
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


def max_cost_of(n_bytes: int, max_tokens: int) -> Cost:
    """The most that a request can cost whose prompt has `n_bytes` bytes."""
    return Cost(n_bytes + TOKENS_OF_FRAME, max_tokens)


class Budget:
    """What is spent, and the `limit` of it: an amount of money if there is a price, else a number of
    tokens. Threads may share a budget."""

    def __init__(self, limit: float | None = None, price: Price | None = None) -> None:
        if limit is not None and not limit >= 0:
            raise InputError(f"max_cost={limit:g} must not be negative.")
        self.limit = limit
        self.price = price
        self.spent = Cost()
        self._reserved = Cost()
        self._changed = threading.Condition()

    def worth(self, cost: Cost) -> float:
        """A cost in the unit of the limit: money or tokens."""
        if self.price is None:
            return float(cost.tokens_in + cost.tokens_out)
        millionths = (
            cost.tokens_in * self.price.million_in + cost.tokens_out * self.price.million_out
        )
        return millionths / 1e6

    def spend(self, cost: Cost) -> None:
        """Counts a cost that was not reserved, as of an earlier run."""
        with self._changed:
            self.spent += cost

    def reserve(self, most: Cost, *, is_stopped: Callable[[], bool] = lambda: False) -> bool:
        """Reserves the most that a request can cost, and returns true. If too little is left, waits
        until the requests that are under way have an answer, which may cost less than was reserved.
        Returns false if too little is left and no request is under way, or if the work is stopped
        meanwhile: whoever stops it calls `wake`."""
        with self._changed:
            while self.limit is not None:
                if self.worth(self.spent + self._reserved + most) <= self.limit:
                    break
                if self._reserved == Cost() or is_stopped():
                    return False
                self._changed.wait()
            self._reserved += most
            return True

    def wake(self) -> None:
        """Lets those who wait in `reserve` look again whether the work is stopped."""
        with self._changed:
            self._changed.notify_all()

    def settle(self, most: Cost, cost: Cost) -> None:
        """Replaces a reservation by the true cost."""
        with self._changed:
            self._reserved -= most
            self.spent += cost
            self._changed.notify_all()

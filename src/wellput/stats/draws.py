"""The noun `Draws`: the random numbers of a simulation, the same for studies of every size."""

from __future__ import annotations

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats

MANY = 100
"""With more degrees of freedom χ² is read off Wilson & Hilferty's formula, to five digits."""


class Draws:
    """Random numbers, drawn once: distributions of any size are read off the same quantiles."""

    def __init__(self, simulations: int, seed: int) -> None:
        if simulations < 100:
            raise InputError(f"At least 100 simulations are needed, not {simulations}.")
        self.simulations, self.seed = simulations, seed
        self._normals: dict[int, Floats] = {}

    def normal(self, stream: int) -> Floats:
        if stream not in self._normals:
            rng = np.random.default_rng([self.seed, stream])
            self._normals[stream] = rng.standard_normal(self.simulations)
        return self._normals[stream]

    def chi_square(self, stream: int, freedom: int) -> Floats:
        from scipy.special import gammaincinv, ndtr

        quantile = self.normal(100 + stream)
        if freedom > MANY:
            part = 2 / (9 * freedom)
            return np.asarray(freedom * (1 - part + quantile * np.sqrt(part)) ** 3)
        return np.asarray(2 * gammaincinv(freedom / 2, ndtr(quantile)), dtype=np.float64)

    def mean_square(self, stream: int, freedom: int) -> Floats:
        """A mean square over what it is expected to be."""
        return self.chi_square(stream, freedom) / freedom

    def correlations(self, root: Floats, n: int) -> tuple[Floats, Floats, Floats]:
        """Sample correlations (1 with 0, 2 with 0, 2 with 1) of n points: Bartlett's decomposition of
        the Wishart distribution."""
        lower = np.zeros((self.simulations, 3, 3))
        for place in range(3):
            lower[:, place, place] = np.sqrt(self.chi_square(place, n - 1 - place))
        for stream, (row, column) in enumerate([(1, 0), (2, 0), (2, 1)]):
            lower[:, row, column] = self.normal(stream)
        factor = root @ lower
        covariance = factor @ factor.swapaxes(1, 2)
        spread = np.sqrt(np.einsum("sii->si", covariance))
        r = covariance / spread[:, :, None] / spread[:, None, :]
        return r[:, 1, 0], r[:, 2, 0], r[:, 2, 1]

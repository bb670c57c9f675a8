"""Work that is done in this process, or on the workers of a Ray cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import get_args

from wellput.core.cores import available_cores
from wellput.core.errors import InputError
from wellput.core.mapping import MapParts
from wellput.engine.scoring_plan import Engine


def mapping(
    engine: Engine, address: str | None, threads: int | None
) -> AbstractContextManager[MapParts | None]:
    """What gives parts of the work to the cluster; None for the engine `local`."""
    known = get_args(Engine)
    if engine not in known:
        raise InputError(f"engine={engine!r} is not known; there are {', '.join(known)}.")
    if engine == "local":
        if address is not None:
            raise InputError(
                f"address={address!r} is that of a Ray cluster: pass engine='ray', too."
            )
        return nullcontext()
    from wellput.engine.ray_cluster import mapping_on_cluster

    return mapping_on_cluster(address, threads or available_cores())

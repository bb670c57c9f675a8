"""Progress in other units."""

from __future__ import annotations

import pickle

from wellput.core.evalset import Batch
from wellput.core.work import ProgressShare


def test_wholes_are_reported_when_their_parts_are_done() -> None:
    told: list[int] = []
    share = ProgressShare(3, 6, told.append)
    for _ in range(5):
        share.add(1)
    assert told == [1, 1]  # two parts each, the sixth is not done
    share.finish()
    assert told == [1, 1, 1]


def test_never_reports_more_than_the_whole() -> None:
    told: list[int] = []
    share = ProgressShare(3, 6, told.append)
    share.add(20)
    share.finish()
    assert told == [3]


def test_a_batch_can_be_sent_to_another_process() -> None:
    batch = Batch.from_texts(["a"], [["b"]])
    assert pickle.loads(pickle.dumps(batch)) == batch

"""Workers for tests."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Sequence

from baton.compat.worker import Worker


@contextlib.contextmanager
def worker_for(test_class: Any, platform: str, devices: Sequence[int], cases: Sequence[dict]) -> Iterator[Worker]:
    """A worker for the cases of a scene test, started. At level 3 it knows the callables of the test."""
    if test_class._st_level == 2:
        worker = Worker(2, platform=platform, runtime=test_class._st_runtime, device_id=devices[0])
    else:
        subs = max((case.get("config", {}).get("num_sub_workers", 0) for case in cases), default=0)
        worker = Worker(3, platform=platform, runtime=test_class._st_runtime, device_ids=list(devices),
                        num_sub_workers=subs)
    with worker:
        if test_class._st_level == 3:
            test_class.register_callables(platform, worker)
        try:
            worker.init()
            yield worker
        finally:
            test_class._st_chip_handles = {}

"""Which test runs next, and where: tests are packed onto the devices, those that need most of them first."""

from __future__ import annotations

from typing import Sequence

from baton.runner.collect import Test


class Schedule:
    """Holds the tests that wait and the devices that are free."""

    def __init__(self, tests: Sequence[Test], devices: Sequence[int], max_parallel: int):
        # Stable: tests with as many devices keep their order.
        self._waiting = sorted(tests, key=lambda test: -test.devices)
        self._free = list(devices)
        self._device_count = len(self._free)
        self._slots = max(1, max_parallel)
        self._running = 0

    def impossible(self) -> list[Test]:
        """Takes out the tests that need more devices than there are."""
        too_large = [test for test in self._waiting if test.devices > self._device_count]
        self._waiting = [test for test in self._waiting if test.devices <= self._device_count]
        return too_large

    def unreadable(self) -> list[Test]:
        """Takes out the tests that are known to fail."""
        broken = [test for test in self._waiting if test.problem]
        self._waiting = [test for test in self._waiting if not test.problem]
        return broken

    def next(self) -> tuple[Test, list[int]] | None:
        """The first waiting test that fits on the free devices, with its devices; None if none fits now."""
        if self._running >= self._slots:
            return None
        for index, test in enumerate(self._waiting):
            if test.devices <= len(self._free):
                del self._waiting[index]
                taken, self._free = self._free[: test.devices], self._free[test.devices:]
                self._running += 1
                return test, taken
        return None

    def give_back(self, devices: Sequence[int]) -> None:
        self._free = sorted([*self._free, *devices])
        self._running -= 1

    def drop_waiting(self) -> list[Test]:
        dropped, self._waiting = self._waiting, []
        return dropped

    @property
    def waiting(self) -> int:
        return len(self._waiting)

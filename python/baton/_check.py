"""Races of what a program does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from baton import _core


class RaceError(AssertionError):
    """Accesses to the same bytes that nothing orders. `races` has a text for each pair of places."""

    def __init__(self, races: list[str]):
        super().__init__("\n".join(races))
        self.races = races


@contextlib.contextmanager
def check() -> Iterator[None]:
    """Raises RaceError at the end of the block if something in it races, whether or not it went wrong.

        with baton.check():
            baton.run_ranks(4, body)

    It sees what the command `baton check` sees, also what chips of a Worker do that was started before. What NumPy does
    with the array of a window is not seen.
    """
    recording = _core.RaceCheck()
    try:
        yield
    except BaseException:
        del recording
        raise
    races = recording.finish()
    if races:
        raise RaceError(races)

"""Functions that sub-workers run in the tests."""

import os
import signal
import sys
import time

import baton


def triple(x, y, factor):
    y[:] = x * 3 * factor


def write_pid(y):
    y[0] = os.getpid()


def fail_with_value(y):
    raise ValueError(f"wrong: {y[0]}")


def die(y):
    os._exit(7)


def take_long(_):
    """Longer than the patience of those that wait for it."""
    time.sleep(1)


def never_end(_):
    signal.pause()


def exit_with_three(_):
    sys.exit(3)


class CannotTravel(Exception):
    def __init__(self, first, second):
        super().__init__(first)
        self.second = lambda: second


def raise_what_cannot_travel(_):
    raise CannotTravel(1, 2)


def die_by_signal(_):
    os.kill(os.getpid(), signal.SIGKILL)


def close_descriptors(_):
    os.closerange(3, 100)


def raise_error_of_ours(_):
    raise baton.Error(baton.Code.out_of_range, "there is no such thing")

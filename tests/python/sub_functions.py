"""Functions that sub-workers run in the tests."""

import os
import time


def triple(x, y, factor):
    y[:] = x * 3 * factor


def write_pid(y):
    y[0] = os.getpid()


def fail_with_value(y):
    raise ValueError(f"wrong: {y[0]}")


def die(y):
    os._exit(7)


def take_long(_):
    """Longer than the patience of whoever waits for it."""
    time.sleep(1)

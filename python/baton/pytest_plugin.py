"""What tests of kernels may ask for, whether `baton test` runs them or pytest alone.

@pytest.mark.devices(4)    the test uses four devices; the fixture `devices` says which
@pytest.mark.limit(20)     it is killed after 20 seconds
fixtures: platform, devices, chip
--baton-check              a test that races is an error
"""

from __future__ import annotations

import pytest

DEFAULT_PLATFORM = "a2a3sim"


def pytest_addoption(parser):
    group = parser.getgroup("baton", "chips and their devices")
    group.addoption("--baton-platform", default=DEFAULT_PLATFORM, help="the platform that tests run on")
    group.addoption("--baton-check", action="store_true", help="report the races of each test, which then fails")
    group.addoption("--baton-devices", default=None, help="the devices of this process, such as 0-3")


def pytest_configure(config):
    config.addinivalue_line("markers", "devices(count): how many devices the test uses; 1 if it does not say")
    config.addinivalue_line("markers", "limit(seconds): how long the test may run before it is killed")


def devices_of(item) -> int:
    """How many devices a test asks for."""
    mark = item.get_closest_marker("devices")
    return int(mark.args[0]) if mark and mark.args else 1


def limit_of(item) -> float | None:
    """How many seconds a test says it may run."""
    mark = item.get_closest_marker("limit")
    return float(mark.args[0]) if mark and mark.args else None


@pytest.fixture(autouse=True)
def _baton_check(request):
    """With --baton-check: what the test does must not race."""
    if not request.config.getoption("--baton-check"):
        yield
        return
    import baton
    with baton.check():
        yield


@pytest.fixture
def platform(request) -> str:
    """The platform that the test runs on."""
    return request.config.getoption("--baton-platform")


@pytest.fixture
def devices(request) -> list[int]:
    """The devices of this test, as many as its mark asks for."""
    from baton import parse_device_list
    count = devices_of(request.node)
    given = request.config.getoption("--baton-devices")
    found = parse_device_list(given) if given else list(range(count))
    if len(found) < count:
        pytest.fail(f"the test needs {count} devices and has {len(found)}: {given}")
    return found[:count]


@pytest.fixture
def chip(platform):
    """A chip of the platform."""
    import baton
    with baton.Chip(platform) as made:
        yield made

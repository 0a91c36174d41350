"""Scene tests and test functions of existing projects under pytest: -p baton.compat.pytest_plugin.

`baton test --compat` loads it, and keeps the project's own conftest.py away, which does the same for another runtime.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from baton.compat.kernel_compiler import PLATFORMS
from baton.compat.names import install
from baton.compat.scene.options import SceneOptions, add_options

# What pytest is told beside loading this plugin. Files of one name in several folders are common in such projects. Tests are
# named from the current folder on; pytest 9 names them from any pyproject.toml above it.
ARGUMENTS = ["-p", "baton.compat.pytest_plugin", "--noconftest", "--import-mode=importlib", "-o", "addopts=", "--rootdir=."]


def pytest_addoption(parser):
    install()
    group = parser.getgroup("baton.compat")
    group.addoption("--platform", default="a2a3sim", help="the platform to run on; tests for others are deselected")
    group.addoption("--device", default=None, metavar="LIST", help="the devices: 0-3, or 0,2-4")
    add_options(group.addoption)


def pytest_configure(config):
    for mark in ("platforms(names): the platforms that the test is for", "runtime(name): the runtime of the test",
                 "device_count(n): how many devices the test uses", "manual: runs only with --manual",
                 "sdma: needs a DMA engine of a chip", "devices(count): how many devices the test uses"):
        config.addinivalue_line("markers", mark)
    platform = config.getoption("--platform")
    if platform not in PLATFORMS:
        raise pytest.UsageError(f"there is no platform {platform!r} here; there are {', '.join(PLATFORMS)}")
    try:
        SceneOptions.read(config.getoption)
    except NotImplementedError as refused:
        raise pytest.UsageError(str(refused)) from None


def pytest_pycollect_makemodule(module_path, parent):
    """Tests import what lies beside them."""
    folder = str(module_path.parent)
    if folder not in sys.path:
        sys.path.append(folder)


def _mark(item, name: str) -> Any:
    mark = item.get_closest_marker(name)
    return mark.args[0] if mark and mark.args else None


def _scene_class(item) -> Any:
    from baton.compat.scene.case import SceneTestCase
    found = getattr(item, "cls", None)
    return found if isinstance(found, type) and issubclass(found, SceneTestCase) else None


def _cases(item) -> list[dict]:
    from baton.compat.scene.selection import matching_cases
    options = SceneOptions.read(item.config.getoption)
    return matching_cases(_scene_class(item), item.config.getoption("--platform"), options.case, options.manual)


def _wanted(item) -> bool:
    options = SceneOptions.read(item.config.getoption)
    scene, platform = _scene_class(item), item.config.getoption("--platform")
    if scene is not None and item.originalname == "test_run":
        return options.takes(scene._st_level, scene._st_runtime) and bool(_cases(item))
    platforms = _mark(item, "platforms")
    if platforms is not None and platform not in ([platforms] if isinstance(platforms, str) else platforms):
        return False
    runtime, manual = _mark(item, "runtime"), item.get_closest_marker("manual") is not None
    if options.runtime not in (None, runtime) or (options.case and scene is None):
        return False
    return options.manual == "include" or manual == (options.manual == "only")


def _device_count(item) -> int:
    from baton.compat.scene.selection import device_count
    scene = _scene_class(item)
    if scene is not None:
        return device_count(scene, _cases(item))
    return int(_mark(item, "device_count") or 1)


def pytest_collection_modifyitems(config, items):
    kept, left = [], []
    for item in items:
        (kept if _wanted(item) else left).append(item)
    for item in kept:
        item.add_marker(pytest.mark.devices(_device_count(item)))
    if left:
        config.hook.pytest_deselected(items=left)
    items[:] = kept


class DevicePool:
    """The devices of a test process."""

    def __init__(self, devices: list[int]):
        self._free = list(devices)

    def allocate(self, count: int = 1) -> list[int]:
        if count > len(self._free):
            pytest.fail(f"the test asks for {count} devices, and {len(self._free)} are free: use --device")
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def release(self, devices: list[int]) -> None:
        self._free = sorted({*self._free, *devices})


@pytest.fixture(scope="session")
def st_platform(request) -> str:
    """The platform that tests run on."""
    return request.config.getoption("--platform")


@pytest.fixture
def device_pool(request) -> DevicePool:
    """The devices of this test."""
    from baton import parse_device_list
    given = request.config.getoption("--device")
    return DevicePool(parse_device_list(given) if given else list(range(_device_count(request.node))))


@pytest.fixture
def st_device_ids(request, device_pool) -> list[int]:
    """As many devices as the test asks for."""
    count = _device_count(request.node)
    taken = device_pool.allocate(count)
    yield taken
    device_pool.release(taken)


@pytest.fixture(scope="session")
def _st_chips():
    """Workers of level 2, one for each platform and runtime."""
    made: dict = {}
    yield made
    for worker in made.values():
        worker.close()


@pytest.fixture
def st_worker(request, st_platform, st_device_ids, _st_chips):
    """A worker: at level 2 the one of the runtime, at level 3 one of its own."""
    from baton.compat.scene.workers import worker_for
    from baton.compat.worker import Worker
    scene = _scene_class(request.node)
    if scene is not None and scene._st_level == 3:
        with worker_for(scene, st_platform, st_device_ids, _cases(request.node)) as worker:
            yield worker
        return
    runtime = scene._st_runtime if scene is not None else _mark(request.node, "runtime") or "tensormap_and_ringbuffer"
    if (st_platform, runtime) not in _st_chips:
        worker = _st_chips[st_platform, runtime] = Worker(2, platform=st_platform, runtime=runtime,
                                                          device_id=st_device_ids[0])
        worker.init()
    yield _st_chips[st_platform, runtime]

"""The package of the build tree, without an installation."""

import os
import struct
import subprocess
import sys

import pytest

import baton


def test_the_python_of_the_build_tree_imports_the_package():
    build = os.environ.get("TEST_BUILD_DIR", "")
    if not sys.prefix.startswith(os.path.join(build, "venv")):
        pytest.skip(f"{sys.prefix} is not the environment of the build tree")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run([sys.executable, "-c", "import baton; print(baton.__file__)"], cwd="/", env=environment,
                           capture_output=True, text=True, timeout=60)
    assert found.stdout.strip() == baton.__file__, found.stderr


def thread_local_bytes(path):
    """What a library asks of each thread, from the program headers of the ELF file."""
    with open(path, "rb") as file:
        content = file.read()
    (at,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", content, at + i * size) for i in range(count)]
    return sum(memory for kind, _, _, _, _, _, memory, _ in segments if kind == 7)  # PT_TLS


def test_the_library_can_be_loaded_late():
    """Where PyTorch and others were loaded before, a few hundred bytes of the memory of threads are left."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "/libbaton.so" in line)
    assert thread_local_bytes(path) <= 512

"""The package of the build tree, without an installation."""

import os
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

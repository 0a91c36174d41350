"""The package as users get it: `pip install .` into an environment of its own, away from the sources."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = '''
import pathlib, subprocess, sys
import numpy as np, baton
root = pathlib.Path(baton.__file__).parent
assert root.is_relative_to(sys.prefix), root
for name in ("lib/libbaton.so", "lib/libbaton_a2a3sim.so", "lib/libbaton_a5sim.so", "bin/baton", "bin/baton-chip",
             "share/baton/include/kernel/baton_kernel.hpp", "py.typed", "_core.pyi"):
    assert (root / name).exists(), name
double = baton.kernel("""
#include <baton_kernel.hpp>
BATON_KERNEL(twice, InOut<int> x) { x.data()[0] *= 2; }
""")
x = np.array([21], dtype="i4")
with baton.Chip(clusters=1) as chip:
    chip.run(double, x)
assert x[0] == 42
with baton.ChipWorker("a5sim") as worker:
    assert str(root) in worker.library
with baton.Worker(devices="0-1", clusters=1) as node:
    xs = [node.tensor(np.ones(8, dtype="f4")) for _ in range(2)]
    node.allreduce(xs)
    assert np.all(xs[1] == 2)
print("good")
'''


def test_pip_install(tmp_path):
    if subprocess.run([sys.executable, "-c", "import nanobind, scikit_build_core"], capture_output=True).returncode:
        pytest.skip("nanobind and scikit-build-core are not installed")
    environment = tmp_path / "venv"
    # Sees what scripts/setup installed for this Python; the package itself is only in the new environment.
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    site = next((environment / "lib").glob("python*/site-packages"))
    installed = subprocess.run([sys.executable, "-c", "import nanobind, os; print(os.path.dirname(os.path.dirname("
                                "nanobind.__file__)))"], capture_output=True, text=True, check=True).stdout.strip()
    (site / "builders.pth").write_text(installed + "\n")
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    build = pathlib.Path(os.environ.get("TEST_BUILD_DIR", tmp_path)) / "wheel"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
                    "--config-settings", f"build-dir={build}", str(SOURCE)], check=True, env=variables)
    run = {**variables, "BATON_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ""}
    done = subprocess.run([python, "-c", PROGRAM], cwd=tmp_path, env=run, capture_output=True, text=True)
    assert done.returncode == 0 and "good" in done.stdout, done.stdout + done.stderr

    program = environment / "bin" / "baton"
    assert "baton " in subprocess.run([program, "version"], env=run, capture_output=True, text=True,
                                      check=True).stdout
    (tmp_path / "test_x.py").write_text("def test_x(chip, devices): assert devices == [5] and chip.clusters == 24")
    tested = subprocess.run([program, "test", "-d", "5", "test_x.py"], cwd=tmp_path, env=run, capture_output=True,
                            text=True)
    assert tested.returncode == 0 and "1 passed" in tested.stdout, tested.stdout + tested.stderr
    assert shutil.which("baton", path=str(environment / "bin"))

"""The package as users get it: `pip install .` into an environment of its own, away from the sources."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(__file__).with_name("installed_package.py")


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
    done = subprocess.run([python, PROGRAM], cwd=tmp_path, env=run, capture_output=True, text=True)
    assert done.returncode == 0 and "good" in done.stdout, done.stdout + done.stderr

    program = environment / "bin" / "baton"
    assert "baton " in subprocess.run([program, "version"], env=run, capture_output=True, text=True,
                                      check=True).stdout
    (tmp_path / "test_x.py").write_text("def test_x(chip, devices): assert devices == [5] and chip.clusters == 24")
    tested = subprocess.run([program, "test", "-d", "5", "test_x.py"], cwd=tmp_path, env=run, capture_output=True,
                            text=True)
    assert tested.returncode == 0 and "1 passed" in tested.stdout, tested.stdout + tested.stderr
    assert shutil.which("baton", path=str(environment / "bin"))

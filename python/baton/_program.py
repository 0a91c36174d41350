"""The command `baton` of an installed package: the program that came with it."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys


def path() -> str | None:
    """The program `baton` of this package, that of the build tree it lies in, or the first one on the PATH."""
    package = pathlib.Path(__file__).parent
    for own in (package / "bin" / "baton", package.parents[1] / "bin" / "baton"):
        if own.exists():
            return str(own)
    return shutil.which("baton")


def main() -> None:
    own = pathlib.Path(__file__).resolve().parent / "bin" / "baton"
    if not own.exists():
        sys.exit(f"baton: there is no {own}; this package was not installed with pip")
    # `baton test` runs the Python that this package is installed for.
    os.environ.setdefault("PYTHON", sys.executable)
    os.execv(own, ["baton", *sys.argv[1:]])

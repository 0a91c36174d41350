"""python -m baton.compat PROGRAM ARGS...: runs a program with the modules that it imports."""

from __future__ import annotations

import os
import runpy
import sys

from baton.compat.names import install


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print("usage: python -m baton.compat PROGRAM ARGS...\n\n"
              "Runs a Python program that was written for the runtime `simpler` on Baton.")
        sys.exit(0 if len(sys.argv) > 1 else 2)
    program = sys.argv[1]
    if not os.path.exists(program):
        sys.exit(f"baton.compat: there is no program {program}")
    if os.path.isdir(program):
        program = os.path.join(program, "main.py")
    install()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()

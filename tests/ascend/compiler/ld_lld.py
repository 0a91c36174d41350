#!/usr/bin/env python3
"""A stand-in for the linker of Ascend chips: checks the command line, and makes a library of the host."""

import os
import subprocess
import sys


def main(words):
    if words[:6] != ["-m", "aicorelinux", "-Ttext=0", "-static", "-n", "-o"] or len(words) < 8:
        sys.exit(f"ld.lld: error: unexpected command line: {words}")
    if any(word.startswith("-") for word in words[6:]):
        sys.exit("ld.lld: error: unexpected options")
    return subprocess.run([os.environ.get("STANDIN_CXX", "c++"), "-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-o", *words[6:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

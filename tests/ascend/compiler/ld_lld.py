#!/usr/bin/env python3
"""A stand-in for the linker of Ascend chips: checks the command line, and makes a library of the host."""

import os
import subprocess
import sys

import both


def main(words):
    if words[:6] != ["-m", "aicorelinux", "-Ttext=0", "-static", "-n", "-o"] or len(words) < 8:
        sys.exit(f"ld.lld: error: unexpected command line: {words}")
    if any(word.startswith("-") for word in words[6:]):
        sys.exit("ld.lld: error: unexpected options")

    def link(output, *objects):
        command = [os.environ.get("STANDIN_CXX", "c++"), "-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-o", output, *objects]
        return subprocess.run(command, check=False).returncode

    output, *objects = words[6:]
    parts = both.split(objects[0])
    for part in parts:
        if code := link(part + ".so", part):
            return code
    if not parts:
        return link(output, *objects)
    both.join([part + ".so" for part in parts], output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

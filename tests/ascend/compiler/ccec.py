#!/usr/bin/env python3
"""A stand-in for the compiler of Ascend chips: checks the command line, and compiles for the host.

What it makes are objects for ld_lld.py beside it. Kernels see Baton's tile headers where the vendor's would be."""

import os
import pathlib
import subprocess
import sys

import both

OPTIONS = [
    "-cce-aicore-stack-size=0x8000",
    "-cce-aicore-function-stack-size=0x8000",
    "-cce-aicore-record-overflow=false",
    "-cce-aicore-addr-transform",
    "-cce-aicore-dcci-insert-for-scalar=false",
]
MAGIC = {"vec": "0x41415246", "cube": "0x41494343"}
CLUSTER = "0x43554245"


def refuse(why):
    sys.exit(f"ccec: error: {why}")


def main(words):
    if words == ["--version"]:
        print("stand-in for ccec 1.1")
        return 0
    kept, options, given, language = [], [], {}, None
    rest = iter(words)
    source = None
    for word in rest:
        if word == "-mllvm":
            options.append(next(rest))
        elif word in ("-o", "-MF"):
            given[word] = next(rest)
        elif word in ("-c", "-O3", "-std=c++17", "--cce-aicore-only", "-MD"):
            given[word] = True
        elif word == "-x":
            language = next(rest)
        elif word.startswith("--cce-aicore-arch="):
            given["arch"] = word.partition("=")[2]
        elif word.startswith(("-D", "-I")):
            kept.append(word)
        elif word in ("-include", "-isystem"):
            kept += [word, next(rest)]
        elif word.startswith("-"):
            refuse(f"unknown argument: '{word}'")
        elif source:
            refuse("more than one source")
        else:
            source = word
    arch = given.get("arch", "")
    family, core = arch[:8], arch[9:]
    if family not in ("dav-c220", "dav-c310") or arch[8:] not in ("", "-vec", "-cube"):
        refuse(f"unknown architecture '{arch}'")
    for word in ("-c", "-O3", "-std=c++17", "--cce-aicore-only", "-o"):
        if word not in given:
            refuse(f"{word} is missing")
    if language != "cce":
        refuse("the language is not cce")
    expected = OPTIONS + (["-cce-vf-aa-between-iters=true"] if family == "dav-c310" else [])
    if options != expected:
        refuse(f"options of the code generator are {options}, not {expected}")
    if not source:
        refuse("no input files")
    # Of the build: where the headers are, and which compiler is to be used. It takes longer than the kernels of tests do.
    include = os.environ["STANDIN_INCLUDE"]
    here = pathlib.Path(__file__).resolve().parent
    common = [os.environ.get("STANDIN_CXX", "c++"), "-std=c++20", "-O0", "-g1", "-fPIC", "-fno-gnu-unique", "-ffp-contract=off",
               "-Wno-attributes", "-fdiagnostics-color=never", "-c", "-D__CPU_SIM", "-D__global__=", "-D__gm__=", "-D__aicore__=",
               *kept, f"-I{include}/kernel",
               f"-I{include}", "-include", f"{include}/baton/kernel_library.hpp", "-include", str(here / "device.hpp")]
    if "-MD" in given:
        common += ["-MD", "-MF", given["-MF"]]

    def compile_for(kind, magic, output, *more):
        words = ["-D__DAV_VEC__" if kind == "vec" else "-D__DAV_CUBE__", f"-DSTANDIN_CORE={magic}", *more]
        return subprocess.run([*common, *words, "-o", output, "-x", "c++", source], check=False).returncode

    if core:
        return compile_for(core, MAGIC[core], given["-o"])
    # Both kinds in one step: a file of two, for ld_lld.py.
    parts = [given["-o"] + ".vec", given["-o"] + ".cube"]
    for part in parts:
        if code := compile_for(part.rpartition(".")[2], CLUSTER, part, "-DSTANDIN_CLUSTER"):
            return code
    both.join(parts, given["-o"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

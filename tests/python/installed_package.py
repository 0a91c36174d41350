"""What an installed package must be able to do: its files, a kernel, a platform, chips as processes, a collective."""

import pathlib
import sys

import numpy as np

import baton

root = pathlib.Path(baton.__file__).parent
assert root.is_relative_to(sys.prefix), root
for name in ("lib/libbaton.so", "lib/libbaton_a2a3sim.so", "lib/libbaton_a5sim.so", "bin/baton", "bin/baton-chip",
             "share/baton/include/kernel/baton_kernel.hpp", "py.typed", "_core.pyi"):
    assert (root / name).exists(), name
libraries = sorted(path.name for path in (root / "lib").glob("libbaton.so*"))
assert libraries == ["libbaton.so"], libraries  # links would be copies
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

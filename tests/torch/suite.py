"""PyTorch's own tests of backends, which its wheel has in torch.testing: with Baton in the place of Gloo, and with Gloo.

    suite.py                       both; fails if Baton fails where Gloo passes and docs/reference/torch.md does not say why
    suite.py run BACKEND FILE      one of them, into FILE; `-k TEXT` picks tests

Many of these tests ask for the name of the backend, and skip all that they do not know. So Baton serves under the name
"gloo": what Gloo must pass, it must."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

RANKS = 4
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "torch.md"


class Results(unittest.TextTestResult):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.by_name = {}

    def _note(self, test, outcome, reason=""):
        self.by_name[test.id().rpartition(".")[2]] = {"outcome": outcome, "reason": reason,
                                                     "seconds": round(time.monotonic() - self._begun, 2)}

    def startTest(self, test):
        super().startTest(test)
        self._begun = time.monotonic()

    def addSuccess(self, test):
        super().addSuccess(test)
        self._note(test, "passed")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._note(test, "failed", str(error[1])[-3000:])

    addError = addFailure

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note(test, "skipped", reason)


def put_baton_for_gloo():
    import torch.distributed as dist

    import baton.torch
    from torch.testing._internal.distributed import distributed_test
    dist.Backend._plugins["GLOO"] = dist.Backend._BackendPlugin(baton.torch._make, True)
    # In profiles it has its own name.
    events = distributed_test.get_profiling_event
    distributed_test.get_profiling_event = lambda name, *rest, **options: events(
        re.sub("^gloo:", "baton:", name), *rest, **options)


def run(backend, output, pattern):
    os.environ.setdefault("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT", "60")
    os.environ.update(BACKEND="gloo", WORLD_SIZE=str(RANKS), OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
    import torch
    torch.set_num_threads(1)
    from torch.testing._internal.distributed.distributed_test import DistributedTest, TestDistBackend
    if backend == "baton":
        put_baton_for_gloo()

    class Forked(TestDistBackend, DistributedTest._DistTestBase):
        def setUp(self):
            super().setUp()
            self._start_processes(torch.multiprocessing.get_context("fork").Process)

    loader = unittest.TestLoader()
    names = [name for name in loader.getTestCaseNames(Forked) if pattern in name]
    runner = unittest.TextTestRunner(resultclass=Results, verbosity=2, stream=sys.stderr)
    results = runner.run(unittest.TestSuite(Forked(name) for name in names))
    pathlib.Path(output).write_text(json.dumps(results.by_name, indent=1))


def known():
    """The tests that the page lists."""
    return set(re.findall(r"^\| `(test_\w+)`", PAGE.read_text(), re.MULTILINE))


def compare():
    by_backend = {}
    with tempfile.TemporaryDirectory() as folder:
        for backend in ("baton", "gloo"):
            output = pathlib.Path(folder) / f"{backend}.json"
            subprocess.run([sys.executable, __file__, "run", backend, str(output)], check=True,
                           stderr=open(pathlib.Path(folder) / "log", "w"))
            by_backend[backend] = json.loads(output.read_text())
            counts = {}
            for result in by_backend[backend].values():
                counts[result["outcome"]] = counts.get(result["outcome"], 0) + 1
            print(f"{backend}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    listed = known()
    new = [name for name, result in by_backend["baton"].items()
           if result["outcome"] == "failed" and by_backend["gloo"][name]["outcome"] == "passed" and name not in listed]
    for name in new:
        print(f"{name}: Gloo passes, Baton does not: {by_backend['baton'][name]['reason']}")
    return bool(new)


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        sys.exit(run(sys.argv[2], sys.argv[3], sys.argv[5] if sys.argv[4:5] == ["-k"] else ""))
    sys.exit(compare())

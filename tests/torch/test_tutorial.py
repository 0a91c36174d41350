"""The script of docs/tutorials/torch.md, as it is written there, step by step."""

import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import textwrap

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "torch.md"
TEXT = PAGE.read_text()
SCRIPT, START, KILL, DISAGREE = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
COMMAND = shlex.split(re.search(r"^torchrun .*", TEXT, re.MULTILINE).group())
STEP = "    optimizer.step()\n"


def run(folder, script):
    """What torchrun with the arguments of the page printed, and how it ended."""
    assert SCRIPT.count(STEP) == 1 and SCRIPT.count('dist.init_process_group("gloo")\n') == 1
    (folder / "train.py").write_text(script)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", f"--master_port={port}", *COMMAND[1:]],
                          cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=240)
    return done.returncode, done.stdout


def over_baton(script):
    return script.replace('dist.init_process_group("gloo")\n', START)


def last_loss(output):
    return re.search(r"the last loss is ([\d.]+)", output).group(1)


def test_the_loss_stays_the_same(tmp_path):
    results = [run(tmp_path, script) for script in (SCRIPT, over_baton(SCRIPT))]
    assert [code for code, _ in results] == [0, 0], results
    # Sums of four ranks may be made in another order, and three digits are printed.
    losses = [float(last_loss(output)) for _, output in results]
    assert losses[1] == pytest.approx(losses[0], abs=2e-3)


def test_a_rank_that_dies(tmp_path):
    code, output = run(tmp_path, over_baton(SCRIPT.replace(STEP, STEP + KILL)))
    assert code != 0
    assert re.search(r"DistBackendError: .*but rank 2 of \"world\" died\n.*died: SIGKILL", output), output


def test_ranks_that_disagree(tmp_path):
    code, output = run(tmp_path, over_baton(SCRIPT.replace(STEP, STEP + textwrap.indent(DISAGREE, "    "))))
    assert code != 0
    # The page shows rank 1; it may be any of those that called the same.
    for line in ("rank 0 called allreduce of 11 float32, sum", "rank [123] called allreduce of 10 float32, sum"):
        assert re.search(line, output), output

"""A forked child has copies of a node, of a chip and of their tensors. Using one is an error there; dropping it, closing
it or ending the child has no effect on the parent."""

import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing, os, signal, sys
import baton, numpy as np

signal.alarm(50)
os.register_at_fork(after_in_child=lambda: signal.alarm(50))  # alarms are not inherited
def report(call):
    try:
        call()
    except baton.Error as error:
        assert error.code == baton.Code.released and "forked child" in error.message, error
        return
    os._exit(9)

add_one = baton.kernel({library!r}, "add_one")
node = baton.Worker(devices="0-1", clusters=1, chip_threads=1, inproc={inproc}).init()
x, y, z = (node.tensor(np.zeros(4, "i4")) for _ in range(3))
def run(tensor):
    node.run(lambda orch: orch.submit_next_level(add_one, [tensor], worker=1))
for tensor in (x, y, z):
    run(tensor)
pids = [node.pid_of(chip) for chip in (0, 1)]
{fork}
run(x)
assert x[0] == 2 and pids == [node.pid_of(chip) for chip in (0, 1)]
node.close()
print("PARENT RAN", flush=True)
"""
FORK = """
child = os.fork()
if child == 0:
    try:
        {child}
    except SystemExit:
        raise
    except BaseException:
        import traceback; traceback.print_exc()
        os._exit(8)
    {end}
assert os.waitpid(child, 0)[1] == 0
"""
CHILDREN = {
    "drops tensors and the node": ("del y, z, node, run", "os._exit(0)"),
    "exits": ("pass", "sys.exit(0)"),
    "closes": ("node.close()", "sys.exit(0)"),
    "runs": ("report(lambda: run(x)); report(lambda: node.submit(lambda orch: None))", "sys.exit(0)"),
    "allocates and frees": ("report(lambda: node.create_buffer(4)); report(lambda: node.restart()); "
                            "report(lambda: node.copy_to(baton.view(y), np.ones(4, 'i4')))", "os._exit(0)"),
    "makes its own": ("own = baton.Worker(devices='0', clusters=1); t = own.tensor(np.zeros(1, 'i4')); "
                      "own.run(lambda o: o.submit_next_level(add_one, [t], worker=0)); assert t[0] == 1; own.close()",
                      "sys.exit(0)"),
}


def outcome(fork, ops, inproc=False):
    result = subprocess.run([sys.executable, "-c", PROGRAM.format(library=ops.library, inproc=inproc, fork=fork)],
                            capture_output=True, text=True, timeout=100)
    assert result.returncode == 0 and "PARENT RAN" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("inproc", [False, True], ids=["processes", "inproc"])
@pytest.mark.parametrize("what", CHILDREN)
def test_a_forked_child_leaves_the_node_alone(ops, what, inproc):
    child, end = CHILDREN[what]
    outcome(FORK.format(child=child, end=end), ops, inproc)


def test_multiprocessing_with_fork(ops):
    outcome("""
def child():
    global y
    y = None
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
assert process.exitcode == 0
""", ops)


def test_a_child_forked_inside_an_orchestration(ops):
    outcome("""
def orchestration(orch):
    orch.submit_next_level(add_one, [y], worker=0)
    child = os.fork()
    if child == 0:
        report(lambda: orch.submit_next_level(add_one, [y], worker=0))
        report(lambda: orch.alloc(4))
        return
    assert os.waitpid(child, 0)[1] == 0
main = os.getpid()
try:
    node.run(orchestration)
except baton.Error as error:
    assert os.getpid() != main and "forked child" in error.message, error
    os._exit(0)
assert y[0] == 2
""", ops)


def test_a_chip_of_the_parent(ops):
    program = f"""
import os, signal, sys
import baton, numpy as np
signal.alarm(50)
add_one = baton.kernel({ops.library!r}, "add_one")
chip = baton.Chip(clusters=1, threads=1)
x = chip.alloc(4, "int32")
chip.run(add_one, x)
child = os.fork()
if child == 0:
    try:
        chip.run(add_one, x)
    except baton.Error as error:
        assert "this chip belongs to process" in error.message, error
        del x
        chip.close()
        sys.exit(0)
    os._exit(9)
assert os.waitpid(child, 0)[1] == 0
chip.run(add_one, x)
assert x.numpy()[0] == 2
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stdout + result.stderr

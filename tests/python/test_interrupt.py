"""Ctrl-C ends every wait at once, although the peer or the kernel never comes."""

import pytest

import baton

WAITS = {
    "signal": "s = me.signals('s'); print('READY', flush=True); s.wait()",
    "barrier": "print('READY', flush=True); me.barrier()",
    "window": "print('READY', flush=True); me.window('x', 4)",
    "join": "print('READY', flush=True); baton.join('never', 0, 2)",
}
PROGRAM = """
import os, sys, threading, time
os.environ['BATON_WAIT_TIMEOUT'] = os.environ['BATON_JOIN_TIMEOUT'] = '60s'
import baton, numpy
name = 'inproc:interrupt'
if {pair}:
    # The other rank joins, and then does nothing.
    keep = []
    def other():
        keep.append(baton.join(name, 1, 2))
        if {signals}: keep.append(keep[0].signals('s'))
    threading.Thread(target=other).start()
    me = baton.join(name, 0, 2)
try:
    {wait}
except KeyboardInterrupt:
    print('INTERRUPTED', flush=True)
"""


@pytest.mark.parametrize("what", WAITS)
def test_ctrl_c_ends_a_wait(interrupted, what):
    code, output = interrupted(PROGRAM.format(pair=what != "join", signals=what == "signal", wait=WAITS[what]))
    assert code == 0 and "INTERRUPTED" in output, output


KERNEL = """
import os, sys
os.environ['BATON_WAIT_TIMEOUT'] = '{timeout}'
import baton, numpy as np
wait = baton.kernel({library!r}, 'wait_for')
x = np.zeros(4, dtype='i4')
with baton.Chip(clusters=1, threads=1) as chip:
    try:
        chip.run({body})
    except KeyboardInterrupt:
        print('INTERRUPTED', flush=True)
    {after}
"""
BODIES = {
    "the end of the run": "lambda g: (g.submit(wait, x), print('READY', flush=True))",
    "a task": "lambda g: g.wait((g.submit(wait, x), print('READY', flush=True))[0])",
    "an element": "lambda g: (g.submit(wait, x), print('READY', flush=True), g.get(x, 0))",
}


@pytest.mark.parametrize("what", BODIES)
def test_ctrl_c_ends_a_run_whose_kernel_hangs(interrupted, ops, what):
    code, output = interrupted(KERNEL.format(timeout="60s", library=ops.library, body=BODIES[what], after="pass"))
    assert code == 0 and "INTERRUPTED" in output, output


def test_ctrl_c_ends_the_wait_for_room_for_an_output(interrupted, ops):
    code, output = interrupted(f"""
import os, threading
os.environ['BATON_WAIT_TIMEOUT'] = '60s'
import baton
wait = baton.kernel({ops.library!r}, 'wait_for')
def orchestration(g):
    with g.scope():
        g.submit(wait, g.output([1024], 'int32'))
    with g.scope():
        threading.Timer(0.2, lambda: print('READY', flush=True)).start()
        g.output([1024], 'int32')
with baton.Chip(clusters=1, threads=1, output_heap_bytes=4096) as chip:
    try:
        chip.run(orchestration)
    except KeyboardInterrupt:
        print('INTERRUPTED', flush=True)
""")
    assert code == 0 and "INTERRUPTED" in output, output


def test_ctrl_c_ends_a_submission_that_waits_for_room(interrupted, ops):
    code, output = interrupted(f"""
import os, threading
os.environ['BATON_WAIT_TIMEOUT'] = '1s'
import baton, numpy as np
wait = baton.kernel({ops.library!r}, 'wait_for')
xs = [np.zeros(1, dtype='i4') for _ in range(3)]
def orchestration(g):
    g.submit(wait, xs[0])
    g.submit(wait, xs[1])
    threading.Timer(0.2, lambda: print('READY', flush=True)).start()
    g.submit(wait, xs[2])
    print('SUBMITTED', flush=True)
with baton.Chip(clusters=1, threads=1, task_window=2) as chip:
    try:
        chip.run(orchestration)
    except KeyboardInterrupt:
        print('INTERRUPTED', flush=True)
    xs[0][:] = 1
    chip.run(wait, xs[0])
    print('USED', flush=True)
""")
    assert code == 0 and output.index("INTERRUPTED") < output.index("USED"), output
    assert "SUBMITTED" not in output


def test_room_for_an_output_that_a_failed_task_held_is_told(ops):
    """The run raises what the task raised, instead of waiting for ever."""
    def orchestration(g):
        with g.scope():
            x = g.output([1024], "int32")
            g.submit(ops["crash"], x)
        g.output([1024], "int32")

    with baton.Chip(clusters=1, threads=1, output_heap_bytes=4096) as chip:
        with pytest.raises(baton.Error) as raised:
            chip.run(orchestration)
        assert raised.value.code == baton.Code.kernel_fault
        chip.run(lambda g: g.output([1024], "int32"))


def test_the_chip_is_good_after_what_was_interrupted_has_ended(interrupted, ops):
    after = "x[:] = 1; print('code', end=' '); chip.run(wait, x); print('USED', flush=True)"
    code, output = interrupted(KERNEL.format(timeout="1s", library=ops.library, body=BODIES["a task"], after=after))
    assert code == 0 and "INTERRUPTED" in output and "USED" in output, output

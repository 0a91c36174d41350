"""Ctrl-C ends every wait at once, although the peer or the kernel never comes."""

import pytest

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
with baton.Chip(clusters=1, workers=1) as chip:
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


def test_the_chip_is_good_after_what_was_interrupted_has_ended(interrupted, ops):
    after = "x[:] = 1; print('code', end=' '); chip.run(wait, x); print('USED', flush=True)"
    code, output = interrupted(KERNEL.format(timeout="1s", library=ops.library, body=BODIES["a task"], after=after))
    assert code == 0 and "INTERRUPTED" in output and "USED" in output, output

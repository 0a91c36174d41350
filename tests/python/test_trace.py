"""Traces: of ranks as processes and as fibers, of chips and nodes, of a rank that dies; and what `baton trace` makes of them."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import baton
from conftest import baton_program

BUILD = pathlib.Path(os.environ.get("TEST_BUILD_DIR", "build"))


def look(trace, *options):
    ended = subprocess.run([baton_program(), "trace", str(trace), *map(str, options)], capture_output=True, text=True,
                           timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def events_of(trace, tmp_path):
    """The spans and instants of a trace, with the rank that each belongs to."""
    look(trace, "--json", tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    return [{**event, "rank": event["pid"] - 1} for event in events if event["ph"] in "Xi"]


def kinds_of(events, rank):
    return {event["cat"] for event in events if event["rank"] == rank}


RELAY = """
import baton, numpy as np
me = baton.join()
x = me.window("x", 4)
flags = me.signals("flags", 2)
following = (me.rank + 1) % me.size
if me.rank == 0:
    x.put(following, np.ones(1, "f4"))
    flags.notify(following, 0)
flags.wait(0, ">=", 1)
if me.rank != 0:
    x.put(following, np.ones(1, "f4"))
    flags.notify(following, 0)
me.barrier()
"""


def run_traced(tmp_path, size, text, *, check=True, by="--trace"):
    program, trace = tmp_path / "program.py", tmp_path / "run.trace"
    program.write_text(text)
    options = ["--trace", str(trace)] if by == "--trace" else []
    environment = {**os.environ, **({} if options else {"BATON_TRACE": str(trace)})}
    subprocess.run([baton_program(), "run", *options, "-n", str(size), sys.executable, str(program)], check=check,
                   env=environment, timeout=60, capture_output=True)
    return trace


@pytest.mark.parametrize("by", ["--trace", "BATON_TRACE"])
def test_ranks_as_processes_are_in_one_file(tmp_path, by):
    trace = run_traced(tmp_path, 3, RELAY, by=by)
    events = events_of(trace, tmp_path)
    for rank in range(3):
        assert {"joined", "put", "notify", "barrier", "left"} <= kinds_of(events, rank)
    summary = look(trace)
    assert "rank 2" in summary and "barrier of world" in summary
    # An old one is replaced.
    before = trace.stat().st_ino
    run_traced(tmp_path, 2, RELAY, by=by)
    assert trace.stat().st_ino != before
    assert not kinds_of(events_of(trace, tmp_path), 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py", "run.trace", "trace.json"]


def test_a_rank_that_dies_leaves_what_it_had_recorded(tmp_path):
    trace = run_traced(tmp_path, 2, """
import baton, numpy as np, os, signal
me = baton.join()
x = me.window("x", 4)
me.barrier()
if me.rank == 1:
    x.put(0, np.ones(1, "f4"))
    os.kill(os.getpid(), signal.SIGKILL)
me.signals("never", 1).wait(0, ">=", 1)
""", check=False)
    events = events_of(trace, tmp_path)
    assert "put" in kinds_of(events, 1) and "left" not in kinds_of(events, 1)
    assert "rank 1 (did not leave)" in look(trace)


def test_ranks_as_fibers(tmp_path):
    def body(me):
        window = me.window("x", 4)
        window.put((me.rank + 1) % me.size, np.ones(1, "f4"))
        me.barrier()

    with baton.trace(tmp_path / "fibers.trace"):
        baton.run_ranks(4, body)
    events = events_of(tmp_path / "fibers.trace", tmp_path)
    for rank in range(4):
        assert {"joined", "put", "barrier", "left"} <= kinds_of(events, rank)


def test_tasks_of_a_chip_that_was_made_before(tmp_path, ops):
    x, y = np.ones(256, dtype="f4"), np.zeros(256, dtype="f4")
    with baton.Chip(clusters=2, threads=2) as chip:
        chip.run(lambda graph: graph.submit(ops["scale"], x, y, 2.0))
        with baton.trace(tmp_path / "chip.trace"):
            chip.run(lambda graph: [graph.submit(ops["scale"], x, y, 2.0) for _ in range(20)])
        chip.run(lambda graph: graph.submit(ops["scale"], x, y, 2.0))
    events = events_of(tmp_path / "chip.trace", tmp_path)
    tasks = [event for event in events if event["cat"] == "task"]
    assert len(tasks) == 20 and {task["name"] for task in tasks} == {"scale"}
    assert all("test_trace.py" in task["args"]["place"] for task in tasks)
    assert any(event["cat"] == "run" for event in events)


def test_tasks_in_a_row_are_said_to_be(tmp_path, ops):
    environment = {"BATON_IN_PLACE": "never"}
    program = tmp_path / "program.py"
    program.write_text(f"""
import baton, numpy as np
scale = baton.kernels({str(pathlib.Path(__file__).parent / "kernels" / "ops.cpp")!r})["scale"]
with baton.Chip(clusters=2, threads=1, profile=None) as chip:
    # So large that a task is not complete when the next one is submitted: there would be no edge between them.
    x, y = (chip.tensor(np.ones(1 << 18, "f4"), name=name) for name in "xy")
    chip.run(lambda graph: [graph.submit(scale, x, y, 2.0) for _ in range(64)])
""")
    trace = tmp_path / "run.trace"
    subprocess.run([sys.executable, str(program)], check=True, timeout=60,
                   env={**os.environ, **environment, "BATON_TRACE": str(trace)})
    assert re.search(r'longest chain \d+ of 64 tasks, because of "y"', look(trace)), look(trace)


@pytest.mark.parametrize("inproc", [False, True], ids=["processes", "inproc"])
def test_chips_of_a_node(tmp_path, ops, inproc):
    trace = tmp_path / "node.trace"
    with baton.Worker(devices="0-1", inproc=inproc, clusters=2, trace=trace) as node:
        xs = [node.tensor(np.arange(64, dtype="f4")) for _ in range(2)]
        node.allreduce(xs)
    events = events_of(trace, tmp_path)
    for chip in range(2):
        assert {"joined", "node task", "task"} <= kinds_of(events, chip)


@pytest.mark.parametrize("inproc", [False, True], ids=["processes", "inproc"])
def test_runs_and_edges_of_a_node(tmp_path, ops, inproc):
    trace = tmp_path / "node.trace"
    with baton.Worker(devices="0-1", inproc=inproc, clusters=2, trace=trace) as node:
        x, y, z = (node.tensor(np.ones(1 << 18, dtype="f4"), name=name) for name in "xyz")

        def orchestration(o):
            o.submit_next_level(ops["scale"], [x, y, 2.0], worker=0)
            o.submit_next_level(ops["scale"], [y, z, 2.0], worker=1)

        node.run(orchestration)
    assert z[0] == 4
    events = events_of(trace, tmp_path)
    assert min(event["ts"] for event in events) == 0  # nothing, edges included, is before the first of them
    [run] = [event for event in events if event["cat"] == "node run"]
    first, second = (next(event for event in events if event["cat"] == "node task" and event["rank"] == chip) for chip in range(2))
    assert "2 tasks" in run["args"]["details"] and "test_trace.py" in run["args"]["place"], run
    assert run["ts"] <= first["ts"] and second["ts"] + second["dur"] <= run["ts"] + run["dur"]
    flows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    [ends] = [event for event in flows if event.get("cat") == "edge" and event["ph"] == "f" and event["pid"] == second["pid"]]
    [begins] = [event for event in flows if event.get("id") == ends["id"] and event["ph"] == "s"]
    assert begins["pid"] == first["pid"] and first["ts"] <= begins["ts"] <= ends["ts"] <= second["ts"] + second["dur"]


def test_a_second_trace_is_refused(tmp_path):
    with baton.trace(tmp_path / "a.trace"):
        with pytest.raises(baton.Error, match="a trace is being written"):
            with baton.trace(tmp_path / "b.trace"):
                pass


def test_what_is_not_a_trace_is_said(tmp_path):
    (tmp_path / "x").write_text("no trace")
    ended = subprocess.run([baton_program(), "trace", str(tmp_path / "x")], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and "is not a trace" in ended.stderr and "baton run --trace FILE" in ended.stderr


def test_a_trace_that_is_not_there_is_answered_with_how_to_get_one(tmp_path):
    ended = subprocess.run([baton_program(), "trace", str(tmp_path / "x")], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "there is no file" in ended.stderr and "baton run --trace FILE" in ended.stderr


def test_the_difference_of_two(tmp_path):
    trace = run_traced(tmp_path, 2, RELAY)
    assert "before" in look(trace, "--diff", trace)


def test_perfetto_reads_it(tmp_path):
    proto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2",
                                reason="the package perfetto is missing; scripts/setup installs it")
    trace = run_traced(tmp_path, 3, RELAY)
    look(trace, "--perfetto", tmp_path / "run.pftrace")
    parsed = proto.Trace()
    parsed.ParseFromString((tmp_path / "run.pftrace").read_bytes())
    names, begins, ends, flows = set(), 0, 0, {}
    tracks = {}
    for packet in parsed.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        names |= {entry.name for entry in packet.interned_data.event_names}
        if packet.HasField("track_event"):
            event = packet.track_event
            begins += event.type == event.TYPE_SLICE_BEGIN
            ends += event.type == event.TYPE_SLICE_END
            assert event.track_uuid in tracks
            for flow in event.flow_ids:
                flows[flow] = flows.get(flow, 0) + 1
    assert {"rank 0", "rank 1", "rank 2"} <= {track.name for track in tracks.values()}
    assert all(track.parent_uuid in tracks for track in tracks.values() if track.parent_uuid)
    assert "notify flags[0]" in names and begins == ends > 0
    assert flows and set(flows.values()) == {2}


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium brings it")
def test_a_browser_draws_the_page(tmp_path):
    trace = run_traced(tmp_path, 3, RELAY)
    look(trace, "--html", tmp_path / "run.html")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
               "--virtual-time-budget=10000"]
    drawn = subprocess.run([*command, "--dump-dom", (tmp_path / "run.html").as_uri() + "#t&search=barrier"],
                           capture_output=True, text=True, timeout=120)
    page = drawn.stdout
    # Set by the last statement of the script: nothing before it threw.
    assert "data-ready=" in page, drawn.stderr[-2000:]
    assert "3 found" in page and "barrier of world" in page and "rank 2" in page
    shot = tmp_path / "page.png"
    subprocess.run([*command, f"--screenshot={shot}", "--window-size=1200,500", (tmp_path / "run.html").as_uri()],
                   capture_output=True, timeout=120, check=True)
    assert shot.stat().st_size > 10_000


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium brings it")
def test_keys_move_the_page(tmp_path):
    trace = run_traced(tmp_path, 3, RELAY)
    look(trace, "--html", tmp_path / "run.html")
    drive = """<script>
    const press = key => dispatchEvent(new KeyboardEvent("keydown", {key}));
    const told = document.documentElement.dataset;
    for (let i = 0; i < 5; ++i) press("w");
    told.closer = state.to - state.from < HEAD.length / 4;
    for (let i = 0; i < 200; ++i) press("d");
    told.end = state.from < HEAD.length && state.to > HEAD.length;
    for (let i = 0; i < 200; ++i) press("a");
    told.begin = state.from < 0 && state.to > 0;
    press("f");
    told.all = state.from <= 0 && state.to >= HEAD.length;
    search("barrier");
    const found = [];
    for (let i = 0; i < 4; ++i) { press("n"); found.push(state.found.track.rank); }
    told.found = new Set(found).size === 3 && found[3] === found[0];
    press("p");
    told.before = state.found.track.rank === found[2];
    </script></body>"""
    page = tmp_path / "driven.html"
    page.write_text((tmp_path / "run.html").read_text().replace("</body>", drive))
    drawn = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
                            "--virtual-time-budget=10000", "--dump-dom", page.as_uri()],
                           capture_output=True, text=True, timeout=120)
    told = dict(re.findall(r'data-(\w+)="(\w+)"', drawn.stdout[:2000]))
    for name in ("closer", "end", "begin", "all", "found", "before"):
        assert told.get(name) == "true", (name, told, drawn.stderr[-2000:])


LATE = """
import time, baton
me = baton.join()
flags = me.signals("flags", 1)
if me.rank == 0:
    flags.notify(1, 0)
    flags.wait(0, ">=", 1)
else:
    flags.wait(0, ">=", 1)
    time.sleep(.3)  # what rank 0 waits for
    flags.notify(0, 0)
"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium brings it")
def test_what_begins_where_something_short_ends_is_drawn(tmp_path):
    trace = run_traced(tmp_path, 2, LATE)
    look(trace, "--html", tmp_path / "run.html")
    count = """<script>
    draw();
    const red = [...pen.fillStyle = colours.waiting].slice(1).join("").match(/../g).map(text => parseInt(text, 16));
    const seen = pen.getImageData(0, 0, canvas.width, canvas.height).data;
    let pixels = 0;
    for (let i = 0; i < seen.length; i += 4) pixels += red.every((part, k) => seen[i + k] === part);
    document.documentElement.dataset.red = pixels;
    </script></body>"""
    page = tmp_path / "counted.html"
    page.write_text((tmp_path / "run.html").read_text().replace("</body>", count))
    drawn = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
                            "--window-size=1000,500", "--virtual-time-budget=10000", "--dump-dom", page.as_uri()],
                           capture_output=True, text=True, timeout=120)
    # The wait of rank 0 begins within the pixel of its notify, and takes most of the width.
    assert int(re.search(r'data-red="(\d+)"', drawn.stdout)[1]) > 1000, drawn.stderr[-2000:]

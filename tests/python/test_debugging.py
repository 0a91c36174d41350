"""What a kernel tells its author: text, tiles, where it failed, and what a debugger shows of it."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import baton
from conftest import HERE, baton_program

TALKS = r"""
#include <cstdio>
#include <baton_kernel.hpp>
BATON_KERNEL(talks, InOut<float> x, int32_t words) {
  for (int i = 0; i < words; ++i) printf("word %d of ", i), std::printf("%g\n", *x.data());
  puts("a line");
  fprintf(stderr, "%s\n", "trouble");
  fputs("without an end", stdout);
}
"""

SHOWS = r"""
#include <baton_kernel.hpp>
BATON_KERNEL(shows, In<float> x) {
  pto::Tile<pto::TileType::Vec, float, 2, 8> tile;
  TASSIGN(tile, 0);
  auto line = x.line();
  pto::Tile<pto::TileType::Vec, float, 1, 16> flat;
  TASSIGN(flat, 0);
  TLOAD(flat, line);
  TPRINT(tile, {.columns = 2, .format = "%.1f"});
  TDUMP(tile, FOLDER "/tile-{rank}-{kernel}-{block}-{core}.npy");
}
"""


def program(tmp_path, text):
    """Runs `text` with its output in pipes."""
    path = tmp_path / "program.py"
    path.write_text("import baton, numpy as np\n" + text)
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)


def test_what_a_kernel_prints_is_whole_and_says_where_it_comes_from(tmp_path):
    done = program(tmp_path, f"""
talks = baton.kernel({TALKS!r})
with baton.Chip(clusters=4, threads=4) as chip:
    xs = [np.full(1, i, dtype="f4") for i in range(40)]
    print("before")
    def orchestration(g):
        for x in xs: g.submit(talks, x, 30)
    chip.run(orchestration)
    print("after")
""")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 + 40 * 32 and lines[-1] == "after"
    form = re.compile(r"\[rank 0, (vector core \d+\.\d|the submitting thread), talks\] (.*)")
    said = [form.fullmatch(line)[2] for line in lines if line not in ("before", "after")]
    assert said.count("a line") == said.count("without an end") == 40
    for i in range(40):
        for word in range(30):
            assert f"word {word} of {i}" in said
    assert all(form.fullmatch(line)[2] == "trouble" for line in done.stderr.splitlines())
    assert len(done.stderr.splitlines()) == 40


@pytest.mark.parametrize("inproc", [False, True])
def test_chips_of_a_node_print_into_pipes(tmp_path, inproc):
    done = program(tmp_path, f"""
def main():
    talks = baton.kernel({TALKS!r})
    with baton.Worker(devices="0-2", inproc={inproc}) as node:
        xs = [node.tensor(np.full(1, chip, dtype="f4")) for chip in range(3)]
        def orchestration(o):
            for chip in range(3): o.submit_next_level(talks, [xs[chip], 2], worker=chip)
        node.run(orchestration)
if __name__ == "__main__": main()
""")
    assert done.returncode == 0, done.stderr
    for chip in range(3):
        mine = [line for line in done.stdout.splitlines() if line.startswith(f"[rank {chip}, ")]
        assert [line.split("] ")[1] for line in mine] == [f"word 0 of {chip}", f"word 1 of {chip}", "a line",
                                                          "without an end"]


def test_what_was_printed_before_a_crash_comes_out(tmp_path):
    source = TALKS.replace('fputs("without an end", stdout);', 'printf("last words"); __builtin_trap();')
    done = program(tmp_path, f"""
talks = baton.kernel({source!r})
with baton.Chip(clusters=1) as chip:
    chip.run(lambda g: g.submit(talks, np.zeros(1, dtype="f4"), 1))
""")
    assert done.returncode == 1
    assert "talks] last words\n" in done.stdout
    assert "BATON-E052" in done.stderr


def test_tiles_are_shown_and_written(tmp_path):
    done = program(tmp_path, f"""
shows = baton.kernel({SHOWS!r}, defines={{"FOLDER": '"{tmp_path}"'}})
with baton.Chip(clusters=1) as chip:
    chip.run(lambda g: g.submit(shows, np.arange(16, dtype="f4")))
""")
    assert done.returncode == 0, done.stderr
    said = [line.split("] ", 1)[1] for line in done.stdout.splitlines()]
    assert re.fullmatch(r"Vec tile, 2 x 8 of float, <text in program.py>:\d+", said[0])
    assert said[1:] == ["  0.0 1.0 ...", "  8.0 9.0 ..."]
    (file,) = tmp_path.glob("tile-0-shows-0-*.npy")
    np.testing.assert_array_equal(np.load(file), np.arange(16, dtype="f4").reshape(2, 8))


def test_a_tile_that_cannot_be_written_is_an_error_with_its_place(chip):
    shows = baton.kernel(SHOWS, defines={"FOLDER": '"/nowhere/at/all"'})
    with pytest.raises(baton.Error, match=r"shows.*TDUMP at <text in test_debugging.py>:\d+: opening /nowhere/at/all/tile-0-shows-0"):
        chip.run(lambda g: g.submit(shows, np.arange(16, dtype="f4")))


FAILURES = {  # how a kernel fails, and what is said of it
    "throws_a_number": ("throw 5;", "threw the int 5, at "),
    "throws_an_object": ("struct Stop {}; throw Stop{};", "threw an object of type"),
    "reads_outside": ("std::vector<int>(3).at(7);", "threw std::out_of_range"),
    "asserts": ("assert(y.size() == 12345);", "an assertion failed"),
    "traps": ("__builtin_trap();", "a trap"),
}
FAILING = "#include <cassert>\n#include <vector>\n#include <baton_kernel.hpp>\n" + "".join(
    f"BATON_KERNEL({name}, Out<float> y) {{ if (y.size() > 0) {{ {statement} }} }}\n"
    for name, (statement, _) in FAILURES.items())


@pytest.fixture(scope="module", params=[False, True], ids=["optimised", "debug"])
def failing(request):
    return request.param, baton.kernels(FAILING, debug=request.param)


@pytest.mark.parametrize("name", FAILURES)
def test_a_kernel_that_fails_says_where(chip, failing, name):
    debug, kernels = failing
    with pytest.raises(baton.Error) as caught:
        chip.run(lambda g: g.submit(kernels[name], np.zeros(1, dtype="f4")))
    assert re.search(rf"kernel '{name}' on (vector core \d\.\d|the submitting thread)", str(caught.value))
    assert FAILURES[name][1] in str(caught.value) and " in ?" not in str(caught.value)
    # What the compiler has put into the kernel has the line it was written at.
    line = 1 + [name in text for text in FAILING.splitlines()].index(True)
    assert f"<text in test_debugging.py>:{line}" in str(caught.value) or (name == "reads_outside" and not debug)


def test_a_failed_assertion_says_where_it_comes_from_and_what_it_is(tmp_path):
    path = tmp_path / "failing.cpp"
    path.write_text("#include <cassert>\n#include <baton_kernel.hpp>\n"
                    "BATON_KERNEL(failing, Out<float> y) { assert(y.size() == 12345); }\n")
    done = program(tmp_path, f"""
failing = baton.kernel({str(path)!r})
with baton.Chip(clusters=1) as chip:
    chip.run(lambda g: g.submit(failing, np.zeros(1, dtype="f4")))
""")
    said = [line for line in done.stderr.splitlines() if "Assertion" in line]
    assert len(said) == 1, done.stderr
    assert re.match(r"\[rank 0, (vector core \d\.\d|the submitting thread), failing\] .*failing.cpp:3: .*"
                    r"Assertion `y.size\(\) == 12345' failed\.", said[0])
    assert re.search(r"crashed: an assertion failed: y.size\(\) == 12345, at .*failing.cpp:3", done.stderr)
    assert "Look at the line that the message names" in done.stderr and "with -g" not in done.stderr


def test_for_a_debugger_a_text_has_the_lines_of_the_program_it_is_in(tmp_path):
    text = '''failing = baton.kernel(r"""#include <baton_kernel.hpp>
BATON_KERNEL(failing, Out<float> y) {
  if (y.size() > 0) { __builtin_trap(); }
}
""", debug=DEBUG)
with baton.Chip(clusters=1) as chip:
    chip.run(lambda g: g.submit(failing, np.zeros(1, dtype="f4")))
'''
    for debug, place in [(True, "/program.py:4 in failing"), (False, " at <text in program.py>:3")]:
        done = program(tmp_path, text.replace("DEBUG", str(debug)))
        assert place in done.stderr, done.stderr


LEAVING = {"by_exit": "std::exit(3)", "by_underscore_exit": "_exit(3)", "by_capital_exit": "std::_Exit(3)",
           "by_quick_exit": "std::quick_exit(3)"}


def test_a_kernel_that_ends_the_process_is_an_error(tmp_path):
    kernels = "".join(f"BATON_KERNEL({name}, Out<float> y) {{ {call}; }}\n" for name, call in LEAVING.items())
    done = program(tmp_path, f"""
leaving = baton.kernels(r'''#include <cstdlib>
#include <unistd.h>
#include <baton_kernel.hpp>
{kernels}''')
for name in {list(LEAVING)}:
    with baton.Chip(clusters=1) as chip:
        try: chip.run(lambda g: g.submit(leaving[name], np.zeros(1, dtype="f4")))
        except baton.Error as error: print(error)
    print("lives on")
""")
    assert done.returncode == 0 and done.stdout.count("lives on") == len(LEAVING), done.stderr
    for line, name in enumerate(LEAVING, 4):
        assert re.search(rf"kernel '{name}' on .* called \w+\(3\), at .*<text in program.py>:{line}", done.stdout), done.stdout
    assert done.stdout.count("Return from the kernel") == len(LEAVING)


def test_a_crash_without_line_numbers_says_how_to_get_them(chip):
    failing = baton.kernel("#include <baton_kernel.hpp>\nBATON_KERNEL(failing, Out<float> y) { __builtin_trap(); }\n",
                           flags=["-g0"])
    with pytest.raises(baton.Error, match="build the kernel with -g for the source line"):
        chip.run(lambda g: g.submit(failing, np.zeros(1, dtype="f4")))


def test_the_log_says_who_joined_what_was_allocated_chosen_and_compiled(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"""
import baton, numpy as np
me = baton.join()
baton.kernel({TALKS!r})
baton.kernel({TALKS!r})
window = me.window("halo", 64, "f4")
me.allreduce(window)
me.barrier()
""")
    done = subprocess.run([baton_program(), "run", "-n", "2", sys.executable, str(path)], capture_output=True, text=True,
                          timeout=120, env={**os.environ, "BATON_LOG": "info", "BATON_CACHE_DIR": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        mine = [line.split("] ", 2)[2] for line in done.stderr.splitlines() if line.startswith(f"[{rank}] baton: [info]")]
        assert any(re.fullmatch(rf'rank {rank} of 2 joined ".*" through shm', line) for line in mine), mine
        assert f'rank {rank} of "world" has the window "halo": 256 bytes on each of 2 ranks' in mine
        assert any(re.fullmatch(r"allreduce of 64 float32.* takes the algorithm \w+: the usual choice for 256 bytes in windows "
                                r"on 2 ranks", line) for line in mine), mine
        assert any(re.match("<text in program.py> (was compiled in|is compiled already)", line) for line in mine), mine


STUCK = """
def main():
    waits = baton.kernels({ops!r})["wait_for"]
    with baton.Worker(devices="0-2", inproc={inproc}) as node:
        def orchestration(o):
            specs = [baton.CommBufferSpec("cells", "float32", 4096), baton.CommBufferSpec("flags", "int32", 4)]
            with o.allocate_domain("tp", [0, 1, 2], buffers=specs) as domain:
                for chip in range(3): o.submit_next_level(waits, [domain[chip].buffers["flags"][chip:chip+1]], worker=chip)
        node.run(orchestration)
if __name__ == "__main__": main()
"""


@pytest.mark.parametrize("inproc", [False, True])
def test_chips_that_wait_for_each_other_are_told_of_with_buffer_kernel_task_and_core(tmp_path, monkeypatch, inproc):
    monkeypatch.setenv("BATON_WAIT_TIMEOUT", "8s")
    done = program(tmp_path, STUCK.format(ops=str(HERE / "kernels" / "ops.cpp"), inproc=inproc))
    assert done.returncode == 1

    def chips(report):
        """Which of the chips it tells of, with the wait, the kernel, its task and its core, and the line of the kernel."""
        line = (r'rank (\d): waiting for flags\[\1\] of domain "tp" >= 1 in kernel \'wait_for\' \(task \d+\) on vector core \d+\.\d, for .*\n'
                r" +it waits at .*ops\.cpp:\d+")
        return {int(found[1]) for found in re.finditer(line, report)}

    # When it happens, as a warning, and at the deadline, in the one error of the node.
    warning, _, error = done.stderr.partition("baton.Error: ")
    assert warning.count("can go on: all of them wait for each other") == 1, done.stderr
    assert chips(warning) == {0, 1, 2}, done.stderr
    assert re.search(r'waited 8 s for flags\[\d\] of domain "tp" \(has 0, needs >= 1', error), done.stderr
    # A chip whose own deadline came at the same moment does not wait any more.
    over = {int(number) for found in re.finditer(r"ranks? (\d)(?:[-,] ?)?(\d)?: running", error) for number in found.groups() if number}
    assert error.count("all ranks of the job:") == 1, done.stderr
    assert chips(error) and chips(error) | over == {0, 1, 2}, done.stderr


ALIKE = """
def body(me):
    me.signals("s", 1).wait(0, ">=", 1)
if __name__ == "__main__": baton.run_ranks(3, body)
"""


def test_ranks_that_wait_alike_could_notify_each_other(tmp_path, monkeypatch):
    monkeypatch.setenv("BATON_WAIT_TIMEOUT", "4s")
    done = program(tmp_path, ALIKE)
    assert re.search(r'ranks 0-2: waiting for signal 0 of "s" >= 1, for .*\n(?: {4,}.*\n)*?'
                     r' +who could notify it: ranks 0-2 \(waiting for signal 0 of "s" >= 1\)', done.stderr), done.stderr


NOTIFICATIONS = """
def main():
    with baton.Worker(devices="0-1", inproc={inproc}) as node:
        def orchestration(o):
            with o.allocate_domain("tp", [0, 1], buffers=[baton.CommBufferSpec("flags", "int32", 4)]) as domain:
                for chip in range(2): o.submit_notification_wait(domain[chip].buffers["flags"][chip:chip+1], 1)
        node.run(orchestration)
if __name__ == "__main__": main()
"""

DEFERRED = """
def body(me):
    flags = me.window("flags", 4, "int32")
    me.barrier()
    with baton.Chip(domain=me, clusters=1) as chip:
        chip.run(lambda g: g.submit_notification_wait(flags.array[1:2], 1))
if __name__ == "__main__": baton.run_ranks(2, body)
"""


@pytest.mark.parametrize("text,line", [
    (NOTIFICATIONS.format(inproc=False), r'rank (\d): waiting for flags\[\1\] of domain "tp" >= 1 in task \d of the node, for '),
    (NOTIFICATIONS.format(inproc=True), r'rank (\d): waiting for flags\[\1\] of domain "tp" >= 1 in task \d of the node, for '),
    (DEFERRED, r'rank(?:s 0-)?(\d): waiting for signal 1 of "flags" >= 1 in task 1, for ')],
    ids=["processes", "inproc", "chips of ranks"])
def test_tasks_that_wait_for_notifications_are_told_of_when_nobody_can_send_them(tmp_path, monkeypatch, text, line):
    monkeypatch.setenv("BATON_WAIT_TIMEOUT", "5s")
    done = program(tmp_path, text)
    assert done.returncode == 1
    warning = done.stderr.partition("baton.Error: ")[0]
    assert warning.count("can go on: all of them wait for each other") == 1, done.stderr
    assert max(int(found[1]) for found in re.finditer(line, warning)) == 1, done.stderr


SPINS = r"""
#include <baton_kernel.hpp>
BATON_KERNEL(spins_for_long, InOut<float> x) {
  volatile float* cell = x.data();
  while (*cell < 1)
    ;
}
"""


def test_a_kernel_that_spins_is_shown_with_core_line_and_duration_until_its_time_ends(tmp_path):
    (tmp_path / "spins.cpp").write_text(SPINS)
    (tmp_path / "program.py").write_text(f"""
import baton, numpy as np
def main():
    spins = baton.kernel({str(tmp_path / "spins.cpp")!r})
    with baton.Worker(devices="0-1", kernel_timeout=20.0) as node:
        x = node.tensor(np.zeros(1, dtype="f4"))
        node.run(lambda o: o.submit_next_level(spins, [x], worker=1))
if __name__ == "__main__": main()
""")
    process = subprocess.Popen([sys.executable, str(tmp_path / "program.py")], stderr=subprocess.PIPE, text=True)
    shown = None
    while shown is None and process.poll() is None:
        told = subprocess.run([baton_program(), "ps", "--explain", "node"], capture_output=True, text=True, timeout=60).stdout
        shown = re.search(r"rank 1: computing in kernel 'spins_for_long' \(task 1\) on vector core \d+\.\d\n"
                          r" +it has run for [\d.]+ s, and was at .*spins\.cpp:[456]", told)
    error = process.communicate(timeout=120)[1]
    assert shown, error
    assert re.search(r"kernel 'spins_for_long' on vector core \d+\.\d has run for more than 20 s; it was at .*spins\.cpp:[456]", error), error
    assert "[BATON-E055]" in error


@pytest.mark.skipif(not shutil.which("gdb"), reason="there is no gdb")
def test_a_debugger_stops_in_a_kernel_and_shows_its_locals(tmp_path):
    source = tmp_path / "scale.cpp"
    source.write_text("#include <baton_kernel.hpp>\n"
                      "BATON_KERNEL(scale, InOut<float> x, float factor) {\n"
                      "  int rounds = 42;\n"
                      "  for (int64_t i = 0; i < x.size(); ++i) x.data()[i] *= factor * (rounds - 41);\n"
                      "}\n")
    (tmp_path / "program.py").write_text(f"""
import baton, numpy as np
scale = baton.kernel({str(source)!r}, debug=True)
with baton.Chip(clusters=1) as chip:
    x = np.ones(4, dtype="f4")
    chip.run(lambda g: g.submit(scale, x, 3.0))
    print("result", x)
""")
    commands = ["set breakpoint pending on", f"break {source.name}:4", "run", "info locals", "print factor", "delete",
                "continue"]
    done = subprocess.run(["gdb", "-q", "-batch", *(word for command in commands for word in ("-ex", command)),
                           "--args", sys.executable, str(tmp_path / "program.py")],
                          capture_output=True, text=True, timeout=180)
    assert "rounds = 42" in done.stdout, done.stdout + done.stderr
    assert "= 3" in done.stdout and "result [3. 3. 3. 3.]" in done.stdout

"""Many processes and one cache."""

import os
import select
import signal

from conftest import LIMIT


def library(result):
    code, out, err = result
    assert code == 0, err
    return out.strip()


def test_eight_processes_compile_once(kernels):
    source = kernels.kernel()
    started = [kernels.start("--print-path", source) for _ in range(8)]
    ends = [process.communicate(timeout=LIMIT) for process in started]
    assert [process.returncode for process in started] == [0] * 8, ends
    assert len({out for out, _ in ends}) == 1
    assert kernels.compilations() == 1


def test_a_killed_process_leaves_nothing_that_matters(kernels):
    # The compiler says through a pipe that it has begun, and then hangs, once.
    pipe = kernels.folder / "pipe"
    os.mkfifo(pipe)
    kernels.make_compiler(f"[ -e {pipe} ] && {{ echo $$ > {pipe}; exec sleep 1000; }}")
    source = kernels.kernel()
    first = kernels.start("--print-path", source)
    with open(pipe, encoding="ascii") as began:
        compiler = int(began.readline())
    waiting = kernels.start("--print-path", source)
    os.remove(pipe)
    watch = os.pidfd_open(compiler)
    first.kill()
    first.communicate(timeout=LIMIT)
    try:
        out, err = waiting.communicate(timeout=LIMIT)
        assert waiting.returncode == 0, err
        assert os.path.exists(out.strip())
        assert kernels.compilations() == 2
        assert os.listdir(kernels.cache / "work") == []
        assert library(kernels.run("--print-path", source)) == out.strip()
        assert kernels.compilations() == 2
    finally:
        os.kill(compiler, signal.SIGKILL)
        select.select([watch], [], [], LIMIT)
        os.close(watch)


def test_an_interrupted_process_takes_its_compiler_along(kernels):
    pipe = kernels.folder / "pipe"
    os.mkfifo(pipe)
    kernels.make_compiler(f"echo $$ > {pipe}; exec sleep 1000")
    process = kernels.start(kernels.kernel())
    with open(pipe, encoding="ascii") as began:
        compiler = int(began.readline())
    watch = os.pidfd_open(compiler)
    try:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
        assert process.returncode == -signal.SIGINT
        assert select.select([watch], [], [], LIMIT)[0], "the compiler still runs"
    finally:
        os.close(watch)


def test_a_changed_header_compiles_again(kernels):
    kernels.write("value.hpp", "#define VALUE 1\n")
    source = kernels.write("k.cpp", '#include "value.hpp"\nextern "C" void kernel_entry(int64_t* a) { a[0] = VALUE; }\n')
    first = library(kernels.run("--print-path", source))
    kernels.write("value.hpp", "#define VALUE 22\n")
    assert library(kernels.run("--print-path", source)) != first
    assert kernels.compilations() == 2


def test_what_the_limit_does_not_hold_goes(kernels):
    kernels.environment["BATON_CACHE_SIZE"] = "1KiB"
    old = library(kernels.run("--print-path", kernels.kernel("old.cpp", 1)))
    for folder, _, names in os.walk(kernels.cache):
        for name in names:
            os.utime(os.path.join(folder, name), (1, 1))
    new = library(kernels.run("--print-path", kernels.kernel("new.cpp", 2)))
    assert os.path.exists(new) and not os.path.exists(old)

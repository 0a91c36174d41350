"""Runs `baton` as people do. The environment says where it is: BATON_TEST_CLI, BATON_TEST_RANK (a program that joins),
BATON_TEST_SOURCE (the source tree)."""

import os
import select
import signal
import subprocess
import sys
import time
import uuid

import pytest

# Far beyond what anything here takes, even sanitized and on a busy machine: reaching it means that something hangs.
LIMIT = 120


PRELUDE = """
import os, signal, sys, time
rank = int(os.environ['BATON_RANK'])
size = int(os.environ['BATON_SIZE'])
# Called before a rank tells that its handlers stand: from then on a signal also writes a byte, so that one that comes
# just before the wait ends it. Before signal.pause() or time.sleep() Python would lose it.
def catch_signals():
    caught, catches = os.pipe()
    os.set_blocking(catches, False)
    signal.set_wakeup_fd(catches)
    return caught
def handle_signals(caught):
    while True: os.read(caught, 1)
"""


def python(source):
    """A command that runs `source` with rank, size, sys, os, signal and time at hand, and those of the prelude."""
    return [sys.executable, "-u", "-c", PRELUDE + source]


def sh(script):
    return ["sh", "-c", script]


def marked_processes(mark):
    """pid -> command of the processes whose environment has `mark`. Zombies have no environment."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark.encode() not in file.read():
                    continue
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found[int(name)] = file.read()
        except OSError:
            continue
    return found


def wait_for_end(pids):
    """Returns when all of `pids`, which need not be children, have ended."""
    deadline = time.monotonic() + LIMIT
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            assert select.select([fd], [], [], max(0, deadline - time.monotonic()))[0], f"process {pid} does not end"
        finally:
            os.close(fd)


class Baton:
    """Starts baton with a mark in its environment, by which everything it leaves behind can be found."""

    def __init__(self):
        self.path = os.environ["BATON_TEST_CLI"]
        self.mark = f"BATONTEST={uuid.uuid4().hex}"
        name, value = self.mark.split("=")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        self.environment.update({name: value, "NO_COLOR": ""})
        self.started = []

    def run(self, *arguments, **options):
        """Runs to the end; the result's stdout and stderr are bytes."""
        options.setdefault("stdin", subprocess.DEVNULL) if "input" not in options else None
        environment = {**self.environment, **options.pop("env", {})}
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([self.path, *arguments], env=environment, timeout=LIMIT, **options)

    def start(self, *arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        environment = {**self.environment, **options.pop("env", {})}
        process = subprocess.Popen([self.path, *arguments], env=environment, **options)
        self.started.append(process)
        return process

    def processes(self):
        return marked_processes(self.mark)

    def assert_nothing_left(self):
        left = self.processes()
        assert not left, left

    def clean_up(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.started:
            process.wait(LIMIT)
            for file in (process.stdin, process.stdout, process.stderr):
                if file:
                    file.close()


@pytest.fixture
def baton():
    runner = Baton()
    yield runner
    runner.clean_up()


@pytest.fixture
def rank_program():
    return os.environ["BATON_TEST_RANK"]


@pytest.fixture
def package():
    """The folder of the Python package. A build with sanitizers has none."""
    folder = os.environ.get("BATON_TEST_PACKAGE", "")
    if not os.path.exists(os.path.join(folder, "baton", "__init__.py")):
        pytest.skip("the Python package was not built")
    return folder


def read_lines(stream, count):
    return [stream.readline().decode() for _ in range(count)]


def finish(process):
    """Waits for a started baton; its exit code, standard output and standard error."""
    out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")


class Lab:
    """Hosts of network namespaces, with names that no other test has."""

    def __init__(self, count, *options):
        self.script = os.path.join(os.environ["BATON_TEST_SOURCE"], "scripts/hosts-lab")
        self.prefix = "t" + uuid.uuid4().hex[:8]
        made = self.call("up", *options, str(count))
        if made.returncode == 77:  # said loudly: without it nothing over several hosts is tested
            pytest.skip("no hosts to test on: " + made.stderr)
        assert made.returncode == 0, made.stderr
        self.hosts = [f"{self.prefix}{i}" for i in range(count)]
        self.printed = made.stdout

    def call(self, command, *arguments):
        return subprocess.run(
            [self.script, command, "--prefix", self.prefix, *arguments], capture_output=True, text=True, timeout=LIMIT
        )

    def down(self):
        assert self.call("down").returncode == 0


@pytest.fixture
def make_lab():
    """make_lab(2): two hosts, until the end of the test; make_lab(2, "--ipv6")."""
    labs = []

    def make(count, *options):
        labs.append(Lab(count, *options))
        return labs[-1]

    yield make
    for lab in labs:
        lab.down()

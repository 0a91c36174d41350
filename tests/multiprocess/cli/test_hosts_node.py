"""A node whose chips are on two hosts: what was written for one host runs, and whatever fails is told and cleared away."""

import json
import os
import re
import signal
import subprocess

import pytest

from conftest import LIMIT, finish, read_lines, wait_for_end
from test_hosts import make_hosts  # noqa: F401 (a fixture)

PROGRAM = os.environ["BATON_TEST_HOSTS_NODE"]
EXAMPLES = os.environ["BATON_TEST_EXAMPLES"]
SOURCE = os.environ["BATON_TEST_SOURCE"]
# UCX would find out that the hosts are one machine.
ENVIRONMENT = {"UCX_TLS": "tcp,self", "BATON_JOIN_TIMEOUT": "60s"}

NODE_TESTS = {  # of the suites of nodes, those with chips in processes, on as many hosts as there are
    "node_tasks": "*Processes2:*Processes4",
    "node_domains": "*Processes2:*Processes4",
    "node_failure": "NodeFailure*Processes4:NodeDeath*Processes2:NodeFork*Processes2",
    "node_deadline": "StoppedChip*:EndlessKernel*Processes2",
}
# The folder of the stand-ins for libraries and compiler of Ascend chips; where it is given, those chips are what is tested.
STANDIN = os.environ.get("BATON_TEST_STANDIN")
ASCEND_TESTS = {
    "ascend_node": "*Processes2:-*TracedNode*",
    "ascend_node_collectives": "*Processes3",
}
CPP_EXAMPLES = ["allreduce"]
PYTHON_EXAMPLES = sorted(
    name for name in os.listdir(f"{SOURCE}/examples")
    if os.path.exists(f"{SOURCE}/examples/{name}/main.py") and "import example" in open(f"{SOURCE}/examples/{name}/main.py").read()
)
ONE_CHIP = {"vector_add"}


class NodeOnHosts:
    def __init__(self, hosts, slots=None):
        self.hosts, self.baton, self.lab = hosts, hosts.baton, hosts.lab
        names = [f"{name}:{n}" for name, n in zip(hosts.names, slots)] if slots else hosts.names
        path = os.path.dirname(self.baton.path) + os.pathsep + os.environ["PATH"]
        self.environment = {
            **self.baton.environment, **ENVIRONMENT, "PATH": path, "BATON_HOSTS": ",".join(names),
            "BATON_INTERFACE": hosts.options[1], "BATON_LAUNCH_AGENT": hosts.options[3],
        }

    def start(self, *command, **more):
        process = subprocess.Popen(command, env={**self.environment, **more}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.baton.started.append(process)
        return process

    def run(self, *command, **more):
        return finish(self.start(*command, **more))

    def start_waiting(self, chips=4):
        """A node whose chips wait; its process and theirs."""
        process = self.start(PROGRAM, str(chips))
        lines = read_lines(process.stdout, chips + 1)
        assert lines[-1] == "waiting\n", (lines, process.stderr.read() if process.poll() is not None else "")
        return process, [int(line) for line in lines[:-1]]

    def processes(self, word):
        """Those of `baton WORD`; all for none."""
        return [pid for pid, command in self.baton.processes().items() if not word or command.split(b"\0")[1:2] == [word]]


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


class NodeOnTheFirstHost(NodeOnHosts):
    """The program runs on the first of its hosts: chips there share memory with it."""

    def __init__(self, hosts, slots=None):
        super().__init__(hosts, slots)
        self.environment["BATON_INTERFACE"] = "eth0"

    def start(self, *command, **more):
        # The script becomes the program: it is the process that started() tells of.
        return super().start(self.lab.script, "exec", "--prefix", self.lab.prefix, self.hosts.names[0], *command, **more)


@pytest.fixture
def node(make_hosts):  # noqa: F811
    return NodeOnHosts(make_hosts(2))


@pytest.fixture
def near_node(make_hosts):  # noqa: F811
    return NodeOnTheFirstHost(make_hosts(2))


def segment_of(pid):
    """The inode of the rings that a node, or a chip, has mapped."""
    with open(f"/proc/{pid}/maps") as file:
        return {line.split()[4] for line in file if "memfd:baton-node" in line}


def test_chips_on_the_host_of_the_program_share_its_memory(near_node):
    process, chips = near_node.start_waiting()
    mine = segment_of(process.pid)
    assert len(mine) == 1
    assert [segment_of(pid) == mine for pid in chips] == [True, True, False, False]
    # A death there is told as elsewhere, and its chips come again.
    os.kill(chips[1], signal.SIGKILL)
    code, out, err = finish(process)
    assert f"chip 1 (pid {chips[1]} on host {near_node.hosts.names[0]}) died: SIGKILL" in err, err
    assert (code, out) == (0, "ended\nsum 400\n"), err
    near_node.baton.assert_nothing_left()


def test_nothing_outlives_a_program_on_one_of_its_hosts(near_node):
    process, chips = near_node.start_waiting()
    process.kill()
    process.wait(LIMIT)
    wait_for_end(near_node.processes(b""))
    near_node.baton.assert_nothing_left()


class Library:
    """A library of kernels that only the hosts of the program and of chips 0 and 1 have, and a cache for each host."""

    SOURCE = """
#include <baton_kernel.hpp>
BATON_KERNEL(add_one, baton::InOut<float> x) {
  for (int64_t i = 0; i < x.size(); ++i) x.data()[i] += ADDED;
}
"""

    def __init__(self, node, folder, added=1):
        self.folder = folder / "kernels"
        self.folder.mkdir()
        (folder / "add.cpp").write_text(self.SOURCE.replace("ADDED", str(added)))
        made = node.baton.run("compile", str(folder / "add.cpp"), "-o", str(self.folder))
        assert made.returncode == 0, made.stderr
        self.file, = self.folder.iterdir()
        self.caches = [folder / f"cache{i}" for i in range(2)]
        # What lies in the folder is hidden from the second host.
        agent = folder / "agent"
        agent.write_text(f"""#!/bin/sh
host=$1; shift
lab="{node.lab.script} exec --prefix {node.lab.prefix}"
cd /
[ $host = {node.hosts.names[1]} ] || exec env BATON_CACHE_DIR={self.caches[0]} $lab $host "$@"
exec $lab $host unshare --mount --propagation private sh -c 'mount -t tmpfs none {self.folder} && mount --bind {self.caches[1]} {self.caches[0]} && exec "$@"' sh "$@"
""")
        agent.chmod(0o755)
        for cache in self.caches:
            cache.mkdir(0o700)
        self.environment = {"BATON_LAUNCH_AGENT": f"{agent} {{host}}", "BATON_CACHE_DIR": str(self.caches[0])}

    def sent(self):
        return [len(list((cache / "libraries").glob("sent-*"))) for cache in self.caches]


def test_a_host_that_lacks_a_library_gets_it(node, tmp_path):
    library = Library(node, tmp_path)
    for _ in range(2):  # the second time it is there
        code, out, err = node.run(PROGRAM, "4", "", str(library.file), **library.environment)
        assert (code, out) == (0, "sum 400\n"), err
        assert library.sent() == [0, 1]  # once for its two chips
    sent, = (library.caches[1] / "libraries").glob("sent-*")
    assert sent.read_bytes() == library.file.read_bytes()
    sent.write_bytes(b"something else")  # is not believed
    code, out, err = node.run(PROGRAM, "4", "", str(library.file), **library.environment)
    assert (code, out) == (0, "sum 400\n"), err
    node.baton.assert_nothing_left()


def test_a_host_with_another_library_of_the_same_name_gets_that_of_the_program(node, tmp_path):
    library = Library(node, tmp_path)
    (tmp_path / "other").mkdir()
    other = Library(node, tmp_path / "other", added=7)
    agent = tmp_path / "agent"
    agent.write_text(agent.read_text().replace("mount -t tmpfs none", f"mount --bind {other.folder}"))
    code, out, err = node.run(PROGRAM, "4", "", str(library.file), **library.environment)
    assert (code, out) == (0, "sum 400\n") and library.sent() == [0, 1], err


def test_a_library_that_the_cache_does_not_take_is_named(node, tmp_path):
    library = Library(node, tmp_path)
    code, out, err = node.run(PROGRAM, "4", "", str(library.file), **library.environment, BATON_CACHE_SIZE="1000")
    assert code == 1 and str(library.file) in err and "takes 1000" in err and node.hosts.names[1] in err, out + err
    node.baton.assert_nothing_left()


@pytest.mark.parametrize("suite", ["node_tasks", "node_domains"])
def test_the_tests_of_nodes_with_chips_here_and_there(near_node, suite):
    near_node.environment["GTEST_FILTER"] = "-*Processes2*"  # those with chips on both
    test_the_tests_of_nodes(near_node, suite)


@pytest.mark.parametrize("suite", NODE_TESTS)
def test_the_tests_of_nodes(node, suite):
    program = os.path.join(os.environ["BATON_TEST_PROGRAMS"], suite)
    if not os.path.exists(program):
        pytest.skip(f"{program} was not built")
    more = {"BATON_WAIT_TIMEOUT": "3s"} if suite == "node_deadline" else {}
    code, out, err = node.run(program, f"--gtest_filter={NODE_TESTS[suite]}", **more)
    assert code == 0, out + err
    assert re.search(r"\[  PASSED  \] [1-9]\d* tests", out)
    node.baton.assert_nothing_left()


@pytest.mark.skipif(not STANDIN, reason="not asked for")
@pytest.mark.parametrize("suite", ASCEND_TESTS)
def test_nodes_of_ascend_chips(node, suite, tmp_path):
    program = os.path.join(os.environ["BATON_TEST_PROGRAMS"], suite)
    log = tmp_path / "log"
    code, out, err = node.run(program, f"--gtest_filter={ASCEND_TESTS[suite]}", STANDIN_LOG=str(log),
                              BATON_CACHE_DIR=f"{STANDIN}/cache")
    assert code == 0, out + err
    assert re.search(r"\[  PASSED  \] [1-9]\d* tests", out)
    assert set(log.read_text().splitlines()) == {"ended"}  # no rule of the stand-in was broken, and nothing was left behind
    node.baton.assert_nothing_left()


@pytest.mark.parametrize("name", CPP_EXAMPLES)
def test_examples_in_cpp(node, name):
    before = connections_opened(node.lab)
    code, out, err = node.run(os.path.join(EXAMPLES, name))
    assert code == 0, out + err
    assert all(now > then for now, then in zip(connections_opened(node.lab), before))
    node.baton.assert_nothing_left()


def test_a_trace_has_the_node_and_the_chips_of_all_hosts(node, tmp_path):
    file = tmp_path / "run.trace"
    code, out, err = node.run(os.path.join(EXAMPLES, "allreduce"), BATON_TRACE=str(file))
    assert code == 0, out + err
    text = node.baton.run("trace", str(file)).stdout.decode()
    for rank in range(4):
        # Each has run kernels, and has left.
        assert re.search(rf"^rank {rank} on {node.hosts.names[rank // 2]} +[\d.]+ .?s ", text, re.M), text
    assert "times may be wrong by" in text
    out = tmp_path / "run.json"
    assert node.baton.run("trace", str(file), "--json", str(out)).returncode == 0
    events = json.loads(out.read_text())["traceEvents"]
    tasks = [event for event in events if event.get("cat") == "node task"]
    runs = [event for event in events if event.get("cat") == "node run"]
    assert {event["pid"] - 1 for event in tasks} == set(range(4)) and runs
    # On one clock: what chips do for a run lies within it, but for what clocks may be wrong by.
    begin, end = min(run["ts"] for run in runs), max(run["ts"] + run["dur"] for run in runs)
    assert all(begin - 1e4 <= task["ts"] and task["ts"] + task.get("dur", 0) <= end + 1e4 for task in tasks)
    node.baton.assert_nothing_left()


def test_a_check_over_hosts_is_refused(node):
    code, out, err = finish(node.start(node.baton.path, "check", os.path.join(EXAMPLES, "allreduce")))
    assert code != 0 and "a check does not see what chips of other hosts do" in err, out + err
    node.baton.assert_nothing_left()


@pytest.mark.parametrize("name", PYTHON_EXAMPLES)
def test_examples_in_python(node, name, package):
    before = connections_opened(node.lab)
    code, out, err = node.run(os.environ["BATON_TEST_PACKAGE_PYTHON"], "-B", f"{SOURCE}/examples/{name}/main.py",
                              PYTHONPATH=package)
    assert code == 0, out + err
    if name not in ONE_CHIP:
        assert all(now > then for now, then in zip(connections_opened(node.lab), before)), out
    node.baton.assert_nothing_left()


def test_a_program_for_another_runtime(node, package):
    code, out, err = node.run(os.environ["BATON_TEST_PACKAGE_PYTHON"], "-B", "-m", "baton.compat",
                              f"{SOURCE}/examples/existing_project/main.py", "-d", "0-2", PYTHONPATH=package)
    assert code == 0 and "all ranks agree" in out, out + err
    node.baton.assert_nothing_left()


def connections_opened(lab):
    """By each host. Bytes would not tell: hosts greet each other on a link that comes up."""
    opened = []
    for host in lab.hosts:
        result = subprocess.run([lab.script, "exec", "--prefix", lab.prefix, host, "cat", "/proc/net/snmp"],
                                capture_output=True, text=True)
        names, values = (line.split() for line in result.stdout.splitlines() if line.startswith("Tcp:"))
        opened.append(int(values[names.index("ActiveOpens")]))
    return opened


def test_a_folder_with_an_example(make_hosts, package):  # noqa: F811
    hosts = make_hosts(2)
    result = hosts.run(f"{SOURCE}/examples/allreduce", "-d", "0-2", slots=[1, 2], env={**ENVIRONMENT, "PYTHONPATH": package})
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_chip_that_dies_is_named_with_its_host(node):
    process, chips = node.start_waiting()
    os.kill(chips[3], signal.SIGKILL)
    code, out, err = finish(process)
    assert f"chip 3 (pid {chips[3]} on host {node.hosts.names[1]}) died: SIGKILL" in err, err
    assert (code, out) == (0, "ended\nsum 400\n"), err  # the next run has new chips
    node.baton.assert_nothing_left()


def test_a_host_whose_link_is_cut_is_named(node):
    process, chips = node.start_waiting()
    node.lab.call("cut", node.hosts.names[1])
    assert process.stdout.readline() == b"ended\n"
    node.lab.call("mend", node.hosts.names[1])
    code, out, err = finish(process)
    assert re.search(rf"chip [23] \(pid \d+ on host {node.hosts.names[1]}\) died: host {node.hosts.names[1]} does not answer", err), err
    assert (code, out) == (0, "sum 400\n"), err
    node.baton.assert_nothing_left()


@pytest.mark.parametrize("who", ["agent of a chip", "agent of the node", "launcher"])
def test_who_starts_the_chips_is_killed(node, who):
    process, chips = node.start_waiting()
    host = node.hosts.names[0]
    agent = parent_of(chips[0])
    launcher, = node.processes(b"node")
    others = [pid for pid in node.processes(b"agent") if pid not in (agent, parent_of(chips[3]))]
    victim, reason = {
        "agent of a chip": (agent, f"host {host} closed the connection"),
        "agent of the node": (others[0], "the agent of the node's own host ended"),
        "launcher": (launcher, "the launcher of its host ended"),
    }[who]
    os.kill(victim, signal.SIGKILL)
    code, out, err = finish(process)
    assert re.search(rf"chip \d \(pid \d+ on host .*\) died: {reason}", err), err
    assert (code, out) == (0, "ended\nsum 400\n"), err
    node.baton.assert_nothing_left()


def test_nothing_outlives_the_program(node):
    process, chips = node.start_waiting()
    process.kill()
    process.wait(LIMIT)
    wait_for_end(node.processes(b""))
    node.baton.assert_nothing_left()


def test_ps_shows_the_chips_of_all_hosts(node):
    process, chips = node.start_waiting()
    listed = subprocess.run([node.baton.path, "ps"], env=node.environment, capture_output=True, timeout=LIMIT)
    text = listed.stdout.decode()
    for host in node.hosts.names:
        assert host in text, text
    for pid in chips:
        assert str(pid) in text, text
    process.kill()
    finish(process)


def test_what_keeps_the_chips_from_starting_is_told(node):
    def named(err):  # whichever of them says so first
        return [host for host in node.hosts.names if f'host "{host}"' in err]

    code, out, err = node.run(PROGRAM, "2", "/nowhere/chips")
    assert code == 1 and named(err) and "/nowhere/chips" in err, err
    code, out, err = node.run(PROGRAM, "2", BATON_LAUNCH_AGENT="sh -c 'echo no way to {host} >&2; exit 255'")
    assert code == 1 and any(f"no way to {host}" in err for host in named(err)), err
    code, out, err = node.run(PROGRAM, "3", BATON_HOSTS=f"{node.hosts.names[0]}:1,{node.hosts.names[1]}:1")
    assert code == 1 and "3 devices" in err and "take 2 chips" in err, err
    node.baton.assert_nothing_left()

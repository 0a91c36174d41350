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


@pytest.fixture
def node(make_hosts):  # noqa: F811
    return NodeOnHosts(make_hosts(2))


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
    before = bytes_sent(node.lab)
    code, out, err = node.run(os.path.join(EXAMPLES, name))
    assert code == 0, out + err
    assert all(now > then for now, then in zip(bytes_sent(node.lab), before))
    node.baton.assert_nothing_left()


def test_a_trace_has_the_node_and_the_chips_of_all_hosts(node, tmp_path):
    file = tmp_path / "run.trace"
    code, out, err = node.run(os.path.join(EXAMPLES, "allreduce"), BATON_TRACE=str(file))
    assert code == 0, out + err
    text = node.baton.run("trace", str(file)).stdout.decode()
    for rank in range(4):
        # Each has run kernels, and has left.
        assert re.search(rf"^rank {rank} on {node.hosts.names[rank // 2]} +[\d.]+ .s ", text, re.M), text
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
def test_examples_in_python(node, name):
    package = os.environ.get("BATON_TEST_PACKAGE")
    if not package or not os.path.isdir(package):
        pytest.skip("the Python package was not built")
    code, out, err = node.run(os.environ["BATON_TEST_PACKAGE_PYTHON"], "-B", f"{SOURCE}/examples/{name}/main.py",
                              PYTHONPATH=package)
    assert code == 0, out + err
    node.baton.assert_nothing_left()


def test_a_program_for_another_runtime(node):
    package = os.environ.get("BATON_TEST_PACKAGE")
    if not package or not os.path.isdir(package):
        pytest.skip("the Python package was not built")
    code, out, err = node.run(os.environ["BATON_TEST_PACKAGE_PYTHON"], "-B", "-m", "baton.compat",
                              f"{SOURCE}/examples/existing_project/main.py", "-d", "0-2", PYTHONPATH=package)
    assert code == 0 and "all ranks agree" in out, out + err
    node.baton.assert_nothing_left()


def bytes_sent(lab):
    counted = []
    for host in lab.hosts:
        result = subprocess.run([lab.script, "exec", "--prefix", lab.prefix, host, "cat", "/proc/net/dev"],
                                capture_output=True, text=True)
        line = next(line for line in result.stdout.splitlines() if "eth0:" in line)
        counted.append(int(line.split(":")[1].split()[8]))
    return counted


def test_a_folder_with_an_example(make_hosts):  # noqa: F811
    package = os.environ.get("BATON_TEST_PACKAGE")
    if not package or not os.path.isdir(package):
        pytest.skip("the Python package was not built")
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

"""Jobs over several hosts that others than `baton run` start: their ranks gather by what the launchers tell them.

The hosts are network namespaces. torchrun, srun and MPICH are the variables that they set; mpirun of Open MPI is itself."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
import uuid

import pytest

from conftest import LIMIT, marked_processes, wait_for_end
from test_hosts_meeting import ends_told, meeting_rank  # noqa: F401 (a fixture)

TOKEN = "0123456789abcdef" * 4


class Gathering:
    """A lab, and the processes of a job that nobody but this test started."""

    def __init__(self, lab):
        self.lab = lab
        self.addresses = [line.split()[1] for line in lab.call("status").stdout.splitlines()]
        self.mark = f"BATONTEST={uuid.uuid4().hex}"
        self.run_id = uuid.uuid4().hex
        self.processes = []

    def torchrun(self, rank, size, local_size, **more):
        return {"RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": local_size, "MASTER_ADDR": self.addresses[0],
                "MASTER_PORT": 29500, "TORCHELASTIC_RUN_ID": self.run_id, "TORCHELASTIC_RESTART_COUNT": 0, **more}  # fmt: skip

    def srun(self, rank, size, local_size, **more):
        return {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": size, "SLURM_STEP_NUM_NODES": size // local_size,
                "SLURM_JOB_ID": self.run_id, "SLURM_STEP_ID": 0, "SLURM_STEP_NODELIST": ",".join(self.addresses), **more}  # fmt: skip

    def mpich(self, rank, size, local_size, **more):
        return {"PMI_RANK": rank, "PMI_SIZE": size, "MPI_LOCALNRANKS": local_size, "BATON_MEET": self.addresses[0] + ":4711", **more}  # fmt: skip

    def start(self, host, variables, *command):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        name, value = self.mark.split("=")
        # UCX would find out that the hosts are one machine.
        environment.update({name: value, "NO_COLOR": "", "UCX_TLS": "tcp,self", "BATON_JOB_TOKEN": TOKEN})
        environment.update({k: str(v) for k, v in variables.items()})
        environment = {k: v for k, v in environment.items() if v}
        self.processes.append(
            subprocess.Popen(
                [self.lab.script, "exec", "--prefix", self.lab.prefix, self.lab.hosts[host], *command],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        )
        return self.processes[-1]

    def start_all(self, launcher, hosts, *command, **more):
        """A rank for each entry of `hosts`, which tells its host."""
        return [
            self.start(host, launcher(rank, len(hosts), hosts.count(host), **more), *command)
            for rank, host in enumerate(hosts)
        ]

    def finish(self):
        """(exit code, output) of every process that was started."""
        return [(p.communicate(timeout=LIMIT)[0].decode(), p.returncode)[::-1] for p in self.processes]

    def agents(self):
        return [pid for pid, command in marked_processes(self.mark).items() if b"\0gather" in command]

    def connections(self):
        """How many have been accepted where the agents meet."""
        command = [self.lab.script, "exec", "--prefix", self.lab.prefix, self.lab.hosts[0], "cat", "/proc/net/tcp", "/proc/net/tcp6"]
        lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
        established = [line.split() for line in lines if line.split()[3:4] == ["01"]]
        return len([words for words in established if 20000 <= int(words[1].split(":")[1], 16) < 32768])

    def assert_nothing_left(self):
        """Agents end by themselves when their ranks have."""
        wait_for_end(marked_processes(self.mark))
        assert not marked_processes(self.mark)

    def clean_up(self):
        for pid in marked_processes(self.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.processes:
            process.wait(LIMIT)
            process.stdout.close()


@pytest.fixture
def make_gathering(make_lab):
    made = []

    def make(count=2):
        made.append(Gathering(make_lab(count)))
        return made[-1]

    yield make
    for one in made:
        one.clean_up()


@pytest.mark.parametrize("launcher", ["torchrun", "srun", "mpich"])
@pytest.mark.parametrize("hosts", [[0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 2]], ids=["blocks", "in turn", "one each"])
def test_ranks_of_several_hosts_meet(make_gathering, rank_program, launcher, hosts):
    job = make_gathering(max(hosts) + 1)
    if launcher != "torchrun":
        job.addresses.insert(0, job.addresses[hosts[0]])  # both say where rank 0 is
    else:
        job.addresses[0] = job.addresses[hosts[0]]
    job.start_all(getattr(job, launcher), hosts, rank_program, "round")
    for code, text in job.finish():
        assert code == 0 and "went round" in text, text
    job.assert_nothing_left()


def test_a_job_on_one_host_needs_no_token(make_gathering, rank_program):
    job = make_gathering(1)
    job.start_all(job.torchrun, [0, 0], rank_program, "round", BATON_JOB_TOKEN="")
    assert [code for code, _ in job.finish()] == [0, 0]


def test_many_ranks_meet(make_gathering, meeting_rank):
    job = make_gathering(4)
    job.start_all(job.torchrun, [rank % 4 for rank in range(32)], meeting_rank)
    met = [line for _, text in job.finish() for line in text.splitlines() if line.startswith("met on ")]
    assert met == [f"met on {job.lab.hosts[rank % 4]} at {job.addresses[rank % 4]}" for rank in range(32)]
    job.assert_nothing_left()


def test_without_a_token_it_says_how_to_make_one(make_gathering, rank_program):
    job = make_gathering()
    job.start_all(job.torchrun, [0, 1], rank_program, BATON_JOB_TOKEN="")
    for code, text in job.finish():
        assert code == 10 + 24, text
        assert "BATON_JOB_TOKEN, by which they know each other, is not set" in text
        assert "try: export BATON_JOB_TOKEN=$(openssl rand -hex 32)" in text
    job.assert_nothing_left()


def test_a_malformed_token_is_not_shown(make_gathering, rank_program):
    job = make_gathering()
    job.start_all(job.torchrun, [0, 1], rank_program, BATON_JOB_TOKEN="secret")
    for code, text in job.finish():
        assert code == 10 + 10 and "has 6 characters; 64 hexadecimal digits are accepted" in text, text
        assert "secret" not in text


def test_a_wrong_token_is_noticed_at_both_ends(make_gathering, rank_program):
    job = make_gathering()
    job.start(0, job.torchrun(0, 2, 1, BATON_JOIN_TIMEOUT="2s"), rank_program)
    job.start(1, job.torchrun(1, 2, 1, BATON_JOIN_TIMEOUT="2s", BATON_JOB_TOKEN="f" * 64), rank_program)
    (code0, text0), (code1, text1) = job.finish()
    assert code0 == code1 == 10 + 20
    assert "rank 1 of 2 did not arrive" in text0, text0
    assert re.search(rf"refused a connection from {job.addresses[1]} port \d+: it did not prove that it knows", text0), text0
    assert f"the host of rank 0, {job.addresses[0]}, was not reached within 2 s" in text1, text1
    assert f"{job.addresses[0]} port" in text1 and "that the token is the same everywhere" in text1
    job.assert_nothing_left()


def test_the_token_is_on_no_command_line_and_agents_do_not_hand_it_on(make_gathering, meeting_rank):
    job = make_gathering()
    processes = job.start_all(job.torchrun, [0, 1], meeting_rank, "watch")
    for process in processes:
        process.stdout.readline()
    for pid in marked_processes(job.mark):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            assert TOKEN.encode() not in file.read()
    assert len(job.agents()) == 2
    for pid in job.agents():
        with open(f"/proc/{pid}/environ", "rb") as file:
            assert TOKEN.encode() not in file.read()


@pytest.mark.parametrize("root", ["10.255.255.254", "nowhere.invalid"])
def test_a_host_of_rank_0_that_is_not_there_is_named(make_gathering, rank_program, root):
    job = make_gathering()
    job.start(1, job.torchrun(1, 2, 1, MASTER_ADDR=root, BATON_JOIN_TIMEOUT="1s"), rank_program)
    [(code, text)] = job.finish()
    assert code == 10 + 20 and f"the host of rank 0, {root}, was not reached within 1 s" in text, text
    job.assert_nothing_left()


def test_ranks_that_do_not_come_are_named(make_gathering, rank_program):
    job = make_gathering()
    for rank, host in [(0, 0), (1, 1), (3, 0)]:
        job.start(host, job.torchrun(rank, 5, 2, BATON_JOIN_TIMEOUT="2s"), rank_program)
    for code, text in job.finish():
        assert code == 10 + 20 and "ranks 2, 4 of 5 did not arrive" in text, text
    job.assert_nothing_left()


def test_who_dies_before_the_ranks_have_met_is_named(make_gathering, rank_program):
    job = make_gathering()
    first = job.start(0, job.torchrun(0, 3, 2), rank_program)
    second = job.start(1, job.torchrun(1, 3, 2), rank_program)
    # Rank 2 is never started. When the agents know each other, they have heard of ranks 0 and 1.
    deadline = time.monotonic() + LIMIT
    while job.connections() < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    second.kill()
    text = first.communicate(timeout=LIMIT)[0].decode()
    assert f"rank 1 on host {job.lab.hosts[1]} ended before the ranks had met: SIGKILL" in text, text
    job.assert_nothing_left()


def test_a_rank_is_taken_once(make_gathering, rank_program):
    job = make_gathering()
    for host in (0, 1, 0):
        job.start(host, job.torchrun(0 if host == 0 else 1, 3, 1, BATON_JOIN_TIMEOUT="2s"), rank_program)
    results = job.finish()
    assert sorted(code for code, _ in results) == [30, 30, 31], results
    assert any("rank 0 has joined already, as process" in text for _, text in results), results


def test_sizes_that_differ_are_refused(make_gathering, rank_program):
    job = make_gathering()
    job.start(0, job.torchrun(0, 3, 1, BATON_JOIN_TIMEOUT="2s"), rank_program)
    job.start(1, job.torchrun(1, 2, 1, BATON_JOIN_TIMEOUT="2s"), rank_program)
    (_, _), (code, text) = job.finish()
    assert code == 10 + 22 and "has 2 ranks; rank 0 says 3" in text, text


def watched(job, meeting_rank, hosts):
    processes = job.start_all(job.torchrun, hosts, meeting_rank, "watch")
    for process in processes:
        assert process.stdout.readline().startswith(b"met on ")
    return processes


def told_to(job, processes, but):
    """What each rank was told, once the others are over."""
    texts = {}
    for rank, process in enumerate(processes):
        if rank not in but:
            texts[rank] = process.stdout.readline().decode()
    return {rank: ends_told(f"[{rank}] {text}")[0] for rank, text in texts.items()}


@pytest.mark.parametrize("hosts", [[0, 1, 0, 1], [0, 1], [1, 0, 0]], ids=["two each", "one each", "the others"])
def test_a_death_is_told_on_all_hosts_with_its_cause(make_gathering, meeting_rank, hosts):
    job = make_gathering()
    job.addresses[0] = job.addresses[hosts[0]]
    processes = watched(job, meeting_rank, hosts)
    last = len(hosts) - 1
    begin = time.monotonic_ns()
    processes[last].kill()
    told = told_to(job, processes, {last})
    assert {rank: one[1:5] for rank, one in told.items()} == {r: (last, 3, 1, signal.SIGKILL) for r in range(last)}
    # Promised are 100 ms; the rest is for a busy machine.
    assert max(one[5] for one in told.values()) - begin < 2.1e9
    print("told within", (max(one[5] for one in told.values()) - begin) / 1e6, "ms")


@pytest.mark.parametrize("lost", [0, 1], ids=["of rank 0", "another"])
def test_a_cut_link_is_told_in_time_at_both_ends(make_gathering, meeting_rank, lost):
    job = make_gathering()
    processes = watched(job, meeting_rank, [0, 1])
    begin = time.monotonic_ns()
    assert job.lab.call("cut", job.lab.hosts[lost]).returncode == 0
    told = told_to(job, processes, set())
    assert told[0][1:4] + told[0][6:] == (1, 3, 0, f"host {job.lab.hosts[1]} does not answer")
    assert told[1][1:4] + told[1][6:] == (0, 3, 0, f"host {job.lab.hosts[0]} does not answer")
    # Promised are 1.5 s; the rest is for a busy machine.
    assert max(one[5] for one in told.values()) - begin < 3.5e9
    print("told within", (max(one[5] for one in told.values()) - begin) / 1e6, "ms")


def test_of_three_hosts_two_hear_of_the_third_no_more(make_gathering, meeting_rank):
    job = make_gathering(3)
    processes = watched(job, meeting_rank, [0, 1, 2])
    assert job.lab.call("cut", job.lab.hosts[0]).returncode == 0
    assert "end 0 " in processes[1].stdout.readline().decode()
    assert f"host {job.lab.hosts[0]} does not answer, over which it was heard" in processes[1].stdout.readline().decode()


def test_a_killed_agent_is_told_on_all_hosts(make_gathering, meeting_rank):
    job = make_gathering()
    processes = watched(job, meeting_rank, [0, 1])
    own = {os.readlink(f"/proc/{pid}/ns/net"): pid for pid in job.agents()}
    os.kill(own[os.readlink(f"/proc/{processes[1].pid}/ns/net")], signal.SIGKILL)
    told = told_to(job, processes, set())
    assert told[0][1:4] + told[0][6:] == (1, 3, 0, f"host {job.lab.hosts[1]} closed the connection")
    assert told[1][1:4] + told[1][6:] == (0, 3, 0, "the agent of this host is gone")


@pytest.mark.parametrize("killed", [False, True], ids=["its agent stays", "its agent is killed"])
def test_the_others_go_on_when_the_host_of_rank_0_has_left(make_gathering, meeting_rank, killed):
    job = make_gathering(3)
    processes = job.start_all(job.torchrun, [0, 1, 2], meeting_rank, "first leaves")
    assert processes[0].wait(LIMIT) == 0
    for process in processes[1:]:
        lines = [process.stdout.readline().decode() for _ in range(2)]
        assert sum(line.startswith("end 0 state 2") for line in lines) == 1, lines
    agents = {os.readlink(f"/proc/{pid}/ns/net"): pid for pid in job.agents()}
    assert len(agents) == 3
    if killed:  # as a launcher does with what is left of a step on its host
        others = {os.readlink(f"/proc/{process.pid}/ns/net") for process in processes[1:]}
        [root] = [pid for net, pid in agents.items() if net not in others]
        os.kill(root, signal.SIGKILL)
        # Nobody has died: there is nothing to tell.
        assert not select.select([process.stdout for process in processes[1:]], [], [], 1.0)[0]
    else:
        processes[2].kill()
        assert processes[1].stdout.readline().startswith(b"end 2 state 3 kind 1 value 9")
    for process in processes[1:]:
        process.kill()
    job.assert_nothing_left()


def test_nothing_stays_when_all_ranks_are_killed(make_gathering, meeting_rank):
    job = make_gathering()
    for process in watched(job, meeting_rank, [0, 1, 0, 1]):
        process.kill()
    job.assert_nothing_left()


def test_waits_end_when_a_rank_of_another_host_dies(make_gathering, rank_program):
    job = make_gathering()
    processes = job.start_all(job.torchrun, [0, 0, 1, 1], rank_program, "die")
    results = job.finish()
    assert results[3][0] == -signal.SIGKILL
    for code, text in results[:3]:
        assert code == 10 + 30 and re.search(r"rank 3 .*died: SIGKILL", text), text
    assert len(processes) == 4
    job.assert_nothing_left()


class Looker:
    """What `baton ps` has of the ranks of a job, asked on a host."""

    def __init__(self, job, pids):
        self.job = job
        self.pids = pids

    def run(self, host, *arguments):
        lab = self.job.lab
        return lab.call("exec", lab.hosts[host], os.environ["BATON_TEST_CLI"], "ps", *arguments).stdout

    def job_on(self, host):
        jobs = json.loads(self.run(host, "--json"))["jobs"]
        [found] = [one for one in jobs if {rank["pid"] for rank in one["ranks"]} & set(self.pids)]
        return found

    def states(self, host):
        """(host, state) of every rank; its process is the one that was started, if somebody saw it before it left."""
        ranks = self.job_on(host)["ranks"]
        assert all(rank["pid"] in (pid, 0) for rank, pid in zip(ranks, self.pids)) and ranks[-1]["pid"]
        return [(rank["host"], rank["state"]) for rank in ranks]

    def wait_for(self, host, states):
        deadline = time.monotonic() + LIMIT
        while self.states(host) != states:
            assert time.monotonic() < deadline, (self.states(host), states)


@pytest.mark.parametrize("hosts", [[0, 0, 1], [1, 0, 1]], ids=["blocks", "in turn"])
def test_ps_shows_all_hosts_wherever_it_is_asked(make_gathering, rank_program, hosts):
    job = make_gathering()
    job.addresses[0] = job.addresses[hosts[0]]
    processes = job.start_all(job.torchrun, hosts, rank_program, "crossed", BATON_LOG="error")
    pids = [int(process.stdout.readline().split()[-1]) for process in processes]
    looker = Looker(job, pids)
    names = [job.lab.hosts[host] for host in hosts]
    for host in (0, 1):
        looker.wait_for(host, [(name, "waiting") for name in names])
    name = looker.job_on(0)["name"]
    assert looker.job_on(1)["name"] == name
    for host in (0, 1):
        report = looker.run(host, "--explain", name)
        assert re.search(r'rank 0: waiting for barrier 1 of "world", for ', report), report
        assert "ranks 0-2 cannot go on: everyone who could end their waits is waiting, too" in report, report
        assert re.search(r'ago: rank 0 notified signal 3 of "scratch" at rank 1', report), report
    os.kill(pids[2], signal.SIGSTOP)
    for host in (0, 1):
        looker.wait_for(host, [*((name, "waiting") for name in names[:2]), (names[2], "stopped")])


def test_ps_shows_who_has_left_and_who_is_out_of_sight(make_gathering, rank_program):
    job = make_gathering(3)
    processes = job.start_all(job.torchrun, [0, 1, 2], rank_program, "first_leaves")
    looker = Looker(job, [int(process.stdout.readline().split()[-1]) for process in processes])
    names = job.lab.hosts
    assert processes[0].wait(LIMIT) == 0
    for host in (1, 2):
        looker.wait_for(host, list(zip(names, ["left", "running", "running"])))
    # With the agent of rank 0 goes who could ask all hosts.
    here = {os.readlink(f"/proc/{process.pid}/ns/net") for process in processes[1:]}
    [root] = [pid for pid in job.agents() if os.readlink(f"/proc/{pid}/ns/net") not in here]
    os.kill(root, signal.SIGKILL)
    silent = "not seen: its host did not answer"
    looker.wait_for(1, list(zip(names, ["left", "running", silent])))
    looker.wait_for(2, list(zip(names, ["left", silent, "running"])))
    for process in processes[1:]:
        process.kill()
    job.assert_nothing_left()


@pytest.fixture
def mpirun(make_gathering, tmp_path):
    """mpirun(hosts, *options): Open MPI's on a lab, with its daemons in the namespaces."""
    path = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout if path else ""
    if not re.search("Open ?(MPI|RTE)", version):
        pytest.skip("no Open MPI to start a job with: apt-get install openmpi-bin")

    def run(slots, *command, **more):
        job = make_gathering(len(slots))
        agent = tmp_path / "agent"
        agent.write_text(f'#!/bin/sh\nhost=$1\nshift\nexec {job.lab.script} exec --prefix {job.lab.prefix} "$host" sh -c "$*"\n')
        agent.chmod(0o755)
        hosts = ",".join(f"{name}:{n}" for name, n in zip(job.lab.hosts, slots))
        network = job.addresses[0].rsplit(".", 1)[0] + ".0/24"
        name, value = job.mark.split("=")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        environment.update({name: value, "UCX_TLS": "tcp,self", **more})
        mine = [path, "--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent", str(agent), "--mca",
                "oob_tcp_if_include", network, "--mca", "routed", "direct", "--host", hosts, "-np", str(sum(slots))]  # fmt: skip
        forwarded = [word for name in ("BATONTEST", "UCX_TLS", *more) for word in ("-x", name)]
        process = subprocess.Popen([*mine, *forwarded, *command], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        job.processes.append(process)
        return job, process

    return run


def test_mpirun_over_hosts_needs_nothing_else(mpirun, rank_program):
    job, process = mpirun([2, 2], rank_program, "round")
    [(code, text)] = job.finish()
    assert code == 0 and text.count("went round") == 4, text
    job.assert_nothing_left()


def test_mpirun_ranks_know_where_they_are(mpirun, meeting_rank):
    job, process = mpirun([1, 2, 1], meeting_rank)
    [(code, text)] = job.finish()
    assert code == 0, text
    met = sorted(line for line in text.splitlines() if line.startswith("met on"))
    assert met == sorted(f"met on {job.lab.hosts[i]} at {job.addresses[i]}" for i in (0, 1, 1, 2)), text


def test_under_mpirun_a_rank_that_fails_ends_the_others(mpirun, rank_program):
    job, process = mpirun([2, 2], rank_program, "die")
    [(code, text)] = job.finish()
    assert code != 0, text
    job.assert_nothing_left()

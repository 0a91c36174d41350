"""Jobs over several hosts that MPICH's mpiexec and Slurm's srun start: the programs themselves, over network namespaces."""

import os
import shutil
import signal
import socket
import subprocess
import time
import uuid

import pytest

from conftest import LIMIT, marked_processes, wait_for_end
from test_hosts_gathering import TOKEN, make_gathering  # noqa: F401 (a fixture)


def environment_of(job, more):
    """What is not needed is left out: launchers hand all of it on."""
    name, value = job.mark.split("=")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("BATON_", "SLURM_"))}
    environment.update({name: value, "NO_COLOR": "", "UCX_TLS": "tcp,self", "BATON_JOB_TOKEN": TOKEN, **more})
    return {k: v for k, v in environment.items() if v}


def start(job, command, environment):
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)  # fmt: skip
    job.processes.append(process)
    return process


@pytest.fixture
def mpiexec(make_gathering, tmp_path):  # noqa: F811
    """mpiexec(slots, *command): MPICH's on a lab, with its proxies in the namespaces."""
    path = shutil.which("mpiexec.mpich") or shutil.which("mpiexec.hydra")
    if not path:
        pytest.skip("no MPICH to start a job with: apt-get install mpich")

    def run(slots, *command, **more):
        job = make_gathering(len(slots))
        agent = tmp_path / "agent"
        agent.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=$1\nshift\n'
                         f'exec {job.lab.script} exec --prefix {job.lab.prefix} "$host" sh -c "$*"\n')  # fmt: skip
        agent.chmod(0o755)
        hosts = ",".join(f"{name}:{n}" for name, n in zip(job.lab.hosts, slots))
        start(job, [path, "-launcher", "ssh", "-launcher-exec", str(agent), "-iface", f"{job.lab.prefix}-lab", "-hosts",
                    hosts, "-n", str(sum(slots)), *command],
              environment_of(job, {"BATON_MEET": job.addresses[0] + ":4711", **more}))  # fmt: skip
        return job

    return run


def test_mpich_starts_a_job_over_hosts(mpiexec, rank_program):
    job = mpiexec([2, 1], rank_program, "round")
    [(code, text)] = job.finish()
    assert code == 0 and text.count("went round") == 3, text
    job.assert_nothing_left()


def test_under_mpich_a_rank_that_fails_ends_the_others(mpiexec, rank_program):
    job = mpiexec([1, 2], rank_program, "die")
    [(code, text)] = job.finish()
    assert code != 0, text
    job.assert_nothing_left()


class Slurm:
    """A cluster of Slurm's on a lab: munged and slurmctld on this machine, a slurmd in each namespace."""

    def __init__(self, job, folder):
        self.job, self.folder = job, folder
        self.daemons = []
        self.mark = f"SLURMTEST={uuid.uuid4().hex}"  # of the daemons and what they start for steps
        port = free_ports(2)
        outside = job.addresses[0].rsplit(".", 1)[0] + ".254"
        key = folder / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        folder.chmod(0o755)
        nodes = "\n".join(f"NodeName={name} NodeHostname={name} NodeAddr={address} CPUs=8 State=UNKNOWN"
                          for name, address in zip(job.lab.hosts, job.addresses))  # fmt: skip
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(f"""
ClusterName=lab
SlurmctldHost={socket.gethostname()}({outside})
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
ProctrackType=proctrack/pgid
TaskPlugin=task/none
ReturnToService=2
SlurmUser=root
SlurmctldPort={port[0]}
SlurmdPort={port[1]}
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool.%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/%n.log
TmpFS={folder}/tmp.%n
SelectType=select/linear
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
{nodes}
PartitionName=lab Nodes=ALL Default=YES State=UP
""")
        (folder / "state").mkdir()
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.sock",
                   f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/seed")  # fmt: skip
        self.await_true(lambda: (folder / "munge.sock").exists())
        self.start("slurmctld", "-D", "-f", str(self.configuration))
        # Tasks can look up the names of hosts, as in a cluster.
        names = folder / "names"
        names.write_text("".join(f"{address} {name}\n" for name, address in zip(job.lab.hosts, job.addresses)))
        for name in job.lab.hosts:
            for kind in ("spool", "tmp"):
                (folder / f"{kind}.{name}").mkdir()
            self.start(job.lab.script, "exec", "--prefix", job.lab.prefix, name, "unshare", "--mount", "sh", "-c",
                       f"mount --bind {names} /etc/hosts && exec slurmd -D -N {name} -f {self.configuration}")  # fmt: skip
        self.await_true(lambda: self.call("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(len(job.lab.hosts)))

    def start(self, *command):
        name, value = self.mark.split("=")
        self.daemons.append(subprocess.Popen(command, env={**os.environ, name: value}, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))  # fmt: skip

    def call(self, *command):
        return subprocess.run(command, env={**os.environ, "SLURM_CONF": str(self.configuration)}, capture_output=True,
                              text=True, timeout=LIMIT)  # fmt: skip

    def await_true(self, holds):
        deadline = time.monotonic() + LIMIT
        while not holds():
            assert time.monotonic() < deadline, "Slurm does not come up: " + self.logs()
            time.sleep(0.05)  # of programs that tell nobody when they are ready

    def logs(self):
        return "\n".join(file.read_text()[-2000:] for file in self.folder.glob("*.log"))

    def srun(self, *arguments, **more):
        environment = environment_of(self.job, {"SLURM_CONF": str(self.configuration), **more})
        return start(self.job, ["srun", *arguments], environment)

    def end(self):
        for process in reversed(self.daemons):
            process.send_signal(signal.SIGTERM)
        for process in self.daemons:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(LIMIT)
        # What they have started, and what that starts while it is looked for.
        while left := marked_processes(self.mark):
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            wait_for_end(left)


def free_ports(count):
    sockets = [socket.create_server(("", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture
def slurm(make_gathering, tmp_path):  # noqa: F811
    missing = [name for name in ("slurmctld", "slurmd", "srun", "munged") if not shutil.which(name)]
    if missing:
        pytest.skip(f"no Slurm to start a job with ({', '.join(missing)}): apt-get install slurmctld slurmd slurm-client munge")
    cluster = Slurm(make_gathering(2), tmp_path)
    yield cluster
    cluster.end()


def test_srun_starts_a_job_over_hosts(slurm, rank_program):
    slurm.srun("-N", "2", "-n", "3", rank_program, "round")
    [(code, text)] = slurm.job.finish()
    assert code == 0 and text.count("went round") == 3, text + slurm.logs()
    slurm.job.assert_nothing_left()


def test_srun_with_pmix_needs_nothing_else(slurm, rank_program):
    if "pmix" not in slurm.call("srun", "--mpi=list").stderr + slurm.call("srun", "--mpi=list").stdout:
        pytest.skip("this Slurm has no PMIx: apt-get install slurm-wlm-basic-plugins libpmix2")
    slurm.srun("--mpi=pmix", "-N", "2", "--ntasks-per-node", "2", rank_program, "round", BATON_JOB_TOKEN="")
    [(code, text)] = slurm.job.finish()
    assert code == 0 and text.count("went round") == 4, text + slurm.logs()
    slurm.job.assert_nothing_left()


def test_under_srun_a_rank_that_fails_is_told_on_the_other_host(slurm, rank_program):
    slurm.srun("-N", "2", "-n", "2", rank_program, "die")
    [(code, text)] = slurm.job.finish()
    # Of what a task writes last srun may lose lines; 30 is the number of the error that says that a peer died.
    assert code != 0 and f"task 0: Exited with exit code {10 + 30}" in text, text + slurm.logs()
    slurm.job.assert_nothing_left()

"""Ranks of several hosts, which are network namespaces of this machine, beside UCX alone and MPI over TCP.

Every contender uses the same links of a lab that scripts/hosts-lab makes, and TCP between hosts: in namespaces of one
machine UCX would take shared memory if it were allowed to.
"""

import contextlib
import os
import shutil
import subprocess
from dataclasses import replace

from collectives.suite import KIB, MIB, size_text
from harness import mpi
from harness.cases import OURS, Case, Contender
from harness.mpi import Setting
from harness.programs import Command

SUITE = "hosts"
HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "hosts-lab")
PREFIX = "bench"
HOSTS = 4
COLLECTIVES = ("barrier", "allreduce", "broadcast", "reduce_scatter", "allgather", "all_to_all")
SIZES = (8, 512, 4 * KIB, 64 * KIB, MIB, 16 * MIB)
SHAPES = tuple((hosts, each) for hosts in (2, 4) for each in (1, 4, 8))
START_RANKS = 64
DELAY_US = 100
DELAYED_SIZES = (8, 4 * KIB, 64 * KIB)
TCP = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
QUICK = {
    "notify", "put_signal/8", "put_signal/8/put", "bandwidth/4M", "allreduce/2x1/8", "allreduce/2x4/64K",
    "allreduce/2x1/1M", "barrier/2x4", "start/4x16",
}
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table; none where there can be no lab."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return []
    suite = HostsSuite(plan)
    found = [
        suite.pair("notify", "latency", 0, "ucp_am_lat"),
        suite.pair("put_signal/8", "latency", 8, "ucp_am_lat"),
        suite.pair("put_signal/8/put", "latency", 8, "ucp_put_lat"),
        suite.pair("bandwidth/4M", "bandwidth", 4 * MIB, "ucp_am_bw"),
    ]
    for operation in COLLECTIVES:
        for hosts, each in SHAPES:
            found += [suite.collective(operation, hosts, each, size) for size in (SIZES if operation != "barrier" else (0,))]
    for hosts, each in SHAPES:
        found += [suite.delayed(hosts, each, size) for size in DELAYED_SIZES]
    return [*found, suite.start(HOSTS, START_RANKS // HOSTS)]


@contextlib.contextmanager
def surroundings():
    """The lab, for as long as the suite is measured."""
    made = subprocess.run([LAB, "up", "--prefix", PREFIX, str(HOSTS)], capture_output=True, text=True)
    if made.returncode != 0:
        raise SystemExit(made.stderr.strip())
    try:
        yield
    finally:
        subprocess.run([LAB, "down", "--prefix", PREFIX], check=False)


def network():
    """The addresses of the lab, as an MPI wants to have its interfaces named: scripts/hosts-lab computes the same."""
    digest = subprocess.run(["cksum"], input=PREFIX.encode(), capture_output=True, check=True).stdout
    number = int(digest.split()[0])
    return f"10.{64 + number // 256 % 64}.{number % 256}.0/24"


class HostsSuite:
    def __init__(self, plan):
        self._plan = plan
        self._mpis = mpi.installed(plan.programs, "collectives")
        self._has_perftest = shutil.which("ucx_perftest") is not None

    def pair(self, name, operation, size, test):
        """Two ranks on two hosts, beside the test of UCX's own program."""
        arguments = ("--operation", operation, "--bytes", str(size))
        contenders = [self._ours("hosts_ours", 2, 1, arguments)]
        if self._has_perftest:
            perftest = (os.path.join(HERE, "perftest.py"), LAB, PREFIX, test, str(max(size, 1)), str(self._plan.budget_ms))
            contenders.append(Contender("ucx", test, Command(perftest, limit_s=self._plan.limit_s)))
        return self._case(name, contenders, 2, size)

    def collective(self, operation, hosts, each, size):
        arguments = ("--operation", operation, "--bytes", str(size))
        contenders = [self._ours("collectives_ours", hosts, each, (*arguments, "--method", "windows"))]
        crowded = hosts * each > self._plan.processors
        for peer in self._mpis:
            # Who does not yield waits for others to lose their processors.
            contenders += [
                self._mpi(peer, setting, hosts, each, (*arguments, "--method", method), f"{method}, {setting.name}")
                for setting in settings_of(peer)
                for method in (("yield", "library") if crowded else ("library",))
            ]
        name = f"{operation}/{hosts}x{each}" + (f"/{size_text(size)}" if operation != "barrier" else "")
        return self._case(name, contenders, hosts * each, size)

    def delayed(self, hosts, each, size):
        """What a message costs that is longer on its way, beside a ring that knows no hosts."""
        bytes_words = ("--bytes", str(size))
        ours = ("--operation", "allreduce", *bytes_words, "--method", "windows")
        contenders = [
            self._ours("collectives_ours", hosts, each, ours),
            self._ours("hosts_ours", hosts, each, ("--operation", "ring", *bytes_words), "ring"),
        ]
        for peer in self._mpis:
            setting = settings_of(peer)[0]
            words = ("--operation", "allreduce", *bytes_words, "--method", "yield")
            contenders.append(self._mpi(peer, setting, hosts, each, words, f"yield, {setting.name}"))
        contenders = [replace(one, command=self._slow(one.command)) for one in contenders]
        return self._case(f"delayed/allreduce/{hosts}x{each}/{size_text(size)}", contenders, hosts * each, size)

    def start(self, hosts, each):
        """Until all ranks have passed a first barrier."""
        contenders = [self._ours("hosts_ours", hosts, each, ("--operation", "start"))]
        for peer in self._mpis:
            arguments = ("--operation", "start", "--method", "library")
            contenders += [
                self._mpi(peer, setting, hosts, each, arguments, setting.name, "comm") for setting in settings_of(peer)
            ]
        return self._case(f"start/{hosts}x{each}", contenders, hosts * each, 0)

    def _slow(self, command):
        program = os.path.join(os.path.dirname(self._plan.programs), "hosts_delay")
        words = (LAB, "delay", "--prefix", PREFIX, str(DELAY_US))
        environment = {**command.environments[0], "BATON_HOSTS_DELAY": program}
        return replace(command, argv=(*words, *command.argv), environments=(environment,))

    def _case(self, name, contenders, ranks, size):
        if self._plan.quick:
            first = {}
            for contender in contenders:
                first.setdefault(contender.name, contender)
            contenders = first.values()
        return Case(SUITE, name, tuple(contenders), ranks=ranks, bytes=size, in_quick=name in QUICK)

    def _ours(self, program, hosts, each, arguments, name=OURS):
        listed = ",".join(f"{PREFIX}{host}:{each}" for host in range(hosts))
        launch = (
            self._plan.launcher or "baton", "run", "--no-prefix", "--hosts", listed, "--interface", f"{PREFIX}-lab",
            "--launch-agent", f"{LAB} exec --prefix {PREFIX} {{host}}",
        )
        words = (*launch, os.path.join(self._plan.programs, program), *arguments, *self._limits())
        return Contender(name, "default", Command(words, (TCP,), self._plan.limit_s))

    def _mpi(self, peer, setting, hosts, each, arguments, name, prefix="collectives"):
        listed = ",".join(f"{PREFIX}{host}:{each}" for host in range(hosts))
        words = (
            *peer.launch, *setting.arguments, "--host" if peer.name == "openmpi" else "-hosts", listed,
            "-n", str(hosts * each), os.path.join(self._plan.programs, f"{prefix}_{peer.name}"), *arguments, *self._limits(),
        )
        return Contender(peer.name, name, Command(words, (dict(setting.environment),), self._plan.limit_s))

    def _limits(self):
        return ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))


def settings_of(peer):
    """How an MPI is told to use the links of the lab, in the ways that may serve it best."""
    run_on = os.path.join(HERE, "run_on")
    if peer.name == "openmpi":
        reach = ("--mca", "plm_rsh_agent", run_on, "--mca", "oob_tcp_if_include", network())
        passed = tuple(word for name in TCP for word in ("-x", name))
        return (
            Setting("ob1 over TCP", (*reach, "--mca", "pml", "ob1", "--mca", "btl", "tcp,vader,self",
                                     "--mca", "btl_tcp_if_include", network())),
            Setting("UCX over TCP", (*reach, *mpi.UCX_ANYWHERE, *passed), tuple(TCP.items())),
        )
    # Inside a host MPICH takes shared memory of its own.
    reach = ("-launcher", "ssh", "-launcher-exec", run_on, "-iface", f"{PREFIX}-lab")
    return (Setting("UCX over TCP", reach, tuple(TCP.items())),)

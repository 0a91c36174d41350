"""Who does not belong to a job connects to where its ranks listen for each other: they are not disturbed."""

import os
import subprocess
import sys

import pytest

from conftest import LIMIT, read_lines
from test_hosts import make_hosts  # noqa: F401 (a fixture)

# Everything that a scanner of ports, a lost client or an attacker without the job's secrets may do.
STRANGER = """
import os, random, socket, struct, sys
def connect():
    try:
        return socket.create_connection((sys.argv[1], int(sys.argv[2])), 1)
    except TimeoutError:
        sys.exit(print('not heard', flush=True))
def say(data):
    with connect() as one:
        try:
            one.sendall(data)
        except OSError:
            pass
what = sys.argv[3]
if what == 'scan':
    for _ in range(50): connect().close()
elif what == 'reset':
    for _ in range(20):
        one = connect()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        one.close()
elif what == 'garbage':
    random.seed(1)
    for size in (1, 7, 8, 16, 64, 200, 4096, 100000): say(random.randbytes(size))
elif what == 'lengths':  # numbers that a reader may take for how much comes
    for word in (b'\\xff', b'\\x7f', b'\\x00', b'\\x01'):
        for size in (4, 8, 24, 4096): say(word * size)
        say(struct.pack('<Q', 1 << 40) + word * 100)
elif what == 'silence':  # stay until this program is ended
    held = [connect() for _ in range(20)]
    for one in held[::2]: one.sendall(b'x')
    print('there', flush=True)
    sys.stdin.read()
print('done', flush=True)
"""


def listening_ports(pid):
    """Those of a process, on the network that it sees."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    ports = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}") as file:
            for words in (line.split() for line in file):
                if words[3] == "0A" and words[9] in inodes:
                    ports.add(int(words[1].split(":")[1], 16))
    return sorted(ports)


class Job:
    """Two ranks on two of three hosts, who go on when they are told."""

    def __init__(self, hosts, rank_program):
        self.hosts = hosts
        self.address = hosts.lab.call("status").stdout.splitlines()[1].split()[1]
        two = hosts.arguments(hosts=hosts.names[:2], slots=[1, 1])
        self.process = hosts.baton.start(*two, rank_program, "relay_when_told", "300", env={"UCX_TLS": "tcp,self"},
                                         stdin=subprocess.PIPE)  # fmt: skip
        pids = {line.split()[0]: int(line.split()[2]) for line in read_lines(self.process.stdout, 2)}
        self.ports = listening_ports(pids["[1]"])
        assert self.ports

    def visit(self, host, what):
        """Strangers on this host, at each port of rank 1."""
        lab = self.hosts.lab
        return [
            subprocess.Popen([lab.script, "exec", "--prefix", lab.prefix, self.hosts.names[host], sys.executable, "-c",
                              STRANGER, self.address, str(port), what], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for port in self.ports
        ]  # fmt: skip

    def finish(self, strangers):
        out, err = self.process.communicate(b"go\n", timeout=LIMIT)
        for one in strangers:
            one.communicate(timeout=LIMIT)
        assert self.process.returncode == 0 and out.count(b"relayed") == 2, out + err
        assert len(err.splitlines()) <= len(self.ports), err  # told once of each kind, if at all
        self.hosts.baton.assert_nothing_left()


@pytest.fixture
def job(make_hosts, rank_program):  # noqa: F811
    return Job(make_hosts(3), rank_program)


def test_hosts_that_are_not_of_the_job_are_not_heard(job):
    strangers = job.visit(2, "lengths")
    for one in strangers:
        assert one.stdout.readline() == b"not heard\n"
    job.finish(strangers)


@pytest.mark.parametrize("what", ["scan", "reset", "garbage", "silence"])
def test_strangers_on_a_host_of_the_job_do_not_disturb_ranks(job, what):
    """But for one that speaks as UCX does: see "Who may send" in docs/explanation/paths.md."""
    strangers = job.visit(0, what)
    for one in strangers:  # silent ones stay
        assert one.stdout.readline() in (b"done\n", b"there\n")
    job.finish(strangers)

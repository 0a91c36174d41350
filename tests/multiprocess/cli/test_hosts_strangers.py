"""Who does not belong to a job connects to where its ranks listen for each other, while they meet and later: they are
not disturbed. Not even by who speaks as UCX does: nothing gets to UCX that does not begin with a hello of the job."""

import json
import os
import subprocess
import sys
import time

import pytest

from conftest import LIMIT, read_lines
from test_hosts import make_hosts  # noqa: F401 (a fixture)

# Everything that a scanner of ports, a lost client or an attacker without the job's secrets may do.
STRANGER = """
import os, random, socket, struct, sys
def connect():
    return socket.create_connection((sys.argv[1], int(sys.argv[2])), 10)
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
    for size in (1, 7, 8, 16, 23, 24, 25, 64, 200, 4096, 100000): say(random.randbytes(size))
elif what == 'lengths':  # numbers that a reader may take for how much comes
    for word in (b'\\xff', b'\\x7f', b'\\x00', b'\\x01'):
        for size in (4, 8, 24, 4096): say(word * size)
        say(struct.pack('<Q', 1 << 40) + word * 100)
elif what == 'as ucx':  # what its connections over TCP begin with, and then messages that are longer than can be
    for word in (b'\\xff', b'\\x7f', b'\\x01'):
        for size in (4, 5, 24, 4096): say(struct.pack('<Q', 0xcafebabe12345678) + word * size)
elif what == 'slow':  # until they are sent away
    held = [connect() for _ in range(6)]
    for one, said in zip(held, (b'', b'x', b'HELO' * 5) * 2): one.sendall(said)
    for one in held:
        one.settimeout(int(sys.argv[4]))
        try:
            assert one.recv(1) == b''
        except ConnectionResetError:
            pass
elif what == 'silence':  # stay until this program is ended
    held = [connect() for _ in range(20)]
    for one in held[::2]: one.sendall(b'x')
    print('there', flush=True)
    sys.stdin.read()
else:
    say(bytes.fromhex(what))
print('done', flush=True)
"""

# What others send to some ports of a host, until this program is ended: by port, what came through each connection.
LISTENER = """
import json, select, socket, sys
heard = {}
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as link:
    print('there', flush=True)
    while True:
        ready = select.select([link, sys.stdin], [], [])[0]
        if link not in ready: break
        packet = link.recv(1 << 17)
        if packet[12:14] != b'\\x08\\x00' or packet[23] != 6: continue
        tcp = 14 + 4 * (packet[14] & 15)
        whence, port, number = (int.from_bytes(packet[tcp + a:tcp + b], 'big') for a, b in ((0, 2), (2, 4), (4, 8)))
        end = 14 + int.from_bytes(packet[16:18], 'big')
        said = packet[tcp + 4 * (packet[tcp + 12] >> 4):end]
        if str(port) in sys.argv[1:] and said: heard.setdefault(port, {}).setdefault(whence, {})[number] = said.hex()
print(json.dumps({port: [''.join(parts[n] for n in sorted(parts)) for parts in of.values()] for port, of in heard.items()}))
"""

HELLO_BYTES = 24
RANK = ["sh", "-c", 'if [ "$BATON_RANK" = 0 ]; then read line; fi; exec "$0" "$@"']


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
    """Two ranks on two of three hosts. Rank 0 comes when it is told, while rank 1 waits for it, and both go on when they
    are told."""

    def __init__(self, hosts, rank_program, environment):
        self.hosts = hosts
        self.address = hosts.lab.call("status").stdout.splitlines()[1].split()[1]
        two = hosts.arguments(hosts=hosts.names[:2], slots=[1, 1])
        self.process = hosts.baton.start(*two, *RANK, rank_program, "relay_when_told", "300",
                                         env={"UCX_TLS": "tcp,self", **environment}, stdin=subprocess.PIPE)  # fmt: skip
        self.ports = []
        deadline = time.monotonic() + LIMIT
        # Where it takes connections, and where these tell each other of further ones.
        while len(self.ports) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
            ranks = [pid for pid, line in hosts.baton.processes().items() if line.startswith(rank_program.encode())]
            self.ports = listening_ports(ranks[0]) if ranks else []
        self.visits = []

    def start(self, host, source, *arguments):
        lab = self.hosts.lab
        return subprocess.Popen([lab.script, "exec", "--prefix", lab.prefix, self.hosts.names[host], sys.executable, "-c",
                                 source, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip

    def visit(self, what, ports=None):
        """A stranger on a host of the job, and one on another, at each of these ports of rank 1."""
        strangers = [
            self.start(host, STRANGER, self.address, str(port), what, str(LIMIT)) for port in ports or self.ports for host in (0, 2)
        ]
        for one in strangers:  # silent ones stay
            assert one.stdout.readline() in (b"done\n", b"there\n")
        self.visits += strangers

    def meet(self):
        self.process.stdin.write(b"come\n")
        self.process.stdin.flush()
        assert all("joined" in line for line in read_lines(self.process.stdout, 2))

    def finish(self):
        out, err = self.process.communicate(b"go\n", timeout=LIMIT)
        for one in self.visits:
            one.communicate(timeout=LIMIT)
        assert self.process.returncode == 0 and out.count(b"relayed") == 2, out + err
        self.hosts.baton.assert_nothing_left()
        return err.decode()


@pytest.fixture
def job(make_hosts, rank_program):  # noqa: F811
    return Job(make_hosts(3), rank_program, {})


@pytest.mark.parametrize("what", ["scan", "reset", "garbage", "lengths", "as ucx", "silence"])
def test_strangers_do_not_disturb_ranks(job, what):
    job.visit(what)
    job.meet()
    job.visit(what)
    err = job.finish()
    assert err.count("sent away") == len(err.splitlines()) <= 1, err  # told once


def test_who_says_too_little_is_sent_away(make_hosts, rank_program):  # noqa: F811
    job = Job(make_hosts(3), rank_program, {"BATON_HELLO_TIMEOUT": "1s"})
    job.meet()
    job.visit("slow")
    err = job.finish()
    assert err.count("slow to say who it is") == len(err.splitlines()) == 1, err  # told once


def test_what_ranks_have_said_does_not_open_doors(job):
    listener = job.start(1, LISTENER, *map(str, job.ports))
    assert listener.stdout.readline() == b"there\n"
    job.meet()
    heard = {int(port): said for port, said in json.loads(listener.communicate(timeout=LIMIT)[0]).items()}
    assert sorted(heard) == job.ports
    for port, conversations in heard.items():
        for said in conversations:
            assert said.startswith(b"HELO".hex())
            hello, rest = said[: 2 * HELLO_BYTES], said[2 * HELLO_BYTES :]
            other_number = hello[:24] + "05" + hello[26:]
            for attempt in (said, hello, rest, other_number + rest, "00" * HELLO_BYTES + rest):
                job.visit(attempt, ports=[port])
            # As often as one likes.
            job.visit(said, ports=[port])
    err = job.finish()
    assert err.count("sent away") == len(err.splitlines()) == 1, err

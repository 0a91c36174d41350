"""scripts/hosts-lab makes hosts, cuts them off, and leaves nothing behind."""

import contextlib
import os
import re
import signal
import subprocess
import sys

# Accepts one connection, and says so; or makes one.
LISTEN = """
import socket
with socket.create_server(("", 0)) as server:
    print(server.getsockname()[1], flush=True)
    peer, address = server.accept()
    print(address[0])
"""
CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=float(sys.argv[3]))"


def addresses(lab):
    lines = [line.split() for line in lab.call("status").stdout.splitlines()]
    return {line[0]: line[1] for line in lines}


def everything_of(prefix):
    namespaces = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
    return [name for name in namespaces + os.listdir("/sys/class/net") if name.startswith(prefix)]


def connect(lab, host, address, port, timeout):
    return lab.call("exec", host, sys.executable, "-c", CONNECT, address, port, str(timeout)).returncode == 0


@contextlib.contextmanager
def listening(lab, source=LISTEN):
    """The last host runs `source`, which first prints its port: the process and the port."""
    command = [lab.script, "exec", "--prefix", lab.prefix, lab.hosts[-1], sys.executable, "-c", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listener:
        yield listener, listener.stdout.readline().strip()


def test_hosts_have_names_and_reach_each_other(make_lab):
    lab = make_lab(3)
    for host in lab.hosts:
        assert lab.call("exec", host, "hostname").stdout == host + "\n"
    at = addresses(lab)
    assert len(set(at.values())) == 3
    with listening(lab) as (listener, port):
        assert connect(lab, lab.hosts[1], at[lab.hosts[2]], port, 60)
        assert listener.stdout.readline().strip() == at[lab.hosts[1]]


def test_hosts_may_have_addresses_of_ipv6_alone(make_lab):
    lab = make_lab(2, "--ipv6")
    target = addresses(lab)[lab.hosts[1]]
    assert ":" in target
    families = lab.call("exec", lab.hosts[1], "ip", "-o", "address", "show", "dev", "eth0").stdout
    assert target in families and "inet " not in families
    listen = LISTEN.replace('("", 0)', '("::", 0), family=socket.AF_INET6')
    with listening(lab, listen) as (listener, port):
        assert connect(lab, lab.hosts[0], target, port, 60)
        assert listener.stdout.readline().strip() == addresses(lab)[lab.hosts[0]]


def test_a_cut_host_is_not_reached_until_it_is_mended(make_lab):
    lab = make_lab(2)
    target = addresses(lab)[lab.hosts[1]]
    with listening(lab) as (_, port):
        assert lab.call("cut", lab.hosts[1]).returncode == 0
        assert "cut" in lab.call("status").stdout
        assert not connect(lab, lab.hosts[0], target, port, 0.2)
        assert lab.call("mend", lab.hosts[1]).returncode == 0
        assert connect(lab, lab.hosts[0], target, port, 60)


ANSWER = """
import socket
with socket.create_server(("", 0)) as server:
    print(server.getsockname()[1], flush=True)
    peer, address = server.accept()
    peer.sendall(peer.recv(1))
"""
ASK = """
import socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60) as peer:
    began = time.monotonic()
    peer.sendall(b"x")
    peer.recv(1)
    print(time.monotonic() - began)
"""


def test_what_is_sent_with_a_delay_comes_later(make_lab):
    lab = make_lab(2)
    target, way_s = addresses(lab)[lab.hosts[1]], 0.03
    with listening(lab, ANSWER) as (_, port):
        ask = [lab.script, "exec", "--prefix", lab.prefix, lab.hosts[0], sys.executable, "-c", ASK, target, port]
        asked = lab.call("delay", str(int(1e6 * way_s)), *ask)
    assert asked.returncode == 0, asked.stderr
    assert float(asked.stdout) >= 2 * way_s
    told = re.search(r"(\d+) frames, 30000 us asked for: median (\d+) us", asked.stderr)
    assert int(told[1]) >= 2 and int(told[2]) >= 1e6 * way_s
    assert addresses(lab)[lab.hosts[1]] == target
    assert "cut" not in lab.call("status").stdout
    assert lab.call("delay", "1", "false").returncode == 1


def test_a_delay_that_is_ended_leaves_the_hosts_joined(make_lab):
    lab = make_lab(2)
    target = addresses(lab)[lab.hosts[1]]
    with listening(lab) as (_, port):
        delay = [lab.script, "delay", "--prefix", lab.prefix, "1", "sh", "-c", "echo runs; exec sleep 1000"]
        with subprocess.Popen(delay, stdout=subprocess.PIPE, text=True) as delayed:
            assert delayed.stdout.readline() == "runs\n"
            delayed.terminate()
            assert delayed.wait(60) == 128 + signal.SIGTERM
        assert connect(lab, lab.hosts[0], target, port, 60)


def test_a_delay_needs_its_program(make_lab, monkeypatch):
    lab = make_lab(1)
    monkeypatch.setenv("BATON_HOSTS_DELAY", "/nowhere/hosts_delay")
    said = lab.call("delay", "1", "true")
    assert said.returncode == 1
    assert "there is no /nowhere/hosts_delay\n  try: scripts/build release hosts_delay" in said.stderr


def test_up_again_changes_nothing_and_down_removes_all(make_lab):
    lab = make_lab(2)
    inode = os.stat(f"/run/netns/{lab.hosts[0]}").st_ino
    again = lab.call("up", "2")
    assert (again.returncode, again.stdout) == (0, lab.printed)
    assert os.stat(f"/run/netns/{lab.hosts[0]}").st_ino == inode
    assert len(lab.call("up", "3").stdout.splitlines()) == 4
    for _ in range(2):
        assert lab.call("down").returncode == 0
        assert everything_of(lab.prefix) == []


def test_what_is_wrong_is_said(make_lab):
    lab = make_lab(1)
    assert "there is no host 'nowhere'" in lab.call("exec", "nowhere", "true").stderr
    assert "a number of hosts" in lab.call("up", "many").stderr


def test_without_rights(make_lab):
    lab = make_lab(1)
    with open(lab.script, encoding="utf-8") as script:  # nobody else may be allowed to open it
        refused = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", "bash", "-s", "up", "1"],
            stdin=script,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert refused.returncode == 77
    assert "network namespaces need root\n  try: sudo" in refused.stderr

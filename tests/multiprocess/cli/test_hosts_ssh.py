"""baton run --hosts by a real ssh: a server on each of two hosts, which are network namespaces of this machine."""

import os
import shutil
import signal
import subprocess

import pytest

from conftest import LIMIT, finish, read_lines, sh, wait_for_end

SERVER = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
PORT = 2222
# Root may keep its password to itself, and the folder is one of /tmp.
SERVER_OPTIONS = """
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/{host}.keys
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
"""
CLIENT_OPTIONS = """
Host {host}
  HostName {address}
  Port {port}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/{host}.known
  StrictHostKeyChecking yes
"""


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


class SshHosts:
    """Two hosts that let in who has a key of this folder, and baton that reaches them by ssh alone."""

    def __init__(self, lab, baton, folder):
        self.baton = baton
        self.names = lab.hosts
        self.folder = folder
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True, timeout=LIMIT)
        host_key, user_key = ((folder / f"{key}.pub").read_text() for key in ("host_key", "user_key"))
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # the server insists on it
        self.servers = []
        config = ""
        for line in lab.call("status").stdout.splitlines():
            host, address = line.split()[:2]
            (folder / f"{host}.keys").write_text(user_key)
            (folder / f"{host}.known").write_text(f"[{address}]:{PORT} {host_key}")
            (folder / f"{host}.server").write_text(SERVER_OPTIONS.format(folder=folder, host=host))
            config += CLIENT_OPTIONS.format(host=host, address=address, port=PORT, folder=folder)
            self.servers.append(subprocess.Popen(
                [lab.script, "exec", "--prefix", lab.prefix, host, SERVER, "-D", "-e", "-p", str(PORT), "-o",
                 f"ListenAddress={address}", "-f", folder / f"{host}.server"], stderr=subprocess.PIPE))  # fmt: skip
            assert b"listening" in self.servers[-1].stderr.readline()
        (folder / "config").write_text(config)
        self.options = ["--hosts", ",".join(self.names), "--launch-agent",
                        f"ssh -F {folder}/config -o BatchMode=yes {{host}}"]  # fmt: skip

    def run(self, *arguments, **options):
        return self.baton.run("run", *self.options, *arguments, **options)

    def start(self, *arguments, **options):
        return self.baton.start("run", *self.options, *arguments, **options)

    def sessions(self):
        return [pid for server in self.servers for pid in children_of(server.pid)]

    def assert_nothing_left(self):
        wait_for_end(self.sessions())
        self.baton.assert_nothing_left()

    def end(self):
        for server in self.servers:
            server.terminate()
            server.communicate(timeout=LIMIT)


@pytest.fixture
def hosts(make_lab, baton, tmp_path):
    if SERVER is None or shutil.which("ssh") is None:  # said loudly: nothing else tries a real ssh
        pytest.skip("there is no sshd (Debian: openssh-server): nothing is shown about real ssh")
    made = SshHosts(make_lab(2), baton, tmp_path)
    yield made
    made.end()


def test_ranks_are_started_by_ssh_and_communicate(hosts, rank_program):
    result = hosts.run("-n", "4", *sh("echo $(hostname) $BATON_RANK"))
    assert result.returncode == 0 and not result.stderr, result.stderr
    a, b = hosts.names
    expected = [f"[{rank}] {a if rank < 2 else b} {rank}" for rank in range(4)]
    assert sorted(result.stdout.decode().splitlines()) == expected
    result = hosts.run("-n", "4", rank_program, "allreduce", env={"UCX_TLS": "tcp,self"})
    assert result.returncode == 0 and result.stdout.count(b"joined") == 4, result.stdout + result.stderr
    hosts.assert_nothing_left()


def refusal(hosts):
    result = hosts.run("-n", "2", *sh("true"))
    assert result.returncode == 127
    hosts.assert_nothing_left()
    return result.stderr.decode()


def test_a_host_that_refuses_is_named_with_what_ssh_said(hosts):
    a, b = hosts.names
    keys = hosts.folder / f"{b}.keys"
    user_key = keys.read_text()
    keys.write_text("")
    text = refusal(hosts)
    assert f'host "{b}"' in text and "Permission denied" in text and "without a password" in text, text
    keys.write_text(user_key)
    (hosts.folder / f"{a}.known").write_text("")
    text = refusal(hosts)
    assert f'host "{a}"' in text and "Host key verification failed" in text, text


def test_a_killed_launcher_leaves_nothing(hosts):
    process = hosts.start("-n", "2", *sh("echo $$; exec sleep 1000"))
    pids = [int(line.split()[-1]) for line in read_lines(process.stdout, 2)]
    sessions = hosts.sessions()
    clients = children_of(process.pid)  # of ssh, which end after their sessions
    assert len(sessions) == len(clients) == 2
    os.kill(process.pid, signal.SIGKILL)
    wait_for_end(pids + sessions + clients)
    finish(process)
    hosts.assert_nothing_left()

"""baton run --hosts: the ranks of a job on several hosts, which are network namespaces of this machine."""

import os
import re
import select
import signal
import subprocess
import time

import pytest

from conftest import LIMIT, finish, python, read_lines, sh, wait_for_end


class Hosts:
    """A lab, and baton that runs jobs on it."""

    def __init__(self, lab, baton):
        self.lab = lab
        self.baton = baton
        agent = f"{lab.script} exec --prefix {lab.prefix} {{host}}"
        self.options = ["--interface", f"{lab.prefix}-lab", "--launch-agent", agent]
        self.names = lab.hosts

    def arguments(self, hosts=None, slots=None):
        hosts = hosts or self.names
        listed = [f"{name}:{n}" for name, n in zip(hosts, slots)] if slots else hosts
        return ["run", "--hosts", ",".join(listed), *self.options]

    def run(self, *arguments, slots=None, **options):
        return self.baton.run(*self.arguments(slots=slots), *arguments, **options)

    def start(self, *arguments, slots=None, **options):
        return self.baton.start(*self.arguments(slots=slots), *arguments, **options)


@pytest.fixture
def make_hosts(make_lab, baton):
    return lambda count: Hosts(make_lab(count), baton)


def lines_of(output):
    return sorted(output.decode().splitlines())


def test_ranks_are_shared_by_the_hosts(make_hosts):
    hosts = make_hosts(2)
    a, b = hosts.names
    result = hosts.run("-n", "5", *sh("echo $(hostname) $BATON_RANK $BATON_SIZE"))
    assert result.returncode == 0, result.stderr
    assert lines_of(result.stdout) == [f"[{r}] {a if r < 3 else b} {r} 5" for r in range(5)]
    result = hosts.run(*sh("echo $(hostname)"), slots=[1, 3])
    assert lines_of(result.stdout) == [f"[0] {a}", f"[1] {b}", f"[2] {b}", f"[3] {b}"]
    result = hosts.run("-n", "2", *sh("echo $(hostname)"), slots=[1, 3])
    assert lines_of(result.stdout) == [f"[0] {a}", f"[1] {b}"]
    hosts.baton.assert_nothing_left()


def test_many_hosts_are_started_some_at_a_time(baton, tmp_path):
    """Eight for each processor; a host that comes makes room for the next. The hosts are this machine."""
    started, gate, agent = tmp_path / "started", tmp_path / "gate", tmp_path / "agent"
    os.mkfifo(started)
    os.mkfifo(gate)
    agent.write_text(f'#!/bin/sh\necho $1 >{started}\nread line <{gate}\nshift\nexec "$@"\n')
    agent.chmod(0o755)
    names = [f"h{i}" for i in range(20)]
    with open(started, "r+b", buffering=0) as begun, open(gate, "r+b", buffering=0) as opened:
        process = baton.start("run", "--hosts", ",".join(names), "--interface", "lo", "--launch-agent", f"{agent} {{host}}",
                              "hostname", env={"BATON_PROCESSORS": "1"})  # fmt: skip
        read = ""
        while read.count("\n") < 8:
            read += os.read(begun.fileno(), 4096).decode()
        more = select.select([begun], [], [], 0.5)[0]
        assert sorted(read.split()) == names[:8] and not more
        for name in names[8:]:  # each that passes lets the next begin
            opened.write(b"\n")
            assert os.read(begun.fileno(), 4096).decode() == name + "\n"
        opened.write(b"\n" * 8)
        code, out, err = finish(process)
    assert code == 0 and len(out.splitlines()) == 20, out + err
    baton.assert_nothing_left()


def test_a_file_of_hosts(make_hosts, tmp_path):
    hosts = make_hosts(2)
    a, b = hosts.names
    file = tmp_path / "hosts"
    file.write_text(f"# ours\n{a} slots=2  # two\n\n{b}:1\n")
    result = hosts.baton.run("run", "--hostfile", str(file), *hosts.options, "hostname")
    assert lines_of(result.stdout) == [f"[0] {a}", f"[1] {a}", f"[2] {b}"], result.stderr


def test_folder_and_environment_are_those_of_the_launcher(make_hosts, tmp_path):
    hosts = make_hosts(2)
    result = hosts.run(*sh("echo $PWD $MINE"), cwd=tmp_path, env={"MINE": "a value"})
    assert lines_of(result.stdout) == [f"[{r}] {tmp_path} a value" for r in range(2)], result.stderr


def test_the_token_is_in_no_command_line_and_no_environment(make_hosts):
    hosts = make_hosts(2)
    process = hosts.start(*sh("echo ready; exec sleep 1000"))
    read_lines(process.stdout, 2)
    digits = re.compile(rb"[0-9a-f]{64}")
    for pid in hosts.baton.processes():
        for what in ("cmdline", "environ"):
            with open(f"/proc/{pid}/{what}", "rb") as file:
                assert not digits.search(file.read())
    process.terminate()
    finish(process)


def test_output_of_any_length_comes_whole(make_hosts):
    hosts = make_hosts(2)
    source = "sys.stdout.write(''.join(f'{rank} {i}\\n' for i in range(20000))); sys.stderr.write('x' * 200000 + '\\n')"
    result = hosts.run("-n", "4", *python(source))
    assert result.returncode == 0
    lines = result.stdout.decode().splitlines()
    for rank in range(4):
        mine = [line for line in lines if line.startswith(f"[{rank}] ")]
        assert mine == [f"[{rank}] {rank} {i}" for i in range(20000)]
    assert sorted(result.stderr.decode().splitlines()) == [f"[{r}] " + "x" * 200000 for r in range(4)]


def test_a_slow_reader_gets_everything(make_hosts):
    hosts = make_hosts(2)
    process = hosts.start(*sh("[ $BATON_RANK = 0 ] || yes | head -n 500000"), bufsize=0)
    text = os.read(process.stdout.fileno(), 10)
    while process.poll() is None and len(agents_of(hosts)) == 2 and len(text) < 1000:  # the rank waits for the reader
        text += os.read(process.stdout.fileno(), 10)
    text += process.stdout.read()
    code, _, err = finish(process)
    assert (code, text.count(b"[1] y\n")) == (0, 500000), err


def test_standard_input_goes_to_rank_0(make_hosts, tmp_path):
    hosts = make_hosts(2)
    text = b"".join(b"%d\n" % i for i in range(50000))
    for source in ("pipe", "file"):
        if source == "pipe":
            result = hosts.run(*sh("cat | md5sum"), input=text)
        else:
            (tmp_path / "input").write_bytes(text)
            with open(tmp_path / "input", "rb") as file:
                result = hosts.run(*sh("cat | md5sum"), stdin=file)
        expected = subprocess.run(["md5sum"], input=text, capture_output=True).stdout.decode().strip()
        empty = subprocess.run(["md5sum"], input=b"", capture_output=True).stdout.decode().strip()
        assert lines_of(result.stdout) == sorted([f"[0] {expected}", f"[1] {empty}"]), result.stderr


def test_the_rank_that_fails_first_is_named_with_its_host(make_hosts):
    hosts = make_hosts(2)
    result = hosts.run("-n", "4", *sh("[ $BATON_RANK = 3 ] && exit 7; exec sleep 1000"))
    assert result.returncode == 7
    text = result.stderr.decode()
    assert re.search(rf"rank 3 \(pid \d+ on host {hosts.names[1]}\) ended with exit code 7", text), text
    assert "ranks 0-2: ended because of it, by SIGTERM" in text
    hosts.baton.assert_nothing_left()


def test_signals_reach_all_hosts(make_hosts):
    hosts = make_hosts(2)
    source = "caught = catch_signals()\nsignal.signal(signal.SIGUSR1, lambda *_: (print('usr1'), os._exit(0)))\nprint('ready')\nhandle_signals(caught)"
    process = hosts.start("-n", "4", *python(source))
    read_lines(process.stdout, 4)
    process.send_signal(signal.SIGUSR1)
    code, out, err = finish(process)
    assert (code, sorted(out.splitlines())) == (0, [f"[{r}] usr1" for r in range(4)]), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_ends_everywhere(make_hosts, number):
    hosts = make_hosts(2)
    process = hosts.start("-n", "4", *sh("echo ready; exec sleep 1000"))
    read_lines(process.stdout, 4)
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == 128 + number, err
    hosts.baton.assert_nothing_left()


def test_timeout(make_hosts):
    hosts = make_hosts(2)
    result = hosts.run("--timeout", "1s", "-n", "4", *sh("exec sleep 1000"))
    assert result.returncode == 124
    assert "the job did not end within 1 s" in result.stderr.decode()
    assert "ranks 0-3: running, has not joined" in result.stderr.decode()
    hosts.baton.assert_nothing_left()


def test_bind_counts_the_ranks_of_a_host(make_hosts):
    hosts = make_hosts(2)
    result = hosts.run("--bind", "-n", "4", *python("print(sorted(os.sched_getaffinity(0)))"))
    lines = lines_of(result.stdout)
    # As if each host had a job of two ranks.
    assert [line[4:] for line in lines[:2]] == [line[4:] for line in lines[2:]], lines
    alone = hosts.baton.run("run", "--bind", "-n", "2", *python("print(sorted(os.sched_getaffinity(0)))"))
    assert lines[:2] == lines_of(alone.stdout)


def test_what_ranks_leave_behind_is_ended(make_hosts):
    hosts = make_hosts(2)
    result = hosts.run(*sh("setsid sleep 1000 >/dev/null 2>&1 & echo ready"))
    assert lines_of(result.stdout) == ["[0] ready", "[1] ready"]
    hosts.baton.assert_nothing_left()


def agents_of(hosts):
    found = {}
    for pid, command in hosts.baton.processes().items():
        words = command.split(b"\0")
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            keeper = file.read().strip() == "baton-keeper"
        if words[-2:-1] == [b"agent"] and words[0] == hosts.baton.path.encode() and not keeper:
            found[os.stat(f"/proc/{pid}/ns/net").st_ino] = pid
    return [found[inode] for inode in (os.stat(f"/run/netns/{name}").st_ino for name in hosts.names) if inode in found]


@pytest.mark.parametrize("program", ["exec sleep 1000", "setsid sleep 1000 & wait"])
def test_a_killed_launcher_leaves_nothing(make_hosts, program):
    hosts = make_hosts(2)
    process = hosts.start("-n", "4", *sh("echo ready; " + program))
    read_lines(process.stdout, 4)
    there = hosts.baton.processes()
    process.kill()
    process.wait(LIMIT)
    wait_for_end(there)
    hosts.baton.assert_nothing_left()


@pytest.mark.parametrize("program", ["exec sleep 1000", "setsid sleep 1000 & wait"])
def test_a_killed_agent_takes_its_ranks_along(make_hosts, program):
    hosts = make_hosts(2)
    process = hosts.start("-n", "4", *sh("echo ready; " + program))
    read_lines(process.stdout, 4)
    there = hosts.baton.processes()
    os.kill(agents_of(hosts)[1], signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 137
    assert re.search(rf"rank 2 \(pid \d+ on host {hosts.names[1]}\) was lost after .*: host {hosts.names[1]} closed the connection", err), err
    wait_for_end(there)
    hosts.baton.assert_nothing_left()


def test_a_cut_link_is_noticed_on_both_sides(make_hosts):
    hosts = make_hosts(2)
    process = hosts.start("-n", "4", *sh("echo ready; exec sleep 1000"))
    read_lines(process.stdout, 4)
    there = hosts.baton.processes()
    begin = time.monotonic()
    assert hosts.lab.call("cut", hosts.names[1]).returncode == 0
    code, _, err = finish(process)
    assert code == 137
    assert f"host {hosts.names[1]} does not answer" in err, err
    wait_for_end(there)
    # 1.5 s until it is known, --grace, and room for a busy machine.
    assert time.monotonic() - begin < 1.5 + 0.25 + 10
    hosts.baton.assert_nothing_left()


def refusal(hosts, *options, names=None, program=("hostname",), env=None):
    result = hosts.baton.run("run", "--hosts", ",".join(names or hosts.names), *options, *program, env=env or {})
    wait_for_end(hosts.baton.processes())  # what the lab's script had just begun for the other host
    hosts.baton.assert_nothing_left()
    return result.returncode, result.stderr.decode()


def test_what_keeps_a_job_from_beginning_is_said_with_the_host(make_hosts):
    hosts = make_hosts(2)
    a, b = hosts.names
    agent = hosts.options[-1]

    code, text = refusal(hosts, *hosts.options, "--remote-baton", "/nowhere/baton")
    assert code == 127 and '"/nowhere/baton" cannot be run there' in text and "--remote-baton" in text, text

    code, text = refusal(hosts, *hosts.options[:-1], "sh -c 'echo no route to {host} >&2; exit 255'")
    assert code == 127 and "without a password" in text, text
    assert any(f'host "{name}"' in text and f"no route to {name}" in text for name in (a, b)), text  # which was first

    code, text = refusal(hosts, *hosts.options[:-1], agent, names=[a, "nowhere"])
    assert code == 127 and 'host "nowhere"' in text and "there is no host 'nowhere'" in text, text

    code, text = refusal(hosts, *hosts.options, program=["./no-such-program"])
    assert code == 127 and "no-such-program" in text and 'host "' in text, text


def test_hosts_with_other_versions_are_refused(make_hosts, tmp_path):
    hosts = make_hosts(2)
    other = tmp_path / "baton"
    with open(hosts.baton.path, "rb") as file:
        program = file.read()
    version = hosts.baton.run("version").stdout.split()[1]
    assert program.count(b"\0" + version + b"\0") >= 1
    other.write_bytes(program.replace(b"\0" + version + b"\0", b"\0" + b"9" * len(version) + b"\0"))
    other.chmod(0o755)
    code, text = refusal(hosts, *hosts.options, "--remote-baton", str(other))
    assert code == 127 and re.search(rf'host "{hosts.names[0][:-1]}." has Baton 9+, this host has {version.decode()}', text), text
    assert "Install the same version on all hosts" in text


def test_an_agent_that_does_not_come_is_named(make_hosts):
    hosts = make_hosts(2)
    a, b = hosts.names
    command = f"sh -c 'if [ {{host}} = {b} ]; then exec sleep 1000; fi; exec \"$@\"' x " + hosts.options[-1]
    code, text = refusal(hosts, *hosts.options[:-1], command, env={"BATON_JOIN_TIMEOUT": "1"})
    assert code == 127 and f"no agent came from host {b} within 1 s" in text and "--interface" in text, text


def test_ranks_of_several_hosts_communicate(make_hosts, rank_program):
    hosts = make_hosts(3)
    result = hosts.run("-n", "7", rank_program, "round")
    assert result.returncode == 0, (result.stdout + result.stderr).decode()
    assert result.stdout.count(b"went round") == 7


def test_a_ucx_without_a_network_is_refused(make_hosts, rank_program):
    """It would neither connect nor fail, and waits would end by their timeouts."""
    result = make_hosts(2).run(rank_program, "round", env={"UCX_TLS": "self"})
    text = result.stderr.decode()
    assert result.returncode != 0 and "UCX finds no network to other hosts; the interface to them is eth0" in text, text
    assert "UCX_TLS is self" in text, text


def waiting(hosts, rank_program, what):
    """A job of four ranks on two hosts that have joined; all that wait are told how their waits end."""
    process = hosts.start("--grace", "10s", "-n", "4", rank_program, what)
    joined = read_lines(process.stdout, 4)
    assert all("joined" in line for line in joined), joined
    return process


def test_a_wait_ends_with_the_name_and_host_of_who_died(make_hosts, rank_program):
    hosts = make_hosts(2)
    result = hosts.run("--grace", "10s", "-n", "4", rank_program, "die")
    # Who failed because of it may be heard of first.
    assert result.returncode != 0
    err = result.stderr.decode()
    for rank in range(3):
        assert f"[{rank}] rank {rank} waited" in err, err
    # Those of its host need no host.
    assert len(re.findall(rf"rank 3 \(pid \d+ on host {hosts.names[1]}\) died: ", err)) == 2, err
    assert len(re.findall(r"rank 3 \(pid \d+\) died: ", err)) == 1, err


def test_a_wait_ends_when_the_link_to_a_host_is_cut(make_hosts, rank_program):
    hosts = make_hosts(2)
    process = waiting(hosts, rank_program, "barrier")
    begin = time.monotonic()
    assert hosts.lab.call("cut", hosts.names[1]).returncode == 0
    code, out, err = finish(process)
    assert code != 0 and "[1] rank 1 waited" in err, err
    assert re.search(rf"rank 2 \(pid \d+ on host {hosts.names[1]}\) died: .*does not answer", err), err
    # Promised are 1.5 s until the wait ends; then there is the grace of 10 s for rank 0, which does not wait.
    assert time.monotonic() - begin < 20


def test_a_wait_ends_when_an_agent_is_killed(make_hosts, rank_program):
    hosts = make_hosts(2)
    process = waiting(hosts, rank_program, "barrier")
    os.kill(agents_of(hosts)[1], signal.SIGKILL)
    code, out, err = finish(process)
    assert code != 0 and "[1] rank 1 waited" in err, err
    assert re.search(rf"rank 2 \(pid \d+ on host {hosts.names[1]}\) died: ", err), err


def test_one_host_elsewhere_is_a_job_like_any_other(make_hosts, rank_program):
    hosts = make_hosts(1)
    result = hosts.run("-n", "3", rank_program)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(b"joined") == 3


def test_ranks_and_hosts_must_fit(baton):
    result = baton.run("run", "--hosts", "a:1,b:1", "-n", "3", "true")
    assert result.returncode == 2 and b"3 ranks do not fit: the hosts take 2" in result.stderr
    result = baton.run("run", "--interface", "lo", "true")
    assert result.returncode == 2 and b"there is no --hosts" in result.stderr
    result = baton.run("run", "--hosts", "a", "--interface", "nosuch0", "true")
    assert result.returncode == 2 and b'no network interface "nosuch0" is up; there are' in result.stderr


def test_agent_by_hand(baton):
    result = baton.run("agent", input=b"")
    assert result.returncode == 1 and b"is started by `baton run --hosts`" in result.stderr

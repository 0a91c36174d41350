"""baton ps, baton doctor and baton explain on their own."""

import fcntl
import json
import os
import pathlib
import resource
import shutil
import subprocess

import pytest

MFD_ALLOW_SEALING = 2
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2


def test_ps_without_jobs(baton):
    # Jobs of other tests may run at the same time; then there is a table.
    result = baton.run("ps")
    assert result.returncode == 0
    assert result.stdout.startswith((b"no job of yours is running", b"JOB"))


def test_programs_that_do_not_join_are_no_jobs(baton):
    result = baton.run("run", "-n", "2", "sh", "-c", f"echo $BATON_JOB; exec '{baton.path}' ps --json")
    assert result.returncode == 0
    own, *lines = [line[4:] for line in result.stdout.decode().splitlines() if line.startswith("[0]")]
    # Jobs of others may be there.
    assert own and own not in [job["name"] for job in json.loads("\n".join(lines))["jobs"]]


def test_ps_survives_memory_that_only_looks_like_a_job(baton):
    junk = [b"", b"x", b"\xff" * 100_000, b"1JTABTON" + b"\xff" * 5000, b"1JTBATON" + b"\x01\0\0\0" + b"\xff" * 5000]
    descriptors = []
    for content in junk:
        for seal in (False, True):
            fd = os.memfd_create("baton-control", MFD_ALLOW_SEALING)
            os.write(fd, content)
            if seal:
                fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
            descriptors.append(fd)
    result = baton.run("ps", "--json")
    for fd in descriptors:
        os.close(fd)
    assert result.returncode == 0
    json.loads(result.stdout)


def test_doctor(baton):
    result = baton.run("doctor")
    assert result.returncode == 0
    assert b"Baton works here." in result.stdout
    for item in (b"inproc", b"shm: memfd", b"shm: sockets", b"shm: pidfd", b"shm: futex", b"shm: reading", b"processors", b"memory",
                 b"huge pages", b"open files", b"processes", b"mail queue", b"C++ compiler", b"UCX", b"NVIDIA GPU", b"nvcc", b"Ascend A2, A3", b"Ascend A5", b"ccec", b"Open MPI", b"MPICH"):
        assert item in result.stdout


def test_doctor_as_json(baton):
    found = json.loads(baton.run("doctor", "--json").stdout)
    assert found["works"] is True
    for section in ("backends", "limits", "optional"):
        for item in found[section]:
            assert item["verdict"] in ("ok", "limited", "missing") and item["text"]
    assert [item["item"] for item in found["backends"] if not item["essential"]] == ["shm: reading"]


def test_doctor_says_that_a_platform_was_not_built(baton, tmp_path):
    (tmp_path / "bin").mkdir()
    alone = shutil.copy(baton.path, tmp_path / "bin")
    result = subprocess.run([alone, "doctor", "--platform", "cuda"], capture_output=True, timeout=60)
    assert b"this Baton was built without platform cuda" in result.stdout


def test_doctor_finds_what_is_missing(baton):
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))

    result = baton.run("doctor", preexec_fn=few_files)
    assert result.returncode == 1
    assert b"missing" in result.stdout and b"Baton does not work here." in result.stdout


@pytest.mark.parametrize("code", ["BATON-E031", "[BATON-E031]", "baton-e031", "E031", "e31", "31", "wait_timeout"])
def test_explain_prints_the_page_of_an_error(baton, code):
    result = baton.run("explain", code)
    assert result.returncode == 0 and result.stderr == b""
    text = result.stdout.decode()
    assert text.startswith("BATON-E031 wait_timeout\n\nA wait reached its deadline.\n\ntry: ")
    assert "A chip of a node does not answer.\n    try: " in text  # a situation of its own


def test_explain_knows_what_the_reference_has(baton):
    page = (pathlib.Path(__file__).parents[3] / "docs/reference/errors.md").read_text()
    listed = baton.run("explain").stdout.decode().splitlines()[1:]
    assert len(listed) > 30
    for line in listed:
        code, name = line.split()[:2]
        section = page.split(f"## {code.removeprefix('BATON-')} {name}\n")[1].split("<a id=")[0]
        text = baton.run("explain", code).stdout.decode()
        sentence, remedy = section.strip().split("\n\n")[:2]
        assert sentence in text and remedy.removeprefix("**Try:** ") in text
        for row in section.splitlines():
            if row.startswith("| ") and not row.startswith("| situation"):
                assert all(cell.strip().replace("\\|", "|") in text for cell in row.strip("| ").split(" | "))

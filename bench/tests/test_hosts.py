"""The suite `hosts`: what it would start, without starting it."""

import os

import pytest

from harness import cli
from harness.cases import OURS, Plan
from harness.mpi import MPICH, OPEN_MPI


@pytest.fixture
def suite(monkeypatch):
    module = cli.loaded("hosts")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(module.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(module.mpi, "installed", lambda programs, prefix: [OPEN_MPI, MPICH])
    return module


def plan(quick=False):
    return Plan(programs="/programs", launcher="/bin/baton", processors=2, quick=quick)


def test_every_contender_uses_tcp_between_the_hosts_of_the_lab(suite):
    for case in suite.cases(plan()):
        for contender in case.contenders:
            words, environment = contender.command.argv, contender.command.environments[0]
            if contender.name == "ucx":
                assert words[2] == suite.PREFIX
                continue
            assert ",".join(f"bench{host}:{case.ranks // count_of(words)}" for host in range(count_of(words))) in words
            over_ucx = environment.get("UCX_TLS") == "tcp,self"
            assert over_ucx or "tcp,vader,self" in words, contender


def count_of(words):
    return next(word for word in words if word.startswith("bench0:")).count(",") + 1


def test_quick_cases_exist_and_are_a_few(suite):
    names = [case.name for case in suite.cases(plan())]
    assert suite.QUICK <= set(names) and len(names) == len(set(names))
    quick = [case for case in suite.cases(plan(quick=True)) if case.in_quick]
    assert all(len({one.name for one in case.contenders}) == len(case.contenders) for case in quick)
    assert all(case.contenders[0].name == OURS for case in quick)


def test_without_root_there_is_nothing_to_measure(suite, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert suite.cases(plan()) == []

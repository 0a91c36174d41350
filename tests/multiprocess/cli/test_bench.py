"""`baton bench`: which harness it finds, and what it hands to it."""

import json
import os
import shutil

import pytest

# A harness that tells what it was asked, and ends with a status of its own.
PRETENDS = """
import json, os, sys
def main(program):
    json.dump({"program": program, "words": sys.argv[1:], "file": __file__}, sys.stdout)
    print("progress", file=sys.stderr)
    return 5
"""


def tree_at(path):
    """A source tree with benchmarks."""
    harness = path / "bench" / "harness"
    harness.mkdir(parents=True)
    (harness / "__init__.py").write_text("")
    (harness / "cli.py").write_text(PRETENDS)
    return path


@pytest.fixture
def installed(baton, tmp_path):
    """A copy of baton that lies in no build directory."""
    target = tmp_path / "prefix" / "bin" / "baton"
    target.parent.mkdir(parents=True)
    shutil.copy(baton.path, target)
    baton.path = str(target)
    return baton


@pytest.fixture
def built(installed, tmp_path):
    """The same in the build directory of a tree."""
    tree_at(tmp_path / "tree")
    (tmp_path / "prefix" / "CMakeCache.txt").write_text(
        f"//a\nX:STRING=1\nCMAKE_HOME_DIRECTORY:INTERNAL={tmp_path}/tree\nY:STRING=2\n")
    return installed


def asked(result):
    assert result.returncode == 5, result.stderr
    assert result.stderr == b"progress\n"
    return json.loads(result.stdout)


def test_the_tree_that_it_was_built_from(built, tmp_path):
    other = tree_at(tmp_path / "other")
    said = asked(built.run("bench", "comm", "--quick", "--case", "put/*", "--html", "a page.html", cwd=other))
    assert said["file"] == str(tmp_path / "tree" / "bench" / "harness" / "cli.py")
    assert said["program"] == "baton bench"
    assert said["words"] == ["--build-dir", str(tmp_path / "prefix"), "comm", "--quick", "--case", "put/*", "--html",
                             "a page.html"]


def test_the_tree_that_the_current_directory_lies_in(installed, tmp_path):
    deep = tree_at(tmp_path / "tree") / "docs" / "how-to"
    deep.mkdir(parents=True)
    said = asked(installed.run("bench", "--from", "r.json", "--html=p.html", cwd=deep))
    assert said["file"] == str(tmp_path / "tree" / "bench" / "harness" / "cli.py")
    assert said["words"] == ["--from", "r.json", "--html=p.html"]


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_options_alone_are_the_harness_s(built, tmp_path, words):
    assert asked(built.run("bench", *words))["words"][2:] == words


def test_a_tree_that_is_gone_is_not_taken(built, tmp_path):
    shutil.rmtree(tmp_path / "tree")
    other = tree_at(tmp_path / "other")
    assert asked(built.run("bench", "comm", cwd=other))["words"] == ["comm"]


def test_without_sources_it_says_what_to_do(installed, tmp_path):
    result = installed.run("bench", "comm", cwd=tmp_path)
    assert result.returncode == 127 and result.stdout == b""
    said = result.stderr.decode()
    assert said.startswith("baton: the benchmarks belong to the sources of Baton")
    assert "try: baton bench in the folder of the sources" in said


def test_the_harness_of_these_sources(baton, tmp_path):
    """The page of results that were recorded, from end to end."""
    sources = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
    recorded = os.path.join(sources, "bench", "tests", "recorded.json")
    page = tmp_path / "page.html"
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    result = baton.run("bench", "--html", str(page), "--from", recorded, cwd=sources, env=environment)
    assert result.returncode == 0, result.stderr
    assert page.read_text().startswith("<!doctype html>")
    helped = baton.run("bench", "--help", cwd=sources, env=environment)
    assert helped.returncode == 0 and helped.stdout.startswith(b"usage: baton bench ")
    refused = baton.run("bench", "no-such-suite", cwd=sources, env=environment)
    assert refused.returncode == 2 and b"no-such-suite" in refused.stderr

"""Records of the chips of a node, each in a file of its own, and the page that examples/common/timeline.py makes of them."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
TIMELINE = EXAMPLES / "common" / "timeline.py"


def draw(*arguments):
    return subprocess.run([sys.executable, TIMELINE, *map(str, arguments)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("isolation", [[], ["--inproc"]], ids=["processes", "inproc"])
def test_every_chip_of_a_node_is_on_the_page(isolation, tmp_path):
    environment = {**os.environ, "BATON_PROFILE": str(tmp_path / "chip"), "BATON_IN_PLACE": "never"}
    subprocess.run([sys.executable, EXAMPLES / "async_notify" / "main.py", "-d", "0-2", *isolation], env=environment,
                   check=True, timeout=60, stdout=subprocess.DEVNULL)
    records = [tmp_path / f"chip.{rank}" for rank in range(3)]
    assert sorted(tmp_path.glob("chip.?")) == records
    drawn = draw(*records, "-o", tmp_path / "page.html")
    assert drawn.returncode == 0, drawn.stderr
    page = (tmp_path / "page.html").read_text()
    for rank in range(3):
        assert f"chip {rank}, vector" in page
        assert f"chip {rank} " in drawn.stdout


def test_what_is_not_a_file_of_records_is_said(tmp_path):
    (tmp_path / "chip.0").write_bytes(b"x" * 65)
    drawn = draw(tmp_path / "chip.0", "-o", tmp_path / "page.html")
    assert drawn.returncode == 1 and "not a file of task records" in drawn.stderr
    drawn = draw(tmp_path / "chip.1", "-o", tmp_path / "page.html")
    assert drawn.returncode == 1 and "No such file" in drawn.stderr

"""The page with plots, from results that were recorded."""

import html.parser
import json
import pathlib
import re

import pytest

from harness import cli
from harness.page import contenders_of, page_of, sections_of

RECORDED = pathlib.Path(__file__).with_name("recorded.json")


class Reader(html.parser.HTMLParser):
    """Collects tags and attributes, and checks that what is opened is closed."""

    VOID = {"meta", "path", "html"}

    def __init__(self):
        super().__init__()
        self.tags, self.open = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader.tags


@pytest.fixture
def recorded():
    return json.loads(RECORDED.read_text())


def row(case, ranks, size, ours, peer=None, floor=None):
    return {"suite": "collectives", "case": case, "unit": "ns", "ranks": ranks, "bytes": size, "ours": ours,
            "peers": {"mpi": peer}, "floor": floor, "ratio_best_peer": None, "ratio_floor": None}


def test_a_page_has_a_plot_with_a_line_for_everybody_and_all_numbers(recorded):
    page = page_of(recorded)
    tags = read(page)
    names = contenders_of(recorded["results"])
    assert names == ["ours", "openmpi", "mpich", "ucx", "floor"]
    assert [tag for tag, _ in tags].count("svg") == 1  # put over five sizes
    lines = [attributes for tag, attributes in tags if tag == "path" and attributes["class"] == "line"]
    assert len(lines) == len(names)
    assert len([tag for tag, _ in tags if tag == "circle"]) == 5 * len(names)
    for result in recorded["results"]:
        assert f"<td>{result['case']}</td>" in page
    assert "Neoverse-V1" in page and "120 ns" in page


def test_it_needs_nothing_from_elsewhere_and_suits_light_and_dark(recorded):
    page = page_of(recorded)
    tags = read(page)
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe"}
    assert not re.search(r"(https?:)?//[a-z]", page)
    assert "prefers-color-scheme: dark" in page


def test_higher_is_slower_and_points_lie_inside(recorded):
    circles = [attributes for tag, attributes in read(page_of(recorded)) if tag == "circle"]
    ours = circles[-5:]  # drawn last, by size
    heights = [float(circle["cy"]) for circle in ours]
    assert heights == sorted(heights, reverse=True) and heights[0] > heights[-1]
    assert all(0 < float(circle["cx"]) < 420 and 0 < float(circle["cy"]) < 260 for circle in circles)


def test_ranks_of_an_operation_are_plots_of_one_section():
    results = [row(f"windows/allreduce/{ranks}/{name}", ranks, size, 100.0 * ranks, 200.0, 50.0)
               for ranks in (2, 4) for name, size in (("8", 8), ("1M", 1 << 20))]
    results += [row("windows/barrier/2", 2, 0, 80.0), row("windows/reduce/2/8", 2, 8, None)]
    sections = sections_of(results)
    assert list(sections) == ["windows/allreduce"]
    assert list(sections["windows/allreduce"]) == ["2 ranks", "4 ranks"]
    tags = read(page_of({"header": {"suite": "<odd>"}, "results": results}))
    assert [tag for tag, _ in tags].count("svg") == 2


def test_sizes_that_are_no_bytes_are_plain_numbers():
    results = [row(f"layer/2/{tokens}", 2, tokens, 10.0 * tokens) | {"size_in": "tokens"} for tokens in (8, 128)]
    page = page_of({"header": {}, "results": results})
    assert "2 ranks, over tokens" in page and ">128</text>" in page and "128 B" not in page


def test_names_are_only_text():
    page = page_of({"header": {"suite": "<script>"}, "results": [row("<b>/8", 2, 8, 1.0)]})
    assert "<script>" not in page and "<b>" not in page


def test_the_command_line_draws_what_was_recorded(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert cli.main(["comm", "--from", str(RECORDED), "--html", str(page)]) == 0
    assert page.read_text().startswith("<!doctype html>")
    assert "page.html" in capsys.readouterr().err


def test_what_is_no_result_is_told(tmp_path, capsys):
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    assert cli.main(["comm", "--from", str(broken), "--html", str(tmp_path / "page.html")]) == 2
    assert "no results of the benchmarks" in capsys.readouterr().err
    assert cli.main(["comm", "--from", str(RECORDED)]) == 2
    assert "--from goes with --html" in capsys.readouterr().err

"""Draws what ran where: python3 timeline.py RECORDS... -o PAGE

RECORDS are files that BATON_PROFILE=FILE made, one for each chip (FILE.0, FILE.1, ...), on one host and so on one clock.
The page is one HTML file with a row for each core that did something; point at a task to read what it was. A table of
where each chip's time went goes to the terminal."""

from __future__ import annotations

import argparse
import html
import pathlib
import sys

import numpy as np

RECORD = np.dtype([("task", "u8"), ("submitted", "i8"), ("ready", "i8"), ("dispatched", "i8"), ("started", "i8"),
                   ("returned", "i8"), ("completed", "i8"), ("kernel", "u4"), ("core", "i2"), ("outcome", "u1"),
                   ("", "u1")])
CORES_PER_CLUSTER = 3  # a cube core, then two vector cores
COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#9c755f", "#ff9da7", "#8cd17d"]
WIDTH, ROW = 1400, 16
STYLE = """
:root { color-scheme: light dark; font: 13px system-ui, sans-serif }
body { margin: 1.5em }
svg { width: 100%; height: auto }
text { fill: currentColor; font-size: 11px }
line { stroke: currentColor; stroke-opacity: .2 }
.legend span { display: inline-block; width: 1em; height: 1em; margin: 0 .3em 0 1.2em; vertical-align: -.15em }
"""


class Chip:
    """The tasks of one chip that ran on a core, and the names of their kernels."""

    def __init__(self, path: pathlib.Path):
        data = path.read_bytes()
        if not data or len(data) % RECORD.itemsize:
            raise ValueError(f"{path} is not a file of task records: it has {len(data)} bytes")
        records = np.frombuffer(data, RECORD)
        self.tasks = records[(records["started"] > 0) & (records["returned"] > 0)]
        self.names = pathlib.Path(f"{path}.kernels").read_text(encoding="utf-8").splitlines()
        self.name = f"chip {path.suffix[1:]}" if path.suffix[1:].isdigit() else path.name

    def name_of(self, task) -> str:
        return self.names[task["kernel"]] or "(no kernel)"


def name_of_core(core: int) -> str:
    cluster, position = divmod(core, CORES_PER_CLUSTER)
    return f"cube {cluster}" if position == 0 else f"vector {cluster}.{position - 1}"


def table(chips: list[Chip], begin: int, end: int) -> str:
    """Where each chip's time went, as lines for a terminal."""
    lines = [f"{'chip':<8} {'tasks':>6} {'cores':>6} {'in kernels':>12}  longest kernels"]
    for chip in chips:
        busy: dict[str, int] = {}
        for task in chip.tasks:
            busy[chip.name_of(task)] = busy.get(chip.name_of(task), 0) + int(task["returned"] - task["started"])
        longest = sorted(busy, key=busy.__getitem__, reverse=True)[:3]
        cores = len(np.unique(chip.tasks["core"]))
        lines.append(f"{chip.name:<8} {len(chip.tasks):>6} {cores:>6} {sum(busy.values()) / 1e6:>9.2f} ms  "
                     + ", ".join(f"{name} {busy[name] / 1e6:.2f} ms" for name in longest))
    lines.append(f"from the first task to the last: {(end - begin) / 1e6:.2f} ms")
    return "\n".join(lines)


def page(chips: list[Chip], begin: int, end: int) -> str:
    names = sorted({chip.name_of(task) for chip in chips for task in chip.tasks})
    colour = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    left, top = 130, 20
    scale = (WIDTH - left) / max(1, end - begin)
    shapes, row = [], 0
    for chip in chips:
        for core in np.unique(chip.tasks["core"]):
            y = top + row * ROW
            label = f"{chip.name}, {name_of_core(int(core))}"
            shapes.append(f'<text x="0" y="{y + 11}">{html.escape(label)}</text>')
            for task in chip.tasks[chip.tasks["core"] == core]:
                x, width = left + (task["started"] - begin) * scale, (task["returned"] - task["started"]) * scale
                title = (f"{chip.name_of(task)}, task {task['task']}: {(task['returned'] - task['started']) / 1e3:.1f} us, "
                         f"ready {(task['started'] - task['ready']) / 1e3:.1f} us before")
                shapes.append(f'<rect x="{x:.2f}" y="{y + 1}" width="{max(width, 0.6):.2f}" height="{ROW - 3}" '
                              f'fill="{colour[chip.name_of(task)]}"><title>{html.escape(title)}</title></rect>')
            row += 1
        shapes.append(f'<line x1="0" x2="{WIDTH}" y1="{top + row * ROW}" y2="{top + row * ROW}"/>')
    for tick in range(9):
        x = left + (WIDTH - left) * tick / 8
        shapes.append(f'<text x="{x:.0f}" y="12" text-anchor="{"end" if tick == 8 else "start"}">'
                      f'{(end - begin) * tick / 8e6:.2f} ms</text>')
    legend = "".join(f'<span style="background: {colour[name]}"></span>{html.escape(name)}' for name in names)
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>What ran where</title><style>{STYLE}</style>'
            f'<h1>What ran where</h1><p class="legend">{legend}</p>'
            f'<svg viewBox="0 0 {WIDTH} {top + row * ROW + 4}">{"".join(shapes)}</svg></html>\n')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("records", nargs="+", type=pathlib.Path, metavar="RECORDS", help="files of BATON_PROFILE=FILE")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="PAGE", help="the HTML file to write")
    options = parser.parse_args()
    try:
        chips = [Chip(path) for path in options.records if path.suffix != ".kernels"]
        tasks = np.concatenate([chip.tasks for chip in chips])
        if not len(tasks):
            raise ValueError("no task ran on a core")
        begin, end = int(tasks["started"].min()), int(tasks["returned"].max())
        options.output.write_text(page(chips, begin, end), encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"timeline: {error}", file=sys.stderr)
        return 1
    print(table(chips, begin, end))
    print(f"what ran where, as a page: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

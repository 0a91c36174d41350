"""The page with plots: one file without scripts, from the objects that the JSON file holds."""

import math
from html import escape

from harness.cases import BYTES, OURS
from harness.table import MISSING, bytes_text, ratio_text, time_text

FLOOR = "floor"
WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 40

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --faint: #667; --grid: #e3e6ea;
  --c0: #0b62c4; --c1: #b4520a; --c2: #1a7f4b; --c3: #8250b0; --c4: #a13060; --floor: #8a9099; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #e8eaed; --faint: #a0a7b0; --grid: #2c3138;
  --c0: #6db3ff; --c1: #f0a35e; --c2: #62d394; --c3: #c9a2f0; --c4: #f08bb4; --floor: #7d8590; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 92rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .4rem; }
.facts, figcaption, .legend { color: var(--faint); }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; } figcaption { text-align: center; }
svg text { fill: var(--faint); font-size: 11px; }
.grid { stroke: var(--grid); } .line { fill: none; stroke-width: 2; }
.legend span { display: inline-block; margin-right: 1.2em; }
.legend i { display: inline-block; width: 1.6em; border-top: 3px solid; vertical-align: middle; margin-right: .4em; }
.legend i.dashed { border-top-style: dashed; }
table { border-collapse: collapse; margin-top: .5rem; }
td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid var(--grid);
  font-variant-numeric: tabular-nums; }
td:first-child, th:first-child { text-align: left; }
"""


def page_of(*documents):
    """The whole page, one suite below the other."""
    title = ", ".join(suite_of(document) for document in documents)
    parts = [
        "<!doctype html>", '<html lang="en">', '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Baton: {escape(title)}</title>", f"<style>{STYLE}</style>",
    ]
    for document in documents:
        parts += parts_of(document)
    return "\n".join([*parts, "</html>", ""])


def suite_of(document):
    return document["header"].get("suite", "bench")


def parts_of(document):
    header, results = document["header"], document["results"]
    names = contenders_of(results)
    parts = [f"<h1>Baton: {escape(suite_of(document))}</h1>", f'<p class="facts">{escape(facts_of(header))}</p>',
             legend_of(names)]
    for section, groups in sections_of(results).items():
        parts.append(f"<h2>{escape(section)}</h2>")
        parts.append('<div class="plots">')
        parts += [plot_of(title, rows, names) for title, rows in groups.items()]
        parts.append("</div>")
    return [*parts, "<h2>All numbers</h2>", table_of(results, names)]


def contenders_of(results):
    """Ours first, then every peer that has a number, then the floor."""
    peers = dict.fromkeys(name for result in results for name, value in result["peers"].items() if value is not None)
    floor = [FLOOR] if any(result["floor"] is not None for result in results) else []
    return [OURS, *peers, *floor]


def sections_of(results):
    """{section: {plot: rows}}: cases that differ in size only are one plot, those that differ in ranks too a section."""
    plots = {}
    for result in results:
        words = result["case"].split("/")
        if result["bytes"] and len(words) > 1:
            words = words[:-1]
        plots.setdefault("/".join(words), []).append(result)
    sections = {}
    for title, rows in plots.items():
        rows = sorted((row for row in rows if row["ours"] is not None), key=lambda row: row["bytes"])
        if len(rows) < 2:
            continue
        words = title.split("/")
        by_ranks = words[-1] == str(rows[0]["ranks"])
        section = "/".join(words[:-1]) if by_ranks and len(words) > 1 else title
        name = f"{rows[0]['ranks']} ranks" if by_ranks else title
        sections.setdefault(section, {})[name] = rows
    return sections


def value_of(result, name):
    if name == OURS:
        return result["ours"]
    return result["floor"] if name == FLOOR else result["peers"].get(name)


def colour_of(names, name):
    return "var(--floor)" if name == FLOOR else f"var(--c{names.index(name) % 5})"


def facts_of(header):
    """What one must know about the machine, in one line."""
    known = ("processor", "processors", "arch", "kernel", "commit", "date", "load_at_start")
    words = [f"{key.replace('_', ' ')}: {header[key]}" for key in known if header.get(key) not in (None, "")]
    return "; ".join(words)


def legend_of(names):
    entries = []
    for name in names:
        dashed = ' class="dashed"' if name == FLOOR else ""
        entries.append(f'<span><i{dashed} style="color: {colour_of(names, name)}"></i>{escape(name)}</span>')
    return f'<p class="legend">{"".join(entries)} Time of one operation over its size; lower is better.</p>'


class Axis:
    """A logarithmic scale from the smallest to the largest value, onto pixels."""

    def __init__(self, values, begin, end, base):
        self._base = base
        self._low = math.floor(math.log(min(values), base) + 1e-9)
        self._high = max(self._low + 1, math.ceil(math.log(max(values), base) - 1e-9))
        self._begin, self._end = begin, end

    def at(self, value):
        share = (math.log(value, self._base) - self._low) / (self._high - self._low)
        return round(self._begin + share * (self._end - self._begin), 1)

    def ticks(self, most):
        every = max(1, -(-(self._high - self._low) // most))
        return [self._base ** power for power in range(self._low, self._high + 1, every)]


def plot_of(title, rows, names):
    """One drawing: time over size, a line for each contender."""
    size_in = rows[0].get("size_in", BYTES)
    size = size_text if size_in == BYTES else str
    caption = title if size_in == BYTES else f"{title}, over {size_in}"
    points = {name: [(row["bytes"], value_of(row, name)) for row in rows if value_of(row, name)] for name in names}
    text = bytes_text if rows[0]["unit"] == BYTES else time_text
    x = Axis([row["bytes"] for row in rows], LEFT, WIDTH - RIGHT, 2)
    y = Axis([value for line in points.values() for _, value in line], HEIGHT - BOTTOM, TOP, 10)
    drawn = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
             f'aria-label="{escape(title)}">']
    for tick in x.ticks(6):
        drawn.append(f'<path class="grid" d="M{x.at(tick)} {TOP}V{HEIGHT - BOTTOM}"/>'
                     f'<text x="{x.at(tick)}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
                     f'{size(tick)}</text>')
    for tick in y.ticks(6):
        drawn.append(f'<path class="grid" d="M{LEFT} {y.at(tick)}H{WIDTH - RIGHT}"/>'
                     f'<text x="{LEFT - 6}" y="{y.at(tick) + 4}" text-anchor="end">{tick_text(text, tick)}</text>')
    for name in reversed(names):  # ours on top
        drawn += line_of(name, points[name], x, y, colour_of(names, name), text, size)
    drawn.append("</svg>")
    return f'<figure>{"".join(drawn)}<figcaption>{escape(caption)}</figcaption></figure>'


def line_of(name, points, x, y, colour, text, size):
    if not points:
        return []
    path = "L".join(f"{x.at(count)} {y.at(value)}" for count, value in points)
    dashes = ' stroke-dasharray="5 4"' if name == FLOOR else ""
    dots = [f'<circle cx="{x.at(count)}" cy="{y.at(value)}" r="3" style="fill: {colour}">'
            f"<title>{escape(name)}, {size(count)}: {text(value)}</title></circle>" for count, value in points]
    return [f'<path class="line" style="stroke: {colour}"{dashes} d="M{path}"/>', *dots]


def size_text(count):
    return bytes_text(count).replace(".00", "").replace(".0", "")


def tick_text(text, value):
    return text(value).replace(".00", "").replace(".0", "")


def table_of(results, names):
    head = ["case", *names, "/ best peer", "/ floor"]
    lines = ["<table>", "<tr>" + "".join(f"<th>{escape(word)}</th>" for word in head) + "</tr>"]
    for result in results:
        text = bytes_text if result["unit"] == BYTES else time_text
        cells = [result["case"], *(text(value_of(result, name)) for name in names),
                 ratio_text(result["ratio_best_peer"]), ratio_text(result["ratio_floor"])]
        lines.append("<tr>" + "".join(f"<td>{escape(cell or MISSING)}</td>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</table>"])

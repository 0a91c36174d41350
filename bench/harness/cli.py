"""The command line of bench/run."""

import argparse
import fnmatch
import importlib
import json
import os
import sys

from harness import build, machine, mpi, programs
from harness.cases import Plan
from harness.page import page_of
from harness.progress import Progress
from harness.race import entries_of, race
from harness.results import failed, result_of
from harness.table import Table

BENCH_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE_DIR = os.path.dirname(BENCH_DIR)
QUICK_REPEATS = 3
REPEATS = 7


def suites():
    """Each folder here with a suite.py."""
    return sorted(name for name in os.listdir(BENCH_DIR) if os.path.exists(os.path.join(BENCH_DIR, name, "suite.py")))


def parser():
    result = argparse.ArgumentParser(prog="bench/run", description="Measures Baton beside its peers and the floor.")
    result.add_argument("suite", choices=suites(), help="what to measure")
    result.add_argument("--quick", action="store_true", help="fewer cases and shorter runs: at most one minute")
    result.add_argument("--case", action="append", metavar="GLOB", help="only cases with such a name; may be repeated")
    result.add_argument("--repeats", type=int, metavar="N", help=f"rounds ({REPEATS}, or {QUICK_REPEATS} with --quick)")
    result.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    result.add_argument("--json", metavar="PATH", help="where the results go (BUILD/bench/SUITE.json)")
    result.add_argument("--html", metavar="PATH", help="also writes a page with plots")
    result.add_argument("--from", metavar="PATH", dest="recorded",
                        help="measures nothing: the page of --html is about the results in this JSON file")
    result.add_argument("--build-dir", metavar="BUILD", default=os.path.join(SOURCE_DIR, "build"), help="(build)")
    result.add_argument("--no-build", action="store_true", help="use the programs that are there")
    return result


def selected(cases, quick, globs):
    """The cases to run: those of --quick, or those that match."""
    if globs:
        return [case for case in cases if any(fnmatch.fnmatch(case.name, glob) for glob in globs)]
    return [case for case in cases if case.in_quick or not quick]


def plan_for(options):
    bin_dir = os.path.join(options.build_dir, "bin")
    launcher = os.path.join(bin_dir, "baton")
    return Plan(
        programs=os.path.join(bin_dir, "bench"),
        launcher=launcher if os.path.exists(launcher) else None,
        processors=machine.processors(),
        quick=options.quick,
    )


def measure(cases, repeats, run, table, progress):
    """All rows, printed as they come. Stops early, with what there is, when interrupted."""
    results = []
    try:
        for case in cases:
            result = result_of(case, race(case, repeats, run, progress))
            progress.clear()
            table.row(result)
            results.append(result)
    except KeyboardInterrupt:
        progress.clear()
        say("interrupted; the finished cases are kept")
    return results


def save(path, header, results):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"header": header, "results": results}, file, indent=1)
        file.write("\n")


def draw(path, document):
    with open(path, "w", encoding="utf-8") as file:
        file.write(page_of(document))
    say(f"the page is {path}")


def draw_recorded(options):
    if options.html is None:
        say("--from goes with --html, which says where the page goes")
        return 2
    try:
        with open(options.recorded, encoding="utf-8") as file:
            document = json.load(file)
        draw(options.html, document)
    except (OSError, ValueError, KeyError) as error:
        say(f"--from {options.recorded}: no results of bench/run: {error}")
        return 2
    return 0


def say(text):
    print(f"bench: {text}", file=sys.stderr)


def main(argv=None):
    options = parser().parse_args(argv)
    if options.repeats is not None and options.repeats < 1:
        say(f"--repeats {options.repeats}: at least 1")
        return 2
    if options.recorded is not None:
        return draw_recorded(options)
    suite = importlib.import_module(f"{options.suite}.suite")
    if not (options.list or options.no_build):
        try:
            build.build(SOURCE_DIR, options.build_dir)
        except build.BuildFailed as error:
            say(str(error))
            return 1
    cases = selected(suite.cases(plan_for(options)), options.quick, options.case)
    if options.list:
        print(*(case.name for case in cases), sep="\n")
        return 0
    if not cases:
        say(f"no case of {options.suite} matches {options.case}; --list shows them")
        return 2
    built = build.build_facts(options.build_dir)
    # A suite with peers of its own says which.
    versions = getattr(suite, "versions", mpi.versions)()
    header = {"suite": options.suite, "quick": options.quick} | machine.facts(SOURCE_DIR, versions, built)
    warn(header)
    repeats = options.repeats or (QUICK_REPEATS if options.quick else REPEATS)
    table = Table(cases, lambda line: print(line, flush=True))
    table.head()
    progress = Progress(sys.stderr, cases, repeats * sum(len(entries_of(case)) for case in cases))
    results = measure(cases, repeats, programs.run, table, progress)
    table.foot()
    path = options.json or os.path.join(options.build_dir, "bench", f"{options.suite}.json")
    save(path, header, results)
    say(f"results are in {path}")
    if options.html is not None:
        draw(options.html, {"header": header, "results": results})
    return 0 if len(results) == len(cases) and not any(failed(result) for result in results) else 1


def warn(header):
    """Says what makes the numbers of this run doubtful or incomplete."""
    why = build.why_not_comparable(header["build"])
    if why:
        say(f"{why}: the ratios say little")
    load = header["load_at_start"]
    if load > header["processors"] / 2:
        say(f"the machine is busy (load {load} on {header['processors']} processors): times are noise")
    for peer, version in header["versions"].items():
        if version is None:
            say(f"{peer} is not installed: left out (scripts/setup --bench installs the peers)")

"""The command line of bench/run and of `baton bench`."""

import argparse
import ast
import contextlib
import fnmatch
import importlib.util
import json
import os
import sys
import time

from harness import build, machine, mpi, programs
from harness.beside import busy_programs
from harness.cases import Plan
from harness.page import page_of
from harness.progress import Progress
from harness.race import race, runs_of
from harness.results import failed, result_of
from harness.table import Table

BENCH_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE_DIR = os.path.dirname(BENCH_DIR)
QUICK_REPEATS = 3
REPEATS = 7
EXAMPLES = """
examples:
  {program} comm --quick                       the first table within a minute
  {program} --quick --html page.html           all suites, and a page with plots
  {program} collectives --case 'windows/allreduce/*' --json results.json
  {program} comm --case 'barrier*/8' --beside 2   the same, while others have work for both processors
  {program} --html page.html --from results.json
  {program} hosts --json grid.json --resume --within 120   a large suite in pieces; repeat until nothing is left

docs/how-to/benchmark.md says more."""


def suites():
    """Each folder here with a suite.py."""
    return sorted(name for name in os.listdir(BENCH_DIR) if os.path.exists(suite_file(name)))


def suite_file(suite):
    return os.path.join(BENCH_DIR, suite, "suite.py")


def loaded(suite):
    """Its module, by where it lies: a suite may have the name of a package that is installed."""
    spec = importlib.util.spec_from_file_location(f"{suite}_suite", suite_file(suite))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def about(suite):
    """The first sentence of what its folder says about a suite."""
    with open(suite_file(suite), encoding="utf-8") as file:
        return ast.get_docstring(ast.parse(file.read())).split("\n\n")[0].replace("\n", " ")


def parser(program):
    names = "\n".join(f"  {name:<12} {about(name)}" for name in suites())
    result = argparse.ArgumentParser(
        prog=program, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures Baton beside its peers and the floor, in turns, and prints a table.\n\nsuites:\n" + names,
        epilog=EXAMPLES.format(program=program))
    result.add_argument("suite", nargs="?", choices=suites(), metavar="SUITE", help="what to measure (all of them)")
    result.add_argument("--quick", action="store_true", help="fewer cases and shorter runs: about a minute a suite")
    result.add_argument("--case", action="append", metavar="GLOB", help="only cases with such a name; may be repeated")
    result.add_argument("--repeats", type=int, metavar="N", help=f"rounds ({REPEATS}, or {QUICK_REPEATS} with --quick)")
    result.add_argument("--beside", type=int, default=0, metavar="N",
                        help="N busy programs run beside what is measured, on the processors in turns (0)")
    result.add_argument("--within", type=float, metavar="SECONDS",
                        help="begins no case later than this: the rest is for the next run, with --resume")
    result.add_argument("--resume", action="store_true",
                        help="cases that are in the file of --json are not measured again; the others are added to it")
    result.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    result.add_argument("--json", metavar="PATH",
                        help="where the results go (BUILD/bench/SUITE.json); those of several suites are a list")
    result.add_argument("--html", metavar="PATH", help="also writes a page with plots")
    result.add_argument("--from", metavar="PATH", dest="recorded",
                        help="measures nothing: the page of --html is about the results in this JSON file")
    result.add_argument("--build-dir", metavar="BUILD", default=os.path.join(SOURCE_DIR, "build"),
                        help="the build directory (%(default)s)")
    result.add_argument("--no-build", action="store_true", help="use the programs that are there")
    return result


def selected(cases, quick, globs):
    """The cases to run: those of --quick, or those that match."""
    if globs:
        return [case for case in cases if any(fnmatch.fnmatch(case.name, glob) for glob in globs)]
    return [case for case in cases if case.in_quick or not quick]


def targets_of(modules):
    """What they measure with: the programs of all suites, or what a suite names."""
    return sorted({target for suite in modules for target in getattr(suite, "TARGETS", ("baton_bench",))})


def plan_for(options):
    bin_dir = os.path.join(options.build_dir, "bin")
    launcher = os.path.join(bin_dir, "baton")
    return Plan(
        programs=os.path.join(bin_dir, "bench"),
        launcher=launcher if os.path.exists(launcher) else None,
        processors=machine.processors(),
        quick=options.quick,
    )


def measure(cases, repeats, run, table, progress, begun_in_time):
    """All rows, printed as they come. Stops early, with what there is, when interrupted or when the time is over."""
    results = []
    try:
        for case in cases:
            if not begun_in_time():
                say(f"the time is over, {len(cases) - len(results)} of {len(cases)} cases are left")
                break
            result = result_of(case, race(case, repeats, run, progress))
            progress.clear()
            table.row(result)
            results.append(result)
    except KeyboardInterrupt:
        progress.clear()
        say("interrupted; the finished cases are kept")
    return results


def recorded_documents(path):
    """By suite, what is in a file of results; nothing if there is no such file."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        recorded = json.load(file)
    return {document["header"]["suite"]: document for document in (recorded if isinstance(recorded, list) else [recorded])}


def with_earlier(document, earlier):
    """The results of both, those of `earlier` first. Its header stays: it says when the first piece was measured."""
    return document if earlier is None else earlier | {"results": [*earlier["results"], *document["results"]]}


def save(path, documents):
    """One suite is an object, several are a list of them."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(documents[0] if len(documents) == 1 else documents, file, indent=1)
        file.write("\n")
    say(f"results are in {path}")


def draw(path, documents):
    with open(path, "w", encoding="utf-8") as file:
        file.write(page_of(*documents))
    say(f"the page is {path}")


def draw_recorded(options):
    if options.html is None:
        say("--from goes with --html, which says where the page goes")
        return 2
    try:
        with open(options.recorded, encoding="utf-8") as file:
            recorded = json.load(file)
        documents = recorded if isinstance(recorded, list) else [recorded]
        wanted = [document for document in documents if options.suite in (None, document["header"].get("suite"))]
        if not wanted:
            raise ValueError(f"nothing about the suite {options.suite}")
        draw(options.html, wanted)
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"--from {options.recorded}: no results of the benchmarks: {error}")
        return 2
    return 0


def say(text):
    print(f"bench: {text}", file=sys.stderr)


def main(argv=None, program="bench/run"):
    """`program` is how people call it. Returns the exit status."""
    try:
        try:
            return run(parser(program).parse_args(argv))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of the table has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def run(options):
    if options.repeats is not None and options.repeats < 1:
        say(f"--repeats {options.repeats}: at least 1")
        return 2
    if options.beside < 0:
        say(f"--beside {options.beside}: at least 0")
        return 2
    if options.resume and options.json is None:
        say("--resume goes with --json, which says where the results are")
        return 2
    if options.recorded is not None:
        return draw_recorded(options)
    modules = [loaded(name) for name in ([options.suite] if options.suite else suites())]
    if not (options.list or options.no_build):
        try:
            build.build(SOURCE_DIR, options.build_dir, targets_of(modules))
        except build.BuildFailed as error:
            say(str(error))
            return 1
    plan = plan_for(options)
    chosen = {}
    for suite in modules:
        if cases := selected(suite.cases(plan), options.quick, options.case):
            chosen[suite] = cases
        elif not options.list and not options.case and hasattr(suite, "why_skipped"):
            say(f"{suite.SUITE} is skipped: {suite.why_skipped()}")
    if options.list:
        print(*(case.name if options.suite else f"{case.suite} {case.name}"
                for cases in chosen.values() for case in cases), sep="\n")
        return 0
    if not chosen:
        if options.case:
            say(f"no case of {options.suite or 'any suite'} matches {options.case}; --list shows them")
        else:
            say(f"what {options.suite or 'the suites'} would measure is not installed; docs/how-to/benchmark.md says more")
        return 2
    return measure_suites(chosen, options)


def measure_suites(chosen, options):
    """Measures one suite after the other. Returns the exit status."""
    repeats = options.repeats or (QUICK_REPEATS if options.quick else REPEATS)
    documents, complete = [], True
    try:
        earlier = recorded_documents(options.json) if options.resume else {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"--resume: no results of the benchmarks in {options.json}: {error}")
        return 2
    deadline = None if options.within is None else time.monotonic() + options.within
    for suite, cases in chosen.items():
        done = {result["case"] for result in earlier.get(cases[0].suite, {"results": []})["results"]}
        cases = [case for case in cases if case.name not in done]
        if not cases:
            say(f"all cases of {suite.SUITE} that were asked for are in {options.json}")
            continue
        if len(chosen) > 1:
            say(f"suite {len(documents) + 1} of {len(chosen)}: {cases[0].suite}")
        documents.append(measure_suite(suite, cases, repeats, options, deadline))
        results = documents[-1]["results"]
        complete = complete and not any(failed(result) for result in results)
        if options.json is None:
            save(os.path.join(options.build_dir, "bench", f"{documents[-1]['header']['suite']}.json"), documents[-1:])
        if len(results) < len(cases):  # interrupted
            complete = False
            break
    if options.json is not None and documents:
        merged = {document["header"]["suite"]: with_earlier(document, earlier.get(document["header"]["suite"]))
                  for document in documents}
        save(options.json, list((earlier | merged).values()))
    if options.html is not None:
        draw(options.html, documents)
    return 0 if complete else 1


def measure_suite(suite, cases, repeats, options, deadline):
    """The object for the JSON file."""
    name = cases[0].suite
    built = build.build_facts(options.build_dir)
    # A suite with peers of its own says which.
    versions = getattr(suite, "versions", mpi.versions)()
    header = {"suite": name, "quick": options.quick, "beside": options.beside} | machine.facts(SOURCE_DIR, versions, built)
    warn(header)
    table = Table(cases, lambda line: print(line, flush=True))
    table.head()
    progress = Progress(sys.stderr, cases, sum(runs_of(case, repeats) for case in cases))
    # A suite may need something that is there while it is measured.
    around = getattr(suite, "surroundings", contextlib.nullcontext)()
    with around, busy_programs(options.beside):
        results = measure(cases, repeats, programs.run, table, progress,
                          lambda: deadline is None or time.monotonic() < deadline)
    table.foot()
    return {"header": header, "results": results}


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

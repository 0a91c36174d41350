"""Building the measuring programs."""

import os
import re
import subprocess
import sys


class BuildFailed(Exception):
    """The message says which step failed."""


def build(source_dir, build_dir, targets):
    """Configures `build_dir` with the benchmarks and builds `targets`. Output goes to stderr."""
    configure = ["cmake", "-S", source_dir, "-B", build_dir, "-DBATON_BUILD_BENCH=ON"]
    if not os.path.exists(os.path.join(build_dir, "CMakeCache.txt")):
        configure += ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    jobs = str(len(os.sched_getaffinity(0)))
    for step in (configure, ["cmake", "--build", build_dir, "-j", jobs, "--target", *targets]):
        try:
            status = subprocess.run(step, stdout=sys.stderr).returncode
        except OSError as error:
            raise BuildFailed(f"{step[0]}: {error.strerror}") from error
        if status != 0:
            raise BuildFailed(f"`{' '.join(step)}` ended with status {status}")


def build_facts(build_dir):
    """How the programs were built, from the cache of CMake."""
    names = {"CMAKE_BUILD_TYPE": "type", "CMAKE_CXX_COMPILER": "compiler", "BATON_SANITIZE": "sanitize"}
    result = {}
    try:
        with open(os.path.join(build_dir, "CMakeCache.txt"), encoding="utf-8") as cache:
            for line in cache:
                match = re.match(r"(\w+):\w+=(.*)", line)
                if match and match.group(1) in names:
                    result[names[match.group(1)]] = match.group(2)
    except OSError:
        pass
    return result


def why_not_comparable(facts):
    """Why numbers from such a build say little; None if they are fine."""
    if facts.get("sanitize"):
        return f"built with -fsanitize={facts['sanitize']}"
    if facts.get("type") not in ("Release", "RelWithDebInfo"):
        return f"built with CMAKE_BUILD_TYPE '{facts.get('type', '')}' instead of Release"
    return None

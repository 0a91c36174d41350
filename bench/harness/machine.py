"""What one has to know about a machine to read its numbers."""

import datetime
import os
import platform
import re
import subprocess


def processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def facts(source_dir, peer_versions, build):
    """The header of a result file. `build` are facts about how our own programs were built."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit_of(source_dir),
        "processors": processors(),
        "processor": _processor_name(),
        "arch": platform.machine(),
        "kernel": platform.release(),
        "load_at_start": round(os.getloadavg()[0], 2),
        "versions": peer_versions,
        "build": build,
    }


def commit_of(source_dir):
    """The commit, with a plus sign if files differ from it; None outside a repository."""
    commit = output_of("git", "-C", source_dir, "rev-parse", "--short=12", "HEAD")
    if commit is None:
        return None
    return commit.strip() + ("+" if output_of("git", "-C", source_dir, "status", "--porcelain") else "")


def version_in(text):
    """The first thing that looks like a version, or None."""
    match = re.search(r"\d+\.\d+(\.\d+)*\w*", text or "")
    return match.group() if match else None


def output_of(*argv):
    """What a command prints, or None if it is missing or fails."""
    try:
        finished = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return finished.stdout + finished.stderr


def _processor_name():
    match = re.search(r"^Model name:\s*(.+)$", output_of("lscpu") or "", re.MULTILINE)
    return match.group(1) if match else platform.processor() or None

"""The tree of processes below a test."""

from __future__ import annotations

import os
import signal

# A variable of the environment that all processes of a test inherit.
TOKEN = "KERNEL_TEST_CASE"


def _table() -> dict[int, tuple[int, int]]:
    """pid -> (parent, session) of all processes."""
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it ended
        table[int(name)] = (int(fields[1]), int(fields[3]))
    return table


def _has_token(pid: int, token: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{TOKEN}={token}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def descendants(root: int, token: str) -> set[int]:
    """All processes below `root`; orphans are found by the session that `root` leads, or by the token."""
    table = _table()
    found = {pid for pid, (_, session) in table.items()
             if pid != root and (session == root or _has_token(pid, token))}
    grown = True
    while grown:
        below = {pid for pid, (parent, _) in table.items() if parent in found or parent == root} - found - {root}
        found |= below
        grown = bool(below)
    return found


def kill_tree(root: int, token: str) -> None:
    """Ends `root` and all below it. Stops them first: what is stopped starts nothing."""
    for kind in (signal.SIGSTOP, signal.SIGKILL):
        ended: set[int] = set()
        while True:
            victims = ({root} | descendants(root, token)) - ended
            if not victims:
                break
            for pid in victims:
                try:
                    os.kill(pid, kind)
                except (ProcessLookupError, PermissionError):
                    pass
            ended |= victims

"""Options of scene tests, for pytest and for a test that is run as a program."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

from baton.compat.not_offered import TRACES, NotOffered

DIAGNOSTICS = ("--enable-chip-swimlane", "--enable-pmu", "--enable-dep-gen", "--enable-scope-stats", "--dump-args")


def add_options(add: Callable[..., Any]) -> None:
    """`add` is that of argparse, or of pytest."""
    add("--case", action="append", default=[], metavar="X", help="only this case: X, Class::X, or Class:: for all")
    add("--manual", default="exclude", choices=["exclude", "include", "only"],
        help="cases that run only when somebody asks")
    add("--rounds", type=int, default=1, metavar="N", help="runs of each case; initial values are restored")
    add("--skip-golden", action="store_true", default=False, help="compare nothing")
    add("--runtime", default=None, help="only tests for this runtime")
    add("--level", type=int, default=None, help="only tests of this level")
    for name in DIAGNOSTICS:
        add(name, nargs="?", type=int, const=1, default=0, help="not offered: Baton writes no such files")


@dataclasses.dataclass(frozen=True)
class SceneOptions:
    """What a test may know of them."""

    case: tuple[str, ...] = ()
    manual: str = "exclude"
    rounds: int = 1
    skip_golden: bool = False
    runtime: str | None = None
    level: int | None = None

    @classmethod
    def read(cls, get: Callable[[str], Any]) -> SceneOptions:
        """`get` gives an option by its name. NotOffered for one that asks for files."""
        for name in DIAGNOSTICS:
            if get(name):
                raise NotOffered(name, TRACES)
        return cls(tuple(get("--case")), get("--manual"), get("--rounds"), get("--skip-golden"), get("--runtime"),
                   get("--level"))

    def takes(self, level: int, runtime: str | None) -> bool:
        return self.level in (None, level) and self.runtime in (None, runtime)

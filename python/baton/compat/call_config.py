"""How a run is configured. Nearly all of it are hints for a chip; here they are checked and have no effect."""

from __future__ import annotations

import sys
from typing import Any

_RINGS = 4
_LIMITS = {"ring_task_window": 4, "ring_heap": 1024, "ring_dep_pool": 4}
_INSTEAD = {"enable_dump_args": "; BATON_DUMP=FOLDER writes what orchestrations dump"}
_DIAGNOSTICS = ("enable_chip_swimlane", "enable_dump_args", "enable_pmu", "enable_dep_gen", "enable_scope_stats")


class RuntimeEnv:
    """Sizes of the rings of a chip: one number for all four, or a list. They read as lists. 0: the runtime's choice.

    Baton's rings have no such sizes: these are only checked."""

    __slots__ = ("_values",)

    def __init__(self, **given: Any):
        object.__setattr__(self, "_values", {name: [0] * _RINGS for name in _LIMITS})
        for name, value in given.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> list[int]:
        try:
            return list(object.__getattribute__(self, "_values")[name])
        except KeyError:
            raise AttributeError(f"runtime_env has {', '.join(_LIMITS)}, not {name}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _LIMITS:
            raise AttributeError(f"runtime_env has {', '.join(_LIMITS)}, not {name}")
        values = [int(value)] * _RINGS if isinstance(value, int) else [int(one) for one in value]
        if len(values) != _RINGS:
            raise ValueError(f"{name} takes one number or {_RINGS}, not {len(values)}")
        self._values[name] = values

    def validate(self) -> None:
        for name, least in _LIMITS.items():
            for value in self._values[name]:
                if value and value < least:
                    raise ValueError(f"runtime_env.{name} is {value}; it is 0 or at least {least}")
                if value and name == "ring_task_window" and value & (value - 1):
                    raise ValueError(f"runtime_env.{name} is {value}, which is not a power of 2")


class CallConfig:
    """The configuration of one run."""

    _NAMES = ("aicpu_thread_num", "runtime_env", *_DIAGNOSTICS, "output_prefix")
    _told: set[str] = set()

    def __init__(self) -> None:
        self.aicpu_thread_num = 0
        self.runtime_env = RuntimeEnv()
        for name in _DIAGNOSTICS:
            setattr(self, name, 0)
        self.output_prefix = ""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._NAMES:
            raise AttributeError(f"CallConfig has {', '.join(self._NAMES)}, not {name}")
        object.__setattr__(self, name, value)

    def validate(self) -> None:
        """Raises ValueError for what a chip would refuse."""
        for name, most in (("enable_chip_swimlane", 4), ("enable_dump_args", 3)):
            if not 0 <= int(getattr(self, name)) <= most:
                raise ValueError(f"{name} is {getattr(self, name)}; it is 0 to {most}")
        wanted = [name for name in _DIAGNOSTICS if getattr(self, name)]
        if wanted and not self.output_prefix:
            raise ValueError(f"{wanted[0]} needs an output_prefix")
        self.runtime_env.validate()

    def check(self) -> CallConfig:
        """validate(), and a word about diagnostics that nothing writes."""
        self.validate()
        for name in _DIAGNOSTICS:
            if getattr(self, name) and name not in self._told:
                self._told.add(name)
                print(f"baton.compat: CallConfig.{name} is accepted, but no file is written{_INSTEAD.get(name, '')}",
                      file=sys.stderr)
        return self

    def __repr__(self) -> str:
        return f"CallConfig({', '.join(f'{name}={value!r}' for name, value in vars(self).items() if value)})"

"""What a suite consists of."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.programs import Command

OURS = "ours"
# Units: nanoseconds per operation, and memory.
NS, BYTES = "ns", "bytes"


@dataclass(frozen=True)
class Contender:
    """One way to do a case. Several of the same name are settings of one peer, of which the best counts."""

    name: str
    setting: str
    command: Command


@dataclass(frozen=True)
class Floor:
    """The least a case can cost, as a function of things that can be measured: `parts` by name."""

    parts: dict[str, Command]
    of: Callable[[dict[str, float]], float]
    formula: str


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    suite: str
    name: str
    contenders: tuple[Contender, ...]
    floor: Floor | None = None
    ranks: int = 1
    bytes: int = 0
    # What the number in `bytes` counts, where it is not bytes.
    size_in: str = BYTES
    in_quick: bool = False
    unit: str = NS


@dataclass(frozen=True)
class Plan:
    """What a suite may count on when it builds its cases."""

    programs: str
    launcher: str | None
    processors: int
    quick: bool = False

    @property
    def budget_ms(self):
        """How long the timed part of one program should last."""
        return 40 if self.quick else 300

    @property
    def limit_s(self):
        """How long one program may take in all."""
        return 10 if self.quick else 30

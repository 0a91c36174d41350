"""Which cases of which classes run."""

from __future__ import annotations

from typing import Any, Iterable


def is_manual(case: dict, platform: str) -> bool:
    """A case that runs only when somebody asks: on all platforms, or on those it lists."""
    manual = case.get("manual", False)
    return manual if isinstance(manual, bool) else platform in manual


def _named(case: dict, class_name: str, wanted: Iterable[str]) -> bool:
    """--case X, Class::X or Class::"""
    names = list(wanted)
    if not names:
        return True
    for one in names:
        of_class, colons, name = one.rpartition("::")
        if (not colons or of_class == class_name) and name in ("", case["name"]):
            return True
    return False


def matching_cases(test_class: Any, platform: str, wanted: Iterable[str] = (), manual: str = "exclude") -> list[dict]:
    """The cases of a class for a platform. manual: exclude, include or only."""
    return [case for case in test_class.CASES
            if platform in case["platforms"] and _named(case, test_class.__name__, wanted)
            and (manual == "include" or is_manual(case, platform) == (manual == "only"))]


def device_count(test_class: Any, cases: Iterable[dict]) -> int:
    """How many devices the cases need."""
    if test_class._st_level == 2:
        return 1
    return max((case.get("config", {}).get("device_count", 1) for case in cases), default=1)

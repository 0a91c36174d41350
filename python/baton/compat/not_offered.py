"""What existing programs may ask for and Baton does not have."""

from __future__ import annotations


class NotOffered(NotImplementedError):
    """A feature of the public runtime that baton.compat does not have. The text names it and says why."""

    def __init__(self, feature: str, why: str):
        super().__init__(f"baton.compat does not offer {feature}: {why}")
        self.feature = feature


LEVEL_4 = "it is for several hosts (level 4); baton.Worker(hosts=...) drives chips of several"
CHANNELS = "a task that runs has no channel to the host"
TRACES = "Baton writes no such files; baton trace shows what ran when"

_NAMES = {
    "MpiL3GroupSpec": LEVEL_4, "GlobalCommDomainHandle": LEVEL_4,
    "create_worker_chip_region": CHANNELS, "create_worker_chip_queue": CHANNELS,
}


def refused_name(module: str):
    """__getattr__ for a module: names that are known but not offered say so, others are unknown."""

    def getattribute(name: str):
        why = LEVEL_4 if name.startswith("Remote") else _NAMES.get(name)
        if why:
            raise NotOffered(f"{module}.{name}", why)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return getattribute

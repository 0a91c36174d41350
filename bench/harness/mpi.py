"""How the MPI peers are started, with the settings that may serve them best."""

import os
import shutil
from dataclasses import dataclass

from harness.machine import output_of, version_in
from harness.programs import Command

NO_CMA = {"UCX_TLS": "posix,sysv,self"}
# Open MPI uses UCX only over networks unless told otherwise.
UCX_ANYWHERE = ("--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any")


@dataclass(frozen=True)
class Setting:
    """One way to start an MPI: arguments of its launcher and variables of its environment."""

    name: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Mpi:
    """An MPI that is installed. Ranks bind themselves to processors, as all programs here do."""

    name: str
    launch: tuple[str, ...]
    settings: tuple[Setting, ...]

    def command(self, setting, ranks, program, arguments, limit_s):
        argv = (*self.launch, *setting.arguments, "-n", str(ranks), program, *arguments)
        return Command(argv, (dict(setting.environment),), limit_s)


OPEN_MPI = Mpi(
    "openmpi",
    ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"),
    (
        Setting("default"),
        Setting("without CMA", ("--mca", "btl_vader_single_copy_mechanism", "none")),
        Setting("pml ucx without CMA", UCX_ANYWHERE, tuple(NO_CMA.items())),
        Setting("yield when idle", ("--mca", "mpi_yield_when_idle", "1")),
    ),
)

MPICH = Mpi(
    "mpich",
    ("mpirun.mpich", "-bind-to", "none"),
    (
        Setting("default"),
        Setting("without CMA", (), tuple(NO_CMA.items())),
        Setting("UCX for all", (), (("MPIR_CVAR_NOLOCAL", "1"),)),
    ),
)


def installed(programs, prefix):
    """Each MPI whose launcher is here and whose programs, `prefix`_NAME, were built."""
    return [
        mpi
        for mpi in (OPEN_MPI, MPICH)
        if shutil.which(mpi.launch[0]) and os.path.exists(os.path.join(programs, f"{prefix}_{mpi.name}"))
    ]


def versions():
    """The version of each peer that is installed, None for the others."""
    return {
        "openmpi": version_in(output_of("mpirun.openmpi", "--version")),
        "mpich": version_in(output_of("mpichversion") or output_of("mpirun.mpich", "--version")),
        "ucx": version_in(output_of("ucx_info", "-v") or output_of("pkg-config", "--modversion", "ucx")),
    }

"""KernelCompiler: sources of kernels and orchestrations, compiled with Baton's headers."""

from __future__ import annotations

import pathlib
from typing import Any, Sequence

import baton
from baton.compat.callables import Binary, building_of

_CORES = {"aiv": "vector", "aic": "cube"}
_GENERATION = {"a2a3sim": [], "a5sim": ["BATON_A5"]}  # what headers of kernels know about the chip
PLATFORMS = tuple(_GENERATION)


class KernelCompiler:
    """Compiles for a platform. What it returns is opaque: bytes for CoreCallable and ChipCallable."""

    def __init__(self, platform: str = "a2a3sim"):
        if platform not in PLATFORMS:
            raise ValueError(f"there is no platform {platform!r} here; there are {', '.join(PLATFORMS)}")
        self.platform = platform

    @property
    def project_root(self) -> pathlib.Path:
        """A folder that callers make include paths of. Own headers come first, so it need not have any."""
        return pathlib.Path(__file__).resolve().parent

    def get_orchestration_include_dirs(self, runtime: str) -> list[str]:
        """Folders to pass to compile_orchestration(): the headers of orchestrations are found without."""
        building_of(runtime)
        return []

    def compile_incore(self, source_path: Any, core_type: str = "aiv", pto_isa_root: Any = None,
                       extra_include_dirs: Sequence[Any] | None = None) -> bytes:
        """A kernel for a vector core ("aiv") or a cube core ("aic")."""
        if core_type not in _CORES:
            raise ValueError(f"there is no core {core_type!r}; there are {', '.join(_CORES)}")
        made = baton.kernels(pathlib.Path(source_path), core=_CORES[core_type],
                             include_dirs=_folders(extra_include_dirs), defines=_GENERATION[self.platform])
        return Binary(made.library, core=_CORES[core_type]).to_bytes()

    def compile_orchestration(self, runtime_name: str, source_path: Any,
                              extra_include_dirs: Sequence[Any] | None = None) -> bytes:
        """An orchestration, for the runtime that will run it."""
        building_of(runtime_name)
        made = baton.kernels(pathlib.Path(source_path), orchestration=True, include_dirs=_folders(extra_include_dirs))
        return Binary(made.library, runtime=runtime_name).to_bytes()


def _folders(given: Sequence[Any] | None) -> list[str]:
    """Those that exist: callers name folders of a source tree that is not here."""
    return [str(folder) for folder in given or () if pathlib.Path(folder).is_dir()]


def ensure_pto_isa_root(*_: Any, **__: Any) -> str:
    """Where the tile instructions are: Baton's own headers, which every compilation finds."""
    return str(pathlib.Path(__file__).resolve().parent)

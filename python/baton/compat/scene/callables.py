"""What CALLABLE of a scene test describes, compiled."""

from __future__ import annotations

import concurrent.futures
import os
from typing import Any, Sequence

from baton.compat.callables import ChipCallable, CoreCallable
from baton.compat.kernel_compiler import KernelCompiler


def compile_chip_callable(described: dict, platform: str, runtime: str) -> ChipCallable:
    """An orchestration and its kernels."""
    compiler = KernelCompiler(platform)
    orchestration = described["orchestration"]

    def core(kernel: dict) -> tuple[int, CoreCallable]:
        binary = compiler.compile_incore(kernel["source"], kernel.get("core_type", "aiv"))
        return kernel["func_id"], CoreCallable.build(signature=kernel.get("signature", []), binary=binary)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        binary = threads.submit(compiler.compile_orchestration, runtime, orchestration["source"])
        children = list(threads.map(core, described.get("incores", ())))
    return ChipCallable.build(signature=orchestration.get("signature", []), func_name=orchestration["function_name"],
                              binary=binary.result(), children=children,
                              config_name=orchestration.get("config_name", ""))


class CallableNamespace:
    """callables.NAME is a handle, callables.NAME_sig its signature."""

    def __init__(self, handles: dict[str, Any], signatures: dict[str, Sequence[Any]]):
        self._handles, self._signatures = handles, signatures
        self._kept: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name in self._handles:
            return self._handles[name]
        if name.endswith("_sig") and name[:-4] in self._signatures:
            return self._signatures[name[:-4]]
        raise AttributeError(f"there is no callable {name!r}; there are {', '.join(self._handles)}")

    def keep(self, *objects: Any) -> None:
        """Holds on to what tasks use until the run has ended."""
        self._kept.extend(objects)

"""What workers run: compiled kernels, an orchestration with its kernels, and the handles of registered ones."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
from typing import Any, Callable, Sequence

import baton

MAX_REGISTERED_CALLABLE_IDS = 64
_MARK = b"baton.compat 1\n"

# runtime -> how the graph of an orchestration is built.
BUILDING = {"tensormap_and_ringbuffer": "stream", "host_build_graph": "captured"}


def building_of(runtime: str) -> str:
    try:
        return BUILDING[runtime]
    except KeyError:
        raise ValueError(f"there is no runtime {runtime!r}; there are {', '.join(BUILDING)}") from None


@dataclasses.dataclass(frozen=True)
class Binary:
    """What a compiler made, as the bytes that programs hand on. The library stays in the cache of kernels."""

    library: str
    core: str = ""  # of a kernel: "vector" or "cube"
    runtime: str = ""  # of an orchestration

    def to_bytes(self) -> bytes:
        content = hashlib.sha256(pathlib.Path(self.library).read_bytes()).hexdigest()
        return _MARK + json.dumps({**dataclasses.asdict(self), "content": content}, sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Binary:
        if not bytes(data).startswith(_MARK):
            raise ValueError("this binary does not come from KernelCompiler of baton.compat")
        found = json.loads(bytes(data)[len(_MARK):])
        return cls(found["library"], found["core"], found["runtime"])


class CoreCallable:
    """A compiled kernel and what it does with its arguments."""

    def __init__(self, signature: Sequence[Any], binary: bytes):
        self.signature, self.binary = list(signature), bytes(binary)
        self._compiled = Binary.from_bytes(binary)

    @classmethod
    def build(cls, signature: Sequence[Any], binary: bytes) -> CoreCallable:
        return cls(signature, binary)

    def content(self) -> bytes:
        return repr([int(direction) for direction in self.signature]).encode() + self.binary

    @property
    def compiled(self) -> Binary:
        return self._compiled


class ChipCallable:
    """An orchestration and the kernels that it submits, by number: what one task of a chip runs."""

    def __init__(self, signature: Sequence[Any], func_name: str, binary: bytes,
                 children: Sequence[tuple[int, CoreCallable]], config_name: str = ""):
        self.signature, self.func_name, self.config_name = list(signature), func_name, config_name
        self.children = [(int(func_id), core) for func_id, core in children]
        self.binary = bytes(binary)
        self._compiled = Binary.from_bytes(binary)
        self._programs: dict[str, Any] = {}

    @classmethod
    def build(cls, signature: Sequence[Any], func_name: str, binary: bytes,
              children: Sequence[tuple[int, CoreCallable]] = (), config_name: str = "") -> ChipCallable:
        return cls(signature, func_name, binary, children, config_name)

    def content(self) -> bytes:
        parts = [repr([int(direction) for direction in self.signature]).encode(), self.func_name.encode(),
                 self.config_name.encode(), self.binary]
        for func_id, core in self.children:
            parts += [str(func_id).encode(), core.content()]
        return b"\0".join(parts)

    def program(self, runtime: str = "") -> baton.ChipProgram:
        """For a chip that builds graphs as `runtime` does; empty: as the compiler was told."""
        building = building_of(runtime or self._compiled.runtime)
        if building not in self._programs:
            kernels = {func_id: (core.compiled.library, core.compiled.core) for func_id, core in self.children}
            self._programs[building] = baton.ChipProgram(self._compiled.library, kernels=kernels, entry=self.func_name,
                                                         config=self.config_name, building=building)
        return self._programs[building]


class CallableHandle:
    """A registered callable. Handles of equal callables are equal."""

    def __init__(self, target: Any, digest: bytes):
        self._target, self.digest = target, digest

    @property
    def hashid(self) -> str:
        return f"sha256:{self.digest.hex()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallableHandle) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<CallableHandle {self.hashid[:19]}>"


def _digest_of(target: Any) -> bytes:
    if isinstance(target, ChipCallable):
        return hashlib.sha256(target.content()).digest()
    code = getattr(target, "__code__", None)
    # Functions of one code differ in what they hold, and so do other objects that can be called.
    held = any(getattr(target, name, None) for name in ("__closure__", "__defaults__", "__kwdefaults__", "__self__"))
    known = code is not None and not held
    parts = [getattr(target, "__module__", ""), getattr(target, "__qualname__", ""),
             code.co_code.hex() + repr(code.co_consts) if known else str(id(target))]
    return hashlib.sha256("\0".join(map(str, parts)).encode()).digest()


class Registry:
    """The callables of a worker. Equal ones count as one, until the last of their handles is unregistered."""

    def __init__(self, accepts: Callable[[Any], bool], wanted: str):
        self._accepts, self._wanted = accepts, wanted
        self._targets: dict[bytes, Any] = {}
        self._handles: dict[int, CallableHandle] = {}

    def register(self, target: Any) -> CallableHandle:
        if not self._accepts(target):
            raise TypeError(f"register takes {self._wanted}, not a {type(target).__name__}")
        digest = _digest_of(target)
        if digest not in self._targets:
            if len(self._targets) >= MAX_REGISTERED_CALLABLE_IDS:
                raise RuntimeError(f"{len(self._targets)} callables are registered, and MAX_REGISTERED_CALLABLE_IDS is "
                                   f"{MAX_REGISTERED_CALLABLE_IDS}; unregister one first")
            self._targets[digest] = target
        handle = CallableHandle(self._targets[digest], digest)
        self._handles[id(handle)] = handle
        return handle

    def unregister(self, handle: CallableHandle) -> None:
        if self._handles.pop(id(handle), None) is None:
            raise RuntimeError(f"{handle!r} is not registered")
        if all(other.digest != handle.digest for other in self._handles.values()):
            del self._targets[handle.digest]

    def target(self, handle: Any, kind: type | None = None) -> Any:
        """What a handle stands for. RuntimeError for one that is not registered."""
        if not isinstance(handle, CallableHandle):
            raise TypeError(f"a registered callable is passed as its handle, not as a {type(handle).__name__}")
        found = self._targets.get(handle.digest)
        if found is None:
            raise RuntimeError(f"{handle!r} is not registered with this worker")
        if kind is not None and not isinstance(found, kind):
            raise TypeError(f"{handle!r} is a {type(found).__name__}, not a {kind.__name__}")
        return found

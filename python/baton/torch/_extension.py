"""The extension module that is compiled against the PyTorch that is installed: where it is, and how it is made.

    python baton/torch/_extension.py FOLDER

compiles it into FOLDER, for packages that bring it along."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import baton
import torch

MODULE = "_process_group"
_SOURCES = ("tensors.cpp", "work.cpp", "message_work.cpp", "meeting.cpp", "process_group.cpp", "reductions.cpp",
            "moves.cpp", "all_to_all.cpp", "messages.cpp", "module.cpp")
_OLDEST = (2, 0)
_FOLDER = pathlib.Path(__file__).resolve().parent
_PACKAGE = pathlib.Path(baton.__file__).parent
_TORCH = pathlib.Path(torch.__file__).parent
# What a package brings along that was built where PyTorch is.
PREBUILT = _PACKAGE / "torch" / "prebuilt"


def find_or_build() -> str:
    """The path of the module for this PyTorch, which is compiled if nobody has done so. Loads what it links."""
    _check_version()
    ctypes.CDLL(str(_library()))
    name = _file_name()
    for folder in (PREBUILT, _cache()):
        if (folder / name).exists():
            return str(folder / name)
    folder = _cache()
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / f"{name}.lock"):
        if not (folder / name).exists():
            _say(f"compiling the process group for PyTorch {torch.__version__}, once; it is kept in {folder}")
            begun = time.monotonic()
            build(folder)
            _say(f"compiled in {time.monotonic() - begun:.0f} s")
    return str(folder / name)


def build(folder: pathlib.Path) -> None:
    """Compiles the module into `folder`. All sources are read at once: most of the time goes into PyTorch's headers."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as work:
        source = pathlib.Path(work) / "all.cpp"
        source.write_text("".join(f'#include "{name}"\n' for name in _SOURCES))
        made = pathlib.Path(work) / "made.so"
        abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
        command = [_compiler(), "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w",
                   f"-DTORCH_EXTENSION_NAME={MODULE}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
                   *_pybind_settings(), f"-I{_FOLDER / 'source'}", f"-I{_headers()}"]
        command += [f"-isystem{path}" for path in (*_torch_headers(), sysconfig.get_path("include"))]
        command += [str(source), "-o", str(made), str(_library())]
        command += [f"-L{_TORCH / 'lib'}", "-ltorch_python", "-ltorch_cpu", "-lc10"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise ImportError(f"baton.torch: the process group does not compile against PyTorch {torch.__version__}; "
                              f"{command[0]} says:\n{result.stdout[-4000:]}")
        # At once, and only when it is whole.
        made.rename(folder / _file_name())


def _say(text: str) -> None:
    print(f"baton: {text}", file=sys.stderr, flush=True)


def _check_version() -> None:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < _OLDEST:
        raise ImportError(f"baton.torch needs PyTorch {_OLDEST[0]}.{_OLDEST[1]} or later; this is {torch.__version__}")


def _file_name() -> str:
    """Different for each PyTorch, Python and Baton, and for each change of the sources and of how they are compiled."""
    content = hashlib.sha256()
    for path in (pathlib.Path(__file__), *sorted((_FOLDER / "source").iterdir())):
        content.update(path.read_bytes())
    return f"{MODULE}-torch{torch.__version__}-baton{baton.__version__}-{sys.implementation.cache_tag}-" \
           f"{os.uname().machine}-{content.hexdigest()[:12]}.so"


def _cache() -> pathlib.Path:
    named = os.environ.get("BATON_CACHE_DIR")
    if named:
        return pathlib.Path(named) / "torch"
    of_user = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(of_user) / "baton" / "torch"


def _first_existing(what: str, paths: list[pathlib.Path]) -> pathlib.Path:
    for path in paths:
        if path.exists():
            return path
    raise ImportError(f"baton.torch: {what} is missing; looked for {' and '.join(map(str, paths))}")


def _library() -> pathlib.Path:
    """In an installed package, and in the build tree."""
    name = "libbaton_torch.so"
    return _first_existing(name, [_PACKAGE / "lib" / name, _PACKAGE.parent.parent / "lib" / name])


def _headers() -> pathlib.Path:
    """In an installed package, and beside the sources of the build tree."""
    mark = pathlib.Path("baton") / "collective_types.hpp"
    return _first_existing(str(mark), [_PACKAGE / "share" / "baton" / "include" / mark,
                                       _FOLDER.parents[2] / "include" / mark]).parent.parent


def _torch_headers() -> list[pathlib.Path]:
    root = _first_existing("the headers of PyTorch", [_TORCH / "include" / "ATen"]).parent
    return [root, root / "torch" / "csrc" / "api" / "include"]


def _pybind_settings() -> list[str]:
    """What pybind11 must be told to share types with this PyTorch; later versions need nothing."""
    names = ("COMPILER_TYPE", "STDLIB", "BUILD_ABI")
    values = {name: getattr(torch._C, f"_PYBIND11_{name}", None) for name in names}
    return [f'-DPYBIND11_{name}="{value}"' for name, value in values.items() if value is not None]


def _compiler() -> str:
    """As for kernels."""
    for name in filter(None, (os.environ.get("BATON_CXX"), "c++", "g++", "clang++")):
        if path := shutil.which(name):
            return path
    raise ImportError("baton.torch: there is no C++ compiler (c++, g++, clang++) to compile the process group with; "
                      "BATON_CXX names one")


@contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """One process compiles; the others wait for it, and a lock ends with its process."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    build(target)

"""How functions, their arguments and what they raise travel between a program and its sub-workers."""

from __future__ import annotations

import importlib
import os
import pickle
import runpy
import sys
import traceback
from typing import Any, Callable, NamedTuple

from baton._errors import Code, Error


class Call(NamedTuple):
    """One call of a function in a sub-worker."""

    how: tuple  # as portable() says
    parent: int  # the process whose memory the tensors are
    tensors: list[tuple]
    scalars: bytes  # packed
    path: list[str]  # where the parent would import from now


class Raised(NamedTuple):
    """What the function raised."""

    failure: BaseException
    summary: str  # "ValueError: too large"
    text: str  # with the traceback


def portable(function: Callable) -> tuple:
    """How a function travels: ("import", module, name), ("main", file, name) or ("pickle", bytes)."""
    name, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "") or ""
    if name and "<" not in name:
        if module == "__main__":
            file = getattr(sys.modules["__main__"], "__file__", None)
            if file:
                return "main", os.path.abspath(file), name
        else:
            target: Any = sys.modules.get(module)
            for part in name.split("."):
                target = getattr(target, part, None)
            if target is function:
                return "import", module, name
    try:
        import cloudpickle
    except ImportError:
        raise Error(Code.unsupported, f"the function {name or function!r} cannot travel to another process",
                    ["it is neither a function of a module nor is cloudpickle installed",
                     "define it at the top of a module, or install cloudpickle"]) from None
    return "pickle", _pickled(cloudpickle, function, f"the function {name or function!r}")


def packed(scalars: list[Any], function: Callable) -> bytes:
    """The arguments of a function that are not tensors."""
    try:
        import cloudpickle as pickler  # takes what is defined in __main__ along
    except ImportError:
        pickler = pickle
    return _pickled(pickler, scalars, f"an argument of {getattr(function, '__qualname__', function)}()")


def _pickled(pickler: Any, value: Any, what: str) -> bytes:
    try:
        return pickler.dumps(value)
    except Exception as failure:
        raise Error(Code.invalid_argument, f"{what} cannot travel to another process: {failure}",
                    ["pass plain data, or what can be pickled"]) from failure


def name_of(how: tuple) -> str:
    """What messages call the function."""
    return f"{how[2]}()" if len(how) > 2 else "a function"


_importing: str | None = None  # the file of a program that is being imported for its functions


def check_not_importing(what: str) -> None:
    """Raises Error where a program, imported by a sub-worker of its own, begins from the start: it lacks the guard."""
    if _importing is not None:
        raise Error(Code.invalid_argument, f"{_importing} {what} when a sub-worker imports it, instead of only defining "
                                           "its functions",
                    ["a sub-worker imports the program to find the function that submit_sub() was given",
                     "put what the program does below: if __name__ == \"__main__\":"])


def _import_main(file: str) -> dict[str, Any]:
    global _importing
    _importing = file
    try:
        return runpy.run_path(file, run_name="__baton_sub__")
    finally:
        _importing = None


def resolve(how: tuple, loaded: dict) -> Callable:
    """The function that portable() described."""
    if how in loaded:
        return loaded[how]
    kind, *rest = how
    if kind == "pickle":
        function = pickle.loads(rest[0])
    else:
        module, name = rest
        first, *inner = name.split(".")
        if kind == "main":
            if module not in loaded:
                loaded[module] = _import_main(module)
            function = loaded[module][first]
        else:
            function = getattr(importlib.import_module(module), first)
        for part in inner:
            function = getattr(function, part)
    loaded[how] = function
    return function


def raised(failure: BaseException) -> Raised:
    """An exception for the way back; one that cannot be pickled is told by its text."""
    summary = traceback.format_exception_only(failure)[-1].strip()
    text = "".join(traceback.format_exception(failure))
    try:
        pickle.loads(pickle.dumps(failure))
    except Exception:
        failure = RuntimeError(summary)
    failure.__traceback__ = None
    return Raised(failure, summary, text)

"""The module names that existing programs import, for this process.

They stand in sys.modules, so that folders of the same names on sys.path are never looked at: a checkout of the other
project may be the current folder."""

from __future__ import annotations

import importlib
import importlib.abc
import sys
import types
from typing import Any

from baton.compat.not_offered import TRACES, NotOffered, refused_name

_PACKAGES = ("simpler", "simpler_setup", "_task_interface")

# name -> {attribute: where it is}
_MODULES: dict[str, dict[str, str]] = {
    "simpler": {},
    "simpler.task_interface": {
        "ArgDirection": "argument_types", "DataType": "argument_types", "TensorArgType": "argument_types",
        "scalar_to_uint64": "argument_types", "TaskArgs": "task_args", "CallConfig": "call_config",
        "ChipCallable": "callables", "CoreCallable": "callables", "CommBufferSpec": "domains",
        "ChipDomainContext": "domains", "MAX_REGISTERED_CALLABLE_IDS": "callables"},
    "simpler.worker": {"Worker": "worker"},
    "simpler.callable_identity": {"CallableHandle": "callables"},
    "simpler.orchestrator": {"Orchestrator": "orchestrator"},
    "_task_interface": {
        "ArgDirection": "argument_types", "DataType": "argument_types", "TensorArgType": "argument_types",
        "TaskArgs": "task_args", "CallConfig": "call_config", "ChipCallable": "callables", "CoreCallable": "callables",
        "MAX_REGISTERED_CALLABLE_IDS": "callables", "OWNER_INSTANCE_ID_BYTES": "buffer"},
    "simpler_setup": {
        "scene_test": "scene.case", "SceneTestCase": "scene.case", "TensorArg": "scene.arguments",
        "Scalar": "scene.arguments", "TaskArgsBuilder": "scene.arguments"},
    "simpler_setup.scene_test": {
        "scene_test": "scene.case", "SceneTestCase": "scene.case", "TensorArg": "scene.arguments",
        "Scalar": "scene.arguments", "TaskArgsBuilder": "scene.arguments", "CallableNamespace": "scene.callables",
        "_outputs_dir": "scene.outputs", "_sanitize_for_filename": "scene.outputs", "_compare_outputs": "scene.compare",
        "_build_chip_task_args": "scene.task_args", "_build_l3_task_args": "scene.task_args",
        "_build_l2_ref_args": "scene.task_args", "_rehosted_ref": "scene.rehost", "_rehosted_ref_for": "scene.rehost",
        "_rehosted_buffer_for": "scene.rehost"},
    "simpler_setup.kernel_compiler": {"KernelCompiler": "kernel_compiler"},
    "simpler_setup.pto_isa": {"ensure_pto_isa_root": "kernel_compiler"},
    "simpler_setup.elf_parser": {},
    "simpler_setup.torch_interop": {"make_tensor_arg": "worker"},
    "simpler_setup.log_config": {"configure_logging": "log_config"},
    "simpler_setup.goldens": {},
    "simpler_setup.goldens.paged_attention": {"generate_inputs": "goldens.paged_attention",
                                              "compute_golden": "goldens.paged_attention"},
    "simpler_setup.tools": {},
    "simpler_setup.tools.swimlane_converter": {},
}

# Modules whose functions are for a chip, or for files that nothing here writes.
_REFUSED = {
    "simpler_setup.elf_parser": "a simulated chip runs libraries, whose text sections nobody takes out",
    "simpler_setup.tools.swimlane_converter": TRACES,
}


def _refuse_all(module: str, why: str):
    """__getattr__ of a module that may be imported, but not used."""

    def getattribute(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(*_: Any, **__: Any) -> Any:
            raise NotOffered(f"{module}.{name}", why)

        refuse.__name__ = refuse.__qualname__ = name
        return refuse

    return getattribute


class _Guard(importlib.abc.MetaPathFinder):
    """Says by name what is not there, instead of finding another project's folder."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in _PACKAGES:
            raise ModuleNotFoundError(f"baton.compat does not offer the module {name}; it offers "
                                      f"{', '.join(_MODULES)}", name=name)
        return None


def _make(name: str) -> types.ModuleType:
    module = types.ModuleType(name, f"What programs use of {name}, by baton.compat.")
    module.__package__ = name
    if any(other.startswith(f"{name}.") for other in _MODULES):
        module.__path__ = []  # a package; nothing is looked for on disk
    for attribute, where in _MODULES[name].items():
        setattr(module, attribute, getattr(importlib.import_module(f"baton.compat.{where}"), attribute))
    module.__getattr__ = _refuse_all(name, _REFUSED[name]) if name in _REFUSED else refused_name(name)
    return module


def install() -> None:
    """Makes the modules importable in this process, once. RuntimeError if others of these names are loaded."""
    if any(isinstance(finder, _Guard) for finder in sys.meta_path):
        return
    loaded = [name for name in _PACKAGES if name in sys.modules]
    if loaded:
        raise RuntimeError(f"baton.compat.install(): {loaded[0]} was imported before, from elsewhere")
    for name in _MODULES:
        module = sys.modules[name] = _make(name)
        parent, _, last = name.rpartition(".")
        # simpler_setup.scene_test is a module, and, as an attribute, the decorator.
        if parent and last not in _MODULES[parent]:
            setattr(sys.modules[parent], last, module)
    sys.meta_path.insert(0, _Guard())

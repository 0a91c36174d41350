"""TaskArgs of the arguments of a scene test."""

from __future__ import annotations

from typing import Any, Sequence

from baton.compat.argument_types import ArgDirection, TensorArgType, scalar_to_uint64
from baton.compat.scene.arguments import Scalar, TaskArgsBuilder, TensorArg
from baton.compat.scene.rehost import _rehosted_ref
from baton.compat.task_args import TaskArgs

# What the test wrote before the run is there: an output is an existing one.
_TAGS = {ArgDirection.IN: TensorArgType.INPUT, ArgDirection.OUT: TensorArgType.OUTPUT_EXISTING,
         ArgDirection.INOUT: TensorArgType.INOUT}


def _build(args: TaskArgsBuilder, signature: Sequence[Any], tensor_of: Any) -> tuple[TaskArgs, list[str]]:
    directions = [ArgDirection(direction) for direction in signature]
    tensors = [spec for spec in args.specs if isinstance(spec, TensorArg)]
    given = [direction for direction in directions if direction != ArgDirection.SCALAR]
    if len(given) != len(tensors):
        raise ValueError(f"the signature has {len(given)} tensors and the arguments have {len(tensors)}: "
                         f"{[spec.name for spec in tensors]}")
    made, outputs = TaskArgs(), []
    for spec, direction in zip(tensors, given):
        made.add_tensor(tensor_of(spec), _TAGS[direction])
        if direction != ArgDirection.IN:
            outputs.append(spec.name)
    for spec in args.specs:
        if isinstance(spec, Scalar):
            made.add_scalar(scalar_to_uint64(spec.value))
    return made, outputs


def _build_chip_task_args(args: TaskArgsBuilder, signature: Sequence[Any], *_: Any) -> tuple[TaskArgs, list[str]]:
    """Over the tensors of the host, and the names of those that are written."""
    return _build(args, signature, lambda spec: spec.value)


def _build_l2_ref_args(args: TaskArgsBuilder, signature: Sequence[Any], worker: Any) -> tuple[TaskArgs, list[str]]:
    """The same by way of worker.make_tensor_arg()."""
    from baton.compat.worker import make_tensor_arg
    return _build(args, signature, lambda spec: make_tensor_arg(worker, spec.value))


def _build_l3_task_args(args: TaskArgsBuilder, signature: Sequence[Any], worker: Any = None
                        ) -> tuple[TaskArgs, list[str]]:
    """Over memory of the worker, if the tensors were moved to it."""
    return _build(args, signature,
                  lambda spec: _rehosted_ref(args, spec.name) if spec.name in args.rehosted else spec.value)

"""@scene_test and SceneTestCase."""

from __future__ import annotations

import contextlib
import copy
import os
import sys
from typing import Any, Callable, Iterator, Sequence

from baton.compat.argument_types import ArgDirection
from baton.compat.call_config import CallConfig, RuntimeEnv
from baton.compat.callables import building_of
from baton.compat.not_offered import LEVEL_4, NotOffered
from baton.compat.scene.callables import CallableNamespace, compile_chip_callable
from baton.compat.scene.compare import _compare_outputs
from baton.compat.scene.options import SceneOptions
from baton.compat.scene.rehost import rehost
from baton.compat.scene.selection import matching_cases
from baton.compat.scene.task_args import _build_chip_task_args


def _absolute(described: Any, folder: str) -> Any:
    """The same description, with sources that start at `folder`."""
    if isinstance(described, dict):
        return {key: os.path.normpath(os.path.join(folder, value)) if key == "source" else _absolute(value, folder)
                for key, value in described.items()}
    if isinstance(described, (list, tuple)):
        return type(described)(_absolute(one, folder) for one in described)
    return described


def scene_test(level: int, runtime: str = "tensormap_and_ringbuffer") -> Callable[[type], type]:
    """Marks a class as a scene test. The sources of its CALLABLE are found beside its file."""
    if level not in (2, 3):
        raise NotOffered(f"scene_test(level={level})", LEVEL_4)
    building_of(runtime)

    def decorate(test_class: type) -> type:
        folder = os.path.dirname(os.path.abspath(sys._getframe(1).f_code.co_filename))
        test_class._st_level, test_class._st_runtime = level, runtime
        if getattr(test_class, "CALLABLE", None):
            test_class.CALLABLE = _absolute(test_class.CALLABLE, folder)
        return test_class

    return decorate


class SceneTestCase:
    """A test that runs an orchestration on chips and compares tensors with a golden.

    CALLABLE        the orchestration and its kernels
    CASES           names, platforms, parameters and configurations
    generate_args   the arguments of a case
    compute_golden  changes a copy of them to what is expected
    """

    CALLABLE: dict = {}
    CASES: list[dict] = []
    RTOL = 1e-5
    ATOL = 1e-5
    _st_level = 2
    _st_runtime = "tensormap_and_ringbuffer"
    _st_chip_handles: dict[str, Any] = {}

    # For authors

    def generate_args(self, params: dict) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no generate_args()")

    def compute_golden(self, args: Any, params: dict) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no compute_golden()")

    def compare_outputs(self, test_args: Any, golden: Any, names: Sequence[str], params: dict) -> None:
        _compare_outputs(test_args, golden, names, self.RTOL, self.ATOL)

    @classmethod
    def build_callable(cls, platform: str) -> Any:
        """What CALLABLE describes, compiled: a ChipCallable; at level 3 a dictionary of them and of functions."""
        if cls._st_level == 2:
            return compile_chip_callable(cls.CALLABLE, platform, cls._st_runtime)
        return {one["name"]: one["callable"] if "callable" in one
                else compile_chip_callable(one, platform, cls._st_runtime)
                for one in cls.CALLABLE.get("callables", ())}

    # The test

    def test_run(self, st_platform: str, st_worker: Any, request: Any) -> None:
        """All cases of the platform, one after the other."""
        options = SceneOptions.read(request.config.getoption)
        cases = self._matching_cases(st_platform, request)
        if not cases:
            raise AssertionError(f"{type(self).__name__} has no case for {st_platform} with these options")
        with self._registered(st_platform, st_worker) as handles:
            for case in cases:
                try:
                    self._validate(st_worker, handles, case, options)
                except BaseException as failure:
                    _add_note(failure, f"in case {case['name']!r} of {type(self).__name__} on {st_platform}")
                    raise

    def _validate(self, worker: Any, handles: dict[str, Any], case: dict, options: SceneOptions) -> None:
        told = {"rounds": options.rounds, "skip_golden": options.skip_golden}
        if self._st_level == 2:
            self._run_and_validate_l2(worker, handles["chip"], case, **told)
        else:
            self._run_and_validate_l3(worker, handles, case, **told)

    def _matching_cases(self, platform: str, request: Any = None, *_: Any, **__: Any) -> list[dict]:
        """The cases for a platform; with a request of pytest, those that its options ask for."""
        options = SceneOptions() if request is None else SceneOptions.read(request.config.getoption)
        return matching_cases(type(self), platform, options.case, options.manual)

    @classmethod
    def register_callables(cls, platform: str, worker: Any) -> None:
        """Handles by name, in _st_chip_handles; at level 2 the one is called "chip"."""
        made = cls.build_callable(platform)
        targets = {"chip": made} if cls._st_level == 2 else made
        cls._st_chip_handles = {name: worker.register(target) for name, target in targets.items()}

    @contextlib.contextmanager
    def _registered(self, platform: str, worker: Any) -> Iterator[dict[str, Any]]:
        """The handles: of the worker that was made for this class, or registered for now."""
        made = type(self)._st_chip_handles
        if made:
            yield made
            return
        self.register_callables(platform, worker)
        try:
            yield self._st_chip_handles
        finally:
            for handle in self._st_chip_handles.values():
                worker.unregister(handle)
            type(self)._st_chip_handles = {}

    def _build_config(self, config: dict, *_: Any, **__: Any) -> CallConfig:
        made = CallConfig()
        made.aicpu_thread_num = config.get("aicpu_thread_num", 0)
        made.runtime_env = RuntimeEnv(**config.get("runtime_env", {}))
        return made

    def _effective_enable_dep_gen(self, *_: Any, **__: Any) -> bool:
        """Whether a run records how its graph came about: never here."""
        return False

    def _run_and_validate_l2(self, worker: Any, handle: Any, case: dict, rounds: int = 1, skip_golden: bool = False,
                             **_: Any) -> None:
        signature = self.CALLABLE["orchestration"].get("signature", [])
        args = self.generate_args(dict(case.get("params", {})))

        def run(config: CallConfig) -> list[str]:
            task_args, names = _build_chip_task_args(args, signature)
            worker.run(handle, task_args, config)
            return names

        self._rounds(args, case, rounds, skip_golden, run)

    def _run_and_validate_l3(self, worker: Any, handles: dict[str, Any], case: dict, rounds: int = 1,
                             skip_golden: bool = False, **_: Any) -> None:
        orchestration = self.CALLABLE.get("orchestration")
        if orchestration is None:
            raise NotImplementedError(f"CALLABLE of {type(self).__name__} has no orchestration to run")
        signatures = {one["name"]: [ArgDirection(direction) for direction in one["orchestration"].get("signature", ())]
                      for one in self.CALLABLE.get("callables", ()) if "orchestration" in one}
        args = self.generate_args(dict(case.get("params", {})))
        names = args.tensor_names()
        callables = CallableNamespace(handles, signatures)

        def run(config: CallConfig) -> list[str]:
            worker.run(lambda orch, given, used: orchestration(orch, callables, given, used), args, config)
            return names

        try:
            self._rounds(args, case, rounds, skip_golden, run, lambda: rehost(args, worker))
        finally:
            for buffer in args.rehosted.values():
                buffer.close()

    def _rounds(self, args: Any, case: dict, rounds: int, skip_golden: bool, run: Callable[[CallConfig], list[str]],
                place: Callable[[], None] = lambda: None) -> None:
        """The golden first, then `rounds` runs, each from the initial values and compared."""
        params = dict(case.get("params", {}))
        compare = not (skip_golden or case.get("skip_golden"))
        initial = args.clone() if rounds > 1 else None
        golden = args.clone() if compare else None
        if compare:
            self.compute_golden(golden, params)
        place()
        config = self._build_config(copy.deepcopy(case.get("config", {})))
        for number in range(rounds):
            if number:
                args.restore(initial)
            names = run(config)
            if compare:
                self.compare_outputs(args, golden, names, params)

    @staticmethod
    def run_module(module_name: str) -> None:
        """For `if __name__ == "__main__"`: runs the scene tests of a module, and exits with 0, 1 or 2."""
        from baton.compat.scene.run_module import run_module
        sys.exit(run_module(module_name, sys.argv[1:]))


def _add_note(failure: BaseException, text: str) -> None:
    if hasattr(failure, "add_note"):
        failure.add_note(text)
    else:  # Python 3.10
        print(text, file=sys.stderr)

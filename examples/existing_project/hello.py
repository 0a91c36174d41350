"""A program for one chip, written for the public runtime: memory of the chip, and a configuration for each run."""

import argparse
import ctypes
import sys

import numpy as np

from callables import RUNTIME, blend
from simpler.task_interface import CallConfig, DataType, TaskArgs, TensorArgType, scalar_to_uint64
from simpler.worker import Worker
from simpler_setup.log_config import configure_logging

COUNT = 2048


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    parser.add_argument("-d", "--device", type=int, default=0)
    options = parser.parse_args()
    configure_logging("warning")

    worker = Worker(level=2, platform=options.platform, runtime=RUNTIME, device_id=options.device)
    worker.init()
    handle = worker.register(blend(options.platform))
    a, b, out = (worker.malloc(4 * COUNT) for _ in range(3))
    host, result = np.arange(COUNT, dtype=np.float32), np.zeros(COUNT, np.float32)
    worker.copy_to(a, host)
    worker.copy_to(b, host)
    args = TaskArgs()
    for buffer, tag in ((a, TensorArgType.INPUT), (b, TensorArgType.INPUT), (out, TensorArgType.OUTPUT_EXISTING)):
        args.add_tensor(buffer.tensor((COUNT,), DataType.FLOAT32), tag)
    args.add_scalar(scalar_to_uint64(ctypes.c_float(0.5)))
    good = True
    for window in (16, [16, 32, 64, 128]):
        config = CallConfig()
        config.aicpu_thread_num = 4
        config.runtime_env.ring_task_window = window
        config.runtime_env.ring_heap = 1 << 20
        config.validate()
        worker.run(handle, args, config)
        worker.copy_from(result, out)
        good = good and np.array_equal(result, host)
        result[:] = 0
    for buffer in (a, b, out):
        worker.free(buffer)
    worker.unregister(handle)
    worker.close()
    print("hello from a chip" if good else "MISMATCH")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

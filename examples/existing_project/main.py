"""A program of two levels of workers, written for the public runtime: chips of a node add up what they have."""

import argparse
import sys

import numpy as np

from callables import RUNTIME, sum_ranks
from simpler.task_interface import CallConfig, CommBufferSpec, DataType, TaskArgs, TensorArgType
from simpler.worker import Worker

COUNT = 256


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    parser.add_argument("-d", "--device", default="0-1")
    options = parser.parse_args()
    first, _, last = options.device.partition("-")
    devices = list(range(int(first), int(last or first) + 1))

    worker = Worker(level=3, platform=options.platform, runtime=RUNTIME, device_ids=devices, num_sub_workers=1)
    summed = worker.register(sum_ranks(options.platform))
    told = worker.register(lambda args: print(f"chip 0 has {np.frombuffer(args[0].buffer, np.float32)[:3]}"))
    worker.init()
    try:
        buffers = [(worker.create_buffer(4 * COUNT), worker.create_buffer(4 * COUNT)) for _ in devices]
        for rank, (x, _) in enumerate(buffers):
            np.frombuffer(x.shm.buf, np.float32)[:] = np.arange(COUNT) + 100 * rank
        ranks = list(range(len(devices)))

        def orchestration(orch, args, config):
            inbox = 4 * COUNT * len(ranks)
            specs = [CommBufferSpec(name="inbox", dtype="float32", count=COUNT * len(ranks), nbytes=inbox),
                     CommBufferSpec(name="signal", dtype="int32", count=1, nbytes=4)]
            with orch.allocate_domain(name="all", workers=ranks, window_size=inbox + 64, buffers=specs) as domain:
                tasks = []
                for rank in ranks:
                    x, out = buffers[rank]
                    window = domain[rank].buffers
                    task = TaskArgs()
                    task.add_tensor(x.tensor((COUNT,), DataType.FLOAT32), TensorArgType.INPUT)
                    task.add_tensor(out.tensor((COUNT,), DataType.FLOAT32), TensorArgType.OUTPUT_EXISTING)
                    task.add_tensor(window["inbox"].tensor((COUNT * len(ranks),), DataType.FLOAT32), TensorArgType.INOUT)
                    task.add_tensor(window["signal"].tensor((1,), DataType.INT32), TensorArgType.INOUT)
                    task.add_scalar(domain[rank].device_ctx)
                    tasks.append(task)
                orch.submit_next_level_group(summed, tasks, config, workers=ranks)
            result = TaskArgs()
            result.add_tensor(buffers[0][1].tensor((COUNT,), DataType.FLOAT32), TensorArgType.INPUT)
            orch.submit_sub(told, result)

        worker.run(orchestration, args=None, config=CallConfig())
        golden = sum(np.frombuffer(x.shm.buf, np.float32) for x, _ in buffers)
        good = all(np.array_equal(np.frombuffer(out.shm.buf, np.float32), golden) for _, out in buffers)
        print("all ranks agree with the golden" if good else "MISMATCH")
        return 0 if good else 1
    finally:
        worker.close()


if __name__ == "__main__":
    sys.exit(main())

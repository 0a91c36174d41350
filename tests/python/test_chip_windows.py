"""Windows that belong to chips: kernels of all members reach them, on any platform."""

import numpy as np
import pytest

import baton


def test_kernels_reach_the_parts_of_all_members(tmp_path):
    source = tmp_path / "give.cpp"
    source.write_text("""
#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

/// The next rank's number[0] = this rank + 10; then tells it.
BATON_KERNEL(give, InOut<int32_t> number, int32_t* told, CommContext* numbers, CommContext* counters) {
  const auto next = static_cast<int>((numbers->rankId + 1) % numbers->rankNum);
  *pto::comm::CommRemotePtr(numbers, number.data(), next) = static_cast<int32_t>(numbers->rankId) + 10;
  const pto::comm::Signal there(pto::comm::CommRemotePtr(counters, told, next));
  pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
}
""")
    give = baton.kernel(source, "give")

    def body(me):
        with baton.Chip(domain=me, clusters=1, threads=1) as chip:
            numbers, told = chip.window(me, "numbers", [2, 2], "int32"), chip.window(me, "told", 1, "int32")
            assert (numbers.name, numbers.tensor().shape, told.tensor().shape) == ("numbers", (2, 2), (1,))

            def orchestration(graph):
                graph.submit(give, baton.NO_DEP(numbers.tensor()), told.tensor().address, numbers.context, told.context)
                graph.submit_notification_wait(told.tensor(), 1)

            chip.run(orchestration)
            me.barrier()
            return chip.copy_out(numbers.tensor()).tolist(), int(chip.copy_out(numbers.tensor(1 - me.rank))[0, 0])

    assert baton.run_ranks(2, body) == [([[11, 0], [0, 0]], 10), ([[10, 0], [0, 0]], 11)]


def test_a_window_ends_when_it_is_released(chip):
    def body(me):
        with baton.Chip(domain=me, clusters=1, threads=1) as mine:
            window = mine.window(me, "w", 4)
            array = np.asarray(window.tensor())
            with pytest.raises(baton.Error, match="uses its memory"):
                window.release()
            del array
            tensor = window.tensor()
            window.release()
            with pytest.raises(baton.Error) as raised:
                mine.copy_out(tensor)
            return raised.value.code

    assert baton.run_ranks(1, body) == [baton.Code.released]


def test_a_chip_that_is_no_rank_has_none(chip):
    def body(me):
        with pytest.raises(baton.Error, match="make it with a domain"):
            chip.window(me, "w", 4)

    baton.run_ranks(1, body)

// What simulated cores notice, and what only they have.
#include "chip_rank.hpp"
#include "support/require.hpp"
#include "support/scenario.hpp"

namespace baton::test {

void all_to_all(const Domain& me, const char* kernel, std::size_t part);

// Several chunks of the engine: a rank that is told too early reads old bytes.
SCENARIO(AsyncAllToAll, {.sizes = {2, 3, 4, 8, 16}}) { all_to_all(me, "async_all_to_all", 100'003); }

// A wait that nobody ends is an error with numbers and a place, and the chip lives on.
SCENARIO(AWaitDoesNotGiveUpSilently, {.sizes = {2}, .wait_timeout = "1s"}) {
  const auto window = me.window<std::int32_t>("signals", 4);
  ChipRank chip(me);
  const auto signals = reinterpret_cast<std::int64_t>(window.data());
  if (me.rank() == 0) {
    for (int again = 0; again < 2; ++again) {
      require_error(Code::wait_timeout, {"kernel 'lonely_wait'", "vector core ", "TWAIT", "lonely_wait.cpp:7", "needs"},
                    [&] { chip.run("lonely_wait", {signals}); });
    }
    // Somebody may still send it.
    window.notify(0, 0, 7);
    chip.run("lonely_wait", {signals});
    window.notify(1, 0, 1);
  } else {
    window.wait(0, WaitCmp::ge, 1, std::chrono::seconds(60));
  }
}

// A kernel that looks outside its windows and tensors is told where.
SCENARIO(AForeignAddressIsAnError, {.sizes = {2}}) {
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "window", 64);
  Numbers in(chip, 256, "in"), out(chip, 256, "out");
  require_error(Code::out_of_range, {"kernel 'allreduce_onephase'", "TSTORE", "lines.hpp:", "window"}, [&] {
    chip.run("allreduce_onephase", {in, out, room.context(), room.at(), room.at(63), 0});
  });
  me.barrier();
}

// A typed kernel says which argument is wrong instead of returning silently.
SCENARIO(ATypedKernelKnowsItsArguments, {.sizes = {2}}) {
  ChipRank chip(me);
  const auto room = chip.room<std::int32_t>(me, "window", 8);
  Numbers mine(chip, 8, "mine");
  require_error(Code::invalid_argument,
                {"typed_sum: ", "typed_sum.cpp:6", "argument 2 'window' is InOut<float>, got a tensor of int32"}, [&] {
                  chip.run("typed_sum", {mine, room.tensor(), room.context(), room.at(), 0});
                });
  me.barrier();
}

}  // namespace baton::test

// Where kernels that wait for each other go wrong.
#include "chip_rank.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace baton::test {
namespace {

std::int32_t* words(const Window<std::int32_t>& window, std::size_t first) { return window.data() + first; }

}  // namespace

// Far more cores than processors, all of which wait for cores of other ranks.
SCENARIO(ManyCoresMeet, {.sizes = {2, 4, 16}, .hostings = kOneHost}) {
  constexpr int kClusters = 4;
  constexpr int kBlocks = kClusters * chip::kVectorsPerCluster;
  const auto window = me.window<std::int32_t>("window", 2 * kBlocks);
  ChipRank chip(me, kClusters);
  HostTensor out(chip.memory(), kBlocks, "out");
  const int rounds = scaled(20);
  chip.run_blocks(
      "stamps",
      {out.argument(), argument(window.context()), argument(window.data()), argument(words(window, kBlocks)), rounds},
      kBlocks);
  for (std::size_t block = 0; block < out.size(); ++block) REQUIRE_EQUAL(out[block], 0.0F);
}

// The words are written before the counter, and read after it.
SCENARIO(WordsComeBeforeTheirCounter, {.sizes = {2}, .hostings = kOneHost}) {
  constexpr std::size_t kWords = 32;
  const auto window = me.window<std::int32_t>("window", kWords + 2);
  ChipRank chip(me);
  HostTensor out(chip.memory(), 1, "out");
  chip.run("mailbox", {out.argument(), argument(window.context()), argument(window.data()),
                       argument(words(window, kWords)), scaled(200)});
  REQUIRE_EQUAL(out[0], 0.0F);
}

// A wait that nobody ends is an error with numbers and a place, and the chip lives on.
SCENARIO(AWaitDoesNotGiveUpSilently, {.sizes = {2}, .wait_timeout = "1s"}) {
  const auto window = me.window<std::int32_t>("signals", 4);
  ChipRank chip(me);
  if (me.rank() == 0) {
    for (int again = 0; again < 2; ++again) {
      require_error(Code::wait_timeout,
                    {"kernel 'lonely_wait'", "vector core 0.0", "TWAIT", "lonely_wait.cpp:7", "needs"},
                    [&] { chip.run("lonely_wait", {argument(window.data())}); });
    }
    // Somebody may still send it.
    window.notify(0, 0, 7);
    chip.run("lonely_wait", {argument(window.data())});
    window.notify(1, 0, 1);
  } else {
    window.wait(0, WaitCmp::ge, 1, std::chrono::seconds(60));
  }
}

// A kernel that looks outside its windows and tensors is told where.
SCENARIO(AForeignAddressIsAnError, {.sizes = {2}}) {
  const auto window = me.window<float>("window", 64);
  ChipRank chip(me);
  HostTensor in(chip.memory(), 256, "in"), out(chip.memory(), 256, "out");
  require_error(Code::out_of_range, {"kernel 'allreduce_onephase'", "TSTORE", "lines.hpp:", "window"}, [&] {
    chip.run("allreduce_onephase", {in.argument(), out.argument(), argument(window.context()), argument(window.data()),
                                    argument(window.data() + 63), 0});
  });
  me.barrier();
}

// A typed kernel runs like a raw one, and says which argument is wrong instead of returning silently.
SCENARIO(ATypedKernelKnowsItsArguments, {.sizes = {2, 4}}) {
  constexpr std::size_t kCount = 777;
  const auto window = me.window<float>("window", kCount + 1);
  ChipRank chip(me);
  HostTensor mine(chip.memory(), kCount, "mine");
  ChipTensor sums = mine.descriptor();
  sums.buffer.addr = reinterpret_cast<std::uint64_t>(window.data());
  const std::int64_t signal = argument(window.data() + kCount);
  const auto run = [&](int round) {
    chip.run("typed_sum", {mine.argument(), argument(&sums), argument(window.context()), signal, round});
  };
  const int left = (me.rank() + me.size() - 1) % me.size();
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) mine[i] = static_cast<float>(me.rank() + round);
    run(round);
    sum += static_cast<float>(left + round);
    for (std::size_t i = 0; i < kCount; ++i) REQUIRE_EQUAL(window[i], sum);
    me.barrier();
  }
  sums.dtype = DataType::INT32;
  require_error(Code::invalid_argument,
                {"kernel 'typed_sum'", "typed_sum.cpp:6", "argument 2 'window' is InOut<float>, got a tensor of int32"},
                [&] { run(3); });
  me.barrier();
}

}  // namespace baton::test

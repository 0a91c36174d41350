#include "chip/cores/sim/dma_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/fiber.hpp"
#include "chip_fixture.hpp"
#include "completion_kernels.hpp"

namespace baton::chip {
namespace {

using testing::HasSubstr;

/// An engine on a pool of its own, and a fiber that uses it.
template <typename Body>
void with_engine(LonelyChip& chip, std::optional<Chance> chance, Body body) {
  DmaEngine engine(*chip.memory, {.chance = chance});
  FiberPool pool({.threads = 1, .place = chip.memory->parking_place()});
  pool.add([&] { engine.serve(); });
  pool.add([&] {
    body(engine);
    engine.stop();
  });
  pool.run();
}

struct Bytes {
  explicit Bytes(LonelyChip& chip) {
    std::iota(from.begin(), from.end(), 1.0F);
    chip.memory->add_buffer(from.data(), from.size() * sizeof(float), "from");
    chip.memory->add_buffer(to.data(), to.size() * sizeof(float), "to");
  }
  [[nodiscard]] BatonCopy copy(std::uint64_t session, std::int32_t* signal = nullptr) {
    return {session, to.data(), from.data(), from.size() * sizeof(float), signal, 1, 0};
  }
  std::vector<float> from = std::vector<float>(40'000);
  std::vector<float> to = std::vector<float>(40'000);
};

TEST(DmaEngine, ASignalComesAfterTheLastByte) {
  LonelyChip chip;
  Bytes bytes(chip);
  std::int32_t signal = 0;
  chip.memory->add_buffer(&signal, sizeof signal, "signal");
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::fill(bytes.to.begin(), bytes.to.end(), 0.0F);
    signal = 0;
    with_engine(chip, Chance(seed, 0, 0), [&](DmaEngine& engine) {
      auto record = std::make_shared<OperationRecord>();
      engine.submit(bytes.copy(1, &signal), record);
      EXPECT_NE(bytes.to, bytes.from) << "a copy is asynchronous";
      while (!chip.memory->test(&signal, WaitCmp::ge, 1, {})) yield_fiber();
      EXPECT_EQ(bytes.to, bytes.from);
      engine.wait(*record);
    });
  }
}

TEST(DmaEngine, AnErrorReachesItsRecordAndThoseBehindIt) {
  LonelyChip chip;
  Bytes bytes(chip);
  with_engine(chip, std::nullopt, [&](DmaEngine& engine) {
    BatonCopy bad = bytes.copy(1);
    bad.bytes += 4;
    std::vector<std::shared_ptr<OperationRecord>> records;
    for (int i = 0; i < 4; ++i) records.push_back(std::make_shared<OperationRecord>());
    engine.submit(bytes.copy(1), records[0]);
    engine.submit(bad, records[1]);
    engine.submit(bytes.copy(1), records[2]);
    engine.submit(bytes.copy(2), records[3]);
    engine.wait(*records[0]);
    engine.wait(*records[3]);
    for (const int failed : {1, 2}) {
      try {
        engine.wait(*records[static_cast<std::size_t>(failed)]);
        ADD_FAILURE() << "copy " << failed << " cannot have succeeded";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::out_of_range);
        EXPECT_THAT(error.message(), HasSubstr("in no tensor and no window"));
      }
    }
  });
}

TEST(DmaEngine, WhoeverKeepsTrackOfWordsIsToldOfRecords) {
  LonelyChip chip;
  Bytes bytes(chip);
  const auto record = std::make_shared<OperationRecord>();
  const auto* word = reinterpret_cast<const void*>(record->address());
  chip.memory->watch(word, 1);
  bool told = false;
  with_engine(chip, std::nullopt, [&](DmaEngine& engine) {
    engine.submit(bytes.copy(1), record);
    engine.wait(*record);
    while (!chip.memory->any_changes()) yield_fiber();
    chip.memory->take_changes([&](std::uint64_t spot) { told = told || spot == chip.memory->spot_of(word); });
  });
  chip.memory->watch(word, -1);
  EXPECT_TRUE(told);
}

TEST(DmaEngine, AWaitThatReachesItsDeadlineRaises) {
  LonelyChip chip(std::chrono::milliseconds(20));
  DmaEngine engine(*chip.memory, {});
  const OperationRecord never;
  EXPECT_THROW(engine.wait(never), Error);
}

TEST(DmaEngine, ASessionHasRoomForSixtyFourOpenCopies) {
  LonelyChip chip;
  std::vector<float> from(256, 1.0F), to(256);
  const ChipTensor tfrom = tensor_over(*chip.memory, from, "from");
  const ChipTensor tto = tensor_over(*chip.memory, to, "to");
  SimCores cores(profile_named("a2a3sim"), {.clusters = 1}, *chip.memory);
  KernelCall call;
  call.entry = many_copies_kernel;
  call.name = "many";
  // Waiting for the last one is waiting for all.
  call.args = {address(&tfrom), address(&tto), 64};
  EXPECT_EQ(failure_of(cores, cores.vector(0, 0), call).first, Code::ok);
  EXPECT_EQ(from, to);
  call.args[2] = 65;
  const auto [code, message] = failure_of(cores, cores.vector(0, 0), call);
  EXPECT_EQ(code, Code::invalid_argument);
  EXPECT_THAT(message, HasSubstr("64 copies of this session are open already"));
}

}  // namespace
}  // namespace baton::chip

#include "chip/cores/sim/dma_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
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

TEST(DmaEngine, AnObserverOfWordsIsToldOfRecords) {
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

/// Says of its buffers that they are on other hosts, but for those from `here`; what goes there arrives when the test
/// lets it.
class FarMemory final : public LocalMemory {
 public:
  struct Moving {
    Moving(void* target, const void* source, std::size_t count) : to(target), from(source), bytes(count) {}

    void* to;
    const void* from;
    std::size_t bytes;
    std::atomic<bool> over{false};
    std::optional<Error> failure{};
  };

  void add_here(const void* begin, std::size_t bytes) {
    add_buffer(begin, bytes, "here");
    here_ = {reinterpret_cast<std::uintptr_t>(begin), bytes};
  }
  [[nodiscard]] bool has_far_memory() const noexcept override { return true; }
  [[nodiscard]] bool is_far(const void* address) const override { return !here_.holds(address, 1); }
  [[nodiscard]] std::unique_ptr<Transfer> start_far_copy(void* to, const void* from, std::size_t bytes) override {
    moving.push_back(std::make_shared<Moving>(to, from, bytes));
    return std::make_unique<Carried>(moving.back());
  }
  /// The last one that was started and goes to `to`; waits for it.
  [[nodiscard]] Moving& to(const void* to) const {
    while (true) {
      for (const auto& one : moving) {
        if (one->to == to) return *one;
      }
      yield_fiber();
    }
  }
  void arrive(Moving& one) const {
    std::memcpy(one.to, one.from, one.bytes);
    one.over.store(true, std::memory_order_seq_cst);
    parking_place().doorbell->ring(parking_place().scope);
  }
  void fail(Moving& one) const {
    one.failure.emplace(Code::peer_died, "rank 1 died");
    one.over.store(true, std::memory_order_seq_cst);
    parking_place().doorbell->ring(parking_place().scope);
  }
  [[nodiscard]] std::size_t on_their_way() const {
    return static_cast<std::size_t>(std::ranges::count_if(moving, [](const auto& one) { return !one->over.load(); }));
  }

  std::vector<std::shared_ptr<Moving>> moving;

 private:
  class Carried final : public Transfer {
   public:
    explicit Carried(std::shared_ptr<Moving> moving) : moving_(std::move(moving)) {}
    [[nodiscard]] bool is_over() noexcept override { return moving_->over.load(std::memory_order_seq_cst); }
    [[nodiscard]] Deadline::Clock::time_point latest() const noexcept override {
      return Deadline::Clock::time_point::max();
    }
    void end() override {
      if (moving_->failure) throw Error(*moving_->failure);
    }

   private:
    std::shared_ptr<Moving> moving_;
  };
  Extent here_;
};

struct FarBytes {
  FarBytes() {
    memory.add_here(here.data(), sizeof here);
    for (auto& part : there) memory.add_buffer(part.data(), sizeof part, "there");
    std::iota(here.begin(), here.end(), 1);
  }
  [[nodiscard]] BatonCopy put(std::uint64_t session, std::size_t peer) {
    return {session, there[peer].data(), here.data(), sizeof here, &signals[peer], 1, 0};
  }
  template <typename Body>
  void with_engine(const DmaOptions& options, Body body) {
    memory.add_buffer(signals.data(), sizeof signals, "signals");
    DmaEngine engine(memory, options);
    FiberPool pool({.threads = 1, .place = memory.parking_place()});
    pool.add([&] { engine.serve(); });
    pool.add([&] {
      body(engine);
      engine.stop();
    });
    pool.run();
  }
  std::array<int, 1000> here{};
  std::array<std::array<int, 1000>, 3> there{};
  std::array<std::int32_t, 3> signals{};
  FarMemory memory;
};

TEST(DmaEngine, CopiesToSeveralHostsAreOnTheirWayTogether) {
  FarBytes bytes;
  std::array<std::shared_ptr<OperationRecord>, 3> records;
  for (auto& record : records) record = std::make_shared<OperationRecord>();
  bytes.with_engine({}, [&](DmaEngine& engine) {
    // Two of one session, one of another.
    engine.submit(bytes.put(1, 0), records[0]);
    engine.submit(bytes.put(1, 1), records[1]);
    engine.submit(bytes.put(2, 2), records[2]);
    for (const auto& part : bytes.there) static_cast<void>(bytes.memory.to(part.data()));
    EXPECT_EQ(bytes.memory.on_their_way(), 3U);
    bytes.memory.arrive(bytes.memory.to(bytes.there[2].data()));
    engine.wait(*records[2]);
    EXPECT_EQ(bytes.signals[2], 1) << "nobody waits for a copy of another session";
    bytes.memory.arrive(bytes.memory.to(bytes.there[1].data()));
    for (int turn = 0; turn < 1000; ++turn) yield_fiber();
    EXPECT_EQ(records[1]->state(), OperationState::pending) << "copies of a session complete in order";
    EXPECT_EQ(bytes.signals[1], 0);
    bytes.memory.arrive(bytes.memory.to(bytes.there[0].data()));
    engine.wait(*records[1]);
    EXPECT_EQ(records[0]->state(), OperationState::complete);
  });
  EXPECT_EQ(bytes.signals, (std::array<std::int32_t, 3>{1, 1, 1}));
  for (const auto& part : bytes.there) EXPECT_EQ(part, bytes.here);
}

TEST(DmaEngine, WhatDependsOnACopyToAnotherHostWaitsForIt) {
  FarBytes bytes;
  const auto first = std::make_shared<OperationRecord>();
  const auto second = std::make_shared<OperationRecord>();
  bytes.with_engine({}, [&](DmaEngine& engine) {
    engine.submit(bytes.put(1, 0), first);
    // Comes back from where the first one goes.
    engine.submit({1, bytes.here.data(), bytes.there[0].data(), sizeof bytes.here, nullptr, 0, 0}, second);
    FarMemory::Moving& going = bytes.memory.to(bytes.there[0].data());
    for (int turn = 0; turn < 1000; ++turn) yield_fiber();
    EXPECT_EQ(bytes.memory.moving.size(), 1U);
    bytes.memory.arrive(going);
    bytes.memory.arrive(bytes.memory.to(bytes.here.data()));
    engine.wait(*second);
  });
}

TEST(DmaEngine, ALargeCopyToAnotherHostHasSeveralPiecesOnTheirWay) {
  FarBytes bytes;
  const auto record = std::make_shared<OperationRecord>();
  bytes.with_engine({.far_chunk_bytes = 512}, [&](DmaEngine& engine) {
    engine.submit(bytes.put(1, 0), record);
    static_cast<void>(bytes.memory.to(bytes.there[0].data()));
    EXPECT_EQ(bytes.memory.on_their_way(), 4U);
    for (std::size_t piece = 0; piece < 8; ++piece) {
      EXPECT_EQ(bytes.signals[0], 0);
      bytes.memory.arrive(bytes.memory.to(&bytes.there[0][piece * 128]));
    }
    engine.wait(*record);
  });
  EXPECT_EQ(bytes.signals[0], 1);
  EXPECT_EQ(bytes.there[0], bytes.here);
}

TEST(DmaEngine, AHostThatDiesEndsItsCopiesAndThoseBehindThem) {
  FarBytes bytes;
  std::array<std::shared_ptr<OperationRecord>, 3> records;
  for (auto& record : records) record = std::make_shared<OperationRecord>();
  bytes.with_engine({.far_chunk_bytes = 3000}, [&](DmaEngine& engine) {
    engine.submit(bytes.put(1, 0), records[0]);
    engine.submit(bytes.put(1, 1), records[1]);
    engine.submit(bytes.put(2, 2), records[2]);
    for (const std::size_t peer : {1U, 2U}) {
      bytes.memory.arrive(bytes.memory.to(bytes.there[peer].data()));
      bytes.memory.arrive(bytes.memory.to(&bytes.there[peer][750]));
    }
    bytes.memory.fail(bytes.memory.to(bytes.there[0].data()));
    for (int turn = 0; turn < 1000; ++turn) yield_fiber();
    EXPECT_EQ(records[0]->state(), OperationState::pending) << "one of its pieces still has its memory";
    bytes.memory.arrive(bytes.memory.to(&bytes.there[0][750]));
    for (const std::size_t failed : {0U, 1U}) {
      EXPECT_THAT([&] { engine.wait(*records[failed]); },
                  testing::ThrowsMessage<Error>(testing::HasSubstr("rank 1 died")));
    }
    engine.wait(*records[2]);
  });
  EXPECT_EQ(bytes.signals, (std::array<std::int32_t, 3>{0, 0, 1}));
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

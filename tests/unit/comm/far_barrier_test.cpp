// The part of a barrier that goes between hosts, with a path whose other end is the test.
#include "comm/far_barrier.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <baton/error.hpp>

#include "comm/backend.hpp"
#include "comm/control_setup.hpp"
#include "comm/domain_state.hpp"
#include "comm/world.hpp"

namespace baton::comm {
namespace {

constexpr wire::AllocationKey kBarrierOfWorld{0, ~std::uint64_t{0}};
constexpr auto kPatience = std::chrono::milliseconds(100);

/// Rank 0 is on a host of its own, all others are on another.
class TestPath : public Path {
 public:
  explicit TestPath(wire::ControlHeader& control) : delivery_(control, 0, FutexScope::process) {}
  void put(const FarPlace&, const void*, std::size_t, const FarSignal&, const Deadline&) override {}
  void add(const FarPlace&, Element, const void*, std::size_t, const Deadline&) override {}
  void scatter(const FarPlace&, const FarPieces&, const Deadline&) override {}
  void get(const FarPlace&, void*, std::size_t, const Deadline&) override {}
  [[nodiscard]] std::unique_ptr<Transfer> start_put(const FarPlace&, const void*, std::size_t, const FarSignal&,
                                                    const Deadline&) override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Transfer> start_get(const FarPlace&, void*, std::size_t, const Deadline&) override {
    return nullptr;
  }
  void finish(Transfer&) override {}
  void post(std::uint32_t rank, wire::AllocationKey, std::span<const std::byte>) override { posted.push_back(rank); }
  [[nodiscard]] bool flush(Flushed, const Deadline&) override { return true; }
  void progress() noexcept override {}
  void begin_looking() noexcept override {}
  void end_looking() noexcept override {}
  [[nodiscard]] std::uint32_t host_of(std::uint32_t rank) const noexcept override { return rank == 0 ? 0 : 1; }
  [[nodiscard]] Delivery& delivery() noexcept override { return delivery_; }

  std::vector<std::uint32_t> posted;

 private:
  Delivery delivery_;
};

class TestBackend : public Backend {
 public:
  TestBackend(ControlSegment control, TestPath*& path) : control_(std::move(control)), path_(control_.header()) {
    path = &path_;
  }
  [[nodiscard]] std::string_view name() const noexcept override { return "test"; }
  [[nodiscard]] wire::ControlHeader& control() noexcept override { return control_.header(); }
  [[nodiscard]] FutexScope futex_scope() const noexcept override { return FutexScope::process; }
  [[nodiscard]] std::shared_ptr<SharedMemory> offer(wire::AllocationKey, std::uint64_t, std::span<const std::uint32_t>,
                                                    Deadline, FunctionRef<void(void*)>) override {
    return nullptr;
  }
  [[nodiscard]] std::shared_ptr<SharedMemory> collect(wire::AllocationKey) override { return nullptr; }
  [[nodiscard]] Path* path() noexcept override { return &path_; }
  void say_farewell(Farewell, const FailureReason&) noexcept override {}

 private:
  ControlSegment control_;
  TestPath path_;
};

class FarBarrierTest : public testing::Test {
 protected:
  FarBarrierTest() {
    auto backend = std::make_unique<TestBackend>(make_control(3, "far_barrier", {}, Hosting::processes, 1), path_);
    domain_ = DomainState::of_world(std::make_shared<World>(std::move(backend), 0, "far_barrier", kPatience));
  }
  void told_by(std::uint32_t rank, std::uint64_t epoch) {
    path_->delivery().deliver(kBarrierOfWorld, rank, std::as_bytes(std::span(&epoch, 1)));
  }

  TestPath* path_ = nullptr;
  std::shared_ptr<DomainState> domain_;
};

TEST_F(FarBarrierTest, OneMemberOfEachHostIsTold) {
  told_by(2, 1);
  domain_->barrier(kPatience);
  EXPECT_EQ(path_->posted, std::vector<std::uint32_t>{1});
}

TEST_F(FarBarrierTest, WaitsForAHostThatHasNotTold) {
  EXPECT_THROW(domain_->barrier(kPatience), Error);
  told_by(1, 1);
  domain_->barrier(kPatience);
}

TEST_F(FarBarrierTest, WhatIsToldLateTakesNothingBack) {
  told_by(2, 2);
  told_by(1, 1);  // it told first, and another path was faster
  domain_->barrier(kPatience);
  domain_->barrier(kPatience);
}

}  // namespace
}  // namespace baton::comm

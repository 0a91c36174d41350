// What comes from other hosts: done where it may be, and nowhere else.
#include "comm/delivery.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "comm/control_setup.hpp"
#include "comm/health.hpp"
#include "wire/segment.hpp"

namespace baton::comm {
namespace {

constexpr wire::AllocationKey kWindow{7, 1};
constexpr std::uint64_t kBytes = 4096;

class DeliveryTest : public testing::Test {
 protected:
  DeliveryTest() {
    void* address = ::mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = std::make_shared<SharedMemory>(address, 2 * kBytes);
    part_ = static_cast<std::byte*>(address);
    delivery_.expose(kWindow, {memory_, part_, kBytes, 99, {}});
  }

  static wire::PathHeader signal(wire::SignalChange change, std::uint64_t offset, std::int64_t value) {
    wire::PathHeader message{};
    message.source = 0;
    message.change = change;
    message.signals = kWindow;
    message.signal_offset = offset;
    message.value = value;
    return message;
  }
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    T value{};
    std::memcpy(&value, part_ + offset, sizeof value);
    return value;
  }

  ControlSegment control_ = make_control(2, "delivery", {}, Hosting::processes, 2);
  Delivery delivery_{control_.header(), 1, FutexScope::process};
  std::shared_ptr<SharedMemory> memory_;
  std::byte* part_ = nullptr;
};

TEST_F(DeliveryTest, FindsBytesInsideOfAWindow) {
  EXPECT_EQ(delivery_.find(kWindow, 0, kBytes).address, part_);
  EXPECT_EQ(delivery_.find(kWindow, kBytes, 0).address, part_ + kBytes);
  EXPECT_EQ(delivery_.find(kWindow, kBytes - 1, 1).address, part_ + kBytes - 1);
}

TEST_F(DeliveryTest, CopiesInsideOfAWindowAlone) {
  const std::vector<std::byte> bytes(16, std::byte{5});
  EXPECT_EQ(delivery_.copy_in(kWindow, 32, bytes), Delivery::Copied::yes);
  EXPECT_EQ(part_[31], std::byte{0});
  EXPECT_EQ(part_[32], std::byte{5});
  EXPECT_EQ(part_[47], std::byte{5});
  EXPECT_EQ(part_[48], std::byte{0});
  EXPECT_EQ(delivery_.copy_in(kWindow, kBytes - 15, bytes), Delivery::Copied::outside);
  EXPECT_EQ(delivery_.copy_in(kWindow, UINT64_MAX - 7, bytes), Delivery::Copied::outside);
  EXPECT_EQ(delivery_.copy_in({7, 2}, 0, bytes), Delivery::Copied::no_window);
  EXPECT_EQ(part_[kBytes - 15], std::byte{0});
}

TEST_F(DeliveryTest, APutLandsWhereItIsWantedOnceIfItIsTheOne) {
  std::vector<std::byte> target(16);
  const std::vector<std::byte> bytes(16, std::byte{5});
  const std::vector<std::byte> fewer(15, std::byte{6});
  const std::vector<std::byte> again(16, std::byte{7});
  auto landing = delivery_.land(kWindow, 32, target);
  EXPECT_EQ(delivery_.copy_in(kWindow, 48, bytes), Delivery::Copied::yes);
  EXPECT_EQ(delivery_.copy_in(kWindow, 32, fewer), Delivery::Copied::yes);
  EXPECT_FALSE(landing->has_come());
  EXPECT_EQ(target.front(), std::byte{0});
  EXPECT_EQ(delivery_.copy_in(kWindow, 32, bytes), Delivery::Copied::yes);
  EXPECT_TRUE(landing->has_come());
  EXPECT_EQ(target.back(), std::byte{5});
  EXPECT_EQ(part_[32], std::byte{6});
  EXPECT_EQ(delivery_.copy_in(kWindow, 32, again), Delivery::Copied::yes);
  EXPECT_EQ(target.front(), std::byte{5});
  EXPECT_EQ(part_[32], std::byte{7});
}

TEST_F(DeliveryTest, NothingLandsWhereNobodyWantsItAnyMore) {
  std::vector<std::byte> target(16);
  const std::vector<std::byte> bytes(16, std::byte{5});
  delivery_.land(kWindow, 32, target).reset();
  EXPECT_EQ(delivery_.copy_in(kWindow, 32, bytes), Delivery::Copied::yes);
  EXPECT_EQ(target.front(), std::byte{0});
  EXPECT_EQ(part_[32], std::byte{5});
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

wire::PathHeader sum(Element element, std::uint64_t offset) {
  wire::PathHeader message{};
  message.kind = wire::PathKind::sum;
  message.window = kWindow;
  message.offset = offset;
  message.request = static_cast<std::uint64_t>(element);
  return message;
}

TEST_F(DeliveryTest, AddsToElements) {
  for (int times = 0; times < 3; ++times) {
    EXPECT_TRUE(delivery_.add(sum(Element::float32, 64), bytes_of(std::vector<float>{1.5F, -2})));
    EXPECT_TRUE(delivery_.add(sum(Element::int32, 128), bytes_of(std::vector<std::int32_t>{7, -7})));
    EXPECT_TRUE(delivery_.add(sum(Element::int16, 256), bytes_of(std::vector<std::int16_t>{30000})));
    EXPECT_TRUE(delivery_.add(sum(Element::int8, 259), bytes_of(std::vector<std::int8_t>{-50})));
    EXPECT_TRUE(delivery_.add(sum(Element::float16, 300), bytes_of(std::vector<std::uint16_t>{0x3c00})));
    EXPECT_TRUE(delivery_.add(sum(Element::bfloat16, 302), bytes_of(std::vector<std::uint16_t>{0x3f80})));
  }
  EXPECT_EQ(at<float>(64), 4.5F);
  EXPECT_EQ(at<float>(68), -6.0F);
  EXPECT_EQ(at<std::int32_t>(128), 21);
  EXPECT_EQ(at<std::int32_t>(132), -21);
  EXPECT_EQ(at<std::int16_t>(256), static_cast<std::int16_t>(90000 - 65536)) << "it wraps round";
  EXPECT_EQ(at<std::int8_t>(259), static_cast<std::int8_t>(-150 + 256));
  EXPECT_EQ(at<std::uint16_t>(300), 0x4200) << "3 as a half";
  EXPECT_EQ(at<std::uint16_t>(302), 0x4040) << "3 as a bfloat16";
}

TEST_F(DeliveryTest, AddsNothingWhereItMayNot) {
  const std::vector<float> values{1, 2};
  EXPECT_FALSE(delivery_.add(sum(Element::float32, kBytes - 4), bytes_of(values))) << "outside";
  EXPECT_FALSE(delivery_.add(sum(Element::float32, 62), bytes_of(values))) << "not aligned";
  EXPECT_FALSE(delivery_.add(sum(Element::float32, 64), bytes_of(values).first(7))) << "half of an element";
  EXPECT_FALSE(delivery_.add(sum(Element::uint64, 64), bytes_of(values))) << "kernels do not add to these";
  wire::PathHeader unknown = sum(Element::float32, 64);
  for (const std::uint64_t element : {99UL, 257UL}) {
    unknown.request = element;
    EXPECT_FALSE(delivery_.add(unknown, bytes_of(values))) << element;
  }
  for (std::uint64_t offset = 0; offset < kBytes; offset += 4) EXPECT_EQ(at<std::int32_t>(offset), 0);
  delivery_.withdraw(kWindow);
  EXPECT_TRUE(delivery_.add(sum(Element::float32, 64), bytes_of(values))) << "nobody needs it any more";
}

/// A message for pieces of four bytes, and its payload.
struct Scatter {
  Scatter(wire::ElementChange change, Element element, std::uint64_t offset) {
    message.kind = wire::PathKind::scatter;
    message.window = kWindow;
    message.offset = offset;
    message.value = sizeof(std::int32_t);
    message.request = static_cast<std::uint64_t>(change) | static_cast<std::uint64_t>(element) << wire::kElementShift;
  }
  template <class T>
  Scatter& with(const std::vector<std::int64_t>& distances, const std::vector<T>& pieces) {
    static_assert(sizeof(T) == sizeof(std::int32_t));
    for (const auto bytes : {bytes_of(distances), bytes_of(pieces)})
      payload.insert(payload.end(), bytes.begin(), bytes.end());
    return *this;
  }
  wire::PathHeader message{};
  std::vector<std::byte> payload;
};

TEST_F(DeliveryTest, ScattersPiecesInTheirOrder) {
  using enum wire::ElementChange;
  const auto deliver = [&](const Scatter& one) { return delivery_.scatter(one.message, one.payload); };
  EXPECT_TRUE(deliver(Scatter(replace, Element::float64, 64).with<std::int32_t>({0, 8, -64, 0}, {1, 2, 3, 4})));
  EXPECT_EQ(at<std::int32_t>(64), 4) << "the last one wins";
  EXPECT_EQ(at<std::int32_t>(68), 0);
  EXPECT_EQ(at<std::int32_t>(72), 2);
  EXPECT_EQ(at<std::int32_t>(0), 3) << "distances may be negative";
  for (int times = 0; times < 2; ++times) {
    EXPECT_TRUE(deliver(Scatter(add, Element::int32, 128).with<std::int32_t>({0, 4, 0}, {5, 6, 7})));
    EXPECT_TRUE(deliver(Scatter(max, Element::float32, 192).with<float>({0, 4, 0}, {1.5F, -2, 0.5F})));
    EXPECT_TRUE(deliver(Scatter(min, Element::float32, 256).with<float>({0, 4, 0}, {-1.5F, 2, 0.5F})));
  }
  EXPECT_EQ(at<std::int32_t>(128), 24);
  EXPECT_EQ(at<std::int32_t>(132), 12);
  EXPECT_EQ(at<float>(192), 1.5F);
  EXPECT_EQ(at<float>(196), 0.0F);
  EXPECT_EQ(at<float>(256), -1.5F);
  EXPECT_EQ(at<float>(260), 0.0F);
}

TEST_F(DeliveryTest, ScattersNothingToWhereItMayNot) {
  using enum wire::ElementChange;
  const auto refused = [&](Scatter one) { return !delivery_.scatter(one.message, one.payload); };
  const auto end = static_cast<std::int64_t>(kBytes);
  for (const std::int64_t distance : {end - 3, end, std::int64_t{-4}, INT64_MIN, INT64_MAX}) {
    EXPECT_TRUE(refused(Scatter(replace, Element::int32, 0).with<std::int32_t>({distance}, {1}))) << distance;
    EXPECT_TRUE(refused(Scatter(add, Element::int32, 0).with<std::int32_t>({distance}, {1}))) << distance;
  }
  EXPECT_TRUE(refused(Scatter(replace, Element::int32, kBytes).with<std::int32_t>({0}, {1})));
  EXPECT_TRUE(refused(Scatter(replace, Element::int32, UINT64_MAX).with<std::int32_t>({0}, {1})));
  EXPECT_TRUE(refused(Scatter(add, Element::int32, 2).with<std::int32_t>({0}, {1}))) << "not aligned";
  EXPECT_TRUE(refused(Scatter(add, Element::uint32, 0).with<std::int32_t>({0}, {1}))) << "kernels do not add to these";
  EXPECT_TRUE(refused(Scatter(static_cast<wire::ElementChange>(4), Element::int32, 0).with<std::int32_t>({0}, {1})));
  EXPECT_TRUE(refused(Scatter(add, static_cast<Element>(99), 0).with<std::int32_t>({0}, {1})));
  for (std::uint64_t offset = 0; offset < 2 * kBytes; offset += 4) EXPECT_EQ(at<std::int32_t>(offset), 0);
  delivery_.withdraw(kWindow);
  EXPECT_FALSE(refused(Scatter(add, Element::int32, 0).with<std::int32_t>({0}, {1}))) << "nobody needs it any more";
}

TEST_F(DeliveryTest, FindsNothingOutside) {
  for (const auto& [offset, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, kBytes + 1}, {kBytes, 1}, {1, kBytes}, {UINT64_MAX, 1}, {1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}}) {
    const Delivery::Place place = delivery_.find(kWindow, offset, bytes);
    EXPECT_EQ(place.address, nullptr) << offset << " " << bytes;
    EXPECT_TRUE(place.is_outside);
  }
  EXPECT_EQ(delivery_.find({7, 2}, 0, 1).address, nullptr);
  EXPECT_FALSE(delivery_.find({7, 2}, 0, 1).is_outside);
}

TEST_F(DeliveryTest, MemoryStaysWhileItIsUsed) {
  const Delivery::Place place = delivery_.find(kWindow, 0, 1);
  delivery_.withdraw(kWindow);
  const std::weak_ptr<SharedMemory> watched = memory_;
  memory_.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(delivery_.find(kWindow, 0, 1).address, nullptr);
}

/// A window of three ranks, each on a host of its own; this one is rank 1.
class ReleasedWindowTest : public testing::Test {
 protected:
  ReleasedWindowTest() {
    auto& header = *static_cast<wire::SegmentHeader*>(segment_->address());
    header.member_count = 3;
    for (std::uint32_t rank = 0; rank < 3; ++rank) enter_rank(control_.header(), rank, 4711 + rank, 1);
    expose(kWindow);
  }

  void expose(wire::AllocationKey window) {
    delivery_.expose(window, {segment_, part_, kBytes, 99, {{.member = 0, .rank = 0}, {.member = 2, .rank = 2}}});
  }
  void hear_release(std::uint32_t source, std::uint64_t member) {
    const wire::MemberRelease message{kWindow, member};
    delivery_.deliver(wire::kReleases, source, std::as_bytes(std::span(&message, 1)));
  }

  static constexpr std::size_t kSegmentBytes = 4 * kBytes;
  ControlSegment control_ = make_control(3, "delivery", {}, Hosting::processes, 2);
  Delivery delivery_{control_.header(), 1, FutexScope::process};
  std::shared_ptr<SharedMemory> segment_ = std::make_shared<SharedMemory>(
      ::mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), kSegmentBytes);
  std::byte* part_ = static_cast<std::byte*>(segment_->address()) + 2 * kBytes;
};

TEST_F(ReleasedWindowTest, IsReachedUntilMembersOfOtherHostsReleaseIt) {
  std::memcpy(part_ + 16, "abc", 4);
  delivery_.retire(kWindow);
  segment_->revoke();
  const Delivery::Place place = delivery_.find(kWindow, 16, 4);
  ASSERT_NE(place.address, nullptr);
  EXPECT_EQ(std::memcmp(place.address, "abc", 4), 0);
  EXPECT_TRUE(delivery_.find(kWindow, kBytes, 1).is_outside);

  hear_release(0, 0);
  EXPECT_EQ(delivery_.retired_parts(), 1U);
  hear_release(2, 2);
  EXPECT_EQ(delivery_.retired_parts(), 0U);
  EXPECT_EQ(delivery_.find(kWindow, 16, 4).address, nullptr);
}

TEST_F(ReleasedWindowTest, NobodyReleasesForAnother) {
  delivery_.retire(kWindow);
  hear_release(0, 2);
  hear_release(2, 0);
  hear_release(0, 1);
  hear_release(0, UINT64_MAX);
  delivery_.deliver(wire::kReleases, 0, {});
  hear_release(2, 2);
  EXPECT_EQ(delivery_.retired_parts(), 1U);
}

TEST_F(ReleasedWindowTest, MembersMayReleaseFirstOrEnd) {
  hear_release(0, 0);
  EXPECT_NE(delivery_.find(kWindow, 0, 1).address, nullptr);
  delivery_.retire(kWindow);
  EXPECT_EQ(delivery_.retired_parts(), 1U);
  mark_dead(control_.header(), 2, wire::EndKind::signal, 9);
  expose({7, 2});
  EXPECT_EQ(delivery_.retired_parts(), 0U);
}

TEST_F(DeliveryTest, ChangesSignals) {
  EXPECT_TRUE(delivery_.change_signal(signal(wire::SignalChange::add, 8, 5)));
  EXPECT_TRUE(delivery_.change_signal(signal(wire::SignalChange::add, 8, -7)));
  EXPECT_EQ(at<std::int32_t>(8), -2);
  EXPECT_TRUE(delivery_.change_signal(signal(wire::SignalChange::set, 8, 40)));
  EXPECT_EQ(at<std::int32_t>(8), 40);
  EXPECT_EQ(at<std::int32_t>(12), 0);
  EXPECT_TRUE(delivery_.change_signal(signal(wire::SignalChange::advance, 16, std::int64_t{1} << 40U)));
  EXPECT_EQ(at<std::uint64_t>(16), std::uint64_t{1} << 40U);
  // A report says who notified last.
  EXPECT_EQ(wire::rank_block(control_.header(), 0).last_notify.index.load(), 2U);
}

TEST_F(DeliveryTest, RefusesSignalsThatAreNone) {
  EXPECT_FALSE(delivery_.change_signal(signal(wire::SignalChange::none, 0, 1)));
  EXPECT_FALSE(delivery_.change_signal(signal(wire::SignalChange::add, 2, 1)));
  EXPECT_FALSE(delivery_.change_signal(signal(wire::SignalChange::add, kBytes, 1)));
  EXPECT_FALSE(delivery_.change_signal(signal(wire::SignalChange::add, kBytes - 2, 1)));
  EXPECT_FALSE(delivery_.change_signal(signal(wire::SignalChange::advance, kBytes - 4, 1)));
  EXPECT_FALSE(delivery_.change_signal(signal(wire::SignalChange::advance, 4, 1)));
  EXPECT_FALSE(delivery_.change_signal(signal(wire::SignalChange::add, UINT64_MAX - 3, 1)));
}

TEST_F(DeliveryTest, PostsThatComeEarlyAreKept) {
  const auto text = [](const char* words) { return std::as_bytes(std::span(words, std::strlen(words))); };
  delivery_.deliver(kWindow, 0, text("early"));
  std::vector<std::string> heard;
  delivery_.listen(kWindow, [&](std::uint32_t source, std::span<const std::byte> bytes) {
    heard.push_back(std::to_string(source) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  });
  delivery_.deliver(kWindow, 1, text("late"));
  delivery_.deliver({8, 8}, 1, text("for nobody"));
  EXPECT_EQ(heard, (std::vector<std::string>{"0early", "1late"}));
  delivery_.stop_listening(kWindow);
  delivery_.deliver(kWindow, 1, text("after"));
  EXPECT_EQ(heard.size(), 2U);
}

TEST_F(DeliveryTest, PostsThatComeLateAreDropped) {
  const std::byte word{1};
  const auto bytes = std::span(&word, 1);
  const auto ignore = [](std::uint32_t, std::span<const std::byte>) {};
  delivery_.deliver({7, 2}, 0, bytes);
  delivery_.deliver({7, 9}, 0, bytes);
  delivery_.listen({7, 3}, ignore);
  delivery_.stop_listening({7, 3});
  // Nobody will ever listen to the topics up to 3.
  EXPECT_EQ(delivery_.kept_posts(), 1U);
  for (int i = 0; i < 10; ++i) delivery_.deliver({7, 3}, 0, bytes);
  EXPECT_EQ(delivery_.kept_posts(), 1U);
  delivery_.deliver({8, 0}, 0, bytes);
  EXPECT_EQ(delivery_.kept_posts(), 2U);
  int heard = 0;
  delivery_.listen({7, 9}, [&](std::uint32_t, std::span<const std::byte>) { ++heard; });
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace baton::comm

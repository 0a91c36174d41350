#include "wire/control.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace baton::wire {
namespace {

/// A control segment in plain memory.
class Control {
 public:
  explicit Control(std::uint32_t ranks)
      : memory_(static_cast<std::byte*>(::operator new(control_bytes(ranks, 0), kAlign))) {
    std::fill_n(memory_.get(), control_bytes(ranks, 0), std::byte{0});
    header().magic = kControlMagic;
    header().version = kControlVersion;
    header().rank_count = ranks;
    header().bytes = control_bytes(ranks, 0);
  }
  [[nodiscard]] ControlHeader& header() const { return *reinterpret_cast<ControlHeader*>(memory_.get()); }
  [[nodiscard]] const void* memory() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlign{alignof(ControlHeader)};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlign); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

TEST(ControlDefect, NoneInAGoodSegment) {
  const Control control(3);
  EXPECT_EQ(control_defect(control.memory(), control_bytes(3, 0)), nullptr);
  // More than needed is harmless: pages are whole.
  EXPECT_EQ(control_defect(control.memory(), control_bytes(3, 0) + 100), nullptr);
}

TEST(ControlDefect, EachFieldThatIsWrong) {
  const auto defect_after = [](auto&& change) -> std::string {
    const Control control(3);
    change(control.header());
    const char* defect = control_defect(control.memory(), control_bytes(3, 0));
    return defect == nullptr ? "none" : defect;
  };
  EXPECT_EQ(defect_after([](ControlHeader&) {}), "none");
  EXPECT_EQ(defect_after([](ControlHeader& h) { h.magic ^= 1; }), "no control segment");
  EXPECT_EQ(defect_after([](ControlHeader& h) { ++h.version; }), "made by another version of Baton");
  EXPECT_EQ(defect_after([](ControlHeader& h) { h.rank_count = 0; }), "an impossible number of ranks");
  EXPECT_EQ(defect_after([](ControlHeader& h) { h.rank_count = kMaxRanks + 1; }), "an impossible number of ranks");
  EXPECT_EQ(defect_after([](ControlHeader& h) { h.rank_count = 4; }), "cut short");
  EXPECT_EQ(defect_after([](ControlHeader& h) { h.bytes -= 1; }), "cut short");
}

TEST(ControlDefect, TooLittleMemory) {
  const Control control(3);
  EXPECT_STREQ(control_defect(nullptr, 1000), "too small for a control segment");
  EXPECT_STREQ(control_defect(control.memory(), sizeof(ControlHeader) - 1), "too small for a control segment");
  EXPECT_STREQ(control_defect(control.memory(), control_bytes(3, 0) - 1), "cut short");
}

TEST(DoorbellOf, IsTheRanksOwnOrTheOneOfAll) {
  const Control control(2);
  EXPECT_EQ(&doorbell_of(control.header(), 1), &rank_block(control.header(), 1).doorbell);
  EXPECT_NE(&doorbell_of(control.header(), 0), &doorbell_of(control.header(), 1));
  control.header().one_doorbell = 1;
  EXPECT_EQ(&doorbell_of(control.header(), 0), &control.header().doorbell);
  EXPECT_EQ(&doorbell_of(control.header(), 1), &control.header().doorbell);
}

}  // namespace
}  // namespace baton::wire

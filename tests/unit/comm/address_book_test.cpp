#include "comm/address_book.hpp"

#include <gtest/gtest.h>

#include "comm/backends/inproc/inproc_job.hpp"
#include "comm/window_state.hpp"

namespace baton::comm {
namespace {

/// A job of one rank.
std::shared_ptr<DomainState> alone(const char* name) {
  auto backend = inproc::rendezvous(name, 0, 1, std::chrono::seconds(10));
  return DomainState::of_world(std::make_shared<World>(std::move(backend), 0, name, std::chrono::seconds(10)));
}

TEST(AddressBook, FindsTheWindowOfAnAddress) {
  const auto domain = alone("book");
  const WindowState window(domain, "w", 100);
  const WindowState other(domain, "other", 8192);
  const std::byte* base = window.part(0);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{4}, std::size_t{96}}) {
    const auto place = find_window(domain->world(), base + offset, 4);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->window, &window);
    EXPECT_EQ(place->rank, 0);
    EXPECT_EQ(place->offset, offset);
  }
  EXPECT_EQ(find_window(domain->world(), other.part(0) + 8000, 8)->window, &other);
  EXPECT_FALSE(find_window(domain->world(), base + 97, 4)) << "ends outside";
  EXPECT_FALSE(find_window(domain->world(), base - 4, 4));
  EXPECT_FALSE(find_window(domain->world(), &domain, 4));
  EXPECT_NE(describe_nearest_window(base + 120).find("byte 120 of rank 0's part of \"w\", which has 100 bytes"),
            std::string::npos);
}

TEST(AddressBook, ForgetsReleasedWindowsAndKnowsItsViewer) {
  const auto domain = alone("book");
  const auto stranger = alone("book of another");
  WindowState window(domain, "w", 100);
  const std::byte* base = window.part(0);
  EXPECT_TRUE(find_window(domain->world(), base, 4));
  EXPECT_FALSE(find_window(stranger->world(), base, 4));
  window.release();
  EXPECT_FALSE(find_window(domain->world(), base, 4));
}

TEST(AddressBook, HoldsWindowsWithoutBytes) {
  const auto domain = alone("book");
  const WindowState nothing(domain, "nothing", 0);
  const WindowState something(domain, "something", 64);
  EXPECT_FALSE(find_window(domain->world(), nothing.part(0), 4));
  EXPECT_TRUE(find_window(domain->world(), something.part(0), 4));
}

}  // namespace
}  // namespace baton::comm

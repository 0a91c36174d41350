// Libraries that come from the node's host: fetched when they are not here, once, and only as they were offered.
#include "node/sent_libraries.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "../base/expect_error.hpp"
#include "kernel/cache.hpp"
#include "kernel/sealed_file.hpp"
#include "node/library_shelf.hpp"
#include "node/task_message.hpp"

namespace baton::node {
namespace {

template <class Action>
void expect_error(Code code, const std::vector<std::string>& words, const Action& action) {
  const auto error = error_of(action);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code);
  for (const std::string& word : words) EXPECT_NE(error->message().find(word), std::string::npos) << error->what();
}

class SentLibrariesTest : public testing::Test {
 protected:
  SentLibrariesTest() {
    std::string folder = testing::TempDir() + "baton-sent-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) ADD_FAILURE() << "mkdtemp";
    folder_ = folder;
    options_.cache_dir = (folder_ / "cache").string();
    library_ = (folder_ / "a.so").string();
    kernel::write_file(library_, content_);
  }
  ~SentLibrariesTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] SentLibraries on_a_host(const LibraryOffer& offer, const std::string& path) {
    SentLibraries libraries(
        [this](std::uint64_t buffer, std::span<std::byte> to) {
          ++fetches_;
          const auto found = shelf_buffers_->find(buffer);
          ASSERT_TRUE(found && found->bytes == to.size());
          std::copy_n(found->address, to.size(), to.begin());
          if (is_changed_on_the_way_) to.back() ^= std::byte{1};
        },
        options_);
    libraries.note({path, offer});
    return libraries;
  }

  const std::string content_ = std::string(5000, 'x') + "end";
  std::filesystem::path folder_;
  std::string library_;
  Options options_;
  std::shared_ptr<BufferTable> shelf_buffers_ = std::make_shared<BufferTable>();
  LibraryShelf shelf_{shelf_buffers_};
  int fetches_ = 0;
  bool is_changed_on_the_way_ = false;
};

TEST_F(SentLibrariesTest, WhatIsHereIsUsedWhereItIs) {
  SentLibraries libraries = on_a_host(shelf_.offer(library_).value(), library_);
  EXPECT_EQ(libraries.place_of(library_), library_);
  EXPECT_EQ(libraries.place_of("/of/which/nothing/was/said.so"), "/of/which/nothing/was/said.so");
  EXPECT_EQ(fetches_, 0);
}

TEST_F(SentLibrariesTest, WhatIsNotIsFetchedOnceForAllChipsOfAHost) {
  const LibraryOffer offer = shelf_.offer(library_).value();
  const std::string elsewhere = (folder_ / "elsewhere.so").string();
  const std::string place = on_a_host(offer, elsewhere).place_of(elsewhere);
  EXPECT_EQ(place.rfind(*options_.cache_dir, 0), 0U) << place;
  EXPECT_EQ(kernel::hash_file(place)->hash, kernel::hash_of(content_));
  EXPECT_EQ(on_a_host(offer, elsewhere).place_of(elsewhere), place);
  EXPECT_EQ(fetches_, 1);
  // Another one of that name is another library.
  kernel::write_file(elsewhere, std::string(content_.size(), 'y'));
  EXPECT_EQ(on_a_host(offer, elsewhere).place_of(elsewhere), place);
  // One that was damaged is none.
  kernel::write_file(place, "damaged");
  EXPECT_EQ(on_a_host(offer, elsewhere).place_of(elsewhere), place);
  EXPECT_EQ(fetches_, 2);
}

TEST_F(SentLibrariesTest, OtherBytesThanWereOfferedAreRefused) {
  is_changed_on_the_way_ = true;
  SentLibraries libraries = on_a_host(shelf_.offer(library_).value(), "/elsewhere.so");
  expect_error(Code::protocol, {"/elsewhere.so", kernel::hash_of(content_).hex()},
               [&] { static_cast<void>(libraries.place_of("/elsewhere.so")); });
  EXPECT_EQ(kernel::Cache(options_).usage().libraries, 0U);
}

TEST_F(SentLibrariesTest, WhatTheCacheDoesNotTakeIsNamed) {
  options_.cache_bytes = 1000;
  SentLibraries libraries = on_a_host(shelf_.offer(library_).value(), "/elsewhere.so");
  expect_error(Code::no_space, {"/elsewhere.so", "5003 bytes", "1000", "BATON_CACHE_SIZE"},
               [&] { static_cast<void>(libraries.place_of("/elsewhere.so")); });
  EXPECT_EQ(fetches_, 0);
}

TEST_F(SentLibrariesTest, OnlyWhatIsUsedIsOnTheShelfAndAsItWas) {
  EXPECT_FALSE(shelf_.offer("/nowhere.so"));
  const LibraryOffer first = shelf_.offer(library_).value();
  EXPECT_EQ(shelf_.offer(library_)->buffer, first.buffer);
  EXPECT_NE(first.buffer & kLibraryBuffer, 0U);
  // Written anew: the old one stays for those who were told of it.
  std::filesystem::remove(library_);
  kernel::write_file(library_, "new");
  const LibraryOffer second = shelf_.offer(library_).value();
  EXPECT_NE(second.buffer, first.buffer);
  EXPECT_EQ(shelf_buffers_->find(first.buffer)->bytes, content_.size());
}

TEST_F(SentLibrariesTest, OffersAreReadAsTheyWereWritten) {
  MessageWriter writer;
  writer.begin(MessageKind::define);
  put_offers(writer, {{"/a.so", {1, 2, {3, 4}}}, {"/b.so", {5, 6, {7, 8}}}});
  MessageReader reader(writer.finish());
  const auto read = get_offers(reader);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].path, "/b.so");
  EXPECT_EQ(read[1].offer.bytes, 6U);
  EXPECT_EQ(read[0].offer.hash, (kernel::ContentHash{3, 4}));
}

}  // namespace
}  // namespace baton::node

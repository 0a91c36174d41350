#include "kernel/cache.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "../base/expect_error.hpp"
#include "base/deadline.hpp"
#include "kernel/key_lock.hpp"
#include "kernel/sealed_file.hpp"
#include "kernel_test_support.hpp"

namespace baton::kernel {
namespace {

class CacheTest : public KernelTest {
 protected:
  /// Puts a library of that many bytes into the cache, last used so long ago.
  static std::string keep(const Cache& cache, const std::string& name, std::size_t bytes, std::chrono::seconds age) {
    const WorkFolder work(cache.work_parent());
    write_file(work.file("kernel.so"), std::string(bytes, 'x'));
    std::string place = cache.keep(hash_of(name), name, work.file("kernel.so"), {}, work);
    make_older(place, age);
    return place;
  }
  static void make_older(const std::string& file, std::chrono::seconds age) {
    std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - age);
  }
};

TEST_F(CacheTest, TheLeastRecentlyUsedGoesFirst) {
  const Cache cache(path("cache"), 100'000);
  const std::string old = keep(cache, "old", 40'000, std::chrono::hours(3));
  const std::string older = keep(cache, "older", 40'000, std::chrono::hours(4));
  const std::string recent = keep(cache, "recent", 40'000, std::chrono::hours(1));
  cache.trim();
  EXPECT_FALSE(std::filesystem::exists(older));
  EXPECT_TRUE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(recent));
  EXPECT_LE(cache.usage().bytes, 100'000U);
}

TEST_F(CacheTest, AUseMakesALibraryYoung) {
  const Cache cache(path("cache"), 100'000);
  const std::string first = keep(cache, "first", 40'000, std::chrono::hours(4));
  const std::string second = keep(cache, "second", 40'000, std::chrono::hours(3));
  EXPECT_EQ(cache.find(hash_of("first")), first);
  keep(cache, "third", 40'000, std::chrono::hours(1));
  cache.trim();
  EXPECT_TRUE(std::filesystem::exists(first));
  EXPECT_FALSE(std::filesystem::exists(second));
  EXPECT_FALSE(cache.find(hash_of("second")));
}

TEST_F(CacheTest, WhatWasJustMadeStaysHoweverSmallTheLimit) {
  options_.cache_bytes = 1;
  const std::string library = compile_text("k", kernel_that_writes(4)).library;
  EXPECT_EQ(result_of(library), 4);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("cache"))) {
    if (entry.is_regular_file()) make_older(entry.path().string(), std::chrono::hours(1));
  }
  static_cast<void>(compile_text("k", kernel_that_writes(5)));
  EXPECT_FALSE(std::filesystem::exists(library));
}

TEST_F(CacheTest, ClearRemovesEverythingButWhatIsInUse) {
  const Cache cache(path("cache"), 100'000);
  keep(cache, "a", 1000, std::chrono::seconds(0));
  const WorkFolder work(cache.work_parent());
  std::filesystem::create_directory(path("cache/work/left"));
  write("cache/work/left/kernel.so", "half");
  EXPECT_EQ(cache.clear().libraries, 1U);
  EXPECT_EQ(cache.usage().bytes, 0U);
  EXPECT_TRUE(std::filesystem::exists(work.path()));
  EXPECT_FALSE(std::filesystem::exists(path("cache/work/left")));
}

TEST_F(CacheTest, AFolderThatCannotBeMadeIsNamed) {
  write("file", "");
  const auto error = error_of([&] { static_cast<void>(Cache(path("file/cache"), 1000)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::system);
  EXPECT_THAT(error->message(), testing::HasSubstr("file/cache"));
}

TEST_F(CacheTest, SealedFilesNoticeDamage) {
  const WorkFolder work(folder_.string());
  const ContentHash key = hash_of("key");
  write_sealed(work, path("sealed"), key, "some text\n");
  EXPECT_EQ(read_sealed(path("sealed"), key), "some text\n");
  EXPECT_FALSE(read_sealed(path("sealed"), hash_of("another key")));
  const std::string content = read(path("sealed"));
  write("sealed", content.substr(0, content.size() - 1));
  EXPECT_FALSE(read_sealed(path("sealed"), key));
  write("sealed", "");
  EXPECT_FALSE(read_sealed(path("sealed"), key));
  EXPECT_FALSE(read_sealed(path("none"), key));
}

TEST_F(CacheTest, OneKeyHasOneOwnerAndAnotherKeyIsFree) {
  const std::string file = path("lock");
  const Deadline far = Deadline::after(std::chrono::seconds(60));
  auto first = KeyLock::wait(file, hash_of("a"), far);
  ASSERT_TRUE(first);
  EXPECT_TRUE(KeyLock::wait(file, hash_of("b"), far));
  EXPECT_FALSE(KeyLock::wait(file, hash_of("a"), Deadline::after(std::chrono::milliseconds(20))));

  std::atomic<bool> has_it{false};
  std::thread other([&] {
    const auto second = KeyLock::wait(file, hash_of("a"), far);
    has_it = second.has_value();
  });
  EXPECT_FALSE(has_it);
  first.reset();
  other.join();
  EXPECT_TRUE(has_it);
  // The one that gave up does not take it later.
  EXPECT_TRUE(KeyLock::wait(file, hash_of("a"), far));
}

}  // namespace
}  // namespace baton::kernel

// Messages between ranks: threads of one process here, so that sanitizers see both sides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/join.hpp>

#include "mailbox.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::process_group {
namespace {

using namespace std::chrono_literals;
using test::require_error;

/// Runs body(mailbox, rank) on threads, each a rank.
void on_ranks(int size, const std::function<void(Mailbox&, int)>& body) {
  static std::atomic<int> jobs = 0;
  const std::string name = fmt::format("inproc:mailbox-{}", ++jobs);
  std::vector<std::thread> threads;
  std::atomic<int> well = 0;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Domain me = join(name, rank, size);
      try {
        Mailbox mailbox(me);
        body(mailbox, rank);
        ++well;
        me.barrier();
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
        me.leave_because(error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(well, size);
}

void require_ended(Mailbox& mailbox, const Mailbox::Handle& message) {
  REQUIRE(mailbox.wait_until(message, Mailbox::Clock::now() + 30s));
}

std::vector<int> numbers(std::size_t count, int seed) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i * 7 + static_cast<std::size_t>(seed));
  return values;
}

Mailbox::Handle send(Mailbox& mailbox, int to, int tag, const std::vector<int>& values) {
  return mailbox.send(to, tag, values.data(), values.size() * sizeof(int), Element::int32);
}

Mailbox::Handle receive(Mailbox& mailbox, int from, int tag, std::vector<int>& values) {
  return mailbox.receive(from, tag, values.data(), values.size() * sizeof(int), Element::int32);
}

// None, a few bytes, just what fits into a packet, one more, several packets, more than a ring.
constexpr std::size_t kCounts[] = {0, 1, 1000, 16384, 16385, 100'000, 1'000'000};

TEST(Mailbox, CarriesMessagesOfAnySize) {
  on_ranks(2, [](Mailbox& mailbox, int rank) {
    for (const std::size_t count : kCounts) {
      for (int round = 0; round < 3; ++round) {
        std::vector<int> got(count);
        const std::vector<int> own = numbers(count, rank);
        const auto sent = send(mailbox, 1 - rank, round, own);
        require_ended(mailbox, receive(mailbox, 1 - rank, round, got));
        require_ended(mailbox, sent);
        REQUIRE(got == numbers(count, 1 - rank));
      }
    }
  });
}

TEST(Mailbox, KeepsTheOrderOfATagAndTellsTagsApart) {
  on_ranks(2, [](Mailbox& mailbox, int rank) {
    constexpr int kMessages = 200;
    constexpr int kTags = 3;
    std::vector<std::vector<int>> data;
    std::vector<Mailbox::Handle> messages;
    for (int i = 0; i < kMessages; ++i) {
      // Small and large ones take turns: the second way does not overtake the first.
      data.push_back(numbers(i % 2 == 0 ? 5 : 30'000, rank == 0 ? i : -1));
    }
    if (rank == 0) {
      for (int i = 0; i < kMessages; ++i)
        messages.push_back(send(mailbox, 1, i % kTags, data[static_cast<std::size_t>(i)]));
    } else {
      // The last tag first.
      for (int tag = kTags - 1; tag >= 0; --tag) {
        for (int i = tag; i < kMessages; i += kTags)
          messages.push_back(receive(mailbox, 0, tag, data[static_cast<std::size_t>(i)]));
      }
    }
    for (const auto& message : messages) require_ended(mailbox, message);
    for (int i = 0; i < kMessages; ++i)
      REQUIRE(data[static_cast<std::size_t>(i)] == numbers(data[static_cast<std::size_t>(i)].size(), i));
  });
}

TEST(Mailbox, ReceivesFromAnyRank) {
  constexpr int kRanks = 4;
  constexpr std::size_t kTwoCounts[] = {10, 50'000};
  on_ranks(kRanks, [&](Mailbox& mailbox, int rank) {
    for (const std::size_t count : kTwoCounts) {
      const int tag = static_cast<int>(count);
      if (rank != 0) {
        const std::vector<int> own = numbers(count, rank);
        require_ended(mailbox, send(mailbox, 0, tag, own));
        continue;
      }
      std::vector<bool> seen(kRanks);
      for (int i = 1; i < kRanks; ++i) {
        std::vector<int> got(count);
        const auto message = receive(mailbox, Mailbox::kAnyRank, tag, got);
        require_ended(mailbox, message);
        REQUIRE(got == numbers(count, message->peer));
        seen[static_cast<std::size_t>(message->peer)] = true;
      }
      REQUIRE_EQUAL(std::count(seen.begin(), seen.end(), true), kRanks - 1);
    }
  });
}

TEST(Mailbox, OfSmallMessagesThatNobodyAsksForKeepsFew) {
  on_ranks(2, [](Mailbox& mailbox, int rank) {
    constexpr int kMessages = 1000;
    const std::vector<int> page = numbers(4096, 3);
    if (rank == 0) {
      std::vector<Mailbox::Handle> messages;
      for (int i = 0; i < kMessages; ++i) messages.push_back(send(mailbox, 1, i, page));
      // A limit of what lies with the receiver; the rest waits where it is.
      int ended = 0;
      for (const auto& message : messages) ended += mailbox.test(message) ? 1 : 0;
      REQUIRE(ended > 0 && ended < kMessages / 4);
      for (const auto& message : messages) require_ended(mailbox, message);
      return;
    }
    // The last first: those before it do not block the way.
    for (int i = kMessages - 1; i >= 0; --i) {
      std::vector<int> got(page.size());
      require_ended(mailbox, receive(mailbox, 0, i, got));
      REQUIRE(got == page);
    }
  });
}

TEST(Mailbox, LargeMessagesMoveWhateverTheProgramsDo) {
  on_ranks(2, [](Mailbox& mailbox, int rank) {
    std::vector<int> data = numbers(500'000, rank == 0 ? 1 : 2);
    const auto message = rank == 0 ? send(mailbox, 1, 0, data) : receive(mailbox, 0, 0, data);
    std::atomic<bool> ended = false;
    mailbox.when_ended(message, [&] {
      ended = true;
      ended.notify_all();
    });
    // Not a wait of the mailbox.
    ended.wait(false);
    REQUIRE(data == numbers(500'000, 1));
  });
}

TEST(Mailbox, ManyThreadsMayWaitAtOnce) {
  on_ranks(2, [](Mailbox& mailbox, int rank) {
    constexpr int kThreads = 4;
    std::vector<std::thread> threads;
    for (int tag = 0; tag < kThreads; ++tag) {
      threads.emplace_back([&, tag] {
        std::mt19937 random(static_cast<unsigned>(tag));
        for (int i = 0; i < test::scaled(50); ++i) {
          const std::size_t count = random() % 40'000;
          std::vector<int> got(count);
          const std::vector<int> own = numbers(count, rank + i);
          const auto sent = send(mailbox, 1 - rank, tag, own);
          require_ended(mailbox, receive(mailbox, 1 - rank, tag, got));
          require_ended(mailbox, sent);
          REQUIRE(got == numbers(count, 1 - rank + i));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST(Mailbox, ToldBothSidesOfWhatDoesNotFit) {
  for (const std::size_t count : {10U, 100'000U}) {
    on_ranks(2, [&](Mailbox& mailbox, int rank) {
      std::vector<int> data(count + static_cast<std::size_t>(rank));
      const auto message = rank == 0 ? send(mailbox, 1, 7, data) : receive(mailbox, 0, 7, data);
      const auto wait = [&] { static_cast<void>(mailbox.wait_until(message, Mailbox::Clock::now() + 30s)); };
      // A small one has been sent when it lies with the receiver.
      if (rank == 0 && count == 10) return wait();
      require_error(
          Code::mismatch,
          {fmt::format("rank 0 sent {} int32 with tag 7 to rank 1, which receives {} int32", count, count + 1)}, wait);
    });
  }
}

TEST(Mailbox, AWaitEndsAtItsDeadlineAndTheMessageGoesOn) {
  on_ranks(2, [](Mailbox& mailbox, int rank) {
    std::vector<int> data = numbers(5, rank);
    std::vector<int> go(1);
    if (rank == 1) {
      require_ended(mailbox, receive(mailbox, 0, 1, go));
      return require_ended(mailbox, send(mailbox, 0, 0, data));
    }
    const auto message = receive(mailbox, 1, 0, data);
    REQUIRE(!mailbox.wait_until(message, Mailbox::Clock::now() + 20ms));
    require_ended(mailbox, send(mailbox, 1, 1, go));
    require_ended(mailbox, message);
    REQUIRE(data == numbers(5, 1));
  });
}

TEST(Mailbox, WaitsForARankThatLeftEnd) {
  const std::string name = "inproc:mailbox-departure";
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      Domain me = join(name, rank, 3);
      Mailbox mailbox(me);
      std::vector<int> data = numbers(5, rank);
      if (rank == 1) return require_ended(mailbox, send(mailbox, 0, 0, data));
      if (rank == 0) {
        std::vector<int> got(5);
        const auto never = receive(mailbox, 1, 9, got);
        require_error(Code::peer_left, {"rank 0 waited for a message", "rank 1, which has left"},
                      [&] { static_cast<void>(mailbox.wait_until(never, Mailbox::Clock::now() + 30s)); });
        // What it sent before is there, and the other rank is, too.
        require_ended(mailbox, receive(mailbox, 1, 0, got));
        REQUIRE(got == numbers(5, 1));
        require_ended(mailbox, send(mailbox, 2, 0, data));
      } else {
        require_ended(mailbox, receive(mailbox, 0, 0, data));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Mailbox, AFailureEndsAllWaits) {
  const std::string name = "inproc:mailbox-failure";
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      Domain me = join(name, rank, 3);
      Mailbox mailbox(me);
      if (rank == 1) return me.leave_because("7 is odd");
      std::vector<int> data(100'000);
      const auto sent = send(mailbox, 2 - rank, 3, data);
      const auto asked = receive(mailbox, Mailbox::kAnyRank, 4, data);
      for (const auto& message : {asked, sent}) {
        require_error(Code::peer_died, {"rank 1", "7 is odd"},
                      [&] { static_cast<void>(mailbox.wait_until(message, Mailbox::Clock::now() + 30s)); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace baton::process_group

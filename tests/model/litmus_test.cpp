// The memory model against the classic litmus tests: which outcomes C++ allows, and which it forbids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atomics.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

struct Words {
  ModelAtomic<std::uint32_t> x{0};
  ModelAtomic<std::uint32_t> y{0};
};

Report store_buffering(std::memory_order store, std::memory_order load) {
  return explore("store buffering", [=](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("left", [&words, store, load] {
      words.x.store(1, store);
      observe(words.y.load(load));
    });
    scenario.thread("right", [&words, store, load] {
      words.y.store(1, store);
      observe(words.x.load(load));
    });
  });
}

TEST(Litmus, StoreBufferingIsForbiddenOnlyWithSequentialConsistency) {
  EXPECT_THAT(store_buffering(seq_cst, seq_cst).outcomes,
              UnorderedElementsAre(ElementsAre(0, 1), ElementsAre(1, 0), ElementsAre(1, 1)));
  EXPECT_THAT(store_buffering(release, acquire).outcomes, Contains(ElementsAre(0, 0)));
  EXPECT_THAT(store_buffering(seq_cst, acquire).outcomes, Contains(ElementsAre(0, 0)));
  EXPECT_THAT(store_buffering(release, seq_cst).outcomes, Contains(ElementsAre(0, 0)));
  EXPECT_THAT(store_buffering(relaxed, relaxed).outcomes, Contains(ElementsAre(0, 0)));
}

Report store_buffering_with_updates(std::memory_order update, std::memory_order load) {
  return explore("store buffering with read-modify-writes", [=](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("left", [&words, update, load] {
      words.x.fetch_add(1, update);
      observe(words.y.load(load));
    });
    scenario.thread("right", [&words, update, load] {
      words.y.fetch_add(1, update);
      observe(words.x.load(load));
    });
  });
}

TEST(Litmus, StoreBufferingWithReadModifyWrites) {
  EXPECT_THAT(store_buffering_with_updates(seq_cst, seq_cst).outcomes, Not(Contains(ElementsAre(0, 0))));
  EXPECT_THAT(store_buffering_with_updates(acq_rel, seq_cst).outcomes, Contains(ElementsAre(0, 0)));
  EXPECT_THAT(store_buffering_with_updates(seq_cst, acquire).outcomes, Contains(ElementsAre(0, 0)));
}

Report message_passing(std::memory_order store, std::memory_order load) {
  return explore("message passing", [=](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("writer", [&words, store] {
      words.x.store(1, relaxed);
      words.y.store(1, store);
    });
    scenario.thread("reader", [&words, load] {
      observe(words.y.load(load));
      observe(words.x.load(relaxed));
    });
  });
}

TEST(Litmus, MessagePassingNeedsReleaseAndAcquire) {
  EXPECT_THAT(message_passing(release, acquire).outcomes,
              UnorderedElementsAre(ElementsAre(0, 0), ElementsAre(0, 1), ElementsAre(1, 1)));
  EXPECT_THAT(message_passing(seq_cst, seq_cst).outcomes, Not(Contains(ElementsAre(1, 0))));
  EXPECT_THAT(message_passing(relaxed, acquire).outcomes, Contains(ElementsAre(1, 0)));
  EXPECT_THAT(message_passing(release, relaxed).outcomes, Contains(ElementsAre(1, 0)));
}

Report independent_reads(std::memory_order store, std::memory_order load) {
  return explore("independent reads of independent writes", [=](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("writer x", [&words, store] { words.x.store(1, store); });
    scenario.thread("writer y", [&words, store] { words.y.store(1, store); });
    scenario.thread("reader xy", [&words, load] {
      observe(words.x.load(load));
      observe(words.y.load(load));
    });
    scenario.thread("reader yx", [&words, load] {
      observe(words.y.load(load));
      observe(words.x.load(load));
    });
  });
}

TEST(Litmus, IndependentReadsOfIndependentWrites) {
  EXPECT_THAT(independent_reads(seq_cst, seq_cst).outcomes, Not(Contains(ElementsAre(1, 0, 1, 0))));
  EXPECT_THAT(independent_reads(release, acquire).outcomes, Contains(ElementsAre(1, 0, 1, 0)));
}

Report two_plus_two_writes(std::memory_order store) {
  return explore("2+2W", [=](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("left", [&words, store] {
      words.x.store(1, store);
      words.y.store(2, store);
    });
    scenario.thread("right", [&words, store] {
      words.y.store(1, store);
      words.x.store(2, store);
    });
    scenario.at_end([&words] {
      observe(words.x.load());
      observe(words.y.load());
    });
  });
}

TEST(Litmus, EarlierStoresMayEndUpLast) {
  EXPECT_THAT(two_plus_two_writes(relaxed).outcomes, Contains(ElementsAre(1, 1)));
  EXPECT_THAT(two_plus_two_writes(release).outcomes, Contains(ElementsAre(1, 1)));
  EXPECT_THAT(two_plus_two_writes(seq_cst).outcomes, Not(Contains(ElementsAre(1, 1))));
}

TEST(Litmus, OneLocationIsCoherent) {
  const Report report = explore("coherence of reads", [](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("writer", [&words] {
      words.x.store(1, relaxed);
      words.x.store(2, relaxed);
    });
    scenario.thread("reader", [&words] {
      observe(words.x.load(relaxed));
      observe(words.x.load(relaxed));
    });
  });
  EXPECT_THAT(report.outcomes, UnorderedElementsAre(ElementsAre(0, 0), ElementsAre(0, 1), ElementsAre(0, 2),
                                                    ElementsAre(1, 1), ElementsAre(1, 2), ElementsAre(2, 2)));
}

TEST(Litmus, ReadersAgreeOnTheOrderOfOneLocation) {
  const Report report = explore("two writers, two readers of one location", [](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("writer 1", [&words] { words.x.store(1, relaxed); });
    scenario.thread("writer 2", [&words] { words.x.store(2, relaxed); });
    for (const char* reader : {"reader 1", "reader 2"}) {
      scenario.thread(reader, [&words] {
        observe(words.x.load(relaxed));
        observe(words.x.load(relaxed));
      });
    }
  });
  EXPECT_THAT(report.outcomes, Contains(ElementsAre(1, 2, 1, 2)));
  EXPECT_THAT(report.outcomes, Contains(ElementsAre(2, 1, 2, 1)));
  EXPECT_THAT(report.outcomes, Not(Contains(ElementsAre(1, 2, 2, 1))));
}

TEST(Litmus, WhatWasReadTravelsAlong) {
  const Report report = explore("write to read causality", [](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    scenario.thread("writer", [&words] { words.x.store(1, relaxed); });
    scenario.thread("middle", [&words] {
      observe(words.x.load(relaxed));
      words.y.store(1, release);
    });
    scenario.thread("reader", [&words] {
      observe(words.y.load(acquire));
      observe(words.x.load(relaxed));
    });
  });
  EXPECT_THAT(report.outcomes, Contains(ElementsAre(0, 1, 0)));
  EXPECT_THAT(report.outcomes, Not(Contains(ElementsAre(1, 1, 0))));
}

TEST(Litmus, ReadModifyWritesLoseNothing) {
  const Report report = explore("three increments", [](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    for (const char* name : {"a", "b", "c"}) {
      scenario.thread(name, [&words] { observe(words.x.fetch_add(1, relaxed)); });
    }
    scenario.at_end([&words] { require(words.x.load() == 3, "three increments make three"); });
  });
  expect_holds(report);
  EXPECT_EQ(report.outcomes.size(), 6U);
}

TEST(Litmus, CompareExchangeSucceedsOnce) {
  const Report report = explore("two compare-exchanges", [](Scenario& scenario) {
    auto& words = scenario.make<Words>();
    for (const char* name : {"a", "b"}) {
      scenario.thread(name, [&words] {
        std::uint32_t expected = 0;
        observe(words.x.compare_exchange_strong(expected, 1, acq_rel, relaxed));
        observe(expected);
      });
    }
  });
  EXPECT_THAT(report.outcomes, UnorderedElementsAre(ElementsAre(1, 0, 0, 1), ElementsAre(0, 1, 1, 0)));
}

Report release_sequence(bool by_update) {
  return explore(by_update ? "release sequence with a read-modify-write" : "release, then a relaxed store",
                 [=](Scenario& scenario) {
                   auto& words = scenario.make<Words>();
                   scenario.thread("head", [&words] {
                     words.x.store(1, relaxed);
                     words.y.store(1, release);
                   });
                   scenario.thread("middle", [&words, by_update] {
                     if (by_update) {
                       words.y.fetch_add(10, relaxed);
                     } else if (words.y.load(relaxed) == 1) {
                       words.y.store(11, relaxed);
                     }
                   });
                   scenario.thread("reader", [&words] {
                     observe(words.y.load(acquire));
                     observe(words.x.load(relaxed));
                   });
                 });
}

TEST(Litmus, ReadModifyWritesContinueAReleaseSequence) {
  EXPECT_THAT(release_sequence(true).outcomes, Contains(ElementsAre(11, 1)));
  EXPECT_THAT(release_sequence(true).outcomes, Not(Contains(ElementsAre(11, 0))));
  EXPECT_THAT(release_sequence(true).outcomes, Contains(ElementsAre(10, 0)));
  EXPECT_THAT(release_sequence(false).outcomes, Contains(ElementsAre(11, 0)));
}

struct Mail {
  ModelVar<int> data{0};
  ModelAtomic<int> flag{0};
};

Report plain_message(std::memory_order store, std::memory_order load) {
  return explore("plain data behind a flag", [=](Scenario& scenario) {
    auto& mail = scenario.make<Mail>();
    scenario.name("mail", mail, {"data", "flag"});
    scenario.thread("writer", [&mail, store] {
      mail.data.write(1);
      mail.flag.store(1, store);
    });
    scenario.thread("reader", [&mail, load] {
      if (mail.flag.load(load) == 1) require(mail.data.read() == 1, "the data is there");
    });
  });
}

TEST(Litmus, PlainDataNeedsAnOrder) {
  expect_holds(plain_message(release, acquire));
  expect_violation(plain_message(relaxed, acquire), Violation::race);
  expect_violation(plain_message(release, relaxed), Violation::race);
}

TEST(Litmus, AWriteMustFollowEarlierReads) {
  const auto reuse = [](std::memory_order order) {
    return explore("a reader hands a buffer back", [=](Scenario& scenario) {
      auto& mail = scenario.make<Mail>();
      scenario.name("mail", mail, {"data", "flag"});
      scenario.thread("reader", [&mail, order] {
        require(mail.data.read() == 0, "the buffer is untouched");
        mail.flag.store(1, order);
      });
      scenario.thread("writer", [&mail] {
        while (mail.flag.load(acquire) == 0) pause();
        mail.data.write(2);
      });
    });
  };
  expect_holds(reuse(release));
  expect_violation(reuse(relaxed), Violation::race);
}

}  // namespace
}  // namespace baton::model

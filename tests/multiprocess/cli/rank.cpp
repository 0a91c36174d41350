// A rank for the tests of the command line: joins, says so, and then does what its argument says.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <baton/baton.hpp>

namespace {

constexpr auto kLong = std::chrono::hours(1);

void say(const std::string& text) { std::cout << text << std::endl; }

/// Two threads hand a byte to each other through pipes, so fast that at any look either of them may be asleep.
void work_in_turns(std::chrono::seconds duration) {
  int there[2];
  int back[2];
  if (::pipe(there) != 0 || ::pipe(back) != 0) throw std::runtime_error("no pipes");
  std::thread other([from = there[0], to = back[1]] {
    char byte = 0;
    while (::read(from, &byte, 1) == 1 && ::write(to, &byte, 1) == 1) continue;
  });
  const auto end = std::chrono::steady_clock::now() + duration;
  char byte = 0;
  while (std::chrono::steady_clock::now() < end && ::write(there[1], &byte, 1) == 1 && ::read(back[0], &byte, 1) == 1) {
    continue;
  }
  ::close(there[1]);
  other.join();
}

/// Ranks above 0 hand their number to rank 0, which adds them up: after all have notified, or one too early.
void add_up(baton::Domain& me, int notifies) {
  auto numbers = me.window<int>("numbers", static_cast<std::size_t>(me.size()));
  auto handed = me.signals("handed", 1);
  if (me.rank() != 0) {
    numbers.put(0, static_cast<std::size_t>(me.rank()), me.rank());
    handed.notify(0, 0);
    return;
  }
  handed.wait(0, baton::WaitCmp::ge, notifies);
  numbers.note_read(numbers.data(), numbers.bytes());
}

/// Everybody hands its number to the right, looks at the one of its left neighbour, and meets the ranks of its parity.
void go_round(baton::Domain& me) {
  auto numbers = me.window<int>("numbers", 2);
  auto handed = me.signals("handed", 1);
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  numbers[1] = 100 + me.rank();
  numbers.put_signal(right, 0, me.rank(), handed, 0);
  handed.wait(0, baton::WaitCmp::ge, 1);
  if (numbers[0] != left) throw std::runtime_error("a wrong number came");
  int fetched = 0;
  numbers.get(left, 1, std::span(&fetched, 1));
  if (fetched != 100 + left) throw std::runtime_error("a wrong number was fetched");
  std::vector<int> alike;
  for (int rank = me.rank() % 2; rank < me.size(); rank += 2) alike.push_back(rank);
  me.subset("alike", alike).barrier();
  me.barrier();
  say("went round");
}

/// One of everything that ranks do together.
void take_steps(baton::Domain& me) {
  go_round(me);
  {
    // More than goes to another host at once: each side waits for the other in the middle of it.
    auto large = me.window<int>("large", std::size_t{1} << 19U);
    const std::vector<int> mine(large.size(), me.rank());
    large.put((me.rank() + 2) % me.size(), 0, mine);
    me.barrier();
  }  // released
  std::vector<float> sum(100, 1);
  baton::allreduce(me, sum);
  go_round(me);
}

/// A token goes round this many times.
void relay(baton::Domain& me, baton::Signals& signals, int rounds) {
  const int next = (me.rank() + 1) % me.size();
  if (me.rank() == 0) signals.notify(next, 6);
  for (int round = 1; round <= rounds; ++round) {
    signals.wait(6, baton::WaitCmp::ge, round, kLong);
    signals.notify(next, 6);
  }
}

/// Nobody catches anything.
void run_carelessly(const std::string& what) {
  auto me = baton::join();
  if (me.rank() == me.size() - 1) {
    if (what == "uncaught") throw std::runtime_error("enough\nof it");
    throw 5;
  }
  me.barrier(kLong);
}

/// Starts three processes, and is a job of four ranks with them.
void make_own_job() {
  const std::string name = "shm:own-of-" + std::to_string(::getpid());
  int rank = 0;
  while (rank < 3 && ::fork() == 0) ++rank;
  auto me = baton::join(name, rank, 4);
  me.barrier(kLong);
  while (::wait(nullptr) > 0) continue;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "leave";
  if (what.starts_with("uncaught")) run_carelessly(what);
  try {
    if (what == "own_job") return make_own_job(), 0;
    auto me = baton::join();
    auto signals = me.signals("scratch", 8);
    say("joined " + std::to_string(::getpid()));
    if (what == "again") {  // a second job of the same processes
      auto again = baton::join("shm:again-of-" + std::to_string(::getppid()), me.rank(), me.size());
      again.barrier(kLong);
    }
    if (what == "wait") signals.wait(3, baton::WaitCmp::ge, 7, kLong);
    if (what == "crossed") {
      if (me.rank() == 0) {
        signals.notify(1, 3);  // the notify that comes once too seldom
        me.barrier(kLong);
      }
      signals.wait(3, baton::WaitCmp::ge, 2, kLong);
    }
    if (what == "busy") {  // one rank has a thread that will notify
      std::thread later;
      if (me.rank() == 0) {
        later = std::thread([signals] {
          const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
          while (std::chrono::steady_clock::now() < end) continue;
          signals.notify(0, 5);
          signals.notify(1, 5);
        });
      }
      signals.wait(5, baton::WaitCmp::ge, 1, kLong);
      if (later.joinable()) later.join();
    }
    if (what == "turns") {
      std::thread working;
      if (me.rank() == 0) {
        working = std::thread([signals] {
          work_in_turns(std::chrono::seconds(3));
          signals.notify(0, 5);
          signals.notify(1, 5);
        });
      }
      signals.wait(5, baton::WaitCmp::ge, 1, kLong);
      if (working.joinable()) working.join();
    }
    if (what == "slow") {  // a token goes round, and each rank works for it
      const int next = (me.rank() + 1) % me.size();
      if (me.rank() == 0) signals.notify(0, 6);
      for (int round = 1; round <= 2; ++round) {
        signals.wait(6, baton::WaitCmp::ge, round, kLong);
        const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 10;
        while (std::clock() < end) continue;
        signals.notify(next, 6);
      }
    }
    if (what == "impatient") {  // waits that end by themselves, again and again
      for (int i = 0; i < 20; ++i) {
        try {
          signals.wait(6, baton::WaitCmp::ge, 1, std::chrono::milliseconds(100));
        } catch (const baton::Error&) {
          continue;
        }
      }
    }
    if (what == "late") {
      if (me.rank() != 0) me.barrier();
      ::pause();
    }
    if (what == "first_leaves" && me.rank() != 0) ::pause();
    if (what == "barrier" && me.rank() != 0) me.barrier(kLong);
    if (what == "barrier" || what == "pause") ::pause();
    if (what == "die" && me.rank() == me.size() - 1) ::raise(SIGKILL);
    if (what == "throw" && me.rank() == me.size() - 1) throw std::runtime_error("enough");
    if (what == "quit" && me.rank() == me.size() - 1) ::_exit(0);
    if (what == "because" && me.rank() == me.size() - 1) {
      baton::leave_because("ValueError: 7 is odd\n  second line");
      ::_exit(5);
    }
    if (what == "die" || what == "throw" || what == "quit" || what == "because") me.barrier(kLong);
    if (what == "leave") me.barrier();
    if (what == "relay_when_told") {  // rank 0 is, on its standard input
      std::string word;
      if (me.rank() == 0) std::getline(std::cin, word);
    }
    if (what.starts_with("relay")) relay(me, signals, std::atoi(argv[2]));
    if (what == "relay_when_told") say("relayed");
    if (what == "relay_then_wait") {
      say("relayed");
      signals.wait(7, baton::WaitCmp::ge, 1, kLong);
    }
    if (what == "round") go_round(me);
    if (what == "steps") take_steps(me);
    if (what == "add_up") add_up(me, me.size() - 1);
    if (what == "add_up_early") add_up(me, me.size() - 2);
    if (what == "allreduce") {
      std::vector<float> x(100, 1);
      baton::allreduce(me, x);
      if (x[99] != static_cast<float>(me.size())) throw std::runtime_error("wrong sum");
    }
  } catch (const baton::Error& error) {
    std::cerr << error.what() << std::endl;
    return 10 + static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 9;
  }
}

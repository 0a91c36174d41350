// A rank for the tests of the command line: joins, says so, and then does what its argument says.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <baton/baton.hpp>

namespace {

constexpr auto kLong = std::chrono::hours(1);

void say(const std::string& text) { std::cout << text << std::endl; }

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

/// Nobody catches anything.
void run_carelessly(const std::string& what) {
  auto me = baton::join();
  if (me.rank() == me.size() - 1) {
    if (what == "uncaught") throw std::runtime_error("enough\nof it");
    throw 5;
  }
  me.barrier(kLong);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "leave";
  if (what.starts_with("uncaught")) run_carelessly(what);
  try {
    auto me = baton::join();
    auto signals = me.signals("scratch", 8);
    say("joined " + std::to_string(::getpid()));
    if (what == "wait") signals.wait(3, baton::WaitCmp::ge, 7, kLong);
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

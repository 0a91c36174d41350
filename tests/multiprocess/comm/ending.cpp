#include "ending.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "support/rank_program.hpp"

namespace baton::test {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_victim(int rank) {
  const std::string ranks = "," + variable("TEST_VICTIMS") + ",";
  return ranks.find("," + std::to_string(rank) + ",") != std::string::npos;
}

/// By the kernel's own action, which a sanitizer may have replaced.
[[noreturn]] void die_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();
}

}  // namespace

void reach(std::string_view step, int rank) {
  if (step != variable("TEST_STEP") || !is_victim(rank)) return;
  const std::string ending = variable("TEST_ENDING");
  tell("dying");
  if (ending == "exit") std::exit(0);
  if (ending == "exit3") ::_exit(3);
  if (ending == "abort") die_by(SIGABRT);
  if (ending == "segv") die_by(SIGSEGV);
  if (ending == "throw") throw std::runtime_error("this rank fails on purpose");
  die_by(SIGKILL);
}

void tell_caught(const Error& error) {
  tell("caught " + std::string(error_info(error.code()).name));
  tell(error.what());
}

}  // namespace baton::test

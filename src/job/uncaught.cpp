#include "job/uncaught.hpp"

#include <cxxabi.h>

#include <atomic>
#include <mutex>
#include <typeinfo>
#include <vector>

#include <baton/join.hpp>

#include "base/demangled.hpp"

namespace baton::job {
namespace {

std::string name_of(const std::type_info* type) {
  return type == nullptr ? "an exception of unknown type" : demangled(type->name());
}

/// The memberships of this process, each of which ends its life elsewhere.
class Memberships {
 public:
  void add(const std::shared_ptr<comm::World>& world) {
    const std::lock_guard lock(mutex_);
    std::erase_if(worlds_, [](const auto& known) { return known.expired(); });
    worlds_.push_back(world);
  }

  void leave(const comm::FailureReason& reason) noexcept {
    // What ends the process must not wait for a thread that is just joining.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    for (const std::weak_ptr<comm::World>& known : worlds_) {
      if (auto world = known.lock()) world->leave(comm::Farewell::fail, reason);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<comm::World>> worlds_;
};

/// Never destroyed: an exception may end the process while static objects are.
Memberships& memberships() {
  static auto* const all = new Memberships;
  return *all;
}

std::terminate_handler previous_handler = nullptr;

[[noreturn]] void tell_and_terminate() noexcept {
  // Once: what this does may fail as well, and end here again.
  static std::atomic_flag told;
  const std::exception_ptr exception = std::current_exception();
  if (exception && !told.test_and_set(std::memory_order_relaxed)) {
    const UncaughtException uncaught(exception);
    memberships().leave(uncaught.reason());
  }
  if (previous_handler != nullptr) previous_handler();
  std::abort();
}

}  // namespace

UncaughtException::UncaughtException(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    code_ = error.code();
    text_ = error.message();
  } catch (const std::exception& error) {
    text_ = name_of(&typeid(error)) + ": " + error.what();
  } catch (...) {
    text_ = name_of(abi::__cxa_current_exception_type());
  }
}

void tell_what_ends(const std::shared_ptr<comm::World>& world) {
  memberships().add(world);
  static std::once_flag installed;
  std::call_once(installed, [] { previous_handler = std::set_terminate(tell_and_terminate); });
}

}  // namespace baton::job

namespace baton {

void leave_because(std::string_view reason) noexcept { job::memberships().leave({.text = reason}); }

}  // namespace baton

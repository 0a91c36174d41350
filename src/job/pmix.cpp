#include "job/pmix.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/fail.hpp"
#include "base/shared_library.hpp"

namespace baton::job {
namespace {

// What of its binary interface is used here (PMIx standard 3 to 5, the same in each).
using Status = int;
constexpr Status kSuccess = 0;
constexpr std::uint8_t kGlobal = 3;   // a scope: for processes of all hosts
constexpr std::uint16_t kString = 3;  // a type of values

struct Process {
  char job[256];
  std::uint32_t rank;
};

struct Value {
  std::uint16_t type;
  union {
    char* string;
    char rest[120];  // more than any other member takes
  } data;
};

using OnDone = void(Status, void*);
using OnValue = void(Status, Value*, void*);
using Init = Status(Process*, void*, std::size_t);
using Finalize = Status(const void*, std::size_t);
using Put = Status(std::uint8_t, const char*, Value*);
using Commit = Status();
using FenceBegin = Status(const Process*, std::size_t, const void*, std::size_t, OnDone*, void*);
using GetBegin = Status(const Process*, const char*, const void*, std::size_t, OnValue*, void*);
using ErrorString = const char*(Status);

/// What the library's thread brings. It lives until both ends have let it go: an answer may come late.
class Answer {
 public:
  void bring(Status status, std::string value) {
    const std::lock_guard lock(mutex_);
    status_ = status;
    value_ = std::move(value);
    come_ = true;
    changed_.notify_all();
  }

  struct Brought {
    Status status;
    std::string value;
  };
  [[nodiscard]] std::optional<Brought> await(const Deadline& deadline) {
    std::unique_lock lock(mutex_);
    // Pairs with the notify_all() of bring(), under the same mutex.
    if (!changed_.wait_until(lock, deadline.when(), [this] { return come_; })) return std::nullopt;
    return Brought{status_, value_};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Status status_ = kSuccess;
  std::string value_;
  bool come_ = false;
};

using SharedAnswer = std::shared_ptr<Answer>;

void on_done(Status status, void* data) {
  const std::unique_ptr<SharedAnswer> answer(static_cast<SharedAnswer*>(data));
  (*answer)->bring(status, {});
}

void on_value(Status status, Value* value, void* data) {
  const std::unique_ptr<SharedAnswer> answer(static_cast<SharedAnswer*>(data));
  const bool text = status == kSuccess && value != nullptr && value->type == kString && value->data.string != nullptr;
  (*answer)->bring(status, text ? value->data.string : "");
}

class LoadedPmix final : public Pmix {
 public:
  explicit LoadedPmix(SharedLibrary library)
      : library_(std::move(library)), error_string_(library_.required<ErrorString>("PMIx_Error_string")) {
    check("PMIx_Init", library_.required<Init>("PMIx_Init")(&self_, nullptr, 0));
  }

  ~LoadedPmix() override { static_cast<void>(library_.required<Finalize>("PMIx_Finalize")(nullptr, 0)); }

  void put(const std::string& key, const std::string& value) override {
    std::string copy = value;
    Value wrapped{};
    wrapped.type = kString;
    wrapped.data.string = copy.data();
    check("PMIx_Put", library_.required<Put>("PMIx_Put")(kGlobal, key.c_str(), &wrapped));
    check("PMIx_Commit", library_.required<Commit>("PMIx_Commit")());
  }

  void fence(const Deadline& deadline) override {
    auto answer = std::make_shared<Answer>();
    auto handle = std::make_unique<SharedAnswer>(answer);
    const Status status = library_.required<FenceBegin>("PMIx_Fence_nb")(nullptr, 0, nullptr, 0, on_done, handle.get());
    finish("PMIx_Fence", status, *answer, std::move(handle), deadline,
           "not all processes of the launcher's job have called baton::join()");
  }

  std::string get(std::uint32_t rank, const std::string& key, const Deadline& deadline) override {
    Process whose = self_;
    whose.rank = rank;
    auto answer = std::make_shared<Answer>();
    auto handle = std::make_unique<SharedAnswer>(answer);
    const Status status =
        library_.required<GetBegin>("PMIx_Get_nb")(&whose, key.c_str(), nullptr, 0, on_value, handle.get());
    return finish("PMIx_Get", status, *answer, std::move(handle), deadline, "its server does not answer");
  }

 private:
  void check(const char* call, Status status) const {
    if (status != kSuccess) fail(Code::system, "{} says {} ({})", call, error_string_(status), status);
  }

  std::string finish(const char* call, Status begun, Answer& answer, std::unique_ptr<SharedAnswer> handle,
                     const Deadline& deadline, const char* late) const {
    check(call, begun);
    static_cast<void>(handle.release());  // to the callback
    const auto brought = answer.await(deadline);
    if (!brought) fail(Code::join_timeout, "{} does not end: {}", call, late);
    check(call, brought->status);
    return brought->value;
  }

  SharedLibrary library_;
  ErrorString* error_string_;
  Process self_{};
};

}  // namespace

std::unique_ptr<Pmix> Pmix::open(std::string& why) {
  if (std::getenv("PMIX_NAMESPACE") == nullptr || std::getenv("PMIX_RANK") == nullptr) {
    why = "the launcher has no PMIx server";
    return nullptr;
  }
  try {
    return std::make_unique<LoadedPmix>(SharedLibrary::of_system("libpmix.so.2", Code::unsupported));
  } catch (const Error& error) {
    why = error.message();
    return nullptr;
  }
}

}  // namespace baton::job

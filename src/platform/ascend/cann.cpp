#include "platform/ascend/cann.hpp"

#include <fmt/format.h>

namespace baton::ascend {
namespace {

constexpr const char* kNames[] = {"libacl_rt.so", "libascendcl.so"};
/// The first number of the version of the interface, which grows when something changes for those who use it.
constexpr std::int32_t kMajorVersion = 1;

/// Numbers of the runtime that say more than "system".
struct Known {
  Result result;
  const char* text;
  Code code;
};
constexpr Known kKnown[] = {
    {100000, "parameter", Code::system},
    {100001, "not initialised", Code::system},
    {kRepeatedInit, "initialised twice", Code::system},
    {100037, "finalised twice", Code::system},
    {107000, "parameter", Code::system},
    {107001, "device id", Code::out_of_range},
    {107002, "no context", Code::system},
    {107003, "stream of another context", Code::system},
    {107017, "bad handle", Code::system},
    {107020, "time limit of a task", Code::kernel_timeout},
    {kAborted, "stream aborted", Code::kernel_fault},
    {200006, "not supported", Code::unsupported},
    {207000, "not supported", Code::unsupported},
    {207001, "no memory", Code::out_of_memory},
    {207007, "no more events", Code::system},
    {207008, "no more streams", Code::system},
    {207018, "no memory of the device", Code::out_of_memory},
    {507000, "the runtime", Code::system},
    {507007, "release of a context", Code::system},
    {507014, "time limit of a cube core", Code::kernel_timeout},
    {507015, "exception of a cube core", Code::kernel_fault},
    {507018, "exception of a control core", Code::kernel_fault},
    {507034, "time limit of a vector core", Code::kernel_timeout},
    {507035, "exception of a vector core", Code::kernel_fault},
    {kLate, "time limit of a synchronisation", Code::kernel_timeout},
    {507047, "time limit of an event", Code::kernel_timeout},
    {507053, "fault of the memory", Code::kernel_fault},
    {507056, "fault of a link", Code::system},
    {507899, "the driver", Code::system},
};

const Known* known(Result result) noexcept {
  for (const Known& row : kKnown) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

Code code_of(Result result) noexcept {
  const Known* const row = known(result);
  return row == nullptr ? Code::system : row->code;
}

std::string describe(Result result) {
  const Known* const row = known(result);
  return row == nullptr ? std::to_string(result) : fmt::format("{} ({})", result, row->text);
}

const Cann& Cann::get() {
  static const Cann cann;
  return cann;
}

Cann::Cann() : library_("runtime of Ascend chips", kNames) {
#define BATON_CANN_FIND(page, name, parameters) library_.find(name, #name);
  BATON_CANN_FUNCTIONS(BATON_CANN_FIND)
#undef BATON_CANN_FIND
  library_.find(aclrtGetSocName, "aclrtGetSocName");
  library_.find(aclGetRecentErrMsg, "aclGetRecentErrMsg");
  library_.find_if_there(aclrtGetVersion, "aclrtGetVersion");
  library_.check_all_found();
}

void Cann::check_version() const {
  if (aclrtGetVersion == nullptr) return;
  std::int32_t major = 0;
  std::int32_t minor = 0;
  std::int32_t patch = 0;
  check("aclrtGetVersion", aclrtGetVersion(&major, &minor, &patch));
  if (major == kMajorVersion) return;
  library_.refuse(
      fmt::format("version {}.{}.{} of the interface, and {} is wanted", major, minor, patch, kMajorVersion));
}

Error Cann::error(const char* function, Result result) const {
  const char* const text = aclGetRecentErrMsg();
  return Error(code_of(result), fmt::format("{}: {}{}{}", function, describe(result), text == nullptr ? "" : ": ",
                                            text == nullptr ? "" : text));
}

void Cann::check(const char* function, Result result) const {
  if (result != 0) throw error(function, result);
}

void Ending::operator()(const char* function, Result result) {
  if (result != 0) (*this)(Cann::get().error(function, result));
}

void Ending::operator()(const Error& error) {
  if (!first_) first_ = error;
}

void Ending::finish() const {
  if (first_) throw Error(*first_);
}

}  // namespace baton::ascend

#include "platform/ascend/hccl.hpp"

#include <iterator>

#include <fmt/format.h>

#include "platform/ascend/vendor_library.hpp"

namespace baton::ascend {
namespace {

constexpr const char* kLibraries[] = {"libhcomm.so", "libhccl.so"};

/// By number. HcclGetErrorString is not on all chips.
struct KnownResult {
  const char* text;
  Code code;
};
constexpr KnownResult kResults[] = {
    {"success", Code::system},
    {"parameter", Code::system},
    {"null pointer", Code::system},
    {"no memory", Code::out_of_memory},
    {"internal", Code::system},
    {"not supported", Code::unsupported},
    {"not found", Code::system},
    {"unavailable", Code::system},
    {"system call", Code::system},
    {"timeout", Code::wait_timeout},
    {"cannot open a file", Code::system},
    {"TCP connect", Code::system},
    {"RoCE connect", Code::system},
    {"TCP transfer", Code::system},
    {"RoCE transfer", Code::system},
    {"the runtime", Code::system},
    {"the driver", Code::system},
    {"profiling", Code::system},
    {"CCE", Code::system},
    {"the network", Code::system},
    {"busy, try again", Code::system},
    {"a remote failure", Code::system},
    {"suspending", Code::system},
    {"a retry failed", Code::system},
    {"no memory", Code::out_of_memory},
};

}  // namespace

const Hccl& Hccl::get() {
  static const Hccl hccl;
  return hccl;
}

Hccl::Hccl() {
  VendorLibrary library("communication library of Ascend chips", kLibraries);
#define BATON_HCCL_FIND(name, parameters) library.find(name, #name);
  BATON_HCCL_FUNCTIONS(BATON_HCCL_FIND)
#undef BATON_HCCL_FIND
  library.check_all_found();
}

Error Hccl::error(const char* function, Result result) {
  const bool is_known = result >= 0 && static_cast<std::size_t>(result) < std::size(kResults);
  const KnownResult known = is_known ? kResults[result] : KnownResult{"unknown", Code::system};
  const char* const text = Cann::get().aclGetRecentErrMsg();
  return Error(known.code, fmt::format("{}: {} ({}){}{}", function, result, known.text, text == nullptr ? "" : ": ",
                                       text == nullptr ? "" : text));
}

void Hccl::check(const char* function, Result result) const {
  if (result != 0) throw error(function, result);
}

}  // namespace baton::ascend

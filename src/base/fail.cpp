#include "base/fail.hpp"

#include <sys/resource.h>

#include <cstring>

#include "base/error_number.hpp"

namespace baton {
namespace {

// strerror() may share a buffer among threads and follows the locale; these two do neither.
std::string describe_errno(int error_number) {
  const char* sentence = ::strerrordesc_np(error_number);
  const char* name = ::strerrorname_np(error_number);
  if (sentence == nullptr || name == nullptr) return fmt::format("unknown error (errno {})", error_number);
  return fmt::format("{} ({})", sentence, name);
}

std::vector<std::string> notes_for(int error_number) {
  if (error_number == EMFILE) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {"`ulimit -n` shows how many files a process may open"};
    if (limit.rlim_cur < limit.rlim_max) {
      return {fmt::format("this process may open {} files; `ulimit -n {}` raises the limit", limit.rlim_cur,
                          limit.rlim_max)};
    }
    return {fmt::format("this process may open {} files, which `ulimit -n` cannot raise further", limit.rlim_cur)};
  }
  if (error_number == ENFILE) {
    return {"the whole system is out of open files (sysctl fs.file-max); `ulimit -n` limits each process further"};
  }
  return {};
}

}  // namespace

Code code_of(int error_number) noexcept {
  switch (error_number) {
    case ENOMEM: return Code::out_of_memory;
    case ENOSPC:
    case EDQUOT: return Code::no_space;
    default: return Code::system;
  }
}

void fail_system(std::string what, int error_number) {
  throw Error(code_of(error_number), fmt::format("{}: {}", what, describe_errno(error_number)),
              notes_for(error_number));
}

}  // namespace baton

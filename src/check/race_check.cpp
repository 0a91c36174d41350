#include <baton/race_check.hpp>

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/fail.hpp"
#include "base/recorder.hpp"
#include "base/recording_folder.hpp"
#include "base/unique_fd.hpp"
#include "check/check_trace.hpp"

namespace baton {
namespace {

/// A file that is gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

 private:
  std::string path_;
};

}  // namespace

RaceCheck::RaceCheck() {
  events::begin();
  std::string pattern = (recording_folder() / "baton-check-XXXXXX").string();
  const UniqueFd made(::mkstemp(pattern.data()));
  if (!made) fail_system("making a file for what is recorded");
  try {
    events::start_trace(pattern, EventLevel::check);
  } catch (...) {
    ::unlink(pattern.c_str());
    throw;
  }
  file_ = pattern;
}

RaceCheck::~RaceCheck() {
  if (file_.empty()) return;
  events::stop_trace();
  ::unlink(file_.c_str());
}

std::vector<std::string> RaceCheck::finish() {
  if (file_.empty()) fail(Code::invalid_argument, "finish: the check has ended already");
  const TemporaryFile file(file_);
  const std::string path = std::exchange(file_, {});
  events::stop_trace();
  std::vector<std::string> races;
  for (auto& race : check::check_trace(path).races) races.push_back(std::move(race.text));
  return races;
}

}  // namespace baton

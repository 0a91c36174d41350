#include <baton/race_check.hpp>

#include <utility>

#include "base/fail.hpp"
#include "base/nameless_file.hpp"
#include "base/recorder.hpp"
#include "check/check_trace.hpp"

namespace baton {

RaceCheck::RaceCheck() {
  events::begin();
  auto file = std::make_unique<NamelessFile>();
  events::start_trace(file->path(), EventLevel::check);
  file_ = std::move(file);
}

RaceCheck::~RaceCheck() {
  if (file_ != nullptr) events::stop_trace();
}

std::vector<std::string> RaceCheck::finish() {
  const std::unique_ptr<NamelessFile> file = std::move(file_);
  if (file == nullptr) fail(Code::invalid_argument, "finish: the check has ended already");
  events::stop_trace();
  std::vector<std::string> races;
  for (auto& race : check::check_trace(file->path()).races) races.push_back(std::move(race.text));
  return races;
}

}  // namespace baton

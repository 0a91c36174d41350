#include <system_error>
#include <utility>

#include <baton/error.hpp>

#include "chip_host.hpp"

namespace baton::python {

std::shared_ptr<ChipThread> ChipThread::start(std::optional<Domain> domain, ChipOptions options) {
  auto shared = std::make_shared<ChipThread>();
  try {
    shared->thread_ = std::thread([shared, domain = std::move(domain), options = std::move(options)]() mutable {
      shared->live(std::exchange(domain, std::nullopt), options);
    });
  } catch (const std::system_error& error) {
    throw Error(Code::system, "the system gives no thread for a chip: " + error.code().message());
  }
  return shared;
}

void ChipThread::live(std::optional<Domain> domain, const ChipOptions& options) {
  while (true) {
    std::shared_ptr<ChipJob> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return quit_ || !jobs_.empty(); });
      if (jobs_.empty()) break;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    try {
      // Made by the first job, who thus learns why it cannot be.
      if (!chip_) chip_ = domain ? std::make_unique<Chip>(*domain, options) : std::make_unique<Chip>(options);
      job->body(*chip_);
    } catch (...) {
      job->error = std::current_exception();
    }
    job->body = nullptr;
    job->done.post();
  }
  chip_.reset();
}

std::shared_ptr<ChipJob> ChipThread::post(std::function<void(Chip&)> body) {
  auto job = std::make_shared<ChipJob>();
  job->body = std::move(body);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  changed_.notify_one();
  return job;
}

void ChipThread::quit() {
  if (!process_.is_this()) {
    // Neither joined nor detached: the thread exists in the parent alone.
    static_cast<void>(new std::thread(std::move(thread_)));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_one();
  if (abandoned_) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace baton::python

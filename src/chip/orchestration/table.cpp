// The functions that libraries of orchestrations call: none lets an exception out.
#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "chip/orchestration/failure.hpp"
#include "chip/orchestration/run.hpp"

namespace baton::orchestration {
namespace {

std::string describe(BatonPlaceInSource where) {
  return where.file == nullptr || where.line == 0 ? "" : fmt::format("{}:{}", where.file, where.line);
}

Place place_of(BatonPlaceInSource where) { return {where.file == nullptr ? "" : where.file, where.line}; }

void note(Run& run, const Error& error) {
  print(error);
  run.fail(std::make_exception_ptr(error));
}

/// Notes what went wrong at `where`, under the number that authors know if there is one.
void note_current(Run& run, BatonPlaceInSource where) {
  try {
    throw;
  } catch (const Error& error) {
    if (error.code() == Code::orchestration_failed) return note(run, error);
    const std::int32_t number = number_of(error.code());
    if (number != 0) return note(run, failure(number, error.message(), describe(where)));
    run.fail(std::current_exception());
  } catch (...) {
    run.fail(std::current_exception());
  }
}

/// What `action` of the current run gives; `otherwise` if it, or something before it, went wrong.
template <class Action, class Result = std::invoke_result_t<Action, Run&>>
Result guarded(BatonPlaceInSource where, Action&& action, Result otherwise) {
  Run& run = Run::current();
  if (run.failed()) return otherwise;
  try {
    return action(run);
  } catch (...) {
    note_current(run, where);
  }
  return otherwise;
}

template <class Action>
void guarded(BatonPlaceInSource where, Action&& action) {
  guarded(
      where,
      [&](Run& run) {
        action(run);
        return true;
      },
      false);
}

PTO2TaskId submit(const BatonTaskRequest* asked, ChipTensor* outputs) {
  return guarded(
      asked->where, [&](Run& run) { return run.submit(*asked, outputs); }, PTO2TaskId::invalid());
}

std::uint32_t open_graph(const BatonTaskRequest* asked) {
  return guarded(
      asked->where,
      [&](Run& run) {
        run.open_graph(*asked);
        return 1U;
      },
      0U);
}

void close_graph(BatonPlaceInSource where) {
  guarded(where, [](Run& run) { run.close_graph(); });
}

std::uint64_t get(const ChipTensor* tensor, std::uint32_t ndims, const std::uint32_t* indices,
                  BatonPlaceInSource where) {
  return guarded(
      where,
      [&](Run& run) {
        return run.get(*tensor, {indices, ndims});
      },
      std::uint64_t{0});
}

void set(const ChipTensor* tensor, std::uint32_t ndims, const std::uint32_t* indices, std::uint64_t bits,
         BatonPlaceInSource where) {
  guarded(where, [&](Run& run) { run.set(*tensor, {indices, ndims}, bits); });
}

void open_scope(std::uint32_t manual, BatonPlaceInSource where) {
  guarded(where, [&](Run& run) { run.open_scope(manual != 0 ? Edges::named : Edges::inferred, place_of(where)); });
}

void close_scope(BatonPlaceInSource where) {
  guarded(where, [](Run& run) { run.close_scope(); });
}

std::int32_t cluster_count() { return Run::current().graph().clusters(); }
std::int32_t vector_core_count() { return Run::current().graph().vector_cores(); }

void report_fatal(std::int32_t code, const char* text, BatonPlaceInSource where) {
  guarded(where, [&](Run& run) { note(run, failure(code, text, describe(where))); });
}

std::uint32_t is_fatal() { return Run::current().failed() ? 1 : 0; }

void assertion_failed(const char* text, BatonPlaceInSource where) {
  report_fatal(PTO2_ERROR_EXPLICIT_ORCH_FATAL, fmt::format("{} does not hold", text).c_str(), where);
  Run::current().rethrow_failure();
}

LogLevel level_of(BatonLogLevel level) {
  switch (level) {
    case BATON_LOG_DEBUG: return LogLevel::debug;
    case BATON_LOG_INFO: return LogLevel::info;
    case BATON_LOG_WARN: return LogLevel::warn;
    case BATON_LOG_ERROR: return LogLevel::error;
  }
  return LogLevel::info;
}

std::uint32_t log_enabled(BatonLogLevel level) { return log::enabled(level_of(level)) ? 1 : 0; }

void write_log(BatonLogLevel level, const char* text, BatonPlaceInSource where) {
  log::write(level_of(level), fmt::format("{}: {}", describe(where), text));
}

std::uint64_t dma_workspace() {
  return guarded(
      {},
      [](Run& run) {
        void* const workspace = run.graph().dma_workspace();
        if (workspace == nullptr) {
          baton::fail(
              Code::unsupported,
              "chips of this platform have no DMA engine for asynchronous copies: let kernels copy, with TGET or TPUT");
        }
        return reinterpret_cast<std::uint64_t>(workspace);
      },
      std::uint64_t{0});
}

PTO2TaskId notification_wait(std::uint64_t counter, std::int32_t expected, ChipTensor* token,
                             BatonPlaceInSource where) {
  return guarded(
      where, [&](Run& run) { return run.notification_wait(counter, expected, *token, place_of(where)); },
      PTO2TaskId::invalid());
}

}  // namespace

const BatonOrchestrationTable kTable = {BATON_ORCHESTRATION_ABI_VERSION,
                                        sizeof(BatonOrchestrationTable),
                                        submit,
                                        open_graph,
                                        close_graph,
                                        get,
                                        set,
                                        open_scope,
                                        close_scope,
                                        cluster_count,
                                        vector_core_count,
                                        report_fatal,
                                        is_fatal,
                                        assertion_failed,
                                        log_enabled,
                                        write_log,
                                        dma_workspace,
                                        notification_wait};

const BatonOrchestrationTable& runtime() { return kTable; }

}  // namespace baton::orchestration
